//! Operators in few words, and the machines that they are tiled for.

use weft_dialects::device::Machine;
use weft_dialects::ir::{Context, Type, context, module_op, parse};
use weft_passes::tile::roller::{Arch, Axis, Candidate, Dim, Operator, Tensor};

pub const V100: &str = include_str!("../../../devices/golden/v100.mlir");
pub const K80: &str = include_str!("../../../devices/golden/k80.mlir");
pub const MI50: &str = include_str!("../../../devices/golden/mi50.mlir");

/// The view of a machine for operators on `f32`.
pub fn arch(text: &str) -> Arch {
    with_machine(text, |machine, context| Arch::of(machine, Type::float32(context)))
        .expect("the machine has what tiles ask for")
}

/// Calls with a machine of a text.
pub fn with_machine<T>(text: &str, call: impl FnOnce(Machine<'_>, &Context) -> T) -> T {
    let context = context();
    let module = parse(&context, text).expect("the machine parses");
    let machine = Machine::of(module_op(&module)).expect("there is a machine");
    assert!(module_op(&module).verify(), "the machine is a right one");
    call(machine, &context)
}

/// An axis with an extent; reductions come last.
pub fn axes(spatial: &[u64], reductions: &[u64]) -> Vec<Axis> {
    let axis = |(at, &extent): (usize, &u64), reduction| Axis {
        name: format!("a{at}"),
        extent,
        reduction,
    };
    let outer = spatial.iter().enumerate().map(|axis_of| axis(axis_of, false));
    let inner = reductions.iter().enumerate();
    outer.chain(inner.map(|(at, extent)| axis((at + spatial.len(), extent), true))).collect()
}

/// A tensor of `f32` whose dimensions are sums of axes times numbers, with a border.
pub fn tensor(axes: &[Axis], dims: &[(&[(usize, i64)], u64)]) -> Tensor {
    let dim = |(terms, border): &(&[(usize, i64)], u64)| {
        let mut steps = vec![0; axes.len()];
        for &(axis, step) in *terms {
            steps[axis] = step;
        }
        let reach: i64 =
            steps.iter().zip(axes).map(|(step, axis)| step * (axis.extent as i64 - 1)).sum();
        Dim { steps, extent: (reach + 1) as u64 - 2 * border, border: *border }
    };
    Tensor { dims: dims.iter().map(dim).collect(), elem_bytes: 4 }
}

/// `C[m, n] += A[m, k] * B[k, n]`.
pub fn matmul(m: u64, n: u64, k: u64) -> Operator {
    let axes = axes(&[m, n], &[k]);
    let of = |first, second| tensor(&axes, &[(&[(first, 1)], 0), (&[(second, 1)], 0)]);
    Operator { inputs: vec![of(0, 2), of(2, 1)], output: of(0, 1), axes }
}

/// Block tile and the spatial sizes of the register tile, as the tables write them.
pub fn shapes(candidates: &[Candidate], spatial: usize) -> Vec<(Vec<u64>, Vec<u64>)> {
    let shape = |found: &Candidate| (found.block.clone(), found.registers[..spatial].to_vec());
    candidates.iter().map(shape).collect()
}
