//! A model on a machine of cores with local buffers.

use std::path::Path;
use std::process::Command;

/// A folder with a model and a machine.
pub struct Desk {
    folder: tempfile::TempDir,
}

/// What the simulator counts.
pub struct Ran {
    /// Bytes of the memory that all cores share, read and written.
    pub shared_bytes: u64,
    /// Kernels that ran.
    pub runs: usize,
}

impl Desk {
    /// A machine of `device` whose local buffers hold `bytes`.
    pub fn new(model: &str, device: &str, [from, to]: [&str; 2]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let devices = Path::new(env!("CARGO_MANIFEST_DIR")).join("../devices");
        let machine = std::fs::read_to_string(devices.join(device)).expect("the machine is there");
        assert!(machine.contains(from), "{device} says {from}");
        let machine = machine.replacen(from, to, 1);
        std::fs::write(folder.path().join("machine.mlir"), machine).expect("written");
        std::fs::write(folder.path().join("model.mlir"), model).expect("written");
        Self { folder }
    }

    /// What `weft` says and gives.
    pub fn weft(&self, arguments: &str, instances: &str) -> Result<(String, String), String> {
        let mut arguments = arguments.split_whitespace();
        // What the arguments say comes last, and holds.
        let output = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(arguments.next())
            .args(["--device", "machine.mlir"])
            .args(["--pass-option", "tile-connect-edges.joining=none", "--pass-option"])
            .arg(format!("tile-split-instances.instances={instances}"))
            .args(arguments)
            .current_dir(self.folder.path())
            .output()
            .expect("weft starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.success() {
            true => Ok((String::from_utf8(output.stdout).expect("text"), said)),
            false => Err(said),
        }
    }

    /// Runs the model, and writes what it gives to `to`.
    pub fn simulate(&self, instances: &str, to: &str) -> Ran {
        let ran = self.weft(&format!("simulate model.mlir --json {to}"), instances);
        let (report, _) = ran.unwrap_or_else(|said| panic!("{said}"));
        let report: serde_json::Value = serde_json::from_str(&report).expect("an object");
        let number = |value: &serde_json::Value| value.as_u64().expect("a number");
        let shared = &report["memories"][0];
        let task = self.weft("compile model.mlir --emit task -o -", instances).expect("text").0;
        Ran {
            shared_bytes: number(&shared["read_bytes"]) + number(&shared["written_bytes"]),
            runs: task.matches("= task.range ").count(),
        }
    }

    /// Writes a file for `weft`.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("written");
    }

    /// A file that `weft` wrote.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).expect("it was written")
    }

    /// The remarks of the pass.
    pub fn remarks(&self) -> Vec<String> {
        let option = "--pass-option tile-split-instances.remarks=true";
        let compile = format!("compile model.mlir --emit tile -o t.mlir {option}");
        let said = self.weft(&compile, "all").unwrap_or_else(|said| panic!("{said}")).1;
        said.lines().filter(|line| line.contains(" instances, ")).map(str::to_owned).collect()
    }
}
