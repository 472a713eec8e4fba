//! IM-4, IM-5. What is a product is mapped, what is none is refused with the rule.

use weft_dialects::ir::context;
use weft_passes::tile::isa::{Bound, Filter, Mapping, Refusal, mappings};

use super::support::{Kernel, MAC_F32, array, machine, nest, product, the_machine};

/// A mapping: the axes of the nest that m, n and k are, and what its operands are.
type Found = (Vec<Vec<usize>>, Vec<Bound>);

/// Mappings to a product of 4 x 4 x 4.
fn mapped(kernel: &Kernel) -> Result<Vec<Found>, Refusal> {
    let context = context();
    let machine = machine(&context, &array(["f32"; 3], "", MAC_F32));
    let module = kernel.module(&context);
    let nest = nest(&module);
    let instruction = the_machine(&machine).instruction("mac").expect("it is there");
    let all = mappings(&instruction, &nest, Filter::Signature)?;
    let told = |mapping: Mapping<'_>| (mapping.axes, mapping.binding.operands);
    Ok(all.into_iter().map(told).collect())
}

fn axes(kernel: &Kernel) -> Vec<Vec<Vec<usize>>> {
    mapped(kernel).expect("it is mapped").into_iter().map(|(axes, _)| axes).collect()
}

#[test]
fn im_5_transposed_operands_are_only_laid_out_otherwise() {
    for a in ["m, k", "k, m"] {
        for b in ["k, n", "n, k"] {
            let expected = vec![vec![vec![0], vec![1], vec![2]], vec![vec![1], vec![0], vec![2]]];
            assert_eq!(axes(&product(a, b)), expected);
        }
    }
}

#[test]
fn im_5_batches_are_loops_around() {
    let kernel = Kernel {
        axes: "b m n +k",
        operands: vec![
            ("b, m, k", "3x8x16xf32"),
            ("b, k, n", "3x16x8xf32"),
            ("b, m, n", "3x8x8xf32"),
        ],
        body: MAC_F32,
    };
    assert!(axes(&kernel).contains(&vec![vec![1], vec![2], vec![3]]));
    assert!(axes(&kernel).iter().all(|axes| !axes.concat().contains(&0)));
}

#[test]
fn im_5_a_vector_is_one_column() {
    let kernel = Kernel {
        axes: "m +k",
        operands: vec![("m, k", "8x16xf32"), ("k", "16xf32"), ("m", "8xf32")],
        body: MAC_F32,
    };
    assert!(axes(&kernel).contains(&vec![vec![0], vec![], vec![1]]));
}

#[test]
fn im_5_a_dot_product_is_one_sum() {
    let kernel = Kernel {
        axes: "+k",
        operands: vec![("k", "16xf32"), ("k", "16xf32"), ("", "f32")],
        body: MAC_F32,
    };
    assert!(axes(&kernel).contains(&vec![vec![], vec![], vec![0]]));
}

/// Nothing is summed: the product starts with zeros and one step is used.
#[test]
fn im_5_an_outer_product_starts_with_nothing() {
    let kernel = Kernel {
        axes: "m n",
        operands: vec![("m", "8xf32"), ("n", "12xf32"), ("m, n", "8x12xf32")],
        body: "%p = arith.mulf %0, %1 : f32\nlinalg.yield %p : f32",
    };
    assert!(axes(&kernel).contains(&vec![vec![0], vec![1], vec![]]));
}

/// A sum is a product with ones.
#[test]
fn im_5_a_sum_is_a_product_with_ones() {
    let kernel = Kernel {
        axes: "m +k",
        operands: vec![("m, k", "8x16xf32"), ("m", "8xf32")],
        body: "%s = arith.addf %1, %0 : f32\nlinalg.yield %s : f32",
    };
    let all = mapped(&kernel).expect("it is mapped");
    let ones = vec![Bound::Operand(0), Bound::One, Bound::Operand(1)];
    assert!(all.contains(&(vec![vec![0], vec![], vec![1]], ones)), "{all:?}");
}

#[test]
fn im_5_what_is_no_product_is_refused() {
    let maximum = Kernel {
        axes: "m +k",
        operands: vec![("m, k", "8x16xf32"), ("m", "8xf32")],
        body: "%s = arith.maximumf %1, %0 : f32\nlinalg.yield %s : f32",
    };
    let refused = mapped(&maximum).expect_err("a maximum is no sum");
    assert_eq!(
        refused.to_string(),
        "@mac means another body [body: it has arith.addf on f32, the kernel arith.maximumf on f32]"
    );
    let pointwise = Kernel {
        axes: "i j",
        operands: vec![("i, j", "8x16xf32"), ("i, j", "8x16xf32"), ("i, j", "8x16xf32")],
        body: MAC_F32,
    };
    let refused = mapped(&pointwise).expect_err("no axis is shared by two");
    assert_eq!(
        refused.to_string(),
        "no axis of the nest moves along the operands as one of @mac [signature: it has d0 ac, \
         d1 bc, d2 ab+, the kernel axis 0 abc, axis 1 abc]"
    );
}

/// conv2d of every channel by itself, and of every point by itself.
#[test]
fn im_4_depthwise_is_refused_and_pointwise_is_not() {
    let depthwise = Kernel {
        axes: "c h w +r +s",
        operands: vec![
            ("c, h + r, w + s", "8x10x10xf32"),
            ("c, r, s", "8x3x3xf32"),
            ("c, h, w", "8x8x8xf32"),
        ],
        body: MAC_F32,
    };
    let refused = mapped(&depthwise).expect_err("channels are by themselves");
    assert_eq!(refused.rule(), "depthwise");
    let said = refused.to_string();
    assert!(said.contains("axis 0 moves along every operand"), "{said}");
    let pointwise = Kernel {
        axes: "f h w +c",
        operands: vec![("c, h, w", "8x8x8xf32"), ("f, c", "16x8xf32"), ("f, h, w", "16x8x8xf32")],
        body: MAC_F32,
    };
    assert!(axes(&pointwise).contains(&vec![vec![1, 2], vec![0], vec![3]]));
}

#[test]
fn coordinates_and_computed_addresses_are_refused() {
    let kernel = Kernel {
        axes: "m n +k",
        operands: vec![("m, k", "8x16xf32"), ("k, n", "16x8xf32"), ("m, n", "8x8xf32")],
        body: "%i = linalg.index 0 : index
%j = arith.index_cast %i : index to i32
%f = arith.sitofp %j : i32 to f32
%p = arith.mulf %0, %1 : f32
%q = arith.mulf %p, %f : f32
%s = arith.addf %2, %q : f32
linalg.yield %s : f32",
    };
    assert_eq!(mapped(&kernel).expect_err("coordinates").rule(), "coordinates");
}
