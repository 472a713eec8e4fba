//! `docs/add-an-accelerator.md` says what happens: its machine is built from its own
//! blocks, its commands are run, and what they print is what the page shows.

mod page;

use std::path::Path;

use page::{blocks, console};

const PAGE: &str = include_str!("../../docs/add-an-accelerator.md");

#[test]
fn the_page_says_what_happens() {
    let folder = tempfile::tempdir().expect("a folder");
    let digits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits");
    for file in ["digits.onnx", "digits.inputs.npz", "digits.ref.npz"] {
        std::fs::copy(digits.join(file), folder.path().join(file)).expect("the example is there");
    }
    let mut machine = String::new();
    let mut commands = 0;
    for block in blocks(PAGE) {
        match block.language {
            "mlir" => {
                for line in block.text {
                    machine += line;
                    machine.push('\n');
                }
                std::fs::write(folder.path().join("lark.mlir"), format!("{machine}}}\n"))
                    .expect("written");
            }
            "console" => commands += console(folder.path(), "add-an-accelerator.md", &block),
            other => panic!("line {}: a block of `{other}`", block.line),
        }
    }
    assert!(commands > 8, "{commands}");
    assert!(machine.lines().count() < 200, "{}", machine.lines().count());
}
