//! `docs/add-an-accelerator.md` says what happens: its machine is built from its own
//! blocks, its commands are run, and what they print is what the page shows.

use std::path::Path;
use std::process::Command;

const PAGE: &str = include_str!("../../docs/add-an-accelerator.md");

/// A fenced block, and the line of the page it begins on.
struct Block<'a> {
    language: &'a str,
    line: usize,
    text: Vec<&'a str>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(language) => {
                inside = true;
                blocks.push(Block { language, line: number + 1, text: Vec::new() });
            }
            None if inside => blocks.last_mut().expect("inside of one").text.push(line),
            None => {}
        }
    }
    blocks
}

/// The words of a command; what stands in single quotes is one.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in command.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Runs a command of the page; everything it prints.
fn run(folder: &Path, command: &str) -> String {
    let words = words(command);
    assert_eq!(words[0], "weft", "{command}");
    let output = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(&words[1..])
        .current_dir(folder)
        .output()
        .expect("weft starts");
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!err.contains("internal error of weft"), "{command}\n{err}");
    // Reports are drawn in boxes; the page leaves them out.
    let plain = |text: &str| text.replace(['│', '╭', '╰', '─', '┬', '╯'], " ");
    format!("{}\n{}", plain(&out), plain(&err))
}

/// Every line of `shown` is in `printed`, one behind the other; `...` is whatever it is.
fn holds(shown: &[&str], printed: &str, place: &str) {
    let mut rest = printed;
    for line in shown.iter().map(|line| line.trim()).filter(|line| *line != "...") {
        match rest.split_once(line) {
            Some((_, behind)) => rest = behind,
            None => panic!("{place}: `{line}` is not, or not there, in\n{printed}"),
        }
    }
}

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
            "console" => {
                for one in block
                    .text
                    .split(|line| line.starts_with("$ "))
                    .skip(1)
                    .zip(block.text.iter().filter_map(|line| line.strip_prefix("$ ")))
                {
                    let (shown, command) = one;
                    let place = format!("add-an-accelerator.md:{}: {command}", block.line);
                    holds(shown, &run(folder.path(), command), &place);
                    commands += 1;
                }
            }
            other => panic!("line {}: a block of `{other}`", block.line),
        }
    }
    assert!(commands > 8, "{commands}");
    assert!(machine.lines().count() < 200, "{}", machine.lines().count());
}
