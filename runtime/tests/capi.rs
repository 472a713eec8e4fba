//! The C library: a C program is compiled against its header and run.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use weft_runtime::artifact;
use weft_runtime::length::{Length, Symbol};
use weft_runtime::plan::{Alias, Base, Buffer, Find, Kernel, Lengths, Plan, Share, Step};

/// Writes an artifact that gives `x * 2 + 1` for 1 to 64 rows of 16 numbers, `n` of them, on two units.
fn rows_of_any_number(dir: &Path) -> PathBuf {
    let mut plan = Plan { name: "rows".into(), ..common::plan(2) };
    plan.steps.truncate(2);
    plan.kernels.truncate(1);
    plan.ops.truncate(1);
    plan.arena_bytes = 0;
    plan.outputs[0].shape = vec![64, 16];
    let buffer = |base, bytes| Buffer { base, offset: 0, bytes };
    plan.buffers = vec![
        buffer(Base::Input(0), 4096),
        buffer(Base::Constant, 64),
        buffer(Base::Output(0), 4096),
    ];
    let rows = || vec![vec![Length::symbol("n"), Length::number(16)]];
    let share = |part| Share { step: part, tasks: Length::symbol("n"), part, parts: 2 };
    plan.lengths = Lengths {
        symbols: vec![Symbol { name: "n".into(), least: 1, most: 64, multiple: 1 }],
        inputs: rows(),
        outputs: rows(),
        shares: vec![share(0), share(1)],
        ..Lengths::default()
    };
    for step in &mut plan.steps {
        (step.begin, step.end) = (0, 64);
    }
    let path = dir.join("rows.weft");
    artifact::write(&path, &plan, &common::compile(common::KERNELS, dir), |out| {
        Ok(std::io::Write::write_all(out, &common::constants())?)
    })
    .expect("written");
    path
}

/// The same where the rows are written over.
fn rows_in_place(dir: &Path) -> PathBuf {
    let path = rows_of_any_number(dir);
    let rows = artifact::Artifact::open(&path).expect("readable");
    let mut plan = rows.plan().clone();
    plan.buffers[0].base = Base::Output(0);
    plan.aliases = vec![Alias { input: 0, output: 0 }];
    let path = dir.join("in-place.weft");
    artifact::write(&path, &plan, rows.code(), |out| {
        Ok(std::io::Write::write_all(out, rows.constants())?)
    })
    .expect("written");
    path
}

/// Counts the rows whose first number is above zero, up to the first that is not; of -1 in the first row it
/// gives more than there are.
const COUNT: &str = r#"
void count(unsigned char *const *b, long begin, long end) {
    const float *x = (const float *)b[0];
    long n = begin;
    while (n < end && x[n * N] > 0) n++;
    *(long *)b[1] = x[0] == -1 ? 99 : n;
}
"#;

/// Writes an artifact that gives `x * 2 + 1` for the first rows of 64, as many as it counts itself.
fn rows_that_are_counted(dir: &Path) -> PathBuf {
    let path = rows_of_any_number(dir);
    let rows = artifact::Artifact::open(&path).expect("readable");
    let mut plan = rows.plan().clone();
    plan.arena_bytes = 64;
    plan.buffers.push(Buffer { base: Base::Arena, offset: 0, bytes: 8 });
    plan.kernels.push(Kernel { symbol: "count".into(), scratch_bytes: 0 });
    let counts = Step { kernel: 1, buffers: vec![0, 3], ..plan.steps[0].clone() };
    plan.steps.insert(0, counts);
    let lengths = &mut plan.lengths;
    lengths.symbols[0].least = 0;
    lengths.inputs.clear();
    lengths.finds = vec![Find { step: 0, symbol: 0, buffer: 3 }];
    lengths.shares.iter_mut().for_each(|share| share.step += 1);
    plan.steps[1..].iter_mut().for_each(|step| step.waits = vec![0]);
    let code = common::compile(&format!("{}{COUNT}", common::KERNELS), dir);
    let path = dir.join("counted.weft");
    artifact::write(&path, &plan, &code, |out| {
        Ok(std::io::Write::write_all(out, rows.constants())?)
    })
    .expect("written");
    path
}

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
    let rows = rows_of_any_number(dir.path());
    let in_place = rows_in_place(dir.path());
    let counted = rows_that_are_counted(dir.path());
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
        .args([&model, &junk, &rows, &in_place, &counted])
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
