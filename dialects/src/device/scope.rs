//! Scopes: the units or threads that share a memory, or meet at a barrier.

use crate::ir::{Op, attr};

/// The units or threads that share a memory, from the fewest to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One thread of a unit.
    Thread,
    /// Threads that go in step.
    Warp,
    /// Warps that issue one instruction together.
    Warpgroup,
    /// One execution unit.
    Core,
    /// Neighbouring units.
    Cluster,
    /// All units.
    Device,
    /// The machine that drives the device.
    Host,
}

impl Scope {
    /// Every scope, from the fewest sharers to the most.
    pub const ALL: [Scope; 7] = [
        Scope::Thread,
        Scope::Warp,
        Scope::Warpgroup,
        Scope::Core,
        Scope::Cluster,
        Scope::Device,
        Scope::Host,
    ];

    /// The scope as the text writes it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Thread => "thread",
            Scope::Warp => "warp",
            Scope::Warpgroup => "warpgroup",
            Scope::Core => "core",
            Scope::Cluster => "cluster",
            Scope::Device => "device",
            Scope::Host => "host",
        }
    }

    /// The scope of a `device.barrier`; `None` of another operation.
    pub fn of_barrier(op: Op<'_>) -> Option<Self> {
        let scope = op.attr("scope").filter(|_| op.is("device.barrier"))?;
        attr::string(scope).and_then(Self::parse)
    }

    /// The scope that the text writes as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}
