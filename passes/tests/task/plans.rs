//! What a plan holds, and what `task-check-order` finds.

use weft_dialects::device::Machine;
use weft_dialects::ir::{context, module_op, parse, ty};
use weft_passes::task::{check_order, plan};

use crate::graphs::{Kernel, MACHINE};
use crate::program;

#[test]
fn a_missing_token_is_found() {
    let context = context();
    let text = format!(
        "{MACHINE}{}{}",
        Kernel::Flat { tile: 16 }.text("k"),
        r#"task.program @p on @core units 2 arena 256 : (tensor<64xf32>) -> tensor<64xf32> {
  %x = task.input 0 "x" : memref<64xf32>
  %y = task.output 0 "y" : memref<64xf32>
  %b = task.buffer at 0 in @dram : memref<64xf32>
  %t0 = task.range "a" @k[0 to 2] on 0(%x, %b) after() : memref<64xf32>, memref<64xf32>
  %t1 = task.range "a" @k[2 to 4] on 1(%x, %b) after() : memref<64xf32>, memref<64xf32>
  %t2 = task.range "b" @k[1 to 3] on 1(%b, %y) after(%t1) : memref<64xf32>, memref<64xf32>
}"#
    );
    let module = parse(&context, &text).expect("the program parses");
    let program = program(&module);
    let checked =
        check_order::check(&context, module_op(&module), &program).expect("it is checked");
    let found: Vec<_> =
        checked.unordered.iter().map(|pair| (pair.earlier.begin, pair.later.name)).collect();
    assert_eq!(found, [(0, "b")]);
}

/// The sizes of buffers come from types, dtypes from the signature.
#[test]
fn ports_keep_the_types_of_callers() {
    let context = context();
    let text = format!(
        "{MACHINE}{}",
        r#"task.program @p on @core units 1 arena 0 : (tensor<3xui8>, tensor<2xi1>) -> tensor<4xbf16> {
  %z = task.input 1 "z" : memref<2xi8>
  %x = task.input 0 "x" : memref<3xi8>
  %y = task.output 0 "y" : memref<4xbf16>
}"#
    );
    let module = parse(&context, &text).expect("the program parses");
    let machine = Machine::of(module_op(&module)).expect("there is a machine");
    let planned = plan(&program(&module), machine).expect("the program has a plan");
    let ports: Vec<_> = planned.plan.inputs.iter().chain(&planned.plan.outputs).collect();
    let shown: Vec<_> = ports.iter().map(|port| (port.name.as_str(), port.dtype.name())).collect();
    assert_eq!(shown, [("x", "uint8"), ("z", "bool"), ("y", "bfloat16")]);
    assert_eq!(ty::count(program(&module).input_types[0]), Some(3));
}
