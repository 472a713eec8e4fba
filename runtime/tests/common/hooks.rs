//! Models whose kernel calls back into the test, which then sees every call and may do there what
//! kernels do not: wait, take long, panic.

use std::path::Path;

use weft_runtime::artifact::write_to;
use weft_runtime::cpu::Model;
use weft_runtime::plan::{Base, Buffer, Kernel, Plan, Port, Step};
use weft_runtime::{CpuError, DType};

/// Calls the function whose address is in the first operand.
const KERNEL: &str = "
typedef void hook(unsigned char *const *, long, long);
void call_back(unsigned char *const *b, long begin, long end) { (*(hook **)b[0])(b, begin, end); }
";

/// What a call of a step does: its index in the plan, the arena, and the output.
pub type Hook<'a> = dyn Fn(usize, *mut u64, *mut u64) + Sync + 'a;

/// A plan of steps on units that wait for earlier steps, with so many numbers in the arena and in
/// the output. Step `i` is of operator `op_i`.
pub fn plan(units: u32, steps: &[(u32, &[u32])], numbers: u64) -> Plan {
    let port =
        |name: &str, count| Port { name: name.into(), dtype: DType::I64, shape: vec![count] };
    let buffer = |base, bytes| Buffer { base, offset: 0, bytes };
    let step = |(i, &(unit, waits)): (usize, &(u32, &[u32]))| Step {
        unit,
        kernel: 0,
        begin: i as u64,
        end: i as u64 + 1,
        buffers: vec![0, 1, 2],
        waits: waits.to_vec(),
        op: i as u32,
    };
    Plan {
        name: "hooks".into(),
        units,
        arena_bytes: numbers * 8,
        inputs: vec![port("hook", 2)],
        outputs: vec![port("y", numbers)],
        buffers: vec![
            buffer(Base::Input(0), 16),
            buffer(Base::Arena, numbers * 8),
            buffer(Base::Output(0), numbers * 8),
        ],
        kernels: vec![Kernel { symbol: "call_back".into(), scratch_bytes: 0 }],
        ops: (0..steps.len()).map(|i| format!("op_{i}")).collect(),
        steps: steps.iter().enumerate().map(step).collect(),
        device: "host".into(),
        ..Plan::default()
    }
}

/// Loads a plan of this module.
pub fn load(plan: &Plan, threads: usize, dir: &Path) -> Model {
    let mut file = std::io::Cursor::new(Vec::new());
    let code = super::compile(KERNEL, dir);
    write_to(&mut file, plan, &code, |_| Ok(())).expect("written");
    Model::from_bytes(&file.into_inner(), Some(threads)).expect("loads")
}

/// Runs a model of this module with a hook.
pub fn run(
    model: &Model,
    hook: &Hook<'_>,
    y: &mut [u64],
    cancel: Option<&weft_runtime::cpu::Cancel>,
) -> Result<(), CpuError> {
    // The hook's own address is two words; that of those words is one.
    let input = [trampoline as *const () as usize, &raw const hook as usize];
    model.run_shared(
        None,
        &[bytemuck::cast_slice(&input)],
        &mut [bytemuck::cast_slice_mut(y)],
        cancel,
    )?;
    Ok(())
}

unsafe extern "C-unwind" fn trampoline(buffers: *const *mut u8, begin: i64, _: i64) {
    // SAFETY: the operands are those of `plan`; the input is that of `run`, whose hook outlives
    // the run.
    unsafe {
        let [input, arena, output] = *buffers.cast::<[*mut u64; 3]>();
        let hook = *input.add(1).cast::<*const &Hook<'_>>();
        (*hook)(begin as usize, arena, output);
    }
}
