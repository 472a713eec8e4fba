//! Builds the dialects' C++ side and the shared MLIR C library.
//!
//! `mlir-tblgen` turns `include/*.td` into classes, a few C++ files register
//! them, and `libMLIR-C.so` is made once from the packaged static C API so that
//! one MLIR serves the whole process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const DIALECTS: [&str; 4] = ["Graph", "Tile", "Task", "Device"];

fn main() {
    let prefix = PathBuf::from(
        env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into()),
    );
    if !prefix.join("bin/mlir-tblgen").exists() {
        panic!(
            "no mlir-tblgen under {}; `cargo xtask doctor` says what is missing",
            prefix.display()
        );
    }
    println!("cargo::rerun-if-changed=include");
    println!("cargo::rerun-if-changed=src/shim");
    println!("cargo::rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));

    generate(&prefix, &out);
    compile(&prefix, &out);
    link_c_api(&prefix, &out);
}

/// Runs `mlir-tblgen` for every dialect.
fn generate(prefix: &Path, out: &Path) {
    for dialect in DIALECTS {
        let lower = dialect.to_lowercase();
        for (kind, chosen_by, file) in [
            ("dialect", Some("dialect"), "Dialect"),
            ("op", None, "Ops"),
            ("typedef", Some("typedefs-dialect"), "Types"),
            ("attrdef", Some("attrdefs-dialect"), "Attrs"),
        ] {
            for (part, extension) in [("decls", "h"), ("defs", "cpp")] {
                let mut arguments = vec![format!("-gen-{kind}-{part}")];
                arguments.extend(chosen_by.map(|flag| format!("-{flag}={lower}")));
                let target = out.join(format!("{dialect}{file}.{extension}.inc"));
                tblgen(prefix, dialect, &arguments, &target);
            }
        }
        let verifiers = verified_ops(&out.join(format!("{dialect}Ops.h.inc")));
        fs::write(out.join(format!("{dialect}Verifiers.inc")), verifiers)
            .expect("OUT_DIR can be written");
    }
}

fn tblgen(prefix: &Path, dialect: &str, arguments: &[String], target: &Path) {
    let status = Command::new(prefix.join("bin/mlir-tblgen"))
        .args(arguments)
        .arg("-I")
        .arg(prefix.join("include"))
        .args(["-I", "include"])
        .arg(format!("include/{dialect}.td"))
        .arg("-o")
        .arg(target)
        .status()
        .expect("mlir-tblgen starts");
    assert!(status.success(), "mlir-tblgen failed on include/{dialect}.td");
}

/// One line per operation class that declares `verify()`.
fn verified_ops(header: &Path) -> String {
    let text = fs::read_to_string(header).expect("mlir-tblgen wrote it");
    let mut class = String::new();
    let mut lines = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("class ")
            && let Some((name, _)) = rest.split_once(" : public ::mlir::Op<")
        {
            class = name.to_owned();
        }
        if line.trim() == "::llvm::LogicalResult verify();" {
            lines += &format!("WEFT_VERIFY({class})\n");
        }
    }
    lines
}

fn compile(prefix: &Path, out: &Path) {
    let compiler = prefix.join("bin/clang++");
    let mut build = cc::Build::new();
    if compiler.exists() {
        build.compiler(compiler);
    }
    build
        .cpp(true)
        .std("c++17")
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag("-Wno-unused-parameter")
        .opt_level(1)
        .debug(false)
        .include(out)
        .flag("-isystem")
        .flag(prefix.join("include").to_str().expect("the prefix is UTF-8"))
        .files(
            ["graph", "tile", "task", "device", "vendor", "shim"]
                .map(|file| format!("src/shim/{file}.cpp")),
        )
        .compile("weft_dialects");
}

/// Makes `libMLIR-C.so` beside the binaries, where their run path finds it.
fn link_c_api(prefix: &Path, out: &Path) {
    // OUT_DIR is target/PROFILE/build/PACKAGE/out.
    let beside = out.ancestors().nth(3).expect("OUT_DIR lies in the target folder");
    let library = beside.join("libMLIR-C.so");
    let lib = prefix.join("lib");
    if !library.exists() {
        let mut archives: Vec<PathBuf> = fs::read_dir(&lib)
            .expect("the LLVM prefix has a lib folder")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
                name.starts_with("libMLIRCAPI") && name.ends_with(".a")
            })
            .collect();
        archives.sort();
        let temporary = beside.join(format!("libMLIR-C.so.{}", std::process::id()));
        let status = Command::new(prefix.join("bin/clang++"))
            .args(["-shared", "-fuse-ld=lld", "-Wl,--whole-archive"])
            .args(&archives)
            .args(["-Wl,--no-whole-archive", "-Wl,-soname,libMLIR-C.so"])
            .arg(format!("-L{}", lib.display()))
            .args(["-lMLIR", "-lLLVM-22", "-o"])
            .arg(&temporary)
            .status()
            .expect("clang++ starts");
        assert!(status.success(), "linking libMLIR-C.so failed");
        fs::rename(&temporary, &library).expect("libMLIR-C.so can be put in place");
    }
    println!("cargo::rerun-if-changed={}", library.display());
    println!("cargo::rustc-link-search=native={}", beside.display());
}
