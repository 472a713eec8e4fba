//! Compiled kernels against the interpreter, odd shapes first.
//!
//! Every case is a model of one operator, written as text, compiled for a machine,
//! run, and compared with what the interpreter makes of the same payload. Sums and
//! products are taken of small multiples of a quarter: no order of adding and no fused
//! multiply-add rounds them, so the answers have to be equal to the bit. Where elementary
//! functions are, [`close`] says what is allowed.
//!
//! `WEFT_RANDOM_KERNELS=1000` makes the random set that large; `WEFT_SEED` makes
//! it another one.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use weft::{Device, Options, Unit};
use weft_dialects::graph::Model as Graph;
use weft_passes::interpret::run_model;
use weft_runtime::compare::{Tolerance, compare};
use weft_runtime::cpu::check_features;
use weft_runtime::{DType, Model, Tensor};

const EXACT: Tolerance = Tolerance { rtol: 0.0, atol: 0.0 };

/// For chains with elementary functions (4 ulp each) and a sum of `length` numbers of about 1.
fn close(length: usize) -> Tolerance {
    Tolerance { rtol: 1e-5, atol: 1e-6 * length as f64 }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// 1 to `most`, half of the time one beside a multiple of the lanes.
    fn extent(&mut self, most: usize) -> usize {
        const ODD: [usize; 14] = [1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 23, 31, 33, 37];
        let extent = if self.next() & 1 == 0 { ODD[self.below(14)] } else { 1 + self.below(most) };
        extent.min(most)
    }

    fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }
}

/// What a tensor holds.
#[derive(Clone, Copy)]
enum Data {
    /// Multiples of a quarter from -2 to 2; whole numbers from -8 to 8 in integer tensors.
    Quarters,
    /// Any numbers from -4 to 4.
    Smooth,
    /// Whole numbers below this.
    Below(usize),
}

#[derive(Clone)]
struct Value {
    name: String,
    dims: Vec<usize>,
    elem: &'static str,
}

impl Value {
    fn ty(&self) -> String {
        ty(&self.dims, self.elem)
    }
}

fn ty(dims: &[usize], elem: &str) -> String {
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}{elem}>")
}

/// Something to compile and run.
struct Case {
    name: String,
    text: String,
    inputs: Vec<(Value, Data)>,
    tolerance: Tolerance,
}

/// Writes a model of one operator.
#[derive(Default)]
struct Text {
    inputs: Vec<(Value, Data)>,
    constants: Vec<(Value, String)>,
    payload: String,
    values: usize,
}

impl Text {
    fn value(&mut self, dims: &[usize], elem: &'static str) -> Value {
        self.values += 1;
        Value { name: format!("%v{}", self.values), dims: dims.to_vec(), elem }
    }

    fn input(&mut self, dims: &[usize], elem: &'static str, data: Data) -> Value {
        let value = self.value(dims, elem);
        self.inputs.push((value.clone(), data));
        value
    }

    /// A tensor known when compiling, of a few small numbers in turn.
    fn constant(&mut self, dims: &[usize], elem: &'static str) -> Value {
        let value = self.value(dims, elem);
        let mut next = 0;
        let literal = nested(dims, &mut || {
            next = (next * 5 + 3) % 17;
            if elem.starts_with('i') {
                format!("{}", next - 8)
            } else {
                format!("{:.2}", f64::from(next - 8) / 4.0)
            }
        });
        self.constants.push((value.clone(), literal));
        value
    }

    fn empty(&mut self, dims: &[usize], elem: &'static str) -> Value {
        let value = self.value(dims, elem);
        let (name, ty) = (&value.name, value.ty());
        writeln!(self.payload, "    {name} = tensor.empty() : {ty}").expect("a string grows");
        value
    }

    /// A tensor of one number everywhere.
    fn fill(&mut self, dims: &[usize], elem: &'static str, number: &str) -> Value {
        let empty = self.empty(dims, elem);
        let axes: Vec<String> = (0..dims.len()).map(|axis| format!("d{axis}")).collect();
        let axes = axes.join(", ");
        let kinds = "p".repeat(dims.len());
        self.nest(
            &axes,
            &kinds,
            &[],
            (&empty, &axes),
            &format!("%r = arith.constant {number} : {elem}"),
        )
    }

    /// A `linalg.generic`; the body reads `%a`, `%b`, ... and `%o`, and gives `%r`.
    fn nest(
        &mut self,
        axes: &str,
        kinds: &str,
        inputs: &[(&Value, &str)],
        out: (&Value, &str),
        body: &str,
    ) -> Value {
        let result = self.value(&out.0.dims, out.0.elem);
        let maps: Vec<String> = inputs
            .iter()
            .chain([&out])
            .map(|(_, index)| format!("affine_map<({axes}) -> ({index})>"))
            .collect();
        let kinds: Vec<&str> = kinds
            .chars()
            .map(|kind| if kind == 'p' { "\"parallel\"" } else { "\"reduction\"" })
            .collect();
        let names: Vec<&str> = inputs.iter().map(|(value, _)| value.name.as_str()).collect();
        let types: Vec<String> = inputs.iter().map(|(value, _)| value.ty()).collect();
        let ins = match inputs.len() {
            0 => String::new(),
            _ => format!(" ins({} : {})", names.join(", "), types.join(", ")),
        };
        let mut args: Vec<String> = inputs
            .iter()
            .zip('a'..='n')
            .map(|((value, _), letter)| format!("%{letter}: {}", value.elem))
            .collect();
        args.push(format!("%o: {}", out.0.elem));
        write!(
            self.payload,
            "    {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}\
             {ins} outs({out} : {ty}) {{\n    ^bb0({args}):\n      {body}\n      \
             linalg.yield %r : {elem}\n    }} -> {ty}\n",
            result = result.name,
            maps = maps.join(", "),
            kinds = kinds.join(", "),
            out = out.0.name,
            ty = result.ty(),
            args = args.join(", "),
            elem = out.0.elem,
        )
        .expect("a string grows");
        result
    }

    /// A line of payload that gives a tensor; `{r}` is its name, `{t}` its type.
    fn line(&mut self, dims: &[usize], elem: &'static str, line: &str) -> Value {
        let value = self.value(dims, elem);
        let line = line.replace("{r}", &value.name).replace("{t}", &value.ty());
        writeln!(self.payload, "    {line}").expect("a string grows");
        value
    }

    /// What joins the kernel that makes `value` as its epilogue: minus a tensor, plus a number for
    /// each place on the first axis and on the last, and no less than zero.
    fn epilogue(&mut self, value: &Value) -> Value {
        let (elem, rank) = (value.elem, value.dims.len());
        let (_, add, zero) = arithmetic(elem);
        let [sub, most] = match elem.starts_with('i') {
            true => ["arith.subi", "arith.maxsi"],
            false => ["arith.subf", "arith.maximumf"],
        };
        let residual = self.input(&value.dims, elem, Data::Quarters);
        let first = self.input(&value.dims[..1], elem, Data::Quarters);
        let last = self.input(&value.dims[rank - 1..], elem, Data::Quarters);
        let axes = &["i", "j", "k", "l"][..rank];
        let all = axes.join(", ");
        let inputs =
            [(value, &*all), (&residual, &*all), (&first, axes[0]), (&last, axes[rank - 1])];
        let empty = self.empty(&value.dims, elem);
        let body = format!(
            "%p = {sub} %a, %b : {elem}\n      %q = {add} %p, %c : {elem}\n      \
             %s = {add} %q, %d : {elem}\n      %z = arith.constant {zero} : {elem}\n      \
             %r = {most} %s, %z : {elem}"
        );
        self.nest(&all, &"p".repeat(rank), &inputs, (&empty, &all), &body)
    }

    fn finish(self, name: String, result: &Value, tolerance: Tolerance) -> Case {
        let all: Vec<&Value> = self
            .inputs
            .iter()
            .map(|(value, _)| value)
            .chain(self.constants.iter().map(|(value, _)| value))
            .collect();
        let outside = |value: &Value| value.name.replace("%v", "%x");
        let list = |item: &dyn Fn(&Value) -> String, of: &[&Value]| -> String {
            of.iter().map(|value| item(value)).collect::<Vec<_>>().join(", ")
        };
        let given = &all[..self.inputs.len()];
        let mut text = format!(
            "graph.model @model inputs [{}] outputs [\"result\"] {{\n^bb0({}):\n",
            list(&|value| format!("{:?}", &value.name[1..]), given),
            list(&|value| format!("{}: {}", outside(value), value.ty()), given),
        );
        for (value, literal) in &self.constants {
            let (name, ty) = (outside(value), value.ty());
            writeln!(text, "  {name} = graph.constant dense<{literal}> : {ty} -> {ty}")
                .expect("a string grows");
        }
        write!(
            text,
            "  %result = graph.op \"Case\" \"case\"({}) : ({}) -> {ty} {{\n  ^bb0({}):\n{}    \
             graph.yield {} : {ty}\n  }}\n  graph.output %result : {ty}\n}}\n",
            list(&outside, &all),
            list(&Value::ty, &all),
            list(&|value| format!("{}: {}", value.name, value.ty()), &all),
            self.payload,
            result.name,
            ty = result.ty(),
        )
        .expect("a string grows");
        Case { name, text, inputs: self.inputs, tolerance }
    }
}

/// The literal of a dense tensor.
fn nested(dims: &[usize], next: &mut dyn FnMut() -> String) -> String {
    let Some((&first, rest)) = dims.split_first() else { return next() };
    let parts: Vec<String> = (0..first).map(|_| nested(rest, next)).collect();
    format!("[{}]", parts.join(", "))
}

fn bytes(value: &Value, data: Data, random: &mut Random) -> Vec<u8> {
    // 0 to 2 in quarters.
    const HALVES: [u16; 9] = [0, 0x3400, 0x3800, 0x3a00, 0x3c00, 0x3d00, 0x3e00, 0x3f00, 0x4000];
    let mut bytes = Vec::new();
    for _ in 0..value.dims.iter().product::<usize>() {
        let number = match data {
            Data::Quarters => random.below(17) as f64 / 4.0 - 2.0,
            Data::Smooth => (random.next() >> 11) as f64 / (1u64 << 50) as f64 - 4.0,
            Data::Below(limit) => random.below(limit) as f64,
        };
        let whole = if matches!(data, Data::Quarters) { number * 4.0 } else { number } as i64;
        let sign = if number < 0.0 { 0x8000 } else { 0 };
        match value.elem {
            "f64" => bytes.extend(number.to_le_bytes()),
            "f32" => bytes.extend((number as f32).to_le_bytes()),
            "bf16" => bytes.extend(((number as f32).to_bits() >> 16).to_le_bytes().iter().take(2)),
            "f16" => bytes.extend((HALVES[(number.abs() * 4.0) as usize % 9] | sign).to_le_bytes()),
            "i64" => bytes.extend(whole.to_le_bytes()),
            "i32" => bytes.extend((whole as i32).to_le_bytes()),
            "i16" => bytes.extend((whole as i16).to_le_bytes()),
            "i8" => bytes.extend((whole as i8).to_le_bytes()),
            other => unreachable!("no data for {other}"),
        }
    }
    bytes
}

fn run(case: &Case, device: &Device) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let context = weft::context();
    let options = Options { device: device.clone(), jobs: 1, ..Options::default() };
    let mut unit = Unit::from_text(&context, &case.text, options).map_err(|error| said(&error))?;
    let mut random = Random(case.text.len() as u64);
    let inputs: Vec<Vec<u8>> =
        case.inputs.iter().map(|(value, data)| bytes(value, *data, &mut random)).collect();
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let graph = ops.into_iter().find_map(Graph::of).ok_or("the text holds a model")?;
    let mut weights = |_: &str, _: &str| Err("there are no weights".into());
    let expected =
        run_model(graph.op, &inputs, &mut weights, &mut |_, _| {}).map_err(|error| said(&error))?;

    let folder = tempfile::tempdir().map_err(|error| said(&error))?;
    let path = folder.path().join("case.weft");
    unit.write_artifact(&path).map_err(|error| said(&error))?;
    let mut model = Model::load(&path, None).map_err(|error| said(&error))?;
    let mut places = model.output_buffers();
    // What a kernel leaves alone must not pass for zero.
    places.iter_mut().for_each(|place| place.fill(0xa5));
    let given: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let mut refs: Vec<&mut [u8]> = places.iter_mut().map(Vec::as_mut_slice).collect();
    // Twice: the second run finds what the first one left in the buffers.
    for _ in 0..2 {
        model.run(&given, &mut refs).map_err(|error| said(&error))?;
    }
    for ((port, got), expected) in model.plan().outputs.iter().zip(places).zip(expected) {
        let (got, expected) = (Tensor::of_port(port, got), Tensor::of_port(port, expected));
        compare(&port.name, &got, &expected, case.tolerance).map_err(|error| said(&error))?;
    }
    Ok(())
}

/// Runs all cases, on the host's own machine file and on the other one that it can be.
fn check(cases: &[Case]) {
    let avx2 = ["avx2", "fma", "f16c", "bmi2"].map(str::to_owned);
    let mut devices = vec![Device::Host];
    if check_features(&avx2).is_ok() {
        devices.push(Device::Named("x86-avx2".to_owned()));
    }
    check_on(cases, &devices);
}

/// Runs all cases, each on one of the machines.
fn check_on(cases: &[Case], devices: &[Device]) {
    let mut failures = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        // Every second case on the narrower machine, for the time that it takes.
        let device = &devices[number % devices.len()];
        let result = catch_unwind(AssertUnwindSafe(|| run(case, device)));
        match result {
            Ok(Ok(())) => {}
            Ok(Err(error)) => failures.push((case, device, error)),
            Err(_) => failures.push((case, device, "panicked".to_owned())),
        }
    }
    if let Some((case, _, _)) = failures.first() {
        eprintln!("{}", case.text);
    }
    let lines: Vec<String> = failures
        .iter()
        .map(|(case, device, error)| format!("{} on {device:?}: {error}", case.name))
        .collect();
    assert!(lines.is_empty(), "{} of {}\n{}", lines.len(), cases.len(), lines.join("\n"));
}

fn arithmetic(elem: &str) -> (&'static str, &'static str, &'static str) {
    if elem.starts_with('i') {
        ("arith.muli", "arith.addi", "0")
    } else {
        ("arith.mulf", "arith.addf", "0.0")
    }
}

/// `out[i, j] = bias[j] + sum over k of x[i, k] * y[k, j]`, with variations.
#[derive(Clone, Copy, Debug, Default)]
struct Matmul {
    mnk: (usize, usize, usize),
    transposed_x: bool,
    transposed_y: bool,
    bias: bool,
    constant_y: bool,
    epilogue: bool,
}

fn matmul(shape: Matmul, elem: &'static str) -> Case {
    let (m, n, k) = shape.mnk;
    let (mul, add, zero) = arithmetic(elem);
    let mut text = Text::default();
    let (x_dims, x_index) = if shape.transposed_x { ([k, m], "k, i") } else { ([m, k], "i, k") };
    let (y_dims, y_index) = if shape.transposed_y { ([n, k], "j, k") } else { ([k, n], "k, j") };
    let x = text.input(&x_dims, elem, Data::Quarters);
    let y = if shape.constant_y {
        text.constant(&y_dims, elem)
    } else {
        text.input(&y_dims, elem, Data::Quarters)
    };
    let start = if shape.bias {
        let bias = text.input(&[n], elem, Data::Quarters);
        let empty = text.empty(&[m, n], elem);
        let body = format!("%r = {add} %a, %a : {elem}");
        text.nest("i, j", "pp", &[(&bias, "j")], (&empty, "i, j"), &body)
    } else {
        text.fill(&[m, n], elem, zero)
    };
    let body = format!("%p = {mul} %a, %b : {elem}\n      %r = {add} %o, %p : {elem}");
    let inputs = [(&x, x_index), (&y, y_index)];
    let mut result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), &body);
    if shape.epilogue {
        result = text.epilogue(&result);
    }
    text.finish(format!("matmul {shape:?} {elem}"), &result, EXACT)
}

/// A product with `flags`: `x` and `y` transposed, `b`ias, `c`onstant y, `e`pilogue.
fn with(m: usize, n: usize, k: usize, flags: &str) -> Matmul {
    Matmul {
        mnk: (m, n, k),
        transposed_x: flags.contains('x'),
        transposed_y: flags.contains('y'),
        bias: flags.contains('b'),
        constant_y: flags.contains('c'),
        epilogue: flags.contains('e'),
    }
}

#[test]
fn matmuls() {
    let plain = |m, n, k| Matmul { mnk: (m, n, k), ..Matmul::default() };
    let mut cases = vec![];
    for (m, n, k) in [
        (1, 1, 1),
        (1, 16, 1),
        (1, 17, 5),
        (3, 1, 7),
        (13, 31, 37),
        (40, 40, 40),
        (1, 1, 40),
        (2, 129, 3),
    ] {
        cases.push(matmul(plain(m, n, k), "f32"));
    }
    for (m, n, k, flags) in [
        (2, 3, 5, "y"),
        (5, 7, 11, "b"),
        (16, 16, 16, "b"),
        (17, 33, 40, "c"),
        (7, 32, 13, "cb"),
        (1, 40, 33, "y"),
        (31, 15, 29, "x"),
        (12, 32, 64, "c"),
        (37, 97, 19, "xyb"),
        (64, 130, 96, "cyb"),
        (1, 48, 7, "cb"),
        (9, 64, 1, "cx"),
        // Packed in every run, and in panels that are no whole registers.
        (150, 256, 200, "y"),
        (130, 250, 140, ""),
        (64, 254, 300, "c"),
        // Lanes along the sum, of which the columns are packed.
        (90, 2, 1000, "c"),
        (33, 3, 515, "cb"),
        // What becomes of the sums, in registers, in panels, and of sums along lanes.
        (5, 7, 11, "e"),
        (37, 97, 19, "xye"),
        (33, 70, 40, "ceb"),
        (130, 250, 140, "e"),
        (90, 2, 1000, "ce"),
        (1, 48, 333, "cye"),
        (40, 1, 512, "e"),
    ] {
        cases.push(matmul(with(m, n, k, flags), "f32"));
    }
    for elem in ["f64", "i32", "i64", "f16", "i16", "i8"] {
        cases.push(matmul(plain(5, 19, 7), elem));
        cases.push(matmul(with(3, 16, 9, "cb"), elem));
    }
    check(&cases);
}

/// Caches so small that reductions are done in parts, with sums waiting in the output: starts,
/// the last part and the last tiles of all sizes.
#[test]
fn products_in_parts() {
    let mut cases = vec![];
    for (m, n, k, flags) in [
        (37, 97, 300, ""),
        (64, 64, 1000, "b"),
        (33, 70, 777, "yb"),
        (41, 130, 513, "xc"),
        (100, 24, 2048, "c"),
        (7, 509, 640, "cb"),
        (41, 130, 700, "cbe"),
    ] {
        cases.push(matmul(with(m, n, k, flags), "f32"));
        cases.push(matmul(with(m, n / 2, k, flags), "i32"));
    }
    cases.push(conv(
        Conv {
            counts: [1, 70, 40, 1],
            image: [9, 7],
            kernel: [3, 3],
            stride: 1,
            dilation: 1,
            padding: 0,
            constant: true,
            epilogue: true,
        },
        "f32",
    ));
    let small = [
        (
            "@l2 scope(\"core\") capacity_bytes(1048576)",
            "@l2 scope(\"core\") capacity_bytes(65536)",
        ),
        ("bytes_per_cycle(28)", "bytes_per_cycle(2)"),
    ];
    check_on_other(&cases, &small);
}

/// So many units, to which work is handed over so fast, that few long sums are shared out.
#[test]
fn sums_shared_out() {
    let mut cases = vec![];
    for (m, n, k, flags) in [
        (1, 1, 4096, ""),
        (3, 5, 1024, "b"),
        (2, 16, 768, "cbe"),
        (4, 7, 2000, "xe"),
        (1, 40, 900, "cye"),
    ] {
        cases.push(matmul(with(m, n, k, flags), "f32"));
        cases.push(matmul(with(m, n, k, flags), "i32"));
    }
    for (columns, fold) in [(4096, "sum"), (1000, "max"), (997, "min")] {
        cases.push(folded(3, columns, 1, fold, "f32", true));
        cases.push(folded(columns, 2, 0, fold, "i32", true));
    }
    check_on_other(
        &cases,
        &[("count(2)", "count(64)"), ("handover_cycles(20000)", "handover_cycles(1)")],
    );
}

/// Checks on the AVX2 machine with parts of its text replaced.
fn check_on_other(cases: &[Case], other: &[(&str, &str)]) {
    const AVX2: &str = include_str!("../../devices/x86-avx2.mlir");
    if let Err(error) = check_features(&["avx2", "fma", "f16c", "bmi2"].map(str::to_owned)) {
        eprintln!("not run: {error}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.mlir");
    let text = other.iter().fold(AVX2.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the machine says {from}");
        text.replace(from, to)
    });
    std::fs::write(&path, text).expect("a file");
    check_on(cases, &[Device::Named(path.to_string_lossy().into_owned())]);
}

#[derive(Clone, Copy, Debug)]
struct Conv {
    /// Images, channels in a group, channels out of a group, groups.
    counts: [usize; 4],
    image: [usize; 2],
    kernel: [usize; 2],
    stride: usize,
    dilation: usize,
    padding: usize,
    constant: bool,
    epilogue: bool,
}

impl Conv {
    fn out(&self, dim: usize) -> Option<usize> {
        let reach = (self.kernel[dim] - 1) * self.dilation + 1;
        let padded = self.image[dim] + 2 * self.padding;
        (padded >= reach).then(|| (padded - reach) / self.stride + 1)
    }
}

fn conv(conv: Conv, elem: &'static str) -> Case {
    let (mul, add, zero) = arithmetic(elem);
    let [n, c, o, g] = conv.counts;
    let [h, w] = conv.image;
    let [kh, kw] = conv.kernel;
    let out = [conv.out(0), conv.out(1)].map(|out| out.expect("the window fits"));
    let mut text = Text::default();
    let image = text.input(&[n, g * c, h, w], elem, Data::Quarters);
    let weight_dims = [g * o, c, kh, kw];
    let weight = if conv.constant {
        text.constant(&weight_dims, elem)
    } else {
        text.input(&weight_dims, elem, Data::Quarters)
    };
    let p = conv.padding;
    let mut padded = image.clone();
    if p > 0 {
        let dims = [n, g * c, h + 2 * p, w + 2 * p];
        padded = text.line(
            &dims,
            elem,
            &format!(
                "%pad = arith.constant {zero} : {elem}\n    {{r}} = tensor.pad {} low[0, 0, {p}, {p}] \
                 high[0, 0, {p}, {p}] {{\n    ^bb0(%i: index, %j: index, %k: index, %l: index):\n      \
                 tensor.yield %pad : {elem}\n    }} : {} to {{t}}",
                image.name,
                image.ty()
            ),
        );
    }
    let [_, _, ph, pw] = padded.dims[..] else { unreachable!("images have four dimensions") };
    let groups = |text: &mut Text, value: &Value, at: usize, dims: &[usize]| {
        let reassociation =
            if at == 1 { "[[0], [1, 2], [3], [4]]" } else { "[[0, 1], [2], [3], [4]]" };
        let line = format!(
            "{{r}} = tensor.expand_shape {} {reassociation} output_shape {dims:?} : {} into {{t}}",
            value.name,
            value.ty()
        );
        text.line(dims, elem, &line)
    };
    let x = groups(&mut text, &padded, 1, &[n, g, c, ph, pw]);
    let f = groups(&mut text, &weight, 0, &[g, o, c, kh, kw]);
    let start = text.fill(&[n, g, o, out[0], out[1]], elem, zero);
    let body = format!("%p = {mul} %a, %b : {elem}\n      %r = {add} %o, %p : {elem}");
    let (s, d) = (conv.stride, conv.dilation);
    let read = format!("n, g, c, y * {s} + p * {d}, x * {s} + q * {d}");
    let sum = text.nest(
        "n, g, o, y, x, c, p, q",
        "ppppprrr",
        &[(&x, &read), (&f, "g, o, c, p, q")],
        (&start, "n, g, o, y, x"),
        &body,
    );
    let line = format!(
        "{{r}} = tensor.collapse_shape {} [[0], [1, 2], [3], [4]] : {} into {{t}}",
        sum.name,
        sum.ty()
    );
    let mut result = text.line(&[n, g * o, out[0], out[1]], elem, &line);
    if conv.epilogue {
        result = text.epilogue(&result);
    }
    text.finish(format!("{conv:?} {elem}"), &result, EXACT)
}

#[test]
fn convolutions() {
    let make = |counts, image, kernel, [stride, dilation, padding]: [usize; 3], constant| Conv {
        counts,
        image,
        kernel,
        stride,
        dilation,
        padding,
        constant,
        epilogue: false,
    };
    let cases = [
        make([1, 1, 1, 1], [1, 1], [1, 1], [1, 1, 0], false),
        make([1, 1, 1, 1], [3, 3], [3, 3], [1, 1, 1], false),
        make([1, 3, 5, 1], [7, 17], [3, 3], [1, 1, 1], true),
        make([2, 4, 16, 1], [8, 8], [3, 3], [1, 1, 1], true),
        make([1, 3, 32, 1], [9, 11], [3, 3], [2, 1, 1], true),
        make([1, 2, 7, 1], [13, 13], [3, 2], [1, 2, 0], false),
        make([1, 1, 1, 17], [9, 19], [3, 3], [1, 1, 1], true),
        make([2, 1, 1, 8], [10, 33], [5, 3], [2, 1, 2], false),
        make([1, 3, 4, 3], [6, 16], [2, 2], [2, 2, 1], true),
        make([1, 19, 33, 1], [5, 5], [1, 1], [1, 1, 0], true),
        make([1, 8, 32, 1], [7, 7], [1, 1], [2, 1, 0], true),
        make([1, 3, 16, 1], [15, 15], [7, 7], [2, 1, 3], true),
        // Rows over both axes of a small image, or over channels and one of them.
        make([1, 24, 48, 1], [7, 7], [3, 3], [1, 1, 1], true),
        make([2, 40, 64, 1], [14, 14], [1, 1], [2, 1, 0], true),
    ];
    let mut cases: Vec<Case> = cases
        .into_iter()
        .flat_map(|shape| [shape, Conv { epilogue: true, ..shape }])
        .map(|shape| conv(shape, "f32"))
        .collect();
    cases.push(conv(make([1, 2, 3, 1], [5, 9], [3, 3], [1, 1, 1], true), "f64"));
    cases.push(conv(make([1, 2, 3, 2], [5, 9], [3, 3], [1, 1, 1], true), "i32"));
    check(&cases);
}

/// A window over each channel, with a border: weighted sums, or the greatest element.
#[derive(Clone, Copy, Debug)]
struct Windows {
    /// Images, channels.
    counts: [usize; 2],
    image: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: usize,
    /// Elements before and behind the image, along both sides.
    border: [usize; 2],
    greatest: bool,
    /// Whether the border is written as `tensor.insert_slice`.
    inserted: bool,
}

impl Windows {
    fn out(&self, dim: usize) -> Option<usize> {
        let reach = (self.kernel[dim] - 1) * self.dilation + 1;
        let padded = self.image[dim] + self.border[0] + self.border[1];
        (padded >= reach).then(|| (padded - reach) / self.stride[dim] + 1)
    }
}

fn bordered(shape: Windows, elem: &'static str) -> Case {
    let (mul, add, zero) = arithmetic(elem);
    let ([n, c], [h, w], [kh, kw]) = (shape.counts, shape.image, shape.kernel);
    let [low, high] = shape.border;
    let out = [0, 1].map(|dim| shape.out(dim).expect("the window fits"));
    let is_int = elem.starts_with('i');
    let (number, body) = match (shape.greatest, is_int) {
        (false, _) => {
            (zero, format!("%p = {mul} %a, %b : {elem}\n      %r = {add} %o, %p : {elem}"))
        }
        (true, false) => ("-100.0", format!("%r = arith.maximumf %o, %a : {elem}")),
        (true, true) => ("-100", format!("%r = arith.maxsi %o, %a : {elem}")),
    };
    let mut text = Text::default();
    let x = text.input(&[n, c, h, w], elem, Data::Quarters);
    let dims = [n, c, h + low + high, w + low + high];
    let line = if shape.inserted {
        let around = text.fill(&dims, elem, number);
        format!(
            "{{r}} = tensor.insert_slice {} into {}[0, 0, {low}, {low}] [{n}, {c}, {h}, {w}] \
             [1, 1, 1, 1] : {} into {{t}}",
            x.name,
            around.name,
            x.ty()
        )
    } else {
        format!(
            "%pad = arith.constant {number} : {elem}\n    {{r}} = tensor.pad {} low[0, 0, {low}, {low}] \
             high[0, 0, {high}, {high}] {{\n    ^bb0(%i: index, %j: index, %k: index, %l: index):\n      \
             tensor.yield %pad : {elem}\n    }} : {} to {{t}}",
            x.name,
            x.ty()
        )
    };
    let padded = text.line(&dims, elem, &line);
    let start = text.fill(&[n, c, out[0], out[1]], elem, number);
    let ([sy, sx], d) = (shape.stride, shape.dilation);
    let read = format!("n, c, y * {sy} + p * {d}, x * {sx} + q * {d}");
    let weight = text.input(&[c, kh, kw], elem, Data::Quarters);
    let inputs = [(&padded, read.as_str()), (&weight, "c, p, q")];
    let out = (&start, "n, c, y, x");
    let result = text.nest("n, c, y, x, p, q", "pppprr", &inputs, out, &body);
    text.finish(format!("{shape:?} {elem}"), &result, EXACT)
}

/// Borders are laid out beside their use; strides up to four in phases.
#[test]
fn windows_with_borders() {
    let mut random = Random(11);
    let mut cases = Vec::new();
    while cases.len() < 40 {
        let mut near = |most| 1 + random.below(most);
        let shape = Windows {
            counts: [near(2), near(4)],
            // High enough for several tiles of rows, now and then.
            image: [near(20) * near(3), near(40)],
            kernel: [near(4), near(7)],
            stride: [near(3), near(5)],
            dilation: near(2),
            border: [near(4) - 1, near(4) - 1],
            greatest: near(2) == 1,
            inserted: near(2) == 1,
        };
        let elem = ["f32", "f32", "f32", "f64", "i32", "i8", "f16"][random.below(7)];
        if shape.out(0).is_some() && shape.out(1).is_some() {
            cases.push(bordered(shape, elem));
        }
    }
    check(&cases);
}

/// Folds the rows (`along` 0) or the columns (`along` 1) of a matrix.
fn reduction(rows: usize, columns: usize, along: usize, fold: &str, elem: &'static str) -> Case {
    folded(rows, columns, along, fold, elem, false)
}

fn folded(
    rows: usize,
    columns: usize,
    along: usize,
    fold: &str,
    elem: &'static str,
    epilogue: bool,
) -> Case {
    let (_, add, zero) = arithmetic(elem);
    let is_int = elem.starts_with('i');
    let (op, start) = match fold {
        "sum" => (add, zero),
        "max" if is_int => ("arith.maxsi", "-100"),
        "max" => ("arith.maximumf", "-100.0"),
        _ if is_int => ("arith.minsi", "100"),
        _ => ("arith.minimumf", "100.0"),
    };
    let mut text = Text::default();
    let x = text.input(&[rows, columns], elem, Data::Quarters);
    let (kept, kinds, out) = if along == 0 { (columns, "rp", "j") } else { (rows, "pr", "i") };
    let start = text.fill(&[kept], elem, start);
    let body = format!("%r = {op} %o, %a : {elem}");
    let mut result = text.nest("i, j", kinds, &[(&x, "i, j")], (&start, out), &body);
    if epilogue {
        result = text.epilogue(&result);
    }
    let name = format!("{fold} of {rows}x{columns} along {along} {elem}, {epilogue}");
    text.finish(name, &result, EXACT)
}

#[test]
fn reductions() {
    let mut cases = vec![];
    let shapes =
        [(1, 1), (1, 40), (40, 1), (3, 17), (5, 16), (16, 33), (31, 37), (2, 15), (7, 130)];
    for (rows, columns) in shapes {
        for along in [0, 1] {
            let fold = if (rows + along) % 2 == 0 { "sum" } else { "max" };
            cases.push(reduction(rows, columns, along, fold, "f32"));
        }
    }
    for elem in ["f64", "i32", "i64", "i16", "i8", "f16"] {
        cases.push(reduction(3, 19, 1, "sum", elem));
        cases.push(reduction(3, 37, 1, "min", elem));
        cases.push(reduction(5, 35, 0, "max", elem));
    }
    cases.push(reduction(13, 11, 1, "min", "bf16"));
    for (rows, columns) in [(1, 40), (4, 64), (13, 32), (16, 48), (37, 16), (33, 50), (3, 7)] {
        cases.push(folded(rows, columns, rows % 2, "sum", "f32", true));
        cases.push(folded(rows, columns, 1, "max", "f32", true));
        cases.push(folded(columns, rows, 1, "sum", "i32", true));
    }
    // Nothing to fold gives the start; nothing to keep gives nothing.
    cases.push(reduction(3, 0, 1, "sum", "f32"));
    cases.push(reduction(0, 3, 1, "sum", "f32"));
    check(&cases);
}

#[test]
fn every_tail() {
    let mut cases = vec![];
    for extent in 1..=40 {
        cases.push(reduction(2, extent, extent % 2, "sum", "f32"));
        cases.push(elementwise(&[extent], &[extent], "arith.addf", "f32"));
    }
    check(&cases);
}

/// `exp(x - max) / sum` over the last axis.
fn softmax(rows: usize, columns: usize, elem: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(&[rows, columns], elem, Data::Smooth);
    let low = text.fill(&[rows], elem, "-1.0e+30");
    let fold = |op: &str| format!("%r = arith.{op} %o, %a : {elem}");
    let max = text.nest("i, j", "pr", &[(&x, "i, j")], (&low, "i"), &fold("maximumf"));
    let empty = text.empty(&[rows, columns], elem);
    let body = format!("%d = arith.subf %a, %b : {elem}\n      %r = math.exp %d : {elem}");
    let exp = text.nest("i, j", "pp", &[(&x, "i, j"), (&max, "i")], (&empty, "i, j"), &body);
    let zero = text.fill(&[rows], elem, "0.0");
    let sum = text.nest("i, j", "pr", &[(&exp, "i, j")], (&zero, "i"), &fold("addf"));
    let body = format!("%r = arith.divf %a, %b : {elem}");
    let inputs = [(&exp, "i, j"), (&sum, "i")];
    let result = text.nest("i, j", "pp", &inputs, (&empty, "i, j"), &body);
    text.finish(format!("softmax of {rows}x{columns} {elem}"), &result, close(1))
}

#[test]
fn softmaxes() {
    let shapes = [(1, 1), (1, 17), (3, 5), (7, 16), (33, 40), (12, 128)];
    let mut cases: Vec<Case> =
        shapes.into_iter().map(|(rows, columns)| softmax(rows, columns, "f32")).collect();
    cases.push(softmax(5, 13, "f64"));
    check(&cases);
}

/// `op(x, y)`, `y` broadcast where its extent is 1 or the dimension is not there.
fn elementwise(x: &[usize], y: &[usize], op: &str, elem: &'static str) -> Case {
    let mut text = Text::default();
    let a = text.input(x, elem, Data::Quarters);
    let b = text.input(y, elem, Data::Quarters);
    let empty = text.empty(x, elem);
    let axes: Vec<String> = (0..x.len()).map(|axis| format!("d{axis}")).collect();
    let skipped = x.len() - y.len();
    let read: Vec<&str> = y
        .iter()
        .zip(&axes[skipped..])
        .map(|(&extent, axis)| if extent == 1 { "0" } else { axis.as_str() })
        .collect();
    let (read, axes) = (read.join(", "), axes.join(", "));
    let body = format!("%r = {op} %a, %b : {elem}");
    let kinds = "p".repeat(x.len());
    let result = text.nest(&axes, &kinds, &[(&a, &axes), (&b, &read)], (&empty, &axes), &body);
    text.finish(format!("{op} of {x:?} and {y:?} {elem}"), &result, EXACT)
}

fn function(dims: &[usize], function: &str, elem: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(dims, elem, Data::Smooth);
    let empty = text.empty(dims, elem);
    let axes: Vec<String> = (0..dims.len()).map(|axis| format!("d{axis}")).collect();
    let (axes, kinds) = (axes.join(", "), "p".repeat(dims.len()));
    let body = format!("%r = {function} %a : {elem}");
    let result = text.nest(&axes, &kinds, &[(&x, &axes)], (&empty, &axes), &body);
    text.finish(format!("{function} of {dims:?} {elem}"), &result, close(1))
}

#[test]
fn elementwise_operations() {
    let mut cases = vec![
        elementwise(&[], &[], "arith.addf", "f32"),
        elementwise(&[1], &[1], "arith.mulf", "f32"),
        elementwise(&[3, 17], &[17], "arith.addf", "f32"),
        elementwise(&[3, 17], &[3, 1], "arith.subf", "f32"),
        elementwise(&[2, 3, 5, 7], &[3, 1, 7], "arith.mulf", "f32"),
        elementwise(&[2, 3, 5, 7], &[1, 5, 1], "arith.addf", "f32"),
        elementwise(&[37, 31], &[1, 1], "arith.maximumf", "f32"),
        elementwise(&[1000], &[1], "arith.minimumf", "f32"),
        elementwise(&[5, 13], &[5, 13], "arith.addf", "f16"),
        elementwise(&[5, 13], &[13], "arith.mulf", "bf16"),
        elementwise(&[5, 13], &[5, 1], "arith.subf", "f64"),
        elementwise(&[5, 13], &[13], "arith.muli", "i32"),
        elementwise(&[41], &[41], "arith.subi", "i64"),
        elementwise(&[67], &[67], "arith.maxsi", "i8"),
        elementwise(&[35], &[1], "arith.xori", "i16"),
        elementwise(&[20_011], &[20_011], "arith.addf", "f32"),
    ];
    for (number, name) in [
        "math.exp",
        "math.tanh",
        "math.erf",
        "math.sqrt",
        "math.log",
        "math.absf",
        "math.floor",
        "math.sin",
        "math.cos",
    ]
    .into_iter()
    .enumerate()
    {
        cases.push(function(&[3, 2 * number + 1], name, "f32"));
    }
    cases.push(function(&[19], "math.exp", "f64"));
    cases.push(function(&[19], "math.tanh", "f64"));
    check(&cases);
}

fn transpose(dims: &[usize], order: &[usize], elem: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(dims, elem, Data::Quarters);
    let out: Vec<usize> = order.iter().map(|&axis| dims[axis]).collect();
    let empty = text.empty(&out, elem);
    let axes: Vec<String> = (0..dims.len()).map(|axis| format!("d{axis}")).collect();
    let write: Vec<&str> = order.iter().map(|&axis| axes[axis].as_str()).collect();
    let (write, axes) = (write.join(", "), axes.join(", "));
    let kinds = "p".repeat(dims.len());
    let body = format!(
        "%c = arith.constant {} : {elem}\n      %r = {} %a, %c : {elem}",
        if elem.starts_with('i') { "1" } else { "1.0" },
        arithmetic(elem).0
    );
    let result = text.nest(&axes, &kinds, &[(&x, &axes)], (&empty, &write), &body);
    text.finish(format!("transpose {dims:?} to {order:?} {elem}"), &result, EXACT)
}

#[test]
fn transposes() {
    check(&[
        transpose(&[1, 1], &[1, 0], "f32"),
        transpose(&[3, 17], &[1, 0], "f32"),
        transpose(&[37, 40], &[1, 0], "f32"),
        transpose(&[2, 3, 5], &[2, 0, 1], "f32"),
        transpose(&[2, 9, 4, 16], &[0, 2, 1, 3], "f32"),
        transpose(&[1, 7, 1, 19], &[3, 2, 1, 0], "f32"),
        transpose(&[11, 23], &[1, 0], "i64"),
        transpose(&[33, 7], &[1, 0], "f16"),
        transpose(&[33, 35], &[1, 0], "i8"),
        transpose(&[16, 16], &[1, 0], "i32"),
        transpose(&[18, 2, 33], &[2, 1, 0], "f32"),
        transpose(&[9, 31], &[1, 0], "f64"),
    ]);
}

fn gather(rows: usize, columns: usize, count: usize, elem: &'static str) -> Case {
    let mut text = Text::default();
    let table = text.input(&[rows, columns], elem, Data::Quarters);
    let wanted = text.input(&[count], "i64", Data::Below(rows));
    let empty = text.empty(&[count, columns], elem);
    let body = format!(
        "%row = arith.index_cast %a : i64 to index\n      %column = linalg.index 1 : index\n      \
         %r = tensor.extract {}[%row, %column] : {}",
        table.name,
        table.ty()
    );
    let result = text.nest("i, j", "pp", &[(&wanted, "i")], (&empty, "i, j"), &body);
    text.finish(format!("gather {count} of {rows}x{columns} {elem}"), &result, EXACT)
}

#[test]
fn gathers() {
    check(&[
        gather(1, 1, 1, "f32"),
        gather(7, 17, 5, "f32"),
        gather(100, 32, 13, "f32"),
        gather(13, 1, 40, "f32"),
        gather(9, 5, 3, "i64"),
        gather(9, 33, 3, "f16"),
    ]);
}

/// Windows: slices with steps, and padding by another amount on every side.
fn window(extent: usize, low: usize, high: usize, step: usize) -> Case {
    let mut text = Text::default();
    let x = text.input(&[3, extent], "f32", Data::Quarters);
    let padded = extent + low + high;
    let line = format!(
        "%pad = arith.constant 1.5 : f32\n    {{r}} = tensor.pad {} low[1, {low}] high[0, {high}] \
         {{\n    ^bb0(%i: index, %j: index):\n      tensor.yield %pad : f32\n    }} : {} to {{t}}",
        x.name,
        x.ty()
    );
    let wide = text.line(&[4, padded], "f32", &line);
    let kept = (padded - 1).div_ceil(step);
    let line = format!(
        "{{r}} = tensor.extract_slice {}[0, 1] [4, {kept}] [1, {step}] : {} to {{t}}",
        wide.name,
        wide.ty()
    );
    let result = text.line(&[4, kept], "f32", &line);
    text.finish(format!("pad {extent} by {low}, {high}, step {step}"), &result, EXACT)
}

#[test]
fn windows() {
    check(&[
        window(1, 1, 0, 1),
        window(5, 2, 3, 2),
        window(16, 1, 1, 1),
        window(33, 0, 7, 3),
        window(100, 17, 1, 5),
    ]);
}

/// A window of `size` columns takes `step` columns at a time and gives its greatest number.
fn pool(rows: usize, columns: usize, size: usize, step: usize, elem: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(&[rows, columns], elem, Data::Quarters);
    let is_int = elem.starts_with('i');
    let (op, low) = if is_int { ("arith.maxsi", "-100") } else { ("arith.maximumf", "-100.0") };
    let start = text.fill(&[rows, (columns - size) / step + 1], elem, low);
    // Only its shape is read.
    let window = text.empty(&[size], "i8");
    let read = format!("i, j * {step} + k");
    let inputs = [(&x, read.as_str()), (&window, "k")];
    let body = format!("%r = {op} %o, %a : {elem}");
    let result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), &body);
    text.finish(format!("pool {rows}x{columns} by {size}, {step} {elem}"), &result, EXACT)
}

/// The place of the greatest number of every row, the first one among equals.
fn argmax(rows: usize, columns: usize) -> Case {
    let mut text = Text::default();
    let x = text.input(&[rows, columns], "f32", Data::Quarters);
    let greatest = text.fill(&[rows], "f32", "-100.0");
    let place = text.fill(&[rows], "i64", "0");
    let mut both = text.value(&[rows], "i64");
    write!(
        text.payload,
        "    {both}:2 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, \
         affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \
         \"reduction\"]}} ins({x} : {x_ty}) outs({greatest}, {place} : {f_ty}, {i_ty}) {{\n    \
         ^bb0(%a: f32, %o: f32, %p: i64):\n      %j = linalg.index 1 : index\n      \
         %k = arith.index_cast %j : index to i64\n      %g = arith.cmpf ogt, %a, %o : f32\n      \
         %m = arith.select %g, %a, %o : f32\n      %q = arith.select %g, %k, %p : i64\n      \
         linalg.yield %m, %q : f32, i64\n    }} -> ({f_ty}, {i_ty})\n",
        both = both.name,
        x = x.name,
        greatest = greatest.name,
        place = place.name,
        x_ty = x.ty(),
        f_ty = greatest.ty(),
        i_ty = place.ty(),
    )
    .expect("a string grows");
    both.name.push_str("#1");
    text.finish(format!("argmax of {rows}x{columns}"), &both, EXACT)
}

/// Sums over the second and the last of four axes.
fn two_axes(dims: [usize; 4]) -> Case {
    let mut text = Text::default();
    let x = text.input(&dims, "f32", Data::Quarters);
    let start = text.fill(&[dims[0], dims[2]], "f32", "0.0");
    let inputs = [(&x, "i, j, k, l")];
    let body = "%r = arith.addf %o, %a : f32";
    let result = text.nest("i, j, k, l", "prpr", &inputs, (&start, "i, k"), body);
    text.finish(format!("sum of {dims:?} along 1 and 3"), &result, EXACT)
}

/// Several kernels in a row: the sums of the rows of `relu(x * w) * u`.
fn chain(m: usize, n: usize, k: usize) -> Case {
    let mut text = Text::default();
    let x = text.input(&[m, k], "f32", Data::Quarters);
    let w = text.constant(&[k, n], "f32");
    let u = text.input(&[n, k], "f32", Data::Quarters);
    let product = "%p = arith.mulf %a, %b : f32\n      %r = arith.addf %o, %p : f32";
    let zero = text.fill(&[m, n], "f32", "0.0");
    let inputs = [(&x, "i, k"), (&w, "k, j")];
    let h = text.nest("i, j, k", "ppr", &inputs, (&zero, "i, j"), product);
    let empty = text.empty(&[m, n], "f32");
    let relu = "%z = arith.constant 0.0 : f32\n      %r = arith.maximumf %a, %z : f32";
    let h = text.nest("i, j", "pp", &[(&h, "i, j")], (&empty, "i, j"), relu);
    let zero = text.fill(&[m, k], "f32", "0.0");
    let inputs = [(&h, "i, k"), (&u, "k, j")];
    let y = text.nest("i, j, k", "ppr", &inputs, (&zero, "i, j"), product);
    let zero = text.fill(&[m], "f32", "0.0");
    let sum = "%r = arith.addf %o, %a : f32";
    let result = text.nest("i, j", "pr", &[(&y, "i, j")], (&zero, "i"), sum);
    text.finish(format!("chain of {m}x{n}x{k}"), &result, EXACT)
}

/// Two matrices side by side.
fn concat(rows: usize, left: usize, right: usize, elem: &'static str) -> Case {
    let mut text = Text::default();
    let a = text.input(&[rows, left], elem, Data::Quarters);
    let b = text.input(&[rows, right], elem, Data::Quarters);
    let dims = [rows, left + right];
    let mut whole = text.empty(&dims, elem);
    for (part, at) in [(&a, 0), (&b, left)] {
        let line = format!(
            "{{r}} = tensor.insert_slice {} into {}[0, {at}] [{rows}, {}] [1, 1] : {} into {{t}}",
            part.name,
            whole.name,
            part.dims[1],
            part.ty()
        );
        whole = text.line(&dims, elem, &line);
    }
    text.finish(format!("concat {rows}x{left} and {right} {elem}"), &whole, EXACT)
}

/// A number as another type.
fn cast(extent: usize, from: &'static str, op: &str, to: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(&[extent], from, Data::Quarters);
    let empty = text.empty(&[extent], to);
    let body = format!("%r = {op} %a : {from} to {to}");
    let result = text.nest("i", "p", &[(&x, "i")], (&empty, "i"), &body);
    text.finish(format!("{op} of {extent}, {from} to {to}"), &result, EXACT)
}

#[test]
fn pools_and_places() {
    check(&[
        pool(1, 1, 1, 1, "f32"),
        pool(3, 17, 2, 2, "f32"),
        pool(5, 33, 3, 1, "f32"),
        pool(7, 40, 3, 2, "i32"),
        pool(2, 37, 5, 3, "f64"),
        argmax(1, 1),
        argmax(7, 17),
        argmax(33, 5),
        two_axes([1, 3, 5, 7]),
        two_axes([3, 2, 17, 33]),
        two_axes([2, 5, 1, 16]),
    ]);
}

#[test]
fn chains() {
    check(&[
        chain(1, 1, 1),
        chain(3, 17, 5),
        chain(33, 31, 40),
        chain(64, 256, 96),
        chain(1, 300, 130),
        chain(130, 33, 7),
    ]);
}

#[test]
fn parts_and_types() {
    let mut cases = vec![
        concat(1, 1, 1, "f32"),
        concat(3, 17, 5, "f32"),
        concat(5, 16, 33, "i64"),
        concat(7, 3, 9, "i8"),
        concat(9, 8, 8, "f16"),
    ];
    for (from, op, to) in [
        ("i8", "arith.extsi", "i32"),
        ("i8", "arith.extui", "i64"),
        ("i64", "arith.trunci", "i8"),
        ("i32", "arith.sitofp", "f32"),
        ("i8", "arith.sitofp", "f16"),
        ("i64", "arith.sitofp", "f64"),
        ("i16", "arith.uitofp", "f32"),
        ("f32", "arith.fptosi", "i32"),
        ("f64", "arith.fptosi", "i64"),
        ("f16", "arith.extf", "f32"),
        ("f32", "arith.truncf", "f16"),
        ("f32", "arith.truncf", "bf16"),
        ("bf16", "arith.extf", "f32"),
        ("f64", "arith.truncf", "f32"),
    ] {
        cases.push(cast(37, from, op, to));
    }
    check(&cases);
}

/// One case of any kind.
fn any(random: &mut Random) -> Case {
    let elem = ["f32", "f32", "f32", "f32", "f64", "i32", "i64", "i16", "i8", "f16"];
    let elem = elem[random.below(10)];
    match random.below(12) {
        0 | 1 => {
            let shape = Matmul {
                mnk: (random.extent(40), random.extent(130), random.extent(40)),
                transposed_x: random.coin(),
                transposed_y: random.coin(),
                bias: random.coin(),
                constant_y: random.coin(),
                epilogue: random.coin(),
            };
            matmul(shape, elem)
        }
        2 => loop {
            let shape = Conv {
                counts: [
                    1 + random.below(2),
                    random.extent(9),
                    random.extent(33),
                    [1, 1, 2, 5][random.below(4)],
                ],
                image: [random.extent(17), random.extent(33)],
                kernel: [1 + random.below(4), 1 + random.below(4)],
                stride: 1 + random.below(2),
                dilation: 1 + random.below(2),
                padding: random.below(3),
                constant: random.coin(),
                epilogue: random.coin(),
            };
            if shape.out(0).is_some() && shape.out(1).is_some() {
                break conv(shape, if elem == "f16" { "f32" } else { elem });
            }
        },
        3 => {
            let fold = ["sum", "max", "min"][random.below(3)];
            let columns = random.extent(40);
            reduction(random.extent(40), columns, random.below(2), fold, elem)
        }
        4 => softmax(random.extent(40), random.extent(130), "f32"),
        5 => {
            let x = [random.extent(9), random.extent(9), random.extent(40)];
            let y = x.map(|extent| if random.coin() { 1 } else { extent });
            elementwise(&x, &y[random.below(3)..], arithmetic(elem).1, elem)
        }
        6 => {
            let dims = [random.extent(9), random.extent(33), random.extent(33)];
            let orders = [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][random.below(5)];
            transpose(&dims, &orders, elem)
        }
        7 => {
            let (size, columns) = (1 + random.below(4), random.extent(40));
            pool(random.extent(40), columns.max(size), size, 1 + random.below(3), "f32")
        }
        8 => argmax(random.extent(40), random.extent(40)),
        9 => two_axes([(); 4].map(|()| random.extent(17))),
        10 => chain(random.extent(130), random.extent(130), random.extent(40)),
        _ => gather(random.extent(40), random.extent(40), random.extent(40), elem),
    }
}

#[test]
fn any_kernel() {
    let number = |name: &str, fallback: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(fallback)
    };
    let mut random = Random(number("WEFT_SEED", 1));
    let cases: Vec<Case> =
        (0..number("WEFT_RANDOM_KERNELS", 24)).map(|_| any(&mut random)).collect();
    check(&cases);
}

#[test]
fn data_is_of_its_type() {
    let mut random = Random(0);
    for (elem, dtype) in
        [("f64", DType::F64), ("f16", DType::F16), ("bf16", DType::BF16), ("i8", DType::I8)]
    {
        let value = Value { name: String::new(), dims: vec![50], elem };
        let bytes = bytes(&value, Data::Quarters, &mut random);
        let tensor = Tensor { dtype, shape: vec![50], bytes };
        let most = if dtype.is_float() { 2.0 } else { 8.0 };
        assert!((0..50).all(|at| tensor.number(at).as_f64().abs() <= most), "{elem}");
        assert!((0..50).any(|at| tensor.number(at).as_f64() < 0.0), "{elem}");
    }
}
