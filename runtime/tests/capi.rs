//! The C library: a C program is compiled against its header and run.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where cargo put `libweft_runtime.so`: beside this test or one folder up.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("known");
    let found =
        test.ancestors().skip(1).take(2).find(|dir| dir.join("libweft_runtime.so").exists());
    found.expect("the library is built with its tests").to_owned()
}

#[test]
fn a_c_program_runs_a_model() {
    let dir = tempfile::tempdir().expect("a folder");
    let model = common::artifact(dir.path(), 2);
    let junk = dir.path().join("junk.weft");
    std::fs::write(&junk, "junk").expect("writable");
    let (crate_dir, library, program) =
        (Path::new(env!("CARGO_MANIFEST_DIR")), library(), dir.path().join("capi"));
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pthread", "-D_POSIX_C_SOURCE=200809L"])
        .arg("-I")
        .arg(crate_dir.join("include"))
        .arg(crate_dir.join("tests/capi.c"))
        .arg("-L")
        .arg(&library)
        .args(["-lweft_runtime", "-o"])
        .arg(&program)
        .status()
        .expect("cc is installed");
    assert!(compiled.success(), "the program compiles");
    let ran = Command::new(&program)
        .args([&model, &junk])
        .env("LD_LIBRARY_PATH", &library)
        .output()
        .expect("starts");
    let text = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{text}");
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        concat!("weft ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
