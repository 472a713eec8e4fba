//! `docs/add-a-gpu-instruction.md` says what happens: its machine is built from its own blocks, its
//! commands are run, and what they print is what the page shows. Its instruction is held against
//! the maker's document, and a product by it against the interpreter.

#[path = "../page/mod.rs"]
mod page;

use std::path::Path;

use page::{Block, blocks, console};
use tempfile::TempDir;
use weft_dialects::device::Machine;
use weft_dialects::ir::{affine, module_op, parse, ty};

use crate::host;
use crate::kernels::{check, reported};
use crate::matrix;

const PAGE: &str = include_str!("../../../docs/add-a-gpu-instruction.md");
const MACHINE: &str = "mi355x.mlir";
const INSTRUCTION: &str = "mfma_16x16x32_f16";
/// No size is a multiple of the instruction's.
const RAGGED: (&str, &str) = ("C[m,n] += A[m,k] * B[k,n]", "m=100,n=152,k=200");

/// A folder with the file that the page begins with.
fn start() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("devices")).expect("made");
    std::fs::write(folder.path().join("devices/mi300x.mlir"), host::machine("mi300x"))
        .expect("written");
    folder
}

/// The machine of the whole page: its folder, and its path.
fn machine() -> (TempDir, String) {
    let folder = start();
    for block in blocks(PAGE).iter().filter(|block| block.language != "console") {
        apply(folder.path(), block);
    }
    let path = folder.path().join(MACHINE).display().to_string();
    (folder, path)
}

/// Edits a file as a block of the page says.
fn apply(folder: &Path, block: &Block<'_>) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the file is there");
    let write =
        |name: &str, text: String| std::fs::write(folder.join(name), text).expect("written");
    match block.language {
        "diff" => {
            let from = block.text[0].strip_prefix("--- ").expect("from a file");
            let to = block.text[1].strip_prefix("+++ ").expect("to a file");
            let mut text = read(from);
            for lines in block.text[2..].split(|line| *line == "...") {
                let (old, new) = (side(lines, '-'), side(lines, '+'));
                let place = format!("line {}: {from} has to have once\n{old}", block.line);
                assert_eq!(text.matches(&old).count(), 1, "{place}");
                text = text.replace(&old, &new);
            }
            write(to, text);
        }
        "mlir" => {
            let text = read(MACHINE);
            let (machine, end) = text.rsplit_once('}').expect("a machine ends");
            write(MACHINE, format!("{machine}\n{}\n}}{end}", block.text.join("\n")));
        }
        other => panic!("line {}: a block of `{other}`", block.line),
    }
}

/// The lines of a diff that one side has: those with its sign, and those with none.
fn side(lines: &[&str], sign: char) -> String {
    let own = lines.iter().filter(|line| line.starts_with([' ', sign]));
    own.map(|line| format!("{}\n", &line[1..])).collect()
}

/// AMD Matrix Instruction Calculator, of `v_mfma_f32_16x16x32_fp8_fp8`, where a lane has eight elements, too:
/// `A i: lane % 16`, `A k: 8 * floor(lane / 16) + ...` and the element's place in the lane's
/// registers, which hold two of 16 bits each; `D i: 4 * floor(lane / 16) + (GPR_num % 4)`.
fn element(operand: usize, lane: i64, slot: i64) -> [i64; 2] {
    let (register, half) = (slot / 2, slot % 2);
    let k = 8 * (lane / 16) + 2 * register + half;
    match operand {
        0 => [lane % 16, k],
        1 => [k, lane % 16],
        _ => [4 * (lane / 16) + slot % 4, lane % 16],
    }
}

/// The first operand, lane and slot where the machine's map is not the document's.
fn disagreement(text: &str) -> Option<(usize, i64, i64)> {
    let context = weft::context();
    let module = parse(&context, text).expect("the machine is good");
    let machine = Machine::of(module_op(&module)).expect("the file has a machine");
    let instruction = machine.instruction(INSTRUCTION).expect("the page adds it");
    let args = instruction.lowering().expect("a lowering").args();
    let lanes = matrix::lanes(machine, &instruction) as i64;
    for (operand, fragment) in instruction.fragments().iter().enumerate() {
        let map = fragment.expect("operands lie in lanes");
        let slots = ty::count(args[operand].ty()).expect("a vector of slots") as i64;
        for (lane, slot) in (0..lanes).flat_map(|l| (0..slots).map(move |s| (l, s))) {
            let place = affine::evaluate(map, &[lane, slot]).expect("a map");
            if place != element(operand, lane, slot) {
                return Some((operand, lane, slot));
            }
        }
    }
    None
}

#[test]
fn the_page_says_what_happens() {
    let folder = start();
    let mut commands = 0;
    for block in blocks(PAGE) {
        match block.language {
            "console" => commands += console(folder.path(), "add-a-gpu-instruction.md", &block),
            _ => apply(folder.path(), &block),
        }
    }
    assert!(commands > 5, "{commands}");
}

#[test]
fn lanes_hold_what_the_document_says() {
    let (_folder, path) = machine();
    let text = std::fs::read_to_string(path).expect("the page's blocks make it");
    assert_eq!(disagreement(&text), None);

    // The page's other map is accepted, and only the document tells that it is wrong.
    let own = "(l mod 16, 8 * (l floordiv 16) + s)";
    let other = "(l mod 16, 16 * (s floordiv 4) + 4 * (l floordiv 16) + s mod 4)";
    assert!(PAGE.contains(other));
    let at = text.find(&format!("@{INSTRUCTION} on")).expect("the page adds it");
    let edited = text[..at].to_owned() + &text[at..].replacen(own, other, 1);
    assert_eq!(disagreement(&edited), Some((0, 0, 4)));
}

#[test]
fn ragged_products_are_by_the_instruction() {
    let (_folder, path) = machine();
    let (assembly, _) = reported(&path, RAGGED, "f16");
    let products: Vec<&str> = assembly.lines().filter(|line| line.contains("v_mfma")).collect();
    let by_it = |line: &&str| line.contains("v_mfma_f32_16x16x32_f16 ");
    assert!(!products.is_empty() && products.iter().all(by_it), "{products:#?}");
    check(&path, RAGGED, "f16");
}
