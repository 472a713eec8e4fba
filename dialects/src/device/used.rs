//! Records which facts of a machine were used, so that the cache knows what a result depends on.
//!
//! A view of a machine says of each fact that it was asked for. [`Uses`] listens to a context,
//! whatever thread its views are made in; nothing else is how passes read a machine, for views
//! keep their operations to themselves. What the machine's own verifier reads does not count.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::Machine;
use crate::ir::{Context, Op};

/// The operations of a machine.
pub(super) const KINDS: [&str; 9] = [
    "device.machine",
    "device.memory",
    "device.unit",
    "device.engine",
    "device.move",
    "device.lanes",
    "device.instruction",
    "irdl.dialect",
    "pdl.pattern",
];

/// Facts behind those that have an attribute.
pub(super) const MEANING: u32 = 61;
pub(super) const LOWERING: u32 = 62;
pub(super) const EVERYTHING: u32 = 63;

/// Records the facts that were used of the machine in some contexts.
#[derive(Clone, Debug, Default)]
pub struct Uses(Arc<Kinds>);

#[derive(Debug, Default)]
struct Kinds([Kind; KINDS.len()]);

/// The facts that were used of the operations of one kind.
#[derive(Debug, Default)]
struct Kind {
    names: AtomicBool,
    texts: AtomicBool,
    ops: Mutex<BTreeMap<String, Arc<Marks>>>,
}

/// The facts that were used of one operation, a bit for each.
#[derive(Debug)]
struct Marks {
    facts: &'static [&'static str],
    bits: AtomicU64,
}

/// One fact of a machine, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fact {
    /// The kind of operation, such as `device.memory`.
    pub kind: String,
    /// The operation's name; empty where the fact is about all of its kind.
    pub name: String,
    /// An attribute, or a part: `meaning`, `lowering`, `everything`; of all of a kind `names`
    /// and `texts`.
    pub field: String,
}

/// Contexts that are listened to; few, so they stand in a row.
static LISTENING: RwLock<Vec<(usize, Uses)>> = RwLock::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Listens for as long as it is kept.
#[must_use]
pub struct Listening {
    context: usize,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut all = LISTENING.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(context, _)| *context != self.context);
        COUNT.store(all.len(), Ordering::Relaxed);
    }
}

impl Uses {
    /// Listens to what is used of machines in a context; ends what listened to it before.
    pub fn listen(&self, context: &Context) -> Listening {
        let context = crate::ir::id_of(context);
        let mut all = LISTENING.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(own, _)| *own != context);
        all.push((context, self.clone()));
        COUNT.store(all.len(), Ordering::Relaxed);
        Listening { context }
    }

    /// Returns the recorder that is active in the context of an operation.
    pub fn around(op: Op<'_>) -> Option<Self> {
        if COUNT.load(Ordering::Relaxed) == 0 || QUIET.get() {
            return None;
        }
        let context = op.context_id();
        let all = LISTENING.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(own, _)| *own == context).map(|(_, uses)| uses.clone())
    }

    /// The facts that were used so far, in one order.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (kind, used) in KINDS.iter().zip(&self.0.0) {
            let mut add = |name: &str, field: &str| {
                let (kind, name) = ((*kind).to_owned(), name.to_owned());
                facts.push(Fact { kind, name, field: field.to_owned() });
            };
            for (all, field) in [(&used.names, "names"), (&used.texts, "texts")] {
                if all.load(Ordering::Relaxed) {
                    add("", field);
                }
            }
            for (name, marks) in used.ops.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                marks.fields().for_each(|field| add(name, field));
            }
        }
        facts.sort();
        facts
    }

    fn kind(&self, kind: &str) -> Option<&Kind> {
        let number = KINDS.iter().position(|own| *own == kind)?;
        Some(&self.0.0[number])
    }
}

impl Marks {
    fn fields(&self) -> impl Iterator<Item = &'static str> + '_ {
        let bits = self.bits.load(Ordering::Relaxed);
        let parts = [(MEANING, "meaning"), (LOWERING, "lowering"), (EVERYTHING, "everything")];
        let facts = (0..).zip(self.facts.iter().copied());
        facts.chain(parts).filter(move |(bit, _)| bits >> bit & 1 == 1).map(|(_, field)| field)
    }
}

/// The record in which a view notes its uses.
#[derive(Clone, Debug)]
pub(super) struct Used(Option<Arc<Marks>>);

impl Used {
    pub fn of(op: Op<'_>, kind: &str, facts: &'static [&'static str]) -> Self {
        let uses = Uses::around(op);
        Self(uses.as_ref().and_then(|uses| uses.kind(kind)).map(|kind| {
            let mut ops = kind.ops.lock().unwrap_or_else(PoisonError::into_inner);
            let name = op.symbol();
            if let Some(known) = ops.get(name) {
                return known.clone();
            }
            let marks = Arc::new(Marks { facts, bits: AtomicU64::new(0) });
            ops.insert(name.to_owned(), marks.clone());
            marks
        }))
    }

    pub fn mark(&self, bit: u32) {
        if let Some(marks) = &self.0
            && marks.bits.load(Ordering::Relaxed) >> bit & 1 == 0
        {
            marks.bits.fetch_or(1 << bit, Ordering::Relaxed);
        }
    }
}

/// Records that the list of a machine's operations of a kind was used.
pub(super) fn names(machine: Op<'_>, kind: &str) {
    if let Some(kind) = Uses::around(machine).as_ref().and_then(|uses| uses.kind(kind)) {
        kind.names.store(true, Ordering::Relaxed);
    }
}

/// Records that all operations of a kind were read.
pub(super) fn texts(machine: Op<'_>, kind: &str) {
    if let Some(kind) = Uses::around(machine).as_ref().and_then(|uses| uses.kind(kind)) {
        kind.texts.store(true, Ordering::Relaxed);
    }
}

/// Returns whether an operation is part of a machine.
pub(super) fn is_kind(op: Op<'_>) -> bool {
    KINDS.contains(&op.name())
}

/// Does `work` without counting what it uses.
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            QUIET.set(self.0);
        }
    }
    let _restore = Restore(QUIET.replace(true));
    work()
}

impl Fact {
    /// Returns the fact's value of a machine, as text that is equal for equal values.
    pub fn value(&self, machine: Machine<'_>) -> String {
        quietly(|| self.read(machine)).unwrap_or_else(|| "none".to_owned())
    }

    fn read(&self, machine: Machine<'_>) -> Option<String> {
        let around = machine.raw();
        let inside = around.first_block(0)?.iter().filter(|op| op.is(&self.kind));
        match &*self.field {
            "names" => Some(inside.map(|op| format!("@{} ", op.symbol())).collect()),
            "texts" => Some(inside.map(Op::form_text).collect()),
            field => {
                let mut own = std::iter::once(around).filter(|op| op.is(&self.kind)).chain(inside);
                let op = own.find(|op| op.symbol() == self.name)?;
                match field {
                    "meaning" => op.first_block(0).map(|_| op.region(0).form_text()),
                    "lowering" => {
                        // Behind the meaning, where there is one.
                        let place = usize::from(op.is("device.instruction"));
                        op.first_block(place).map(|_| op.region(place).form_text())
                    }
                    "everything" => Some(op.form_text()),
                    _ => op.attr(field).map(|value| value.to_string()),
                }
            }
        }
    }
}

impl std::fmt::Display for Fact {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.name {
            "" => write!(out, "the {} of {}", self.field, self.kind),
            name => write!(out, "{} of {} @{name}", self.field, self.kind),
        }
    }
}
