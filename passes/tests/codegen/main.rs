//! Device kernels become native code that computes what they say.
//!
//! Every test runs on a machine of 512-bit registers and one of 256 bits, where
//! the processor under the test can.

mod copies;
mod machine;
mod measurements;
mod operations;
mod refusals;
mod values;

use std::ffi::c_void;

use weft_dialects::device::Machine;
use weft_dialects::ir::{self, module_op};
use weft_passes::codegen::{CodegenError, Object, Text, compile_kernels, link, print_kernels};

use machine::*;
use values::combined;

fn compile(text: &str, jobs: usize) -> Result<Vec<Object>, CodegenError> {
    let context = ir::context();
    let module = ir::parse(&context, text).expect("the test is valid IR");
    let op = module_op(&module);
    compile_kernels(op, Machine::of(op).expect("the test has a machine"), jobs)
}

fn print(text: &str, kind: Text) -> String {
    let context = ir::context();
    let module = ir::parse(&context, text).expect("the test is valid IR");
    let op = module_op(&module);
    print_kernels(op, Machine::of(op).expect("the test has a machine"), 1, kind)
        .expect("it compiles")
        .join("")
}

/// A loaded shared object.
struct Code {
    library: libloading::Library,
    _folder: tempfile::TempDir,
}

type Entry = unsafe extern "C" fn(*const *mut c_void, i64, i64);

impl Code {
    fn new(text: &str) -> Self {
        let objects = compile(text, 1).expect("the kernel compiles");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("kernels.so");
        std::fs::write(&path, link(&objects).expect("the kernel links"))
            .expect("the folder can be written");
        // SAFETY: the library runs nothing when it is loaded.
        let library = unsafe { libloading::Library::new(&path) }.expect("the library loads");
        Self { library, _folder: folder }
    }

    fn entry(&self, name: &str) -> libloading::Symbol<'_, Entry> {
        // SAFETY: every kernel's entry has this type.
        unsafe { self.library.get(name.as_bytes()) }.expect("the kernel is exported")
    }

    /// Runs tasks below `tasks` of a kernel.
    fn run(&self, name: &str, buffers: &[*mut c_void], tasks: i64) {
        let entry = self.entry(name);
        // SAFETY: each test passes buffers of the sizes that its kernel declares.
        unsafe { entry(buffers.as_ptr(), 0, tasks) }
    }
}

/// The place of a buffer.
fn at<T>(buffer: &mut [T]) -> *mut c_void {
    buffer.as_mut_ptr().cast()
}

/// Numbers that differ, both signs, no pattern of a power of two.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(real).collect()
}

fn real(i: usize) -> f32 {
    ((i * 37 + 11) % 101) as f32 / 13.0 - 3.5
}

#[test]
fn any_number_of_jobs_gives_the_same_bytes() {
    let kernel = |name: &str| {
        combined(32, "f32", 8, "arith.addf")
            .split("device.kernel")
            .nth(1)
            .unwrap_or_default()
            .replace("@k", name)
    };
    let kernels: Vec<_> =
        ["@d", "@b", "@c", "@a"].map(|name| format!("device.kernel{}", kernel(name))).into();
    let text = format!("{}{}", machine(32), kernels.join("\n"));
    let [one, three] = [1, 3].map(|jobs| compile(&text, jobs).expect("the kernels compile"));
    assert_eq!(
        one.iter().map(|object| object.symbol.as_str()).collect::<Vec<_>>(),
        ["d", "b", "c", "a"]
    );
    assert_eq!(one, three);
    assert_eq!(link(&one).expect("they link"), link(&three).expect("they link"));
    // The linker has LLVM's options for itself, and leaves them as they were.
    assert_eq!(one, compile(&text, 1).expect("the kernels compile"));
}
