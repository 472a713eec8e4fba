//! What of a machine goes to the threads that compile kernels.

use weft_dialects::device::Machine;
use weft_dialects::ir::{self, module_op, parse};

/// Names of the facts of a machine's text that begin with a word.
fn names<'t>(text: &'t str, kind: &str) -> Vec<&'t str> {
    let after = |line: &'t str| line.trim().strip_prefix(kind)?.trim().split([' ', '(']).next();
    text.lines().filter_map(after).collect()
}

#[test]
fn instructions_that_are_named_and_their_engines() {
    let context = ir::context();
    let module = parse(&context, include_str!("../../../devices/h200.mlir")).expect("it parses");
    let machine = Machine::of(module_op(&module)).expect("a machine");
    let carried = |kernels: &str| {
        let text = machine.carry(kernels);
        parse(&context, &text).expect("what is left is a machine");
        let lists = ["device.instruction", "device.engine", "device.memory"];
        lists.map(|kind| names(&text, kind).into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let all = machine.memories().len();
    let [instructions, engines, memories] = carried("");
    assert_eq!((instructions.len(), memories.len()), (0, all));
    let [with, more, _] = carried("// @wgmma_m64n64k16_f16_kn, @mma_m16n8k8_tf32");
    assert_eq!(with, ["@mma_m16n8k8_tf32", "@wgmma_m64n64k16_f16_kn"]);
    let added: Vec<_> = more.iter().filter(|engine| !engines.contains(engine)).collect();
    assert_eq!(added, ["@tensor"]);
}
