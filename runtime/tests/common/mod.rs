//! A small model whose kernels are C.

#[allow(dead_code)]
pub mod hooks;

use std::path::{Path, PathBuf};
use std::process::Command;

use weft_runtime::DType;
use weft_runtime::artifact;
use weft_runtime::plan::{Base, Buffer, Kernel, Plan, Port, Step};

/// Rows of 16 floats. `scale` gives `h = x * c[0] + c[1]`; `mirror` gives the sums of the rows
/// of `h` from the last to the first, so that every unit needs what all units did.
pub const KERNELS: &str = r#"
#define N 16
void scale(unsigned char *const *b, long begin, long end) {
    const float *x = (const float *)b[0], *c = (const float *)b[1];
    float *h = (float *)b[2];
    for (long r = begin; r < end; r++)
        for (long i = 0; i < N; i++) h[r * N + i] = x[r * N + i] * c[0] + c[1];
}
void mirror(unsigned char *const *b, long begin, long end) {
    const float *h = (const float *)b[0];
    float *y = (float *)b[1];
    for (long r = begin; r < end; r++) {
        float sum = 0;
        for (long i = 0; i < N; i++) sum += h[(63 - r) * N + i];
        y[r] = sum;
    }
}
"#;

/// Compiles C to the bytes of a shared object.
pub fn compile(source: &str, dir: &Path) -> Vec<u8> {
    let (c, so) = (dir.join("kernels.c"), dir.join("kernels.so"));
    std::fs::write(&c, source).expect("a writable folder");
    let status = Command::new("cc")
        .args(["-shared", "-nostdlib", "-O2", "-fPIC", "-o"])
        .arg(&so)
        .arg(&c)
        .status();
    assert!(status.expect("cc is installed").success(), "the kernels compile");
    std::fs::read(so).expect("the object was written")
}

/// `y = mirror(scale(x))` for 64 rows on `units` units.
pub fn plan(units: u32) -> Plan {
    let port = |name: &str, shape: &[u64]| Port {
        name: name.into(),
        dtype: DType::F32,
        shape: shape.to_vec(),
    };
    let buffer = |base, bytes| Buffer { base, offset: 0, bytes };
    let rows = |unit: u32| (64 * unit as u64 / units as u64, 64 * (unit as u64 + 1) / units as u64);
    let step = |unit, kernel: u32, buffers: &[u32], waits| {
        let (begin, end) = rows(unit);
        Step { unit, kernel, begin, end, buffers: buffers.to_vec(), waits, op: kernel }
    };
    let mut steps: Vec<Step> = (0..units).map(|u| step(u, 0, &[0, 1, 2], vec![])).collect();
    steps.extend((0..units).map(|u| step(u, 1, &[2, 3], (0..units).collect())));
    Plan {
        name: "mirror".into(),
        units,
        arena_bytes: 64 * 64,
        constant_bytes: 64,
        inputs: vec![port("x", &[64, 16])],
        outputs: vec![port("y", &[64])],
        buffers: vec![
            buffer(Base::Input(0), 4096),
            buffer(Base::Constant, 64),
            buffer(Base::Arena, 4096),
            buffer(Base::Output(0), 256),
        ],
        kernels: ["scale", "mirror"]
            .map(|s| Kernel { symbol: s.into(), scratch_bytes: 0 })
            .to_vec(),
        steps,
        ops: vec!["Scale_0".into(), "Mirror_1".into()],
        device: "host".into(),
        ..Plan::default()
    }
}

/// The constants 2 and 1, padded.
pub fn constants() -> Vec<u8> {
    let mut bytes = [2f32, 1.0].map(f32::to_le_bytes).concat();
    bytes.resize(64, 0);
    bytes
}

/// Writes the model's artifact into the folder.
#[allow(dead_code)]
pub fn artifact(dir: &Path, units: u32) -> PathBuf {
    let path = dir.join(format!("mirror-{units}.weft"));
    let code = compile(KERNELS, dir);
    artifact::write(&path, &plan(units), &code, |out| {
        use std::io::Write;
        Ok(out.write_all(&constants())?)
    })
    .expect("written");
    path
}

/// An input, and the output expected for it.
#[allow(dead_code)]
pub fn example(seed: u32) -> (Vec<u8>, Vec<u8>) {
    // Small integers: sums are exact in any order.
    let x: Vec<f32> =
        (0..1024u32).map(|i| ((i.wrapping_mul(2_654_435_761) ^ seed) % 17) as f32).collect();
    let sum = |row: &[f32]| row.iter().map(|v| v * 2.0 + 1.0).sum::<f32>();
    let y: Vec<f32> = x.chunks(16).rev().map(sum).collect();
    let bytes = |v: &[f32]| v.iter().flat_map(|v| v.to_le_bytes()).collect();
    (bytes(&x), bytes(&y))
}
