//! From device programs to assembled code, by the vendors' own assembler where there is one.

use std::path::PathBuf;

use weft_dialects::device::Machine;
use weft_dialects::ir::{module_op, parse};
use weft_passes::codegen::gpu::Isa;
use weft_passes::codegen::whole_text;

use crate::host::{self, call, llvm};

/// The assembly of a program for a machine; it has been assembled and linked without
/// anything undefined.
pub fn assemble(machine_name: &str, program: &str) -> String {
    let context = weft::context();
    let text = format!("{}\n{program}", host::machine(machine_name));
    let module = parse(&context, &text).expect("the program is good");
    let machine = Machine::of(module_op(&module)).expect("the text has a machine");
    let arch = machine.arch().to_owned();
    let isa = Isa::of_arch(&arch).expect("the machine has threads");
    let text = whole_text(module_op(&module), machine, 1, isa, &[])
        .unwrap_or_else(|error| panic!("{machine_name}: {error}\n{program}"));
    check(&arch, &text);
    text
}

/// Assembles text; whatever it needs has to be in it. Tells what `ptxas -v` says.
pub fn check(arch: &str, text: &str) -> String {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    std::fs::write(folder.path().join("kernel.s"), text).unwrap();
    if arch.starts_with("sm_") {
        // Shared memory that a launch asks for is from nowhere.
        let elsewhere = |line: &&str| line.contains(".extern") && !line.contains(".extern .shared");
        let line = text.lines().find(elsewhere);
        assert_eq!(line, None, "something is to come from elsewhere:\n{text}");
        let Some(ptxas) = ptxas(arch) else {
            eprintln!("NOT CHECKED: there is no ptxas for {arch}; `cargo xtask setup` installs it");
            return String::new();
        };
        let arch = format!("-arch={arch}");
        return call(&ptxas, &["-v", &arch, "kernel.s", "-o", "kernel.o"], folder.path());
    }
    let target = ["-x", "assembler", "-target", "amdgcn-amd-amdhsa"];
    let cpu = format!("-mcpu={arch}");
    call(
        &llvm("clang"),
        &[&target[..], &[&cpu, "-c", "kernel.s", "-o", "kernel.o"]].concat(),
        folder.path(),
    );
    call(
        &llvm("ld.lld"),
        &["-shared", "--no-undefined", "kernel.o", "-o", "kernel.co"],
        folder.path(),
    )
}

/// `WEFT_PTXAS`, or what `cargo xtask setup` has installed: one that knows the architecture.
fn ptxas(arch: &str) -> Option<PathBuf> {
    if let Some(chosen) = std::env::var_os("WEFT_PTXAS") {
        return Some(chosen.into());
    }
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let tools = target.parent()?.join("tools");
    // The newer one has left the oldest architectures behind.
    let folder = if arch == "sm_70" { "cuda_nvcc" } else { "cu13" };
    let libraries = std::fs::read_dir(tools.join("lib")).ok()?;
    libraries
        .flatten()
        .map(|python| python.path().join("site-packages/nvidia").join(folder).join("bin/ptxas"))
        .find(|ptxas| ptxas.is_file())
}
