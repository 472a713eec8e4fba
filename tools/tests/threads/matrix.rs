//! Matrix instructions as functions of C, which compute what they mean from the fragments that all lanes of a
//! group hand in.

use std::fmt::Write as _;

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::ir::{Type, affine, module_op, parse, ty};

use crate::warpgroups;

/// The machine with those of its matrix instructions that a program has as functions of C, and these.
pub fn emulated(text: &str, program: &str) -> (String, String) {
    let context = weft::context();
    let module = parse(&context, text).expect("the machine is good");
    let machine = Machine::of(module_op(&module)).expect("the file has a machine");
    let mut glue = String::new();
    let (mut lowerings, mut by_descriptors) = (Vec::new(), Vec::new());
    let used = |one: &Instruction<'_>| program.contains(&format!("@{}(", one.name));
    for instruction in machine.instructions().into_iter().filter(used) {
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
    for line in text.lines() {
        if let Some(rest) = line.trim_start().strip_prefix("device.instruction @") {
            let name = rest.split(' ').next().unwrap_or("");
            current = lowerings.iter().find(|(own, _)| own == name);
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
            out.push_str(line);
            out.push('\n');
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
    let names = ["a", "b", "c"];
    let mut body = String::from("  ^bb0(");
    let types: Vec<String> = args.iter().map(|arg| arg.ty().to_string()).collect();
    let list: Vec<_> =
        names.iter().zip(&types).map(|(name, ty)| format!("%{name}: {ty}")).collect();
    let result = &types[2];
    write!(
        body,
        "{}):\n    %z = arith.constant 0 : index\n    %r = memref.alloca_scope -> ({result}) {{\n",
        list.join(", ")
    )
    .unwrap();
    let (mut given, mut shapes) = (Vec::new(), Vec::new());
    for (name, ty) in names.iter().zip(&types).chain([(&"d", &types[2])]) {
        let memref = match ty.strip_prefix("vector<") {
            Some(rest) => format!("memref<{rest}"),
            None => format!("memref<1x{ty}>"),
        };
        writeln!(body, "    %p{name} = memref.alloca() : {memref}").unwrap();
        if *name != "d" && ty.starts_with("vector") {
            writeln!(body, "    vector.store %{name}, %p{name}[%z] : {memref}, {ty}").unwrap();
        } else if *name != "d" {
            writeln!(body, "    memref.store %{name}, %p{name}[%z] : {memref}").unwrap();
        }
        given.push(format!("%p{name}"));
        shapes.push(memref);
    }
    let (name, shapes) = (instruction.name, shapes.join(", "));
    writeln!(body, "    func.call @emulate_{name}({}) : ({shapes}) -> ()", given.join(", "))
        .unwrap();
    let memref = result.replacen("vector", "memref", 1);
    writeln!(body, "    %d = vector.load %pd[%z] : {memref}, {result}").unwrap();
    writeln!(body, "    memref.alloca_scope.return %d : {result}\n    }}").unwrap();
    writeln!(body, "    device.yield %r : {result}").unwrap();
    (body, format!("func.func private @emulate_{name}({shapes})\n"))
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
    let blocks = "THREADS / LANES";
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
    writeln!(
        c,
        "void emulate_{name}({} *a, {} *b, const {acc} *c, {acc} *d) {{
  int w = thread_number / LANES, l = thread_number % LANES;
  wait_warp();
{gather}  wait_warp();
  for (int s = 0; s < {slots}; ++s) {{
    int i = {name}_atC[s][l] / {n}, j = {name}_atC[s][l] % {n};
    {acc} sum = {name}_C[w][i * {n} + j];
    for (int k = 0; k < {k}; ++k) sum += {a} * {b};
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
