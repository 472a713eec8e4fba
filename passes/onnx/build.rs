//! Compiles the published ONNX schema; no `protoc` is needed.

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let schema = root.join("../../third_party/onnx");
    println!("cargo::rerun-if-changed={}", schema.join("onnx.proto").display());
    let files = protox::compile(["onnx.proto"], [&schema])?;
    // `Bytes` fields are slices of the mapped file; nothing is copied.
    prost_build::Config::new().bytes(["."]).disable_comments(["."]).compile_fds(files)?;
    Ok(())
}
