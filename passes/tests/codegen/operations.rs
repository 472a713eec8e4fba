//! Every operation has code.

use super::*;

/// Operations that take one type and give it back.
const FLOAT_OPERATIONS: [&str; 22] = [
    "addf",
    "subf",
    "mulf",
    "divf",
    "negf",
    "maximumf",
    "minimumf",
    "maxnumf",
    "minnumf",
    "remf",
    "math.sqrt",
    "math.absf",
    "math.floor",
    "math.ceil",
    "math.trunc",
    "math.roundeven",
    "math.copysign",
    "math.exp",
    "math.rsqrt",
    "math.erf",
    "math.powf",
    "math.fma",
];

const INTEGER_OPERATIONS: [&str; 23] = [
    "addi",
    "subi",
    "muli",
    "divsi",
    "divui",
    "remsi",
    "remui",
    "floordivsi",
    "ceildivsi",
    "ceildivui",
    "andi",
    "ori",
    "xori",
    "shli",
    "shrsi",
    "shrui",
    "maxsi",
    "minsi",
    "maxui",
    "minui",
    "math.ctpop",
    "math.ctlz",
    "math.cttz",
];

const CONVERSIONS: [(&str, &[&str], &[&str]); 8] = [
    ("sitofp", &["i8", "i16", "i32", "i64"], &["f16", "bf16", "f32", "f64"]),
    ("uitofp", &["i8", "i16", "i32", "i64"], &["f16", "bf16", "f32", "f64"]),
    ("fptosi", &["f16", "bf16", "f32", "f64"], &["i8", "i16", "i32", "i64"]),
    ("fptoui", &["f16", "bf16", "f32", "f64"], &["i8", "i16", "i32", "i64"]),
    ("extf", &["f16", "bf16"], &["f32", "f64"]),
    ("truncf", &["f32", "f64"], &["f16", "bf16"]),
    ("extsi", &["i8", "i16"], &["i32", "i64"]),
    ("trunci", &["i32", "i64"], &["i8", "i16"]),
];

fn bytes_of(ty: &str) -> usize {
    ty.trim_start_matches(|letter: char| !letter.is_ascii_digit())
        .parse::<usize>()
        .map_or(8, |bits| bits / 8)
}

/// A kernel for each operation on whole and on odd registers.
fn all_operations(bytes: usize) -> String {
    let mut kernels = Vec::new();
    let mut add = |types: [&str; 2], body: &str| {
        let lanes = bytes / bytes_of(types[0]).max(bytes_of(types[1]));
        for lanes in [lanes, 1, 3] {
            kernels.push(elementwise(
                &format!("k{}", kernels.len()),
                lanes,
                types,
                lanes + lanes / 2,
                body,
            ));
        }
    };
    let floats =
        FLOAT_OPERATIONS.iter().flat_map(|op| ["f16", "bf16", "f32", "f64"].map(|ty| (op, ty)));
    let integers =
        INTEGER_OPERATIONS.iter().flat_map(|op| ["i8", "i16", "i32", "i64"].map(|ty| (op, ty)));
    for (op, ty) in floats.chain(integers) {
        let operands = match *op {
            "math.fma" => "%a, %a, %a",
            "math.copysign" | "math.powf" => "%a, %a",
            op if op == "negf" || op.starts_with("math.") => "%a",
            _ => "%a, %a",
        };
        let op = if op.contains('.') { (*op).to_owned() } else { format!("arith.{op}") };
        add([ty; 2], &format!("%r = {op} {operands} : {ty}"));
    }
    for ty in ["f16", "bf16", "f32", "f64"] {
        add(
            [ty; 2],
            &format!(
                "%c = arith.cmpf ult, %a, %a : {ty}\n %n = arith.constant 1.5 : {ty}\n %r = arith.select %c, %a, %n : {ty}"
            ),
        );
    }
    for (op, from, to) in CONVERSIONS {
        for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
            add([from, to], &format!("%r = arith.{op} %a : {from} to {to}"));
        }
    }
    let names: Vec<_> = FLOAT_OPERATIONS
        .iter()
        .chain(&INTEGER_OPERATIONS)
        .chain(CONVERSIONS.iter().map(|(op, _, _)| op))
        .collect();
    let names = names
        .iter()
        .map(|op| if op.contains('.') { format!("\"{op}\"") } else { format!("\"arith.{op}\"") });
    let old = format!("operations([{}])", OPERATIONS.map(|name| format!("{name:?}")).join(", "));
    let new = format!(
        "operations([{}, \"arith.cmpf\", \"arith.select\"])",
        names.collect::<Vec<_>>().join(", ")
    );
    machine(bytes).replace(&old, &new) + &kernels.join("")
}

#[test]
#[ignore = "a thousand kernels"]
fn every_operation_has_code() {
    for bytes in sizes() {
        let objects = compile(&all_operations(bytes), 2).expect("every kernel compiles");
        link(&objects).expect("nothing is missing");
    }
}
