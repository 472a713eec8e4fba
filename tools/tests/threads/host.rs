//! Runs device programs of machines with many threads on the host.
//!
//! The pass writes code for one thread; here its intrinsics become functions of
//! `threads.c`, its matrix instructions become functions that compute their
//! meaning from the fragments that all lanes hand in, and the threads of a block
//! take turns. What is left untested is what the chip makes of an instruction.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use weft_dialects::device::{Kernel, Machine};
use weft_dialects::ir::diag::listen;
use weft_dialects::ir::{module_op, parse};
use weft_passes::codegen::gpu::program::Form;
use weft_passes::codegen::gpu::{self, Descriptor, Launch};

use crate::matrix::emulated;
use crate::warpgroups;

/// The text of a machine that weft ships, or of a file.
pub fn machine(name: &str) -> &'static str {
    match weft::MACHINES.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => text,
        None => std::fs::read_to_string(name).expect("weft ships it, or it is a file").leak(),
    }
}

/// Runs all rTasks of the kernel in `program` on `buffers`, in the order of its arguments;
/// tells the turns that banks of shared memory took, and took at least.
pub fn run(machine_name: &str, program: &str, buffers: &mut [Vec<u8>]) -> [u64; 2] {
    Written::of(machine_name, program)
        .and_then(|written| written.run(buffers))
        .unwrap_or_else(|error| panic!("{machine_name}: {error}"))
}

/// A device program as functions for one thread.
pub struct Written {
    /// The module, in the dialects that the pass writes.
    pub code: String,
    glue: String,
    name: String,
    tasks: u64,
    groups: u64,
    threads: u64,
    lanes: u64,
    /// Threads that only ask for boxes.
    producers: u64,
    /// Blocks that run at the same time.
    cluster: u64,
    /// What the head of the code says of tensors whose boxes an engine brings.
    pub boxes: Vec<String>,
}

impl Written {
    /// Writes the one kernel of a program.
    ///
    /// # Errors
    /// What the verifier or the pass said.
    pub fn of(machine_name: &str, program: &str) -> Result<Self, String> {
        let context = weft::context();
        let (text, glue) = emulated(machine(machine_name), program);
        let whole = format!("{text}\n{program}");
        if let Some(path) = std::env::var_os("WEFT_KEEP") {
            std::fs::write(path, &whole).unwrap();
        }
        let said = Rc::new(RefCell::new(Vec::new()));
        let heard = said.clone();
        listen(&context, move |_, _, what, _| heard.borrow_mut().push(what));
        let told = || said.borrow().join("\n");
        let module = parse(&context, &whole).map_err(|_| told())?;
        let op = module_op(&module);
        let machine = Machine::of(op).expect("the text has a machine");
        let kernel = op.body(0).expect("a module").ops().into_iter().find_map(Kernel::of);
        let kernel = kernel.expect("the text has a kernel");
        let launch = Launch::of(machine, &kernel).expect("the machine has lanes");
        let mut written = Self {
            code: String::new(),
            glue,
            name: kernel.name.to_owned(),
            tasks: kernel.tasks,
            groups: launch.groups,
            threads: launch.threads,
            lanes: kernel.registers(machine).and_then(|own| own.lanes()).expect("it has lanes"),
            producers: kernel.producer(machine).map_or(0, |own| own.lanes),
            cluster: kernel.cluster.map_or(1, |own| own.count),
            boxes: Descriptor::all(machine, &kernel).iter().map(|own| own.head("k")).collect(),
        };
        gpu::PASS.apply(&context, op, &[]).map_err(|_| told())?;
        machine.erase();
        written.code = op.text();
        Ok(written)
    }

    /// Runs it on the host.
    ///
    /// # Errors
    /// What stopped it.
    pub fn run(&self, buffers: &mut [Vec<u8>]) -> Result<[u64; 2], String> {
        let Self { code, glue, name, tasks, groups, threads, lanes, producers, cluster, .. } = self;
        let arguments = ", void *".repeat(buffers.len() + self.boxes.len());
        let args: String = (0..buffers.len()).map(|n| format!(", buffers[{n}]")).collect();
        let boxes = (0..self.boxes.len()).map(|n| format!(", box({n}, buffers)"));
        let args = args + &boxes.collect::<String>();
        let glue = glue.to_owned() + &descriptors(&self.boxes);
        let glue = format!(
            "{glue}void {name}(int64_t, int64_t{arguments});\n\
             static void call(int64_t begin, int64_t end, void **buffers) {{ {name}(begin, end{args}); }}\n"
        );
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let file = |name: &str| folder.path().join(name);
        let registers = code.split_once("\"nvvm.maxnreg\", \"").map_or("0", |(_, rest)| rest);
        let registers = registers.split('"').next().and_then(|own| own.parse().ok());
        let defines = [
            ("THREADS", threads),
            ("LANES", lanes),
            ("ASKERS", producers),
            ("REGISTERS", &registers.unwrap_or(0)),
            ("CLUSTER", cluster),
        ];
        let defines = defines.map(|(name, number)| format!("-D{name}={number}"));
        build(folder.path(), code, &glue, &defines);
        let names: Vec<String> = (0..buffers.len()).map(|n| format!("{n}.bin")).collect();
        for (name, bytes) in names.iter().zip(buffers.iter()) {
            std::fs::write(file(name), bytes).unwrap();
        }
        let (end, groups) = (tasks.to_string(), groups.to_string());
        let done = Command::new(file("threads"))
            .args(["0", &end, &groups])
            .args(&names)
            .current_dir(folder.path())
            .output()
            .expect("it was built");
        if !done.status.success() {
            return Err(format!("{}: {}", done.status, String::from_utf8_lossy(&done.stderr)));
        }
        for (name, bytes) in names.iter().zip(buffers) {
            *bytes = std::fs::read(file(name)).unwrap();
        }
        let said = String::from_utf8_lossy(&done.stdout);
        let turns = said.lines().find_map(|line| line.strip_prefix("turns ")).expect("it counts");
        let numbers: Vec<u64> = turns.split(' ').map(|number| number.parse().unwrap()).collect();
        Ok([numbers[0], numbers[1]])
    }
}

/// All launches of a program, each one kernel.
pub struct Program<'a> {
    /// The text of the machine.
    pub machine: &'a str,
    /// The text of its `device.kernel`s.
    pub kernels: &'a str,
    pub forms: &'a [Form],
    /// Steps of the plan.
    pub steps: usize,
    /// How often it runs.
    pub runs: u32,
    /// The block that begins late.
    pub late: Option<u32>,
}

impl Program<'_> {
    /// Runs it on what each base of the plan holds, the arena first; an error where a block did
    /// not end.
    pub fn run(&self, bases: &mut [Vec<u8>]) -> Result<(), String> {
        let context = weft::context();
        let (text, mut glue) = emulated(self.machine, self.kernels);
        let whole = format!("{text}\n{}", self.kernels);
        let module = parse(&context, &whole).expect("the kernels are good");
        let op = module_op(&module);
        let machine = Machine::of(op).expect("the text has a machine");
        let (mut lanes, mut threads) = (0, 0);
        let mut cases = String::new();
        for (number, form) in self.forms.iter().enumerate() {
            gpu::program::write(&context, op, machine, form).expect("it can be written");
            let body = &form.bodies[0].launch;
            lanes = body.threads / body.groups;
            threads = form.threads.max(threads);
            let name = &form.symbol;
            writeln!(glue, "void {name}(int64_t, int64_t *, int64_t *);").unwrap();
            write!(cases, "case {number}: {name}(epoch, counters, bases); break; ").unwrap();
        }
        assert!(self.forms.iter().all(|form| form.threads == threads), "blocks of one size");
        let warps = machine.memories().into_iter().filter_map(|memory| memory.lanes()).min();
        lanes = warps.unwrap_or(lanes);
        let count = self.forms.len();
        let blocks: Vec<_> = self.forms.iter().map(|form| form.blocks.to_string()).collect();
        writeln!(
            glue,
            "const int blocks[] = {{ {} }}, entries = {count};\n\
             static void enter(int entry, int64_t epoch, int64_t *counters, int64_t *bases) {{ switch (entry) {{ {cases}}} }}",
            blocks.join(", ")
        )
        .unwrap();
        let kernels = op.body(0).expect("a module").ops().into_iter();
        kernels.filter(|op| Kernel::of(*op).is_some()).for_each(|op| op.erase());
        machine.erase();

        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("program.c"), include_str!("program.c")).unwrap();
        let defines =
            [format!("-DTHREADS={threads}"), format!("-DLANES={lanes}"), "-DPROGRAM".to_owned()];
        build(folder.path(), &op.text(), &glue, &defines);
        let names: Vec<String> = (0..bases.len()).map(|n| format!("{n}.bin")).collect();
        for (name, bytes) in names.iter().zip(bases.iter()) {
            std::fs::write(file(name), bytes).unwrap();
        }
        let late = self.late.map_or("-1".to_owned(), |block| block.to_string());
        let done = Command::new(file("threads"))
            .args([self.runs.to_string(), self.steps.to_string(), late])
            .args(&names)
            .current_dir(folder.path())
            .output()
            .expect("it was built");
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
        for (name, bytes) in names.iter().zip(bases) {
            *bytes = std::fs::read(file(name)).unwrap();
        }
        Ok(())
    }
}

/// Descriptors by what the head of the code says, in C.
fn descriptors(heads: &[String]) -> String {
    let fields = heads.iter().map(|head| {
        let words: Vec<&str> = head.split_whitespace().collect();
        let of = |name: &str| {
            let at = words.iter().position(|word| *word == name).expect("it is said");
            words[at + 1].replace('x', ", ").replace('-', "0")
        };
        let (extents, strides, points) = (of("extents"), of("strides"), of("points"));
        let dims = extents.split(", ").count();
        format!(
            "  {{ {}, {}, {dims}, {}, {{ {extents} }}, {{ {strides} }}, {{ {points} }} }},\n",
            of("operand"),
            of("bytes"),
            of("swizzle")
        )
    });
    let all: String = fields.collect();
    format!(
        "static struct tensor tensors[{}] = {{\n{all}}};\n\
         static void *box(int number, void **buffers) {{\n\
           tensors[number].base = buffers[tensors[number].operand];\n\
           return &tensors[number];\n\
         }}\n",
        heads.len().max(1)
    )
}

/// Builds `threads` in a folder from functions for one thread, and C that calls them.
fn build(folder: &Path, text: &str, glue: &str, defines: &[String]) {
    let file = |name: &str| folder.join(name);
    std::fs::write(file("in.mlir"), for_host(text)).unwrap();
    std::fs::write(file("threads.c"), include_str!("threads.c").to_owned() + glue).unwrap();
    std::fs::write(file("shared.c"), include_str!("shared.c")).unwrap();
    std::fs::write(file("boxes.c"), include_str!("boxes.c")).unwrap();
    let pipeline = format!("--pass-pipeline={PIPELINE}");
    call(&llvm("mlir-opt"), &[&pipeline, "in.mlir", "-o", "llvm.mlir"], folder);
    call(&llvm("mlir-translate"), &["--mlir-to-llvmir", "llvm.mlir", "-o", "kernel.ll"], folder);
    let code = std::fs::read_to_string(file("kernel.ll")).unwrap();
    std::fs::write(file("kernel.ll"), warpgroups::in_window(&code)).unwrap();
    // Optimized, but its instructions are chosen the plain way: LLVM's other way looks for where calls begin along every
    // path there is, and does not end in blocks of many calls.
    call(&llvm("opt"), &["-O1", "kernel.ll", "-S", "-o", "kernel.ll"], folder);
    call(&llvm("clang"), &["-O0", "-w", "-c", "kernel.ll", "-o", "kernel.o"], folder);
    let flags = ["-O1", "-w", "-I."];
    let files = ["threads.c", "kernel.o", "-lm", "-o", "threads"];
    let defines = defines.iter().map(String::as_str);
    let args: Vec<_> = flags.into_iter().chain(defines).chain(files).collect();
    call(&llvm("clang"), &args, folder);
}

/// As for processors, without a word of address spaces.
const PIPELINE: &str = "builtin.module(\
    func.func(affine-loop-unroll{unroll-factor=-1 unroll-full-threshold=4294967295}),\
    lower-affine,canonicalize,cse,arith-expand{include-bf16=true},convert-scf-to-cf,\
    convert-vector-to-llvm,expand-strided-metadata,finalize-memref-to-llvm,\
    convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},convert-math-to-llvm,\
    convert-arith-to-llvm,convert-index-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)";

pub fn llvm(tool: &str) -> PathBuf {
    let prefix = std::env::var("MLIR_SYS_220_PREFIX").unwrap_or("/usr/lib/llvm-22".to_owned());
    Path::new(&prefix).join("bin").join(tool)
}

/// Runs a tool that has to succeed.
pub fn call(tool: &Path, args: &[&str], folder: &Path) -> String {
    let done = Command::new(tool).args(args).current_dir(folder).output();
    let done = done.unwrap_or_else(|error| panic!("{}: {error}", tool.display()));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{} {args:?}: {}\n{said}", tool.display(), done.status);
    String::from_utf8_lossy(&done.stdout).into_owned() + &said
}

/// Intrinsics as functions, memories as one.
fn for_host(text: &str) -> String {
    let mut declared = Vec::new();
    let mut body = String::new();
    for (site, line) in text.lines().enumerate() {
        let mut line = line.to_owned();
        let touched = touch(&line, site).or_else(|| pause(&line));
        for space in ["1", "3", "5"] {
            for suffix in [" : i64", ""] {
                line = line.replace(&format!(", {space}{suffix}>"), ">");
            }
        }
        line = line.replace("ptr<1>", "ptr").replace("ptr<3>", "ptr").replace("ptr<7>", "ptr");
        line = line.replace("llvm.addrspacecast", "llvm.bitcast");
        if line.contains("llvm.fence") {
            continue;
        }
        if let Some(touched) = touched {
            body.push_str(&touched);
            let declaration = match ["touch", "read", "write"]
                .iter()
                .find(|own| touched.contains(&format!("@weft_{own}(")))
            {
                Some(own) => format!("func.func private @weft_{own}(index, index, index)"),
                None => "func.func private @weft_pause()".to_owned(),
            };
            if !declared.contains(&declaration) {
                declared.push(declaration);
            }
        }
        if let Some(gathered) = gathered(&line, site) {
            let declaration =
                "func.func private @weft_ldmatrix(!llvm.ptr, i32) -> !llvm.ptr".to_owned();
            if !declared.contains(&declaration) {
                declared.push(declaration);
            }
            line = gathered;
        }
        if let Some(settled) = warpgroups::settle(&line, site) {
            let declaration = "func.func private @weft_settle(index, index)".to_owned();
            if !declared.contains(&declaration) {
                declared.push(declaration);
            }
            line = settled;
        }
        if let Some((before, after)) = line.split_once("llvm.call_intrinsic \"") {
            let (name, rest) = after.split_once('"').expect("a name ends in a quote");
            let name = name.replace('.', "_");
            let ty = rest.split_once(" : ").expect("a call has a type").1;
            let declaration = format!("func.func private @{name}{}", arguments(ty));
            if !declared.contains(&declaration) {
                declared.push(declaration);
            }
            line = format!("{before}func.call @{name}{rest}");
        }
        body.push_str(&line);
        body.push('\n');
    }
    let at = body.find('{').expect("a module has a body") + 1;
    body.insert_str(at, &format!("\n{}\n", declared.join("\n")));
    body
}

/// What lets others go on before a look at a counter.
fn pause(line: &str) -> Option<String> {
    let looks = line.contains("llvm.load") && line.contains(" atomic ");
    looks.then(|| "func.call @weft_pause() : () -> ()\n".to_owned())
}

/// A load of matrices as a call of the host's, which gives the place of what this thread gets.
fn gathered(line: &str, site: usize) -> Option<String> {
    let (result, load) = line.split_once(" = nvvm.ldmatrix ")?;
    let (at, how) = load.split_once(' ')?;
    let turned = i32::from(how.contains("mma_layout<col>"));
    let ty = how.rsplit_once(" -> ")?.1;
    assert!(how.contains("num = 4") && how.contains("<m = 8, n = 8>"), "{line}");
    Some(format!(
        "%gather_turned_{site} = arith.constant {turned} : i32
%gather_{site} = func.call @weft_ldmatrix({at}, %gather_turned_{site}) : (!llvm.ptr, i32) -> !llvm.ptr
{result} = llvm.load %gather_{site} : !llvm.ptr -> {ty}"
    ))
}

/// What reports the address of an access to shared memory, to stand before it.
fn touch(line: &str, site: usize) -> Option<String> {
    if let Some((_, load)) = line.split_once(" = nvvm.ldmatrix ") {
        let at = load.split_once(' ')?.0;
        return Some(reported("read", at, 16, site));
    }
    if let Some((_, copy)) = line.split_once("\"llvm.nvvm.cp.async.c") {
        let (name, operands) = copy.split_once("\"(")?;
        let width: u64 = name.split('.').filter_map(|part| part.parse::<u64>().ok()).next()?;
        let to = operands.split(',').next()?;
        return Some(reported("touch", to, width, site));
    }
    let accesses = ["memref.load ", "memref.store ", "vector.load ", "vector.store "];
    let name = accesses.iter().find(|name| line.contains(**name))?;
    let shared = [", 3>", ", 3 : i64>"].into_iter().find(|space| line.contains(space))?;
    let (before, ty) = line.split_once(" : memref<").expect("an access has a type");
    let (shape, rest) = ty.split_once(shared)?;
    let (count, elem) = shape.split_once('x')?;
    let bytes: u64 = elem[1..].trim_start_matches('f').parse::<u64>().ok()? / 8;
    let lanes = rest.split_once("vector<").and_then(|(_, ty)| ty.split('x').next()?.parse().ok());
    let width = lanes.unwrap_or(1u64) * bytes;
    let (head, index) = before.split_once(name).expect("it was found").1.rsplit_once('[')?;
    let index = index.split(']').next()?;
    let memref = head.rsplit(' ').next()?;
    assert!(name.starts_with("vector") || lanes.is_none(), "{line}");
    let seen = if name.contains("store") { "weft_write" } else { "weft_read" };
    Some(format!(
        "%touch_base_{site} = memref.extract_aligned_pointer_as_index {memref} : memref<{count}x{elem}> -> index
%touch_site_{site} = arith.constant {site} : index
%touch_width_{site} = arith.constant {width} : index
%touch_elem_{site} = arith.constant {bytes} : index
%touch_by_{site} = arith.muli {index}, %touch_elem_{site} : index
%touch_at_{site} = arith.addi %touch_base_{site}, %touch_by_{site} : index
func.call @{seen}(%touch_site_{site}, %touch_at_{site}, %touch_width_{site}) : (index, index, index) -> ()
"
    ))
}

/// What reports that so many bytes behind a pointer are read, or touched.
fn reported(how: &str, pointer: &str, width: u64, site: usize) -> String {
    format!(
        "%touch_long_{site} = llvm.ptrtoint {pointer} : !llvm.ptr to i64
%touch_at_{site} = arith.index_cast %touch_long_{site} : i64 to index
%touch_site_{site} = arith.constant {site} : index
%touch_width_{site} = arith.constant {width} : index
func.call @weft_{how}(%touch_site_{site}, %touch_at_{site}, %touch_width_{site}) : (index, index, index) -> ()
"
    )
}

/// `(i32, i32) -> i32` as a declaration has it; nothing comes back of `()`.
fn arguments(ty: &str) -> String {
    ty.trim().trim_end_matches("-> ()").to_owned()
}
