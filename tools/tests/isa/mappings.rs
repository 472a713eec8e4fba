//! IM-3. Convolutions have as many mappings to a product as one counts by hand.

use weft_dialects::ir::context;
use weft_passes::tile::isa::{Filter, Mapping, Reach, mappings, reach};

use super::support::{Kernel, MAC_F32, array, machine, nest, the_machine};

/// One-, two- and three-dimensional convolutions: image, filter, result.
fn convolutions() -> [Kernel; 3] {
    [
        Kernel {
            axes: "n w co +ci +s",
            operands: vec![
                ("n, ci, w + s", "2x8x8xf32"),
                ("co, ci, s", "16x8x3xf32"),
                ("n, co, w", "2x16x6xf32"),
            ],
            body: MAC_F32,
        },
        Kernel {
            axes: "n h w co +ci +r +s",
            operands: vec![
                ("n, ci, h + r, w + s", "2x8x8x8xf32"),
                ("co, ci, r, s", "16x8x3x3xf32"),
                ("n, co, h, w", "2x16x6x6xf32"),
            ],
            body: MAC_F32,
        },
        Kernel {
            axes: "n d h w co +ci +q +r +s",
            operands: vec![
                ("n, ci, d + q, h + r, w + s", "2x8x8x8x8xf32"),
                ("co, ci, q, r, s", "16x8x3x3x3xf32"),
                ("n, co, d, h, w", "2x16x6x6x6xf32"),
            ],
            body: MAC_F32,
        },
    ]
}

/// How many mappings have the image as operand a, and how many as operand b: products
/// commute, so each is there twice.
fn count(kernel: &Kernel, filter: Filter) -> [usize; 2] {
    let context = context();
    let machine = machine(&context, &array(["f32"; 3], "", MAC_F32));
    let module = kernel.module(&context);
    let nest = nest(&module);
    let instruction = the_machine(&machine).instruction("mac").expect("it is there");
    let all = mappings(&instruction, &nest, filter).expect("mappings");
    let image = |mapping: &&Mapping<'_>| mapping.binding.plain().expect("plain")[0] == 0;
    let (one, other): (Vec<_>, Vec<_>) = all.iter().partition(image);
    [one.len(), other.len()]
}

#[test]
fn im_3_conv2d_has_49_mappings_by_signature() {
    // {n, h, w} -> m and {ci, r, s} -> k: 7 sets each.
    assert_eq!(count(&convolutions()[1], Filter::Signature), [49, 49]);
}

/// The filter: no axis of a window is summed alone, so {r} and {s} are no k, {r, s} is.
#[test]
fn im_3_with_no_window_axis_alone_on_k() {
    let [one, two, three] = convolutions();
    assert_eq!(count(&one, Filter::NoLoneWindow), [6, 6]);
    assert_eq!(count(&two, Filter::NoLoneWindow), [35, 35]);
    assert_eq!(count(&three, Filter::NoLoneWindow), [180, 180]);
}

#[test]
fn im_3_windows_overlap_where_both_parts_of_a_sum_are_inside() {
    let context = context();
    let machine = machine(&context, &array(["f32"; 3], "", MAC_F32));
    let module = convolutions()[1].module(&context);
    let nest = nest(&module);
    let instruction = the_machine(&machine).instruction("mac").expect("it is there");
    let all = mappings(&instruction, &nest, Filter::Signature).expect("mappings");
    let of = |m: &[usize], k: &[usize]| {
        let found = all.iter().find(|mapping| mapping.axes == [m.to_vec(), vec![3], k.to_vec()]);
        reach(&nest, found.expect("a mapping"), 0)
    };
    assert_eq!(of(&[0], &[4]), Reach::Strided);
    assert_eq!(of(&[2], &[4]), Reach::Shifted);
    assert_eq!(of(&[2], &[4, 5]), Reach::Shifted);
    assert_eq!(of(&[1, 2], &[4, 5, 6]), Reach::Gathered);
}
