//! Builds the dialects' C++ side and the shared MLIR C library.
//!
//! `mlir-tblgen` turns `include/*.td` into classes, a few C++ files register
//! them, and `libMLIR-C.so` is linked from them and the packaged static libraries, so that one
//! MLIR and one LLVM serve the whole process.

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
        .cargo_metadata(false)
        .include(out)
        .flag("-isystem")
        .flag(prefix.join("include").to_str().expect("the prefix is UTF-8"))
        .files(
            ["graph", "tile", "task", "device", "vendor", "link", "shim"]
                .map(|file| format!("src/shim/{file}.cpp")),
        )
        .compile("weft_dialects");
}

/// Makes `libMLIR-C.so` beside the binaries, where their run path finds it: the C APIs of MLIR and
/// LLVM, the dialects' C++ side, LLVM's linker, and what these reach. Nothing else is exported, so that
/// the loader has no names of C++ to look up, which would take longer than compiling a kernel.
fn link_c_api(prefix: &Path, out: &Path) {
    // OUT_DIR is target/PROFILE/build/PACKAGE/out.
    let beside = out.ancestors().nth(3).expect("OUT_DIR lies in the target folder");
    let exported = out.join("exported.map");
    fs::write(&exported, "{ global: mlir*; LLVM*; weft*; local: *; };\n")
        .expect("OUT_DIR can be written");
    let temporary = beside.join(format!("libMLIR-C.so.{}", std::process::id()));
    let status = Command::new(prefix.join("bin/clang++"))
        .args(["-shared", "-fuse-ld=lld", "-Wl,-soname,libMLIR-C.so", "-Wl,--build-id=fast"])
        .args(["-Wl,--gc-sections", "-Wl,-Bsymbolic", "-Wl,-z,pack-relative-relocs,-z,defs"])
        .arg(format!("-Wl,--version-script={}", exported.display()))
        .args(["mlir*", "LLVM*", "weft*"].map(|names| format!("-Wl,--undefined-glob={names}")))
        .arg("-Wl,--start-group")
        .arg(out.join("libweft_dialects.a"))
        .args(archives(prefix))
        .args(["-Wl,--end-group", "-lz", "-lzstd", "-o"])
        .arg(&temporary)
        .status()
        .expect("clang++ starts");
    assert!(status.success(), "linking libMLIR-C.so failed");
    fs::rename(&temporary, beside.join("libMLIR-C.so")).expect("libMLIR-C.so can be put in place");
    println!("cargo::rustc-link-search=native={}", beside.display());
}

/// The static libraries of MLIR, LLVM and its linker, in the order of their names.
fn archives(prefix: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(prefix.join("lib"))
        .expect("the LLVM prefix has a lib folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            let ours = ["libMLIR", "libLLVM", "libPolly", "liblldCommon", "liblldELF"]
                .iter()
                .any(|begin| name.starts_with(begin));
            // The interpreter of LLVM's IR wants libffi, and nothing here wants it.
            ours && name.ends_with(".a") && name != "libLLVMInterpreter.a"
        })
        .collect();
    found.sort();
    found
}
