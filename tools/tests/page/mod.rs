//! Pages of `docs/` that say what happens: their blocks, and what their commands print.

use std::path::Path;
use std::process::Command;

/// A fenced block, and the line of the page it begins on.
pub struct Block<'a> {
    pub language: &'a str,
    pub line: usize,
    pub text: Vec<&'a str>,
}

/// The fenced blocks of a page.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
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

/// Runs the commands of a block and holds what they print against it; tells how many there are.
pub fn console(folder: &Path, page: &str, block: &Block<'_>) -> usize {
    let shown = block.text.split(|line| line.starts_with("$ ")).skip(1);
    let commands = block.text.iter().filter_map(|line| line.strip_prefix("$ "));
    let mut count = 0;
    for (shown, command) in shown.zip(commands) {
        let place = format!("{page}:{}: {command}", block.line);
        holds(shown, &run(folder, command), &place);
        count += 1;
    }
    count
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
