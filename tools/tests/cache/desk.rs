//! A folder with a model, a machine and a cache.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use prost::Message;
use weft_onnx::proto::{ModelProto, TensorProto};

/// A file of the repository.
fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// A folder for one test, with a cache of its own.
pub struct Desk(tempfile::TempDir);

/// What a compilation said and made.
pub struct Out {
    pub said: String,
    pub bytes: Vec<u8>,
}

impl Out {
    pub fn hit(&self) -> bool {
        self.said.contains("cache hit")
    }

    pub fn missed(&self) -> bool {
        self.said.contains("cache miss")
    }
}

impl Desk {
    /// A folder with the network of `examples/digits` in it.
    pub fn digits() -> Self {
        let desk = Self(tempfile::tempdir().expect("a folder"));
        std::fs::copy(file("examples/digits/digits.onnx"), desk.path("digits.onnx"))
            .expect("copied");
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `machine.mlir`: a machine that weft ships, with `from` written as `to`.
    pub fn machine(&self, name: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(file(&format!("devices/{name}.mlir"))).expect("text");
        assert!(text.contains(from), "{name} says {from}");
        std::fs::write(self.path("machine.mlir"), text.replace(from, to)).expect("written");
    }

    /// Changes what the model's file says.
    pub fn change_model(&self, change: impl FnOnce(&mut ModelProto)) {
        let path = self.path("digits.onnx");
        let bytes = std::fs::read(&path).expect("a model");
        let mut model = ModelProto::decode(&bytes[..]).expect("a model");
        change(&mut model);
        std::fs::write(path, model.encode_to_vec()).expect("written");
    }

    /// Changes one number of the largest weight.
    pub fn change_weight(&self) {
        let size = |tensor: &TensorProto| tensor.raw_data.as_ref().map_or(0, |data| data.len());
        self.change_model(|model| {
            let weights = &mut model.graph.as_mut().expect("a graph").initializer;
            let weight = weights.iter_mut().max_by_key(|tensor| size(tensor)).expect("a weight");
            let mut data = weight.raw_data.as_ref().expect("raw data").to_vec();
            data[0] ^= 1;
            weight.raw_data = Some(data.into());
        });
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command.env_remove("WEFT_CACHE_MIB").env("WEFT_CACHE_DIR", self.path("elsewhere"));
        command
    }

    pub fn weft(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("weft starts")
    }

    /// As [`Desk::weft`], with a cache of at most so many MiB.
    pub fn weft_within(&self, mib: &str, arguments: &str) -> Output {
        self.command(arguments).env("WEFT_CACHE_MIB", mib).output().expect("weft starts")
    }

    pub fn start(&self, arguments: &str) -> Child {
        let mut command = self.command(arguments);
        command.stderr(Stdio::piped()).spawn().expect("weft starts")
    }

    /// What a command that wrote `out.weft` said and made.
    pub fn out(&self, output: &Output) -> Out {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        Out { said, bytes: std::fs::read(self.path("out.weft")).expect("an artifact") }
    }

    /// Compiles the network with the cache.
    pub fn compile(&self, arguments: &str) -> Out {
        let command = "compile digits.onnx -o out.weft --timings --cache cache";
        self.out(&self.weft(&format!("{command} {arguments}")))
    }

    /// What a compilation without the cache makes.
    pub fn uncached(&self, arguments: &str) -> Vec<u8> {
        let command = "compile digits.onnx -o out.weft --no-cache";
        self.out(&self.weft(&format!("{command} {arguments}"))).bytes
    }

    /// The files of a folder of the cache, in one order.
    pub fn files(&self, folder: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("cache/v1").join(folder)];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(folder) else { continue };
            for path in entries.map(|entry| entry.expect("an entry").path()) {
                if path.is_dir() { &mut folders } else { &mut found }.push(path);
            }
        }
        found.sort();
        found
    }
}
