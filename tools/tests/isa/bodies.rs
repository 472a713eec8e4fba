//! IM-6. Scalar bodies are the same up to what may change places, and nothing else.

use weft_dialects::ir::context;
use weft_passes::tile::isa::{Bound, Filter, Refusal, mappings};

use super::support::{Kernel, MAC_F32, array, machine, nest, the_machine};

const MAC_F16: &str = "%u = arith.extf %0 : f16 to f32
%v = arith.extf %1 : f16 to f32
%p = arith.mulf %u, %v : f32
%s = arith.addf %2, %p : f32
linalg.yield %s : f32";

/// The first factor by `one`, the second by `other`.
fn mac_i8(one: &str, other: &str) -> String {
    format!(
        "%u = arith.{one} %0 : i8 to i32
%v = arith.{other} %1 : i8 to i32
%p = arith.muli %u, %v : i32
%s = arith.addi %2, %p : i32
linalg.yield %s : i32"
    )
}

/// What the operands of the array are in a product of these types and this body.
fn bound(
    (array_types, array_body): ([&str; 3], &str),
    types: [&str; 3],
    body: &str,
    accuracy: &str,
) -> Result<Vec<Vec<Bound>>, Refusal> {
    let context = context();
    let machine = machine(&context, &array(array_types, accuracy, array_body));
    let ty = |shape: &str, elem: &str| -> &'static str { format!("{shape}x{elem}").leak() };
    let kernel = Kernel {
        axes: "m n +k",
        operands: vec![
            ("m, k", ty("8x16", types[0])),
            ("k, n", ty("16x12", types[1])),
            ("m, n", ty("8x12", types[2])),
        ],
        body: body.to_owned().leak(),
    };
    let module = kernel.module(&context);
    let nest = nest(&module);
    let instruction = the_machine(&machine).instruction("mac").expect("it is there");
    let all = mappings(&instruction, &nest, Filter::Signature)?;
    Ok(all.into_iter().map(|mapping| mapping.binding.operands).collect())
}

const IN_ORDER: [Bound; 3] = [Bound::Operand(0), Bound::Operand(1), Bound::Operand(2)];
const SWAPPED: [Bound; 3] = [Bound::Operand(1), Bound::Operand(0), Bound::Operand(2)];

#[test]
fn im_6_bytes_are_summed_in_32_bits() {
    let signed = mac_i8("extsi", "extsi");
    let array = (["i8", "i8", "i32"], &signed[..]);
    assert_eq!(
        bound(array, ["i8", "i8", "i32"], &signed, ""),
        Ok(vec![IN_ORDER.to_vec(), SWAPPED.to_vec()])
    );
    let refused = bound(array, ["f32"; 3], MAC_F32, "").expect_err("other types");
    assert_eq!(refused.rule(), "body");
}

#[test]
fn im_6_halves_are_summed_in_singles() {
    let array = (["f16", "f16", "f32"], MAC_F16);
    assert_eq!(bound(array, ["f16", "f16", "f32"], MAC_F16, "").map(|all| all.len()), Ok(2));
    // Singles are no halves, and halves summed in halves are none either.
    assert!(bound(array, ["f32"; 3], MAC_F32, "").is_err());
    let halves = MAC_F32.replace("f32", "f16");
    assert!(bound(array, ["f16"; 3], &halves, "").is_err());
}

/// An instruction of unsigned by signed bytes takes each where it belongs, wherever the kernel
/// has it, and never two of one sign.
#[test]
fn im_6_mixed_signs_are_respected() {
    let (us, su) = (mac_i8("extui", "extsi"), mac_i8("extsi", "extui"));
    let types = ["i8", "i8", "i32"];
    assert_eq!(bound((types, &us), types, &us, ""), Ok(vec![IN_ORDER.to_vec()]));
    assert_eq!(bound((types, &us), types, &su, ""), Ok(vec![SWAPPED.to_vec()]));
    for same in [mac_i8("extsi", "extsi"), mac_i8("extui", "extui")] {
        let refused = bound((types, &us), types, &same, "").expect_err("one sign");
        let Refusal::Body { theirs, ours, .. } = &refused else { panic!("{refused}") };
        assert_ne!(theirs, ours, "{refused}");
        assert!(theirs.contains("arith.ext") && ours.contains("arith.ext"), "{refused}");
    }
}

/// Another order of adding is another rounding: only where the instruction says so.
#[test]
fn chains_are_taken_apart_where_order_may_differ() {
    let array_body = "%p = arith.mulf %0, %1 : f32
%q = arith.addf %p, %0 : f32
%s = arith.addf %2, %q : f32
linalg.yield %s : f32";
    let body = "%p = arith.mulf %0, %1 : f32
%q = arith.addf %2, %p : f32
%s = arith.addf %q, %0 : f32
linalg.yield %s : f32";
    let array = (["f32"; 3], array_body);
    assert!(bound(array, ["f32"; 3], body, "").is_err());
    let may = r#"accuracy(["accumulation_order"])"#;
    assert_eq!(bound(array, ["f32"; 3], body, may), Ok(vec![IN_ORDER.to_vec()]));
}

#[test]
fn a_constant_that_is_no_one_is_no_factor() {
    let twice = "%two = arith.constant 2.0 : f32
%p = arith.mulf %0, %1 : f32
%q = arith.mulf %p, %two : f32
%s = arith.addf %2, %q : f32
linalg.yield %s : f32";
    assert!(bound((["f32"; 3], MAC_F32), ["f32"; 3], twice, "").is_err());
}
