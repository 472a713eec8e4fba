//! What a machine with a GPU needs to run and check compiled models: no
//! Rust, no LLVM, no network.
//!
//! ```text
//! target/bundle/  weft-run  run.sh  README
//!   NAME.weft          compiled for the device
//!   NAME.expect.npz    what this machine's processor computes from the same seed
//! ```

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::check::Need;
use crate::process::{capture, cargo, stream};
use crate::setup;
use crate::workspace::Workspace;

/// The whole bundle stays below this.
const BYTES: u64 = 40 << 20;

struct Kernel {
    name: &'static str,
    expression: &'static str,
    shape: &'static str,
    dtype: &'static str,
    /// Too much work for a processor to check: measured only.
    measured_only: bool,
}

const fn kernel(
    name: &'static str,
    expression: &'static str,
    shape: &'static str,
    dtype: &'static str,
) -> Kernel {
    Kernel { name, expression, shape, dtype, measured_only: false }
}

const GEMM: &str = "C[m,n] += A[m,k] * B[k,n]";
const CONVOLUTION: &str = "y[n,o,h,w] += x[n,c,h+r,w+s] * f[o,c,r,s]";

const KERNELS: &[Kernel] = &[
    kernel("gemm-f32", GEMM, "m=512,n=512,k=512", "f32"),
    kernel("gemm-f16", GEMM, "m=512,n=512,k=512", "f16"),
    kernel("gemm-bf16", GEMM, "m=512,n=512,k=512", "bf16"),
    kernel("gemm-f64", GEMM, "m=256,n=256,k=256", "f64"),
    kernel("gemm-f16-odd", GEMM, "m=131,n=77,k=59", "f16"),
    kernel("gemm-f32-odd", GEMM, "m=131,n=77,k=59", "f32"),
    kernel("elementwise-f32", "h[i] = exp(x[i]) * y[i] + max(x[i], y[i])", "i=1000003", "f32"),
    kernel("elementwise-f16", "h[i,j] = x[i,j] * y[j] + x[i,j]", "i=333,j=1001", "f16"),
    kernel("rows-f32", "s[i] += x[i,j]", "i=1000,j=1003", "f32"),
    kernel("columns-f32", "s[j] max= x[i,j]", "i=1000,j=1003", "f32"),
    kernel("convolution-f32", CONVOLUTION, "n=2,o=32,h=28,w=28,c=16,r=3,s=3", "f32"),
    kernel("convolution-f16", CONVOLUTION, "n=2,o=32,h=28,w=28,c=16,r=3,s=3", "f16"),
    Kernel { measured_only: true, ..kernel("gemm-f16-4096", GEMM, "m=4096,n=4096,k=4096", "f16") },
    Kernel { measured_only: true, ..kernel("gemm-f32-4096", GEMM, "m=4096,n=4096,k=4096", "f32") },
    Kernel {
        measured_only: true,
        ..kernel("elementwise-f32-large", "h[i] = x[i] * y[i]", "i=67108864", "f32")
    },
];

/// Builds, compiles for `device` (a machine whose code is for a GPU) and packs.
pub fn run(workspace: &Workspace, device: &str) -> Result {
    setup::ensure(workspace, Need::Run)?;
    stream(&mut cargo(workspace, &["build", "--release", "--workspace"]))?;
    let folder = workspace.target.join("bundle");
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    let runner = workspace.release().join("weft-run");
    fs::copy(&runner, folder.join("weft-run")).map_err(failed)?;
    let mut strip = Command::new(workspace.llvm_tool("llvm-strip"));
    capture(strip.arg(folder.join("weft-run")))?;

    let mut lines = String::new();
    for kernel in KERNELS {
        println!("bundle: {}", kernel.name);
        lines.push_str(&add(workspace, &folder, device, kernel)?);
    }
    let digits = workspace.root.join("examples/digits");
    let file = |name: &str| folder.join(name);
    let mut compile = weft(workspace, "compile");
    compile.arg(digits.join("digits.onnx")).args(["--device", device, "-o"]);
    capture(compile.arg(file("digits.weft")))?;
    for (from, to) in
        [("digits.inputs.npz", "digits.inputs.npz"), ("digits.ref.npz", "digits.expect.npz")]
    {
        fs::copy(digits.join(from), file(to)).map_err(failed)?;
    }
    lines.push_str("check digits --inputs digits.inputs.npz\nmeasure digits\n");

    let script = file("run.sh");
    fs::write(&script, SCRIPT.replace("CASES", lines.trim_end())).map_err(failed)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    let readme = README.replace("DEVICE", device);
    fs::write(file("README"), readme).map_err(failed)?;

    let packed = workspace.target.join("weft-bundle.tar.gz");
    let mut pack = Command::new("tar");
    capture(pack.arg("-C").arg(&workspace.target).arg("-czf").arg(&packed).arg("bundle"))?;
    let bytes = fs::metadata(&packed).map_err(failed)?.len();
    if bytes > BYTES {
        return Err(format!("the bundle has {bytes} bytes, and {BYTES} are accepted"));
    }
    println!(
        "bundle: {}, {:.1} MB; unpack it and start bundle/run.sh",
        packed.display(),
        bytes as f64 / 1e6
    );
    Ok(())
}

/// Compiles a kernel for the device and for this processor; the line of the script.
fn add(workspace: &Workspace, folder: &Path, device: &str, kernel: &Kernel) -> Result<String> {
    let Kernel { name, expression, shape, dtype, measured_only } = kernel;
    let compiled = folder.join(format!("{name}.weft"));
    let compile = |device: Option<&str>, to: &Path| {
        let mut command = weft(workspace, "kernel");
        command
            .args([*expression, "--shape", shape, "--dtype", dtype, "--emit", "weft", "-o"])
            .arg(to);
        if let Some(device) = device {
            command.args(["--device", device]);
        }
        capture(&mut command)
    };
    compile(Some(device), &compiled)?;
    if *measured_only {
        return Ok(format!("measure {name}\n"));
    }
    let here = folder.join("here.weft");
    compile(None, &here)?;
    let mut run = Command::new(workspace.release().join("weft-run"));
    run.arg(&here).arg("--outputs").arg(folder.join(format!("{name}.expect.npz")));
    capture(&mut run)?;
    fs::remove_file(&here).map_err(|error| format!("cannot remove {}: {error}", here.display()))?;
    let close = match *dtype {
        "f16" => " --rtol 2e-3 --atol 2e-2",
        "bf16" => " --rtol 2e-2 --atol 1e-1",
        _ => "",
    };
    Ok(format!("check {name}{close}\nmeasure {name}\n"))
}

fn weft(workspace: &Workspace, command: &str) -> Command {
    let mut weft = Command::new(workspace.release().join("weft"));
    weft.arg(command);
    weft
}

const SCRIPT: &str = r#"#!/bin/sh
# Runs every case on the first GPU: answers first, then times.
# Exits with 1 if an answer is wrong. Times go to times.json, an object a line.
cd "$(dirname "$0")" || exit 1
failed=0
: > times.json

check() {
  name=$1; shift
  if ./weft-run "$name.weft" --expect "$name.expect.npz" "$@" > log.txt 2>&1; then
    echo "ok     $name"
  else
    echo "FAILED $name"; sed 's/^/       /' log.txt; failed=1
  fi
}

measure() {
  if ./weft-run "$1.weft" --bench 30 --profile > log.txt 2>&1; then
    printf '{"case": "%s", "measured": %s}\n' "$1" "$(tr -d '\n' < log.txt)" >> times.json
    echo "       $1: $(grep -o '"median_ms": [0-9.e-]*' log.txt)"
  else
    echo "FAILED $1, measuring"; sed 's/^/       /' log.txt; failed=1
  fi
}

CASES
exit $failed
"#;

const README: &str = "\
Kernels and a model compiled for the machine DEVICE, and the runtime that runs them.
They need the GPU's driver (CUDA 12.0, ROCm 5.5 or later) and nothing else; start run.sh.
What is expected was computed by a processor from the same seeded inputs.
";
