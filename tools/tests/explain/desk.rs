//! A folder with a model, and `weft` on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder for one test, with the network of `examples/digits` in it.
pub struct Desk(tempfile::TempDir);

impl Desk {
    pub fn digits() -> Self {
        let desk = Self(tempfile::tempdir().expect("a folder"));
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits");
        std::fs::copy(examples.join("digits.onnx"), desk.path("digits.onnx")).expect("copied");
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    pub fn tool(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(arguments).current_dir(self.0.path()).output().expect("weft starts")
    }

    /// What `weft` prints, and it has to succeed.
    pub fn weft(&self, arguments: &[&str]) -> String {
        let output = self.tool(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "weft {}\n{said}", arguments.join(" "));
        String::from_utf8(output.stdout).expect("text")
    }

    /// The text of a stage.
    pub fn stage(&self, stage: &str, more: &[&str]) -> String {
        let mut arguments = vec!["compile", "digits.onnx", "--emit", stage, "-o", "-"];
        arguments.extend(more);
        self.weft(&arguments)
    }

    /// The report that the page `digits.html` holds, after writing it.
    pub fn explain(&self, more: &[&str]) -> Value {
        let mut arguments = vec!["explain", "digits.onnx", "-o", "digits.html"];
        arguments.extend(more);
        self.weft(&arguments);
        held(&self.read("digits.html"))
    }
}

/// The report that a page holds.
pub fn held(page: &str) -> Value {
    let begin = "<script type=\"application/json\" id=\"report\">";
    let (_, rest) = page.split_once(begin).expect("the page holds a report");
    let (data, _) = rest.split_once("</script>").expect("the report ends");
    serde_json::from_str(data).expect("the report is JSON")
}

/// The elements of a list.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// A whole number.
pub fn number(value: &Value) -> u64 {
    value.as_u64().expect("a whole number")
}

/// Lines of a text that hold `word`.
pub fn lines<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(word)).collect()
}

/// The number behind `word` in a text.
pub fn behind(text: &str, word: &str) -> u64 {
    let (_, rest) = text.split_once(word).unwrap_or_else(|| panic!("no {word}in {text}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}
