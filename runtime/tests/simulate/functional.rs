//! What programs compute.

use weft_runtime::simulate::Code;

use crate::toy::*;

/// Code goes through its encoding, as in an artifact.
fn through_bytes(code: &Code) -> Code {
    let bytes = postcard::to_stdvec(code).expect("plain data");
    postcard::from_bytes(&bytes).expect("what was written")
}

#[test]
fn two_units_multiply_three_matrices() {
    let code = through_bytes(&code());
    let inputs = [numbers(256, 1), numbers(256, 2), numbers(256, 3)];
    let plan = plan();
    assert_eq!(plan.validate(), Ok(()));
    let y = run(&code, &plan, &inputs).unwrap_or_else(|error| panic!("{error}"));
    let h = multiplied(&inputs[0], &inputs[1], 16);
    assert_eq!(y[0], multiplied(&h, &inputs[2], 16));
}
