//! Products with packed weights, and of operands in another order.

use crate::net::{Arg, Draw, Node, absent, bytes, check, float, floats, int, ints, refused};

/// What a product with weights of a few bits is told.
struct Packed {
    depth: usize,
    columns: usize,
    bits: usize,
    block: usize,
}

impl Packed {
    fn blocks(&self) -> usize {
        self.depth.div_ceil(self.block)
    }

    /// Bytes of a block.
    fn blob(&self) -> usize {
        self.block * self.bits / 8
    }

    /// Bytes of the zero points of a column.
    fn zeros(&self) -> usize {
        (self.blocks() * self.bits).div_ceil(8)
    }

    fn attributes(&self) -> Vec<weft_onnx::proto::AttributeProto> {
        vec![
            int("K", self.depth as i64),
            int("N", self.columns as i64),
            int("bits", self.bits as i64),
            int("block_size", self.block as i64),
            int("accuracy_level", 4),
        ]
    }

    /// The number of `bits` bits at a place of packed bytes.
    fn at(&self, packed: &[u8], place: usize) -> f64 {
        let first = place * self.bits;
        let mask = (1u32 << self.bits) - 1;
        f64::from(u32::from(packed[first / 8]) >> (first % 8) & mask)
    }

    /// The product of `rows` rows, with the zero point of a column's block given.
    fn product(
        &self,
        (a, w, scales): (&[f32], &[u8], &[f32]),
        zero: impl Fn(usize, usize) -> f64,
        bias: impl Fn(usize) -> f64,
    ) -> Vec<f64> {
        let mut y = Vec::new();
        for row in a.chunks(self.depth) {
            for n in 0..self.columns {
                let column = &w[n * self.blocks() * self.blob()..];
                let mut sum = bias(n);
                for (k, &x) in row.iter().enumerate() {
                    let block = k / self.block;
                    let scale = f64::from(scales[n * self.blocks() + block]);
                    sum += f64::from(x) * (self.at(column, k) - zero(n, block)) * scale;
                }
                y.push(sum);
            }
        }
        y
    }

    fn shape(&self) -> [i64; 3] {
        [self.columns as i64, self.blocks() as i64, self.blob() as i64]
    }
}

/// A product of three rows, once for each kind of zero points.
fn packed_weights(packed: &Packed) {
    let mut draw = Draw::new(packed.bits as u64);
    let (blocks, columns) = (packed.blocks(), packed.columns);
    let a = draw.floats(3 * packed.depth);
    let w = draw.bytes(columns * blocks * packed.blob());
    let scales = draw.floats(columns * blocks);
    let packed_zeros = draw.bytes(columns * packed.zeros());
    let real_zeros = draw.floats(columns * blocks);
    let bias = draw.floats(columns);
    let attributes = packed.attributes();
    let node = Node("com.microsoft.MatMulNBits", &attributes);
    let each = [columns as i64, blocks as i64];
    let given = |zeros: Arg, more: Vec<Arg>| {
        let first = [
            floats(&[3, packed.depth as i64], &a),
            bytes(&packed.shape(), &w),
            floats(&each, &scales),
            zeros,
        ];
        first.into_iter().chain(more).collect::<Vec<_>>()
    };
    let numbers = (&a[..], &w[..], &scales[..]);
    let middle = f64::from(1 << (packed.bits - 1));
    let y = packed.product(numbers, |_, _| middle, |_| 0.0);
    check(&node, &given(absent(), vec![]), &[y]);
    let own = |n: usize, block: usize| packed.at(&packed_zeros[n * packed.zeros()..], block);
    let y = packed.product(numbers, own, |n| f64::from(bias[n]));
    let zeros = bytes(&[columns as i64, packed.zeros() as i64], &packed_zeros);
    let more = vec![absent(), floats(&[columns as i64], &bias)];
    check(&node, &given(zeros, more), &[y]);
    let own = |n: usize, block: usize| f64::from(real_zeros[n * blocks + block]);
    let y = packed.product(numbers, own, |_| 0.0);
    check(&node, &given(floats(&each, &real_zeros), vec![]), &[y]);
}

#[test]
fn weights_of_four_bits() {
    packed_weights(&Packed { depth: 64, columns: 5, bits: 4, block: 32 });
    // The last block is filled up, and the last zero point has a byte for itself.
    packed_weights(&Packed { depth: 83, columns: 3, bits: 4, block: 32 });
}

#[test]
fn weights_of_two_and_eight_bits() {
    packed_weights(&Packed { depth: 90, columns: 3, bits: 2, block: 16 });
    packed_weights(&Packed { depth: 7, columns: 4, bits: 8, block: 16 });
}

#[test]
fn packed_weights_that_do_not_fit() {
    let packed = Packed { depth: 64, columns: 5, bits: 4, block: 32 };
    let of = |a: &[i64], w: &[i64], groups: Option<Arg>, attributes: &[_], words: &str| {
        let zeros = |dims: &[i64]| vec![0; dims.iter().product::<i64>() as usize];
        let scales = floats(&[5, 2], &[1.0; 10]);
        let mut inputs = vec![floats(a, &vec![0.0; zeros(a).len()]), bytes(w, &zeros(w)), scales];
        inputs.extend(groups.map(|groups| [absent(), groups]).into_iter().flatten());
        refused(&Node("com.microsoft.MatMulNBits", attributes), &inputs, words);
    };
    let told = packed.attributes();
    of(&[3, 60], &[5, 2, 16], None, &told, "64 columns, its K");
    of(&[3, 64], &[5, 2, 8], None, &told, "5x2x16 for its K, N, bits and block_size");
    let with = |name: &str, value: i64| {
        let others = packed.attributes().into_iter().filter(|other| other.name() != name);
        others.chain([int(name, value)]).collect::<Vec<_>>()
    };
    of(&[3, 64], &[5, 2, 16], None, &with("bits", 3), "2, 4 or 8");
    of(&[3, 64], &[5, 2, 16], None, &with("block_size", 24), "a power of two, 16 or more");
    of(&[3, 64], &[5, 2, 16], None, &with("weight_prepacked", 1), "weight_prepacked 0");
    of(&[3, 64], &[5, 2, 16], None, &with("rows", 1), "has no such attribute");
    let other: Vec<_> = (0..64).map(|k| k % 2).collect();
    let groups = Some(ints(&[64], &other).fixed());
    of(
        &[3, 64],
        &[5, 2, 16],
        groups,
        &told,
        "\"g_idx\", which puts rows of the weights in another order",
    );
}

#[test]
fn rows_in_their_order() {
    let packed = Packed { depth: 64, columns: 1, bits: 8, block: 32 };
    let mut draw = Draw::new(9);
    let (a, w, scales) = (draw.floats(64), draw.bytes(64), draw.floats(2));
    let groups: Vec<_> = (0..64).map(|k| k / 32).collect();
    let inputs = [
        floats(&[64], &a),
        bytes(&[1, 2, 32], &w),
        floats(&[1, 2], &scales),
        absent(),
        ints(&[64], &groups).fixed(),
    ];
    let y = packed.product((&a, &w, &scales), |_, _| 128.0, |_| 0.0);
    check(&Node("com.microsoft.MatMulNBits", &packed.attributes()), &inputs, &[y]);
}

#[test]
fn axes_in_another_order() {
    let mut draw = Draw::new(3);
    let (a, b) = (draw.floats(4 * 2 * 3), draw.floats(2 * 5 * 4));
    // A is [k, batch, m], B is [batch, n, k].
    let attributes =
        [int("transA", 1), int("transBatchA", 1), int("transB", 1), float("alpha", 0.5)];
    let mut y = Vec::new();
    for batch in 0..2 {
        for m in 0..3 {
            for n in 0..5 {
                let terms = (0..4).map(|k| {
                    let left = f64::from(a[(k * 2 + batch) * 3 + m]);
                    left * f64::from(b[(batch * 5 + n) * 4 + k])
                });
                y.push(0.5 * terms.sum::<f64>());
            }
        }
    }
    let node = Node("com.microsoft.FusedMatMul", &attributes);
    check(&node, &[floats(&[4, 2, 3], &a), floats(&[2, 5, 4], &b)], &[y]);
    let inputs = [floats(&[4, 2, 3], &a), floats(&[2, 4, 5], &b)];
    refused(&node, &inputs, "as many columns on the left as rows on the right");
}
