//! Imports a model, or every case of a folder in the layout of ONNX's backend tests, and says what
//! became of each.
//!
//! ```text
//! import MODEL.onnx               the graph as text
//! import DIR [TEXTS]              one line per case, then counts; the graphs go into TEXTS
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use weft_dialects::ir::{Context, context, module_op};
use weft_onnx::{ImportError, Options, import, tensor_file};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next().map(PathBuf::from) else {
        eprintln!("usage: import MODEL.onnx | import DIR [TEXTS]");
        return ExitCode::from(2);
    };
    let context = context();
    if path.is_dir() {
        return folder(&path, args.next().map(PathBuf::from).as_deref(), &context);
    }
    match text(&path, &Options::default(), &context) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn text(path: &Path, options: &Options, context: &Context) -> Result<String, ImportError> {
    let (module, _) = import(path, options, context)?;
    let op = module_op(&module);
    assert!(op.verify(), "what is imported is valid");
    Ok(op.text())
}

fn folder(path: &Path, texts: Option<&Path>, context: &Context) -> ExitCode {
    let Ok(entries) = path.read_dir() else {
        eprintln!("error: cannot read {}", path.display());
        return ExitCode::FAILURE;
    };
    let mut cases: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    cases.retain(|case| case.join("model.onnx").exists());
    cases.sort();
    let mut counts = BTreeMap::new();
    for case in cases {
        let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut options = Options::default();
        let inputs = (0..).map(|at| case.join(format!("test_data_set_0/input_{at}.pb")));
        for input in inputs.take_while(|input| input.exists()) {
            if let Ok((name, elements)) = tensor_file(&input) {
                options.known_inputs.insert(name, elements);
            }
        }
        let (kind, detail) = match text(&case.join("model.onnx"), &options, context) {
            Ok(text) => {
                if let Some(texts) = texts
                    && let Err(error) = std::fs::write(texts.join(format!("{name}.mlir")), text)
                {
                    eprintln!("error: cannot write to {}: {error}", texts.display());
                    return ExitCode::FAILURE;
                }
                ("imported", String::new())
            }
            Err(error) => {
                let kind = match error {
                    ImportError::Io { .. } => "io",
                    ImportError::Malformed(_) => "malformed",
                    ImportError::Invalid(_) => "invalid",
                    ImportError::Unsupported(_) => "unsupported",
                };
                (kind, error.to_string().replace("\n  ", "; "))
            }
        };
        println!("{kind} {name} {detail}");
        *counts.entry(kind).or_insert(0) += 1;
    }
    println!("{counts:?}");
    ExitCode::SUCCESS
}
