//! Why an instruction is no part of a nest: the rule, and the values that it met.

use std::fmt;

/// A rule that forbids a mapping, with what it met.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The meaning is more than one nest, or moves along other than axes.
    Meaning {
        /// The instruction.
        instruction: String,
    },
    /// The body reads at addresses that it computes.
    Addresses {
        /// The instruction.
        instruction: String,
    },
    /// The body asks where it is.
    Coordinates {
        /// The instruction.
        instruction: String,
    },
    /// The scalar bodies differ.
    Body {
        /// The instruction.
        instruction: String,
        /// What it has where they first differ.
        theirs: String,
        /// What the kernel has there.
        ours: String,
    },
    /// No axis of the kernel moves along the operands as any of the instruction's does.
    Signature {
        /// The instruction.
        instruction: String,
        /// Its axes by the operands that move along them, as `d0 ac`.
        theirs: String,
        /// The kernel's.
        ours: String,
    },
    /// One point of an axis would be used although an axis of the kernel moves along its
    /// operands and one more, and what is summed is a window: a depthwise convolution.
    Depthwise {
        /// The instruction.
        instruction: String,
        /// Its axis.
        own: usize,
        /// The kernel's axis.
        axis: usize,
    },
    /// A matching of axes that is no mapping.
    Boolean {
        /// The instruction.
        instruction: String,
    },
    /// The output starts with what is computed.
    Start {
        /// The instruction.
        instruction: String,
    },
    /// What is folded is changed before it is stored.
    Epilogue {
        /// The instruction.
        instruction: String,
    },
    /// More results than the instruction has.
    Results {
        /// The instruction.
        instruction: String,
        /// The kernel's.
        count: usize,
    },
    /// There is no memory that the whole machine shares.
    Shared,
    /// No strided move from one memory to another.
    Path {
        /// From.
        from: String,
        /// To.
        to: String,
    },
    /// Nothing fills a memory.
    Fill {
        /// The memory.
        memory: String,
    },
    /// Zeros behind the end of an axis are not neutral.
    Padding {
        /// The instruction.
        instruction: String,
    },
    /// An operand lies where no transfer lays it out.
    Layout {
        /// The instruction.
        instruction: String,
        /// The operand.
        operand: usize,
    },
    /// The operands of one instruction do not fit.
    Capacity {
        /// The instruction.
        instruction: String,
        /// The memory.
        memory: String,
        /// Bytes that are needed there.
        needed: u64,
        /// Bytes that it holds.
        capacity: u64,
    },
}

impl Refusal {
    /// The name of the rule, for reports and tests.
    pub fn rule(&self) -> &'static str {
        match self {
            Refusal::Meaning { .. } => "meaning",
            Refusal::Addresses { .. } => "addresses",
            Refusal::Coordinates { .. } => "coordinates",
            Refusal::Body { .. } => "body",
            Refusal::Signature { .. } => "signature",
            Refusal::Depthwise { .. } => "depthwise",
            Refusal::Boolean { .. } => "boolean",
            Refusal::Start { .. } => "start",
            Refusal::Epilogue { .. } => "epilogue",
            Refusal::Results { .. } => "results",
            Refusal::Shared => "shared",
            Refusal::Path { .. } => "path",
            Refusal::Fill { .. } => "fill",
            Refusal::Padding { .. } => "padding",
            Refusal::Layout { .. } => "layout",
            Refusal::Capacity { .. } => "capacity",
        }
    }

    /// The rule in words, the same for every kernel.
    pub fn says(&self) -> String {
        match self {
            Refusal::Meaning { instruction } => {
                format!("the meaning of @{instruction} is no single nest of plain axes")
            }
            Refusal::Addresses { instruction } => {
                format!("@{instruction} takes operands, the body reads at computed addresses")
            }
            Refusal::Coordinates { instruction } => {
                format!("@{instruction} does not know where it is, the body asks for coordinates")
            }
            Refusal::Body { instruction, .. } => format!("@{instruction} means another body"),
            Refusal::Signature { instruction, .. } => {
                format!("no axis of the nest moves along the operands as one of @{instruction}")
            }
            Refusal::Depthwise { instruction, .. } => {
                format!("@{instruction} would sum windows of one channel at a time")
            }
            Refusal::Boolean { instruction } => {
                format!("the axes of @{instruction} move along other operands")
            }
            Refusal::Start { instruction } => format!(
                "@{instruction} folds into what is there, and how the output starts is computed"
            ),
            Refusal::Epilogue { instruction } => {
                format!("@{instruction} stores what it folds, and the kernel has an epilogue")
            }
            Refusal::Results { instruction, count } => {
                format!("@{instruction} has one result, the nest {count}")
            }
            Refusal::Shared => "there is no shared memory".to_owned(),
            Refusal::Path { from, to } => format!("no strided move goes from @{from} to @{to}"),
            Refusal::Fill { memory } => {
                format!("no move fills @{memory}, which padding and starts need")
            }
            Refusal::Padding { instruction } => {
                format!("zeros as padding would change what @{instruction} folds")
            }
            Refusal::Layout { instruction, operand } => {
                format!("no transfer lays out operand {operand} of @{instruction}")
            }
            Refusal::Capacity { instruction, .. } => {
                format!("the operands of one @{instruction} do not fit their memories")
            }
        }
    }

    /// What the rule met in this kernel; nothing where the rule says all.
    pub fn values(&self) -> Option<String> {
        Some(match self {
            Refusal::Body { theirs, ours, .. } => format!("it has {theirs}, the kernel {ours}"),
            Refusal::Signature { theirs, ours, .. } => {
                format!("it has {theirs}, the kernel {ours}")
            }
            Refusal::Depthwise { own, axis, .. } => format!(
                "axis {axis} moves along every operand, so one point of d{own} is used, and no \
                 channel is summed"
            ),
            Refusal::Capacity { memory, needed, capacity, .. } => {
                format!("they take {needed} bytes of @{memory}, which holds {capacity}")
            }
            _ => return None,
        })
    }
}

impl fmt::Display for Refusal {
    /// The rule in words, and in brackets its name and the values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}", self.says(), self.rule())?;
        if let Some(values) = self.values() {
            write!(f, ": {values}")?;
        }
        write!(f, "]")
    }
}

impl std::error::Error for Refusal {}
