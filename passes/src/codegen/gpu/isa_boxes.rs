//! How threads have an engine bring boxes, by words that count bytes and arrivals; and who asks for them: blocks of a
//! cluster together, and threads that give registers to others.

use melior::dialect::llvm::r#type as llvm;
use weft_dialects::ir::{Builder, Val, ty};

use super::isa::{Isa, REGISTER_BYTES, intrinsic, word};

impl Isa {
    /// Blocks of a cluster, at most: which of them get a box is a mask of 16 bits.
    pub fn most_blocks_of_cluster(self) -> u64 {
        if self == Self::Ptx { 16 } else { 1 }
    }

    /// The block's number in its cluster, an `i32`.
    pub fn block_of_cluster<'c>(self, b: &mut Builder<'c>) -> Val<'c> {
        word(b, "llvm.nvvm.read.ptx.sreg.cluster.ctarank", &[])
    }

    /// Returns whether threads can have an engine bring boxes of tensors, by barriers that count bytes.
    pub fn brings_boxes(self) -> bool {
        self == Self::Ptx
    }

    /// Makes a word that a block shares a barrier of so many arrivals, and of bytes that it is told to expect.
    pub fn make_barrier<'c>(self, b: &mut Builder<'c>, barrier: Val<'c>, arrivals: u64) {
        let arrivals = b.integer(ty::int(b.context(), 32), arrivals as i64);
        intrinsic(b, "llvm.nvvm.mbarrier.init.shared", &[barrier, arrivals], None);
    }

    /// Arrives at a barrier.
    pub fn arrive<'c>(self, b: &mut Builder<'c>, barrier: Val<'c>) {
        let long = ty::int(b.context(), 64);
        intrinsic(b, "llvm.nvvm.mbarrier.arrive.shared", &[barrier], Some(long));
    }

    /// Makes such barriers visible to engines, before others say so.
    pub fn show_barriers(self, b: &mut Builder<'_>) {
        intrinsic(b, "llvm.nvvm.fence.mbarrier_init.release.cluster", &[], None);
    }

    /// Arrives at a barrier, whose phase ends when so many bytes have come.
    pub fn expect_bytes<'c>(self, b: &mut Builder<'c>, barrier: Val<'c>, bytes: u64) {
        let (int, long) = (ty::int(b.context(), 32), ty::int(b.context(), 64));
        let bytes = b.integer(int, bytes as i64);
        let name = "llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta";
        intrinsic(b, name, &[barrier, bytes], Some(long));
    }

    /// Begins a box of the tensor of a descriptor from a place on, the fastest dimension first: to a pointer of
    /// memory that a block shares, with the barrier that counts its bytes; both in each of so many blocks of the
    /// cluster.
    pub fn bring_box<'c>(
        self,
        b: &mut Builder<'c>,
        [to, barrier]: [Val<'c>; 2],
        descriptor: Val<'c>,
        at: &[Val<'c>],
        blocks: u64,
    ) {
        let context = b.context();
        let [bit, half, int, long] = [1, 16, 32, 64].map(|bits| ty::int(context, bits));
        let cluster = llvm::pointer(context, 7);
        let to = b.op("llvm.addrspacecast", &[to], &[cluster]).result(0);
        let [no, hint, group] = [bit, long, int].map(|ty| b.integer(ty, 0));
        let (several, mask) = match blocks {
            1 => (0, 0),
            blocks => (1, i64::from(((1u32 << blocks) - 1) as i16)),
        };
        let (several, mask) = (b.integer(bit, several), b.integer(half, mask));
        let operands: Vec<_> = [to, barrier, descriptor]
            .into_iter()
            .chain(at.iter().copied())
            .chain([mask, hint, several, no, group])
            .collect();
        let name = format!("llvm.nvvm.cp.async.bulk.tensor.g2s.tile.{}d", at.len());
        intrinsic(b, &name, &operands, None);
    }

    /// Returns whether a barrier's phase of a parity, an `i32`, is over; waits some time for it.
    pub fn is_phase_over<'c>(
        self,
        b: &mut Builder<'c>,
        barrier: Val<'c>,
        parity: Val<'c>,
    ) -> Val<'c> {
        let bit = ty::int(b.context(), 1);
        let name = "llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta";
        intrinsic(b, name, &[barrier, parity], Some(bit)).expect("it has a result")
    }

    /// Has so many bytes of registers in each thread of a group from here on: more than before, which others give, or less.
    pub fn take_registers(self, b: &mut Builder<'_>, bytes: u64, more: bool) {
        let count = b.integer(ty::int(b.context(), 32), (bytes / REGISTER_BYTES) as i64);
        let how = if more { "inc" } else { "dec" };
        intrinsic(b, &format!("llvm.nvvm.setmaxnreg.{how}.sync.aligned.u32"), &[count], None);
    }
}
