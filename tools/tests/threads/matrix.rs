//! Matrix instructions as functions of C, which compute what they mean from the fragments that all lanes of a
//! group hand in.

use std::fmt::Write as _;

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::ir::{Type, affine, attr, module_op, parse, ty};

use crate::composed::{Composed, part_of};
use crate::warpgroups;

/// The machine with those of its matrix instructions that a program has as functions of C, and these.
pub fn emulated(text: &str, program: &str) -> (String, String) {
    let context = weft::context();
    let module = parse(&context, text).expect("the machine is good");
    let machine = Machine::of(module_op(&module)).expect("the file has a machine");
    let mut glue = String::new();
    let (mut lowerings, mut by_descriptors) = (Vec::new(), Vec::new());
    let used = |one: &Instruction<'_>| program.contains(&format!("@{}(", one.name));
    let mut composed = Vec::new();
    let mut all: Vec<_> = machine.instructions().into_iter().filter(used).collect();
    for whole in all.clone() {
        let Some(part) = part_of(machine, &whole) else { continue };
        if !all.iter().any(|own| own.name == part.name) {
            all.push(part.clone());
        }
        composed.push((whole.name, part));
    }
    let is_whole = |one: &Instruction<'_>| composed.iter().any(|(name, _)| *name == one.name);
    for instruction in all.into_iter().filter(|one| !is_whole(one)) {
        if is_matrix(&instruction) && instruction.layouts().iter().any(Option::is_some) {
            let lanes = lanes(machine, &instruction);
            glue.push_str(&warpgroups::in_c(&instruction, lanes));
            lowerings.push((instruction.name.to_owned(), warpgroups::as_call(&instruction)));
            by_descriptors.push(instruction.name.to_owned());
        } else if is_matrix(&instruction) {
            let lanes = lanes(machine, &instruction);
            glue.push_str(&in_c(&instruction, lanes));
            lowerings.push((instruction.name.to_owned(), as_call(&instruction)));
        }
    }
    let (mut out, mut current, mut skipping) = (String::new(), None, false);
    let mut declared = String::new();
    let mut within: Option<Composed<'_, '_>> = None;
    for line in text.lines() {
        if let Some(rest) = line.trim_start().strip_prefix("device.instruction @") {
            let name = rest.split(' ').next().unwrap_or("");
            current = lowerings.iter().find(|(own, _)| own == name);
            let part = composed.iter().find(|(own, _)| *own == name);
            within = part.map(|(_, part)| Composed::new(part));
        }
        if skipping && line == "  }" {
            skipping = false;
        }
        // Descriptors are made by the file's own code.
        let own = line.trim_start();
        let taken = ["%s = builtin.unrealized_conversion_cast", "%aw = vector.bitcast %a"]
            .iter()
            .any(|begin| own.starts_with(begin));
        if let (Some((_, call)), true, false) = (current, taken, skipping) {
            out.push_str(&call.0);
            declared.push_str(&call.1);
            skipping = true;
        }
        if !skipping {
            let own = within.as_mut().map(|own| own.line(line));
            out.push_str(&own.unwrap_or_else(|| format!("{line}\n")));
        }
        let whole = current.is_some_and(|(name, _)| !by_descriptors.contains(name));
        if let (Some((_, call)), "  } lowering {", true) = (current, line, whole) {
            out.push_str(&call.0);
            declared.push_str(&call.1);
            skipping = true;
        }
    }
    let end = out.rfind('}').expect("a machine ends");
    out.insert_str(end, &declared);
    out.push_str(&declared);
    (out, glue)
}

pub fn is_matrix(instruction: &Instruction<'_>) -> bool {
    instruction.name.contains("mma") || instruction.name.contains("mfma")
}

pub fn lanes<'c>(machine: Machine<'c>, instruction: &Instruction<'c>) -> u64 {
    let last = instruction.operands().last().expect("an instruction has operands");
    machine.memory(last).and_then(|memory| memory.lanes()).expect("results lie in lanes")
}

/// The lowering as a call, and the declaration of what it calls.
fn as_call(instruction: &Instruction<'_>) -> (String, String) {
    let args = instruction.lowering().expect("a lowering").args();
    let types: Vec<String> = args.iter().map(|arg| arg.ty().to_string()).collect();
    let list: Vec<_> =
        ["a", "b", "c"].iter().zip(&types).map(|(name, ty)| format!("%{name}: {ty}")).collect();
    let mut body = format!("  ^bb0({}):\n", list.join(", "));
    body.push_str(&call_lines(instruction.name, "%", &types));
    writeln!(body, "    device.yield %r : {}", types[2]).unwrap();
    (body, declaration(instruction))
}

/// The declaration of what calls of an instruction call.
fn declaration(instruction: &Instruction<'_>) -> String {
    let args = instruction.lowering().expect("a lowering").args();
    let types: Vec<String> = args.iter().map(|arg| in_memory(&arg.ty().to_string())).collect();
    let (name, shapes) = (instruction.name, types.join(", "));
    format!("func.func private @emulate_{name}({shapes}, {})\n", types[2])
}

fn in_memory(ty: &str) -> String {
    match ty.strip_prefix("vector<") {
        Some(rest) => format!("memref<{rest}"),
        None => format!("memref<1x{ty}>"),
    }
}

/// Calls the instruction of that name on the values `{prefix}a` to `{prefix}c`, of these types; the result is `{prefix}r`.
pub fn call_lines(name: &str, prefix: &str, types: &[String]) -> String {
    let result = &types[2];
    let mut body = format!(
        "    {prefix}z = arith.constant 0 : index\n    {prefix}r = memref.alloca_scope -> ({result}) {{\n"
    );
    let (mut given, mut shapes) = (Vec::new(), Vec::new());
    for (own, ty) in ["a", "b", "c", "d"].iter().zip(types.iter().chain([result])) {
        let memref = in_memory(ty);
        let (value, place) = (format!("{prefix}{own}"), format!("{prefix}p{own}"));
        writeln!(body, "    {place} = memref.alloca() : {memref}").unwrap();
        if *own != "d" && ty.starts_with("vector") {
            writeln!(body, "    vector.store {value}, {place}[{prefix}z] : {memref}, {ty}")
                .unwrap();
        } else if *own != "d" {
            writeln!(body, "    memref.store {value}, {place}[{prefix}z] : {memref}").unwrap();
        }
        given.push(place);
        shapes.push(memref);
    }
    let (given, shapes) = (given.join(", "), shapes.join(", "));
    writeln!(body, "    func.call @emulate_{name}({given}) : ({shapes}) -> ()").unwrap();
    let memref = in_memory(result);
    writeln!(body, "    {prefix}d = vector.load {prefix}pd[{prefix}z] : {memref}, {result}")
        .unwrap();
    writeln!(body, "    memref.alloca_scope.return {prefix}d : {result}\n    }}").unwrap();
    body
}

pub fn c_type(ty: Type<'_>) -> &'static str {
    match ty.to_string().as_str() {
        "f16" => "_Float16",
        "bf16" => "bfloat",
        "f32" => "float",
        "f64" => "double",
        "i8" => "int8_t",
        _ => "int32_t",
    }
}

/// The place of an element in a row-major shape.
pub fn place(at: &[i64], shape: &[u64]) -> i64 {
    at.iter().zip(shape).fold(0, |sum, (at, dim)| sum * *dim as i64 + at)
}

/// The meaning as a function that all lanes of a warp call with what they hold.
fn in_c(instruction: &Instruction<'_>, lanes: u64) -> String {
    let types = instruction.operand_types();
    let args = instruction.lowering().expect("a lowering").args();
    let elems: Vec<_> = types.iter().map(|ty| c_type(ty::elem(*ty).unwrap())).collect();
    let shapes: Vec<_> = types.iter().map(|ty| ty::shape(*ty).unwrap()).collect();
    let name = instruction.name;
    let mut c = String::new();
    let blocks = "ALL / LANES";
    let mut gather = String::new();
    for (n, operand) in ["A", "B", "C"].iter().enumerate() {
        let count: u64 = shapes[n].iter().product();
        let Some(map) = instruction.fragments()[n] else { continue };
        let slots = ty::count(args[n].ty()).unwrap_or(1);
        writeln!(c, "static {} {name}_{operand}[{blocks}][{count}];", elems[n]).unwrap();
        write!(c, "static const short {name}_at{operand}[{slots}][{lanes}] = {{").unwrap();
        for slot in 0..slots {
            let places = |lane| {
                let at = affine::evaluate(map, &[lane as i64, slot as i64]).unwrap();
                place(&at, &shapes[n]).to_string()
            };
            let row: Vec<String> = (0..lanes).map(places).collect();
            write!(c, "{{{}}},", row.join(",")).unwrap();
        }
        c.push_str("};\n");
        writeln!(
            gather,
            "  for (int s = 0; s < {slots}; ++s) {name}_{operand}[w][{name}_at{operand}[s][l]] = {}[s];",
            operand.to_lowercase()
        )
        .unwrap();
    }
    let n = shapes[2][1];
    let (k, at_a, at_b) =
        (shapes[0][1], format!("i * {} + k", shapes[0][1]), format!("k * {n} + j"));
    let from = |operand: &str| format!("{name}_{}[w]", operand.to_uppercase());
    let number = |text: String| match elems[0] {
        "bfloat" => format!("widened({text})"),
        _ => format!("({})({text})", elems[2]),
    };
    let (a, b) =
        (number(format!("{}[{at_a}]", from("a"))), number(format!("{}[{at_b}]", from("b"))));
    let pointer = |n: usize| format!("const {}", elems[n]);
    let slots = ty::count(args[2].ty()).unwrap_or(1);
    let adds = cut_in_c(instruction, &a, &b).unwrap_or_else(|| format!("sum += {a} * {b};"));
    writeln!(
        c,
        "void emulate_{name}({} *a, {} *b, const {acc} *c, {acc} *d) {{
  int w = thread_number / LANES, l = thread_number % LANES;
  wait_warp();
{gather}  wait_warp();
  for (int s = 0; s < {slots}; ++s) {{
    int i = {name}_atC[s][l] / {n}, j = {name}_atC[s][l] % {n};
    {acc} sum = {name}_C[w][i * {n} + j];
    for (int k = 0; k < {k}; ++k) {{ {adds} }}
    d[s] = sum;
  }}
  wait_warp();
}}",
        pointer(0),
        pointer(1),
        acc = elems[2],
    )
    .unwrap();
    c
}

/// What an instruction that cuts its factors adds to `sum`, from the body of its meaning.
fn cut_in_c(instruction: &Instruction<'_>, a: &str, b: &str) -> Option<String> {
    let nest = instruction.meaning()?.ops().into_iter().find(|op| op.is("linalg.generic"))?;
    let body = nest.body(0)?;
    let ops = body.ops();
    if !ops.iter().any(|op| op.is("arith.andi")) {
        return None;
    }
    let mut names = vec![(body.arg(0), "x".to_owned()), (body.arg(1), "y".to_owned())];
    names.push((body.arg(2), "sum".to_owned()));
    let mut c = format!("float x = {a}, y = {b};");
    for op in ops {
        let name = |operand: usize| {
            let known = names.iter().find(|(value, _)| *value == op.operand(operand));
            known.map(|(_, name)| name.clone()).expect("a value of the body")
        };
        let value = match op.name() {
            "linalg.yield" => return Some(format!("{c} sum = {};", name(0))),
            "arith.constant" => attr::int(op.attr("value")?)?.to_string(),
            "arith.bitcast" => format!("as_{}({})", c_type(op.result(0).ty()), name(0)),
            "arith.andi" => format!("{} & {}", name(0), name(1)),
            "arith.mulf" => format!("{} * {}", name(0), name(1)),
            "arith.addf" => format!("{} + {}", name(0), name(1)),
            "arith.subf" => format!("{} - {}", name(0), name(1)),
            other => panic!("{other} in the meaning of @{}", instruction.name),
        };
        let own = format!("v{}", names.len());
        write!(c, " {} {own} = {value};", c_type(op.result(0).ty())).unwrap();
        names.push((op.result(0), own));
    }
    None
}
