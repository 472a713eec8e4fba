//! Speed of the interpreter on the nests that matter: `cargo bench -p weft-runtime --bench vm`.

use std::time::Instant;

use weft_runtime::vm::{Access, BinaryOp, CastOp, Inst, Nest, Program, Scalar, Stmt, Ty, UnaryOp};

fn main() {
    statements();
    matmul(512, 512, 512, "matmul 512x512x512, B by rows");
    matmul_transposed(512, 512, 512, "matmul 512x512x512, B by columns");
    matmul(1, 1, 1 << 22, "dot product of 4 Mi");
    matmul(1, 1000, 2048, "vector by matrix 2048x1000");
    matmul_transposed(1, 1000, 2048, "vector by matrix 1000x2048 transposed");
    conv(64, 64, 56, 3, 1);
    conv(512, 512, 7, 3, 1);
    conv(64, 3, 112, 7, 2);
    permute([1024, 1024, 25], [1, 0, 2], Ty::F32);
    permute([1, 5120, 5120], [0, 2, 1], Ty::F32);
    permute([1, 5120, 5120], [0, 2, 1], Ty::F16);
    permute([1600, 16, 1024], [0, 2, 1], Ty::F32);
    elementwise("add f32", |n, x| n.inst(Inst::binary(BinaryOp::AddF, x, x)));
    elementwise("exp f32", |n, x| n.inst(Inst::unary(UnaryOp::Exp, x)));
    elementwise("tanh f32", |n, x| n.inst(Inst::unary(UnaryOp::Tanh, x)));
    elementwise("erf f32", |n, x| n.inst(Inst::unary(UnaryOp::Erf, x)));
    elementwise("to f16 and back", |n, x| {
        let half = n.inst(Inst::cast(CastOp::TruncF, Ty::F16, x));
        n.inst(Inst::cast(CastOp::ExtF, Ty::F32, half))
    });
}

/// Statements over single elements, as element-wise control flow needs them.
fn statements() {
    let mut program = Program::default();
    let (count, counter) = (program.tensor(Ty::I64, 1), program.tensor(Ty::Index, 1));
    let mut set = Nest::parallel(&[]);
    let rounds = set.inst(Inst::Const(Scalar::int(Ty::I64, 1_000_000)));
    set.store(Access::new(count, 0, &[]), rounds);
    program.push(set);
    let sum = program.output(Ty::I64, 1);
    let mut add = Nest::parallel(&[]);
    let old = add.load(Access::new(sum, 0, &[]));
    let one = add.inst(Inst::Const(Scalar::int(Ty::I64, 1)));
    let new = add.inst(Inst::binary(BinaryOp::AddI, old, one));
    add.store(Access::new(sum, 0, &[]), new);
    program.push(Stmt::Loop { count, counter, body: vec![add.into()] });
    report("a loop of statements over one element", &program, 1e6, "M statements/s");
}

/// Runs a program three times and reports the best rate.
fn report(name: &str, program: &Program, work: f64, unit: &str) {
    let inputs: Vec<Vec<u8>> = program
        .inputs
        .iter()
        .map(|&id| {
            let t = program.tensors[id as usize];
            // Not zeros: elementary functions have shortcuts for them.
            0.37f32.to_le_bytes().repeat((t.len as usize * t.ty.bytes()).div_ceil(4))
        })
        .collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let prepared = program.prepare().expect("a valid program");
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        prepared.run(&inputs).expect("runs");
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:45} {:9.2} ms {:9.1} {unit}", best * 1e3, work / best / 1e6);
}

fn multiply(program: &mut Program, mut nest: Nest, c: Access, a: Access, b: Access) {
    let acc = nest.load(c.clone());
    let (x, y) = (nest.load(a), nest.load(b));
    let product = nest.inst(Inst::binary(BinaryOp::MulF, x, y));
    let sum = nest.inst(Inst::binary(BinaryOp::AddF, acc, product));
    nest.store(c, sum);
    program.push(nest);
}

fn matmul(m: u64, n: u64, k: u64, name: &str) {
    gemm([m, n, k], [n as i64, 1], name);
}

fn matmul_transposed(m: u64, n: u64, k: u64, name: &str) {
    gemm([m, n, k], [1, k as i64], name);
}

fn gemm([m, n, k]: [u64; 3], [bk, bn]: [i64; 2], name: &str) {
    let mut program = Program::default();
    let (a, b) = (program.input(Ty::F32, m * k), program.input(Ty::F32, k * n));
    let c = program.output(Ty::F32, m * n);
    let nest = Nest::new(&[m, n, k], &[true, true, false]);
    let c = Access::new(c, 0, &[n as i64, 1, 0]);
    multiply(
        &mut program,
        nest,
        c,
        Access::new(a, 0, &[k as i64, 0, 1]),
        Access::new(b, 0, &[0, bn, bk]),
    );
    report(name, &program, (m * n * k) as f64, "M mul-adds/s");
}

fn conv(f: u64, c: u64, size: u64, window: u64, stride: i64) {
    let wide = (size - 1) * stride as u64 + window;
    let mut program = Program::default();
    let x = program.input(Ty::F32, c * wide * wide);
    let w = program.input(Ty::F32, f * c * window * window);
    let y = program.output(Ty::F32, f * size * size);
    let nest =
        Nest::new(&[f, size, size, c, window, window], &[true, true, true, false, false, false]);
    let (wide, k, s) = (wide as i64, window as i64, size as i64);
    let y = Access::new(y, 0, &[s * s, s, 1, 0, 0, 0]);
    let x = Access::new(x, 0, &[0, stride * wide, stride, wide * wide, wide, 1]);
    let w = Access::new(w, 0, &[c as i64 * k * k, 0, 0, k * k, k, 1]);
    multiply(&mut program, nest, y, x, w);
    let work = (f * size * size * c * window * window) as f64;
    report(
        &format!("conv {c} to {f}, {size}x{size}, window {window}, stride {stride}"),
        &program,
        work,
        "M mul-adds/s",
    );
}

fn permute(shape: [u64; 3], order: [usize; 3], ty: Ty) {
    let len = shape.iter().product::<u64>();
    let mut program = Program::default();
    let (x, y) = (program.input(ty, len), program.output(ty, len));
    let from = [shape[1] * shape[2], shape[2], 1];
    let extents = order.map(|i| shape[i]);
    let mut nest = Nest::parallel(&extents);
    let r = nest.load(Access::new(x, 0, &order.map(|i| from[i] as i64)));
    let to = [extents[1] * extents[2], extents[2], 1];
    nest.store(Access::new(y, 0, &to.map(|s| s as i64)), r);
    program.push(nest);
    let bytes = len as f64 * ty.bytes() as f64;
    report(&format!("permute {shape:?} to {order:?}, {ty}"), &program, bytes, "MB/s");
}

fn elementwise(name: &str, body: impl Fn(&mut Nest, u32) -> u32) {
    let len = 1 << 22;
    let mut program = Program::default();
    let (x, y) = (program.input(Ty::F32, len), program.output(Ty::F32, len));
    let mut nest = Nest::parallel(&[len]);
    let r = nest.load(Access::new(x, 0, &[1]));
    let r = body(&mut nest, r);
    nest.store(Access::new(y, 0, &[1]), r);
    program.push(nest);
    report(name, &program, len as f64, "M elements/s");
}
