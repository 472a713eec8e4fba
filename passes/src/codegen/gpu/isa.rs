//! The differences between two instruction sets in code for one thread.

use melior::dialect::llvm::r#type as llvm;
use weft_dialects::device::{Kernel, Scope};
use weft_dialects::ir::{Builder, Type, Val, attr, ty};

use super::super::lower::record;
use super::super::pointer::pointer;
use super::spread::Turns;
pub use crate::arch::Isa;

/// Bytes of a thread's register.
pub(super) const REGISTER_BYTES: u64 = 4;

impl Isa {
    /// LLVM's triple.
    pub fn triple(self) -> &'static str {
        match self {
            Self::Ptx => "nvptx64-nvidia-cuda",
            Self::Amdgcn => "amdgcn-amd-amdhsa",
        }
    }

    /// Returns the name of its code, for errors about machines that have none.
    pub fn form(self) -> &'static str {
        match self {
            Self::Ptx => "PTX",
            Self::Amdgcn => "AMDGCN code",
        }
    }

    /// LLVM's number of the calling convention of kernels.
    pub fn kernel_convention(self) -> u32 {
        match self {
            Self::Ptx => 71,
            Self::Amdgcn => 91,
        }
    }

    /// LLVM's number of the address space of a thread's own memory, where it is not the default.
    pub fn private_space(self) -> Option<i64> {
        (self == Self::Amdgcn).then_some(5)
    }

    /// The function attributes that fix how many threads a block has.
    pub fn size_attributes(self, threads: u64) -> Vec<(&'static str, String)> {
        match self {
            Self::Ptx => vec![("nvvm.reqntid", threads.to_string())],
            Self::Amdgcn => {
                vec![("amdgpu-flat-work-group-size", format!("{threads},{threads}"))]
            }
        }
    }

    /// Those that say which blocks of a kernel are in a unit together, and how many bytes of registers each thread has at
    /// `first`, where they give some away. One whose groups share an rTask has been made as large as the registers of a unit
    /// allow: how many are there is said, for else the assembler spills to make place for a second one. Blocks
    /// of a cluster follow each other.
    pub fn unit_attributes(
        self,
        kernel: &Kernel<'_>,
        first: Option<u64>,
    ) -> Vec<(&'static str, String)> {
        if self == Self::Amdgcn {
            return Vec::new();
        }
        let resident = kernel.resident.or((kernel.groups > 1).then_some(1));
        let resident = resident.map(|own| ("nvvm.minctasm", own.to_string()));
        let first = first.map(|own| ("nvvm.maxnreg", (own / REGISTER_BYTES).to_string()));
        let cluster = kernel.cluster.map(|own| ("nvvm.cluster_dim", own.count.to_string()));
        [resident, first, cluster].into_iter().flatten().collect()
    }

    /// The thread's number in its block, an `i32`.
    pub fn thread<'c>(self, b: &mut Builder<'c>) -> Val<'c> {
        let name = match self {
            Self::Ptx => "llvm.nvvm.read.ptx.sreg.tid.x",
            Self::Amdgcn => "llvm.amdgcn.workitem.id.x",
        };
        word(b, name, &[])
    }

    /// The block's number, an `i32`.
    pub fn block<'c>(self, b: &mut Builder<'c>) -> Val<'c> {
        let name = match self {
            Self::Ptx => "llvm.nvvm.read.ptx.sreg.ctaid.x",
            Self::Amdgcn => "llvm.amdgcn.workgroup.id.x",
        };
        word(b, name, &[])
    }

    /// An `i32` that is the same in every thread of a warp, where the compiler can see it.
    pub fn uniform<'c>(self, b: &mut Builder<'c>, value: Val<'c>) -> Val<'c> {
        match self {
            Self::Ptx => value,
            Self::Amdgcn => word(b, "llvm.amdgcn.readfirstlane", &[value]),
        }
    }

    /// Returns the value of `value`, an `i32`, in the thread `from` (an `i32`) of the warp.
    fn word_of<'c>(self, b: &mut Builder<'c>, value: Val<'c>, from: Val<'c>) -> Val<'c> {
        let int = ty::int(b.context(), 32);
        match self {
            Self::Ptx => {
                let (all, last) = (b.integer(int, -1), b.integer(int, 31));
                word(b, "llvm.nvvm.shfl.sync.idx.i32", &[all, value, from, last])
            }
            Self::Amdgcn => {
                // The place of a thread is counted in bytes.
                let four = b.integer(int, 4);
                let place = b.op("arith.muli", &[from, four], &[int]).result(0);
                word(b, "llvm.amdgcn.ds.bpermute", &[place, value])
            }
        }
    }

    /// Returns the value of a number of any type in the thread `from` (an `index`) of the warp.
    pub fn shuffle<'c>(self, b: &mut Builder<'c>, value: Val<'c>, from: Val<'c>) -> Val<'c> {
        let (elem, int) = (value.ty(), ty::int(b.context(), 32));
        let from = b.op("arith.index_cast", &[from], &[int]).result(0);
        let bits = ty::bits(elem).unwrap_or(32);
        let own = ty::int(b.context(), bits as u32);
        let cast = |b: &mut Builder<'c>, value: Val<'c>, to: Type<'c>| {
            if value.ty() == to { value } else { b.op("arith.bitcast", &[value], &[to]).result(0) }
        };
        let plain = cast(b, value, own);
        let there = match bits {
            32 => self.word_of(b, plain, from),
            64 => {
                let half = b.integer(own, 32);
                let high = b.op("arith.shrui", &[plain, half], &[own]).result(0);
                let [low, high] = [plain, high].map(|part| {
                    let part = b.op("arith.trunci", &[part], &[int]).result(0);
                    let part = self.word_of(b, part, from);
                    b.op("arith.extui", &[part], &[own]).result(0)
                });
                let high = b.op("arith.shli", &[high, half], &[own]).result(0);
                b.op("arith.ori", &[low, high], &[own]).result(0)
            }
            _ => {
                let wide = b.op("arith.extui", &[plain], &[int]).result(0);
                let wide = self.word_of(b, wide, from);
                b.op("arith.trunci", &[wide], &[own]).result(0)
            }
        };
        cast(b, there, elem)
    }

    /// Threads that exchange what is in their registers.
    pub fn warp(self) -> usize {
        match self {
            Self::Ptx => 32,
            Self::Amdgcn => 64,
        }
    }

    /// Two to the power of an `f32`, by one instruction: 0 where it would be subnormal, which `exp` of
    /// `expansions.mlir` is, too.
    pub fn power<'c>(self, b: &mut Builder<'c>, value: Val<'c>) -> Val<'c> {
        let name = match self {
            Self::Ptx => "llvm.nvvm.ex2.approx.ftz.f32",
            Self::Amdgcn => "llvm.amdgcn.exp2.f32",
        };
        intrinsic(b, name, &[value], Some(value.ty())).expect("it has a result")
    }

    /// Returns whether a branch around one load is no more than a predicate of it, so that what is left
    /// out is zero before the load, and not behind it, where it would have to be waited for.
    pub fn has_predicates(self) -> bool {
        self == Self::Ptx
    }

    /// Returns whether some threads of a block can wait for each other without the others.
    pub fn has_barriers_of_parts(self) -> bool {
        self == Self::Ptx
    }

    /// The attributes of an entry whose blocks have to be on the machine all at once: one of so
    /// many threads fits a unit, if no thread takes more than so many registers.
    pub fn resident_attributes(self, registers: u64) -> Vec<(&'static str, String)> {
        match self {
            Self::Ptx => {
                vec![("nvvm.maxnreg", registers.to_string()), ("nvvm.minctasm", "1".to_owned())]
            }
            // The compiler keeps to what a block of its fixed size may have.
            Self::Amdgcn => vec![("amdgpu-waves-per-eu", "1".to_owned())],
        }
    }

    /// LLVM's name of the scope of all threads of a device.
    pub fn device_scope(self) -> &'static str {
        match self {
            Self::Ptx => "device",
            Self::Amdgcn => "agent",
        }
    }

    /// Waits for all threads of a block; afterwards one of them may tell other blocks what any
    /// has written, by a release.
    ///
    /// Orders the block's writes before a step is announced. Where a release of one thread covers
    /// writes of others before a barrier, the barrier is all that it takes; elsewhere each
    /// wavefront pushes its own.
    pub fn meet_before_telling(self, b: &mut Builder<'_>) {
        match self {
            Self::Ptx => self.barrier(b, Scope::Core, None),
            Self::Amdgcn => {
                fence(b, 5, self.device_scope());
                intrinsic(b, "llvm.amdgcn.s.barrier", &[], None);
                fence(b, 4, "workgroup");
            }
        }
    }

    /// Waits for all threads of a block; afterwards each may read what other blocks have told
    /// one of them, by its acquire.
    pub fn meet_after_hearing(self, b: &mut Builder<'_>) {
        match self {
            Self::Ptx => self.barrier(b, Scope::Core, None),
            Self::Amdgcn => {
                fence(b, 5, "workgroup");
                intrinsic(b, "llvm.amdgcn.s.barrier", &[], None);
                fence(b, 4, self.device_scope());
            }
        }
    }

    /// Returns whether threads can begin copies of so many bytes to memory that they share, and go on.
    pub fn copies_ahead(self, bytes: u64) -> bool {
        self == Self::Ptx && matches!(bytes, 4 | 8 | 16)
    }

    /// Begins a copy of 4, 8 or 16 bytes, aligned at both ends, to memory that a block shares; of
    /// zeros where the condition does not hold. Each end is a memref and a place in it.
    pub fn copy_ahead<'c>(
        self,
        b: &mut Builder<'c>,
        from: [Val<'c>; 2],
        to: [Val<'c>; 2],
        bytes: u64,
        inside: Option<Val<'c>>,
    ) {
        let int = ty::int(b.context(), 32);
        let [global, shared] = [1, 3].map(|space| llvm::pointer(b.context(), space));
        let (from, to) = (pointer(b, from, global), pointer(b, to, shared));
        // What goes past the nearest cache is 16 bytes wide; each thread needs its bytes once.
        let cache = if bytes == 16 { "cg" } else { "ca" };
        let name = format!("llvm.nvvm.cp.async.{cache}.shared.global.{bytes}");
        match inside {
            None => drop(intrinsic(b, &name, &[to, from], None)),
            Some(inside) => {
                let [all, none] = [bytes as i64, 0].map(|bytes| b.integer(int, bytes));
                let read = b.op("arith.select", &[inside, all, none], &[int]).result(0);
                intrinsic(b, &format!("{name}.s"), &[to, from, read], None);
            }
        }
    }

    /// Closes the group of the copies that were begun since the last was closed.
    pub fn close_copies(self, b: &mut Builder<'_>) {
        intrinsic(b, "llvm.nvvm.cp.async.commit.group", &[], None);
    }

    /// Waits until at most so many groups of copies, the last ones, are under way.
    pub fn wait_for_copies(self, b: &mut Builder<'_>, count: u64) {
        let count = b.integer(ty::int(b.context(), 32), count as i64);
        intrinsic(b, "llvm.nvvm.cp.async.wait.group", &[count], None);
    }

    /// Returns whether threads can begin instructions of an engine that leave such numbers in registers, and
    /// wait for groups of them.
    pub fn begins_instructions(self, elem: Type<'_>) -> bool {
        self == Self::Ptx && self.register_class(elem).is_some()
    }

    /// Waits until at most so many instructions of an engine, the last ones, are under way.
    pub fn wait_for_instructions(self, b: &mut Builder<'_>, count: u64) {
        let count = b.integer(ty::int(b.context(), 64), count as i64);
        intrinsic(b, "llvm.nvvm.wgmma.wait_group.sync.aligned", &[count], None);
    }

    /// Values of one type in registers: nothing that gives them goes behind this, and nothing that uses
    /// them before.
    pub fn pinned<'c>(self, b: &mut Builder<'c>, values: &[Val<'c>]) -> Vec<Val<'c>> {
        let Some(class) = values.first().and_then(|value| self.register_class(value.ty())) else {
            return values.to_vec();
        };
        let (context, count) = (b.context(), values.len());
        let given = (0..count).map(|_| format!("={class}"));
        let constraints: Vec<_> = given.chain((0..count).map(|n| n.to_string())).collect();
        let attributes = [
            ("asm_string", attr::of_string(context, "")),
            ("constraints", attr::of_string(context, &constraints.join(","))),
            ("has_side_effects", attr::unit(context)),
        ];
        let row = record::of(b, &vec![values[0].ty(); count]);
        let held = b.op_with("llvm.inline_asm", values, &[row], &attributes, 0).result(0);
        record::fields(b, held, &vec![values[0].ty(); count])
    }

    /// The letter of assembly's constraints for a register that holds a number.
    fn register_class(self, ty: Type<'_>) -> Option<&'static str> {
        match (self, ty.to_string().as_str()) {
            (Self::Ptx, "f32") => Some("f"),
            (Self::Ptx, "f64") => Some("d"),
            (Self::Ptx, "i16") => Some("h"),
            (Self::Ptx, "i32") => Some("r"),
            (Self::Amdgcn, "f32" | "i32") => Some("v"),
            _ => None,
        }
    }

    /// Makes what threads wrote to memory that they share visible to engines, before others say so.
    pub fn show_to_engines(self, b: &mut Builder<'_>) {
        intrinsic(b, "llvm.nvvm.fence.proxy.async.shared_cta", &[], None);
    }

    /// Asks the assembler's scheduler, where it takes advice, to spread the instructions since the last
    /// barrier of a thread evenly behind those of matrices.
    pub fn take_turns(self, b: &mut Builder<'_>, Turns { count, others }: Turns) {
        if self == Self::Ptx {
            return;
        }
        let int = ty::int(b.context(), 32);
        // AMDGPU's kinds of instructions: of matrices; sums, and what asks the two memories.
        let (matrix, rest) = (0x8, 0x6 | 0x80 | 0x10);
        for _ in 0..count {
            for (kind, most) in [(matrix, 1), (rest, others.max(1) as i64)] {
                let [kind, most, list] = [kind, most, 0].map(|n| b.integer(int, n));
                intrinsic(b, "llvm.amdgcn.sched.group.barrier", &[kind, most, list], None);
            }
        }
    }

    /// Whether what this thread issues comes before what others do that are at its part of the unit, where that can be
    /// said.
    pub fn comes_first(self, b: &mut Builder<'_>, first: bool) {
        if self == Self::Amdgcn {
            let priority = b.integer(ty::int(b.context(), 16), i64::from(first));
            intrinsic(b, "llvm.amdgcn.s.setprio", &[priority], None);
        }
    }

    /// Waits for the threads of a warp, of a block, or of a cluster; of the first `part` of a block, where it
    /// is said. A thread alone waits for nobody, but what it asks of memories stays in order.
    pub fn barrier(self, b: &mut Builder<'_>, scope: Scope, part: Option<u64>) {
        let int = ty::int(b.context(), 32);
        match (self, scope) {
            (Self::Ptx, Scope::Thread) => {
                let context = b.context();
                let attributes = [
                    ("asm_string", attr::of_string(context, "")),
                    ("constraints", attr::of_string(context, "~{memory}")),
                    ("has_side_effects", attr::unit(context)),
                ];
                b.op_with("llvm.inline_asm", &[], &[], &attributes, 0);
            }
            (Self::Amdgcn, Scope::Thread) => {
                fence(b, 6, "singlethread");
                let nothing = b.integer(int, 0);
                intrinsic(b, "llvm.amdgcn.sched.barrier", &[nothing], None);
            }
            (Self::Ptx, Scope::Warp) => {
                let all = b.integer(int, -1);
                intrinsic(b, "llvm.nvvm.bar.warp.sync", &[all], None);
            }
            (Self::Ptx, Scope::Cluster) => {
                intrinsic(b, "llvm.nvvm.barrier.cluster.arrive.aligned", &[], None);
                intrinsic(b, "llvm.nvvm.barrier.cluster.wait.aligned", &[], None);
            }
            (Self::Ptx, _) => match part {
                None => {
                    let first = b.integer(int, 0);
                    intrinsic(b, "llvm.nvvm.barrier.cta.sync.aligned.all", &[first], None);
                }
                // Another one than that of the whole block, where the others wait already.
                Some(threads) => {
                    let [second, threads] = [1, threads as i64].map(|n| b.integer(int, n));
                    let name = "llvm.nvvm.barrier.cta.sync.aligned.count";
                    intrinsic(b, name, &[second, threads], None);
                }
            },
            (Self::Amdgcn, Scope::Warp) => {
                fence(b, 5, "wavefront");
                intrinsic(b, "llvm.amdgcn.wave.barrier", &[], None);
                fence(b, 4, "wavefront");
            }
            (Self::Amdgcn, _) => {
                fence(b, 5, "workgroup");
                intrinsic(b, "llvm.amdgcn.s.barrier", &[], None);
                fence(b, 4, "workgroup");
            }
        }
    }
}

/// A fence of LLVM's ordering number 4, acquire, 5, release, or 6, both.
fn fence(b: &mut Builder<'_>, ordering: i64, scope: &str) {
    let context = b.context();
    let attributes = [
        ("ordering", attr::of_int(context, ordering)),
        ("syncscope", attr::of_string(context, scope)),
    ];
    b.op_with("llvm.fence", &[], &[], &attributes, 0);
}

/// A call of an intrinsic that gives an `i32`.
pub(super) fn word<'c>(b: &mut Builder<'c>, name: &str, operands: &[Val<'c>]) -> Val<'c> {
    let int = ty::int(b.context(), 32);
    intrinsic(b, name, operands, Some(int)).expect("it has a result")
}

pub(super) fn intrinsic<'c>(
    b: &mut Builder<'c>,
    name: &str,
    operands: &[Val<'c>],
    result: Option<Type<'c>>,
) -> Option<Val<'c>> {
    let context = b.context();
    let attributes = [
        ("intrin", attr::of_string(context, name)),
        ("op_bundle_sizes", attr::of_ints32(context, &[])),
        ("operandSegmentSizes", attr::of_ints32(context, &[operands.len() as i32, 0])),
    ];
    let results: Vec<_> = result.into_iter().collect();
    let op = b.op_with("llvm.call_intrinsic", operands, &results, &attributes, 0);
    op.results().first().copied()
}
