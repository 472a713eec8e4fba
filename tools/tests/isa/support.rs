//! Kernels from a few words, and machines from their files.

use std::path::Path;

use weft_dialects::device::Machine;
use weft_dialects::ir::{Context, Module, module_op, parse};
use weft_passes::device::load_machine::generalise;
use weft_passes::nest::{Nest, read_kernel};

/// A file beside the tests, or of the repository.
pub fn file(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join(path)).expect("the file is there")
}

/// A machine's text as a module.
pub fn machine<'c>(context: &'c Context, text: &str) -> Module<'c> {
    let mut module = parse(context, text).expect("the machine is read");
    generalise(context, &mut module).expect("its meanings are nests");
    assert!(module_op(&module).verify(), "the machine is sound");
    module
}

pub fn the_machine<'c>(module: &'c Module<'c>) -> Machine<'c> {
    Machine::of(module_op(module)).expect("a machine")
}

/// One kernel in words.
pub struct Kernel {
    /// `m n +k`: axes, the sums marked.
    pub axes: &'static str,
    /// `m, k: 8x16xf32`: indices and type of every operand, the result last.
    pub operands: Vec<(&'static str, &'static str)>,
    /// Operations on `%0`, `%1` … and the last one to yield.
    pub body: &'static str,
}

impl Kernel {
    pub fn module<'c>(&self, context: &'c Context) -> Module<'c> {
        let axes: Vec<&str> = self.axes.split(' ').collect();
        let names: Vec<&str> = axes.iter().map(|axis| axis.trim_start_matches('+')).collect();
        let kinds: Vec<&str> = axes
            .iter()
            .map(|axis| if axis.starts_with('+') { "\"reduction\"" } else { "\"parallel\"" })
            .collect();
        let maps: Vec<String> = self
            .operands
            .iter()
            .map(|(index, _)| format!("affine_map<({}) -> ({index})>", names.join(", ")))
            .collect();
        let types: Vec<String> =
            self.operands.iter().map(|(_, ty)| format!("tensor<{ty}>")).collect();
        let elems: Vec<&str> =
            self.operands.iter().map(|(_, ty)| ty.rsplit('x').next().unwrap_or(ty)).collect();
        let (out, ins) = types.split_last().expect("a result");
        let args: Vec<String> =
            types.iter().enumerate().map(|(at, ty)| format!("%x{at}: {ty}")).collect();
        let inputs: Vec<String> = (0..ins.len()).map(|at| format!("%x{at}")).collect();
        let scalars: Vec<String> =
            elems.iter().enumerate().map(|(at, ty)| format!("%{at}: {ty}")).collect();
        let body: Vec<String> = self.body.lines().map(|line| line.trim().to_owned()).collect();
        let text = format!(
            "tile.kernel @k {{\n^bb0({args}):\n  %r = linalg.generic {{indexing_maps = [{maps}], \
             iterator_types = [{kinds}]}} ins({inputs} : {ins}) outs(%x{last} : {out}) {{\n  \
             ^bb1({scalars}):\n{body}\n  }} -> {out}\n  tile.yield %r : {out}\n}}",
            args = args.join(", "),
            maps = maps.join(", "),
            kinds = kinds.join(", "),
            inputs = inputs.join(", "),
            ins = ins.join(", "),
            last = ins.len(),
            scalars = scalars.join(", "),
            body = body.join("\n"),
        );
        parse(context, &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

pub fn nest<'c>(module: &'c Module<'c>) -> Nest<'c> {
    read_kernel(module_op(module).body(0).expect("a body").ops()[0]).expect("a nest")
}

pub const MAC_F32: &str = "%p = arith.mulf %0, %1 : f32
%s = arith.addf %2, %p : f32
linalg.yield %s : f32";

/// A product, whose operands lie in this order of axes.
pub fn product(a: &'static str, b: &'static str) -> Kernel {
    let shape = |index: &str| match index {
        "m, k" => "48x80xf32",
        "k, m" => "80x48xf32",
        "k, n" => "80x64xf32",
        _ => "64x80xf32",
    };
    Kernel {
        axes: "m n +k",
        operands: vec![(a, shape(a)), (b, shape(b)), ("m, n", "48x64xf32")],
        body: MAC_F32,
    }
}

/// A machine with one product of 4 x 4 x 4, of these types and this body.
pub fn array(types: [&str; 3], accuracy: &str, body: &str) -> String {
    let [a, b, c] = types;
    format!(
        r#"
device.machine @array arch("array") features([]) {{
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes(65536) bytes_per_cycle(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad bytes_per_cycle(16) strided fills
  device.move @out from @spad to @dram bytes_per_cycle(16) strided
  device.instruction @mac on @core operands([@spad, @spad, @spad]) issue_cycles(1.0) latency_cycles(8) {accuracy}
  meaning {{
  ^bb0(%x: tensor<4x4x{a}>, %y: tensor<4x4x{b}>, %z: tensor<4x4x{c}>):
    %d = linalg.generic {{
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    }} ins(%x, %y : tensor<4x4x{a}>, tensor<4x4x{b}>) outs(%z : tensor<4x4x{c}>) {{
    ^bb0(%0: {a}, %1: {b}, %2: {c}):
      {body}
    }} -> tensor<4x4x{c}>
    device.yield %d : tensor<4x4x{c}>
  }} lowering {{
  ^bb0(%x: index, %y: index, %z: index):
    device.yield
  }}
}}
"#
    )
}
