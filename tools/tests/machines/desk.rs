//! A folder to work in, and the tools on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A file of the repository.
pub fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// The text of a machine that weft ships.
pub fn machine(name: &str) -> String {
    std::fs::read_to_string(file(&format!("devices/{name}.mlir"))).expect("the machine is there")
}

/// A folder for one test.
pub struct Desk(tempfile::TempDir);

impl Desk {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A folder with the network of `examples/digits` in it.
    pub fn digits() -> Self {
        let desk = Self::new();
        for name in ["digits.onnx", "digits.inputs.npz", "digits.ref.npz"] {
            std::fs::copy(file("examples/digits").join(name), desk.path(name)).expect("copied");
        }
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("written");
    }

    pub fn tool(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(arguments).current_dir(self.0.path()).output().expect("the tool starts")
    }

    /// What `weft` prints, and it has to succeed.
    pub fn weft(&self, arguments: &[&str]) -> String {
        let output = self.tool(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "weft {}\n{said}", arguments.join(" "));
        String::from_utf8(output.stdout).expect("text")
    }

    /// What `weft` says when it refuses.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let output = self.tool(arguments);
        assert_eq!(output.status.code(), Some(1), "weft {}", arguments.join(" "));
        String::from_utf8(output.stderr).expect("text")
    }

    /// What `weft simulate --json` says of a model.
    pub fn simulate(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["simulate"];
        all.extend(arguments);
        all.push("--json");
        serde_json::from_str(&self.weft(&all)).expect("JSON")
    }
}
