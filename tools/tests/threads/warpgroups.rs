//! Instructions of warpgroups, as an engine does them: what they read is said by descriptors that the
//! machine file makes, and decoded in `threads.c` as the maker's document says.

use std::fmt::Write as _;

use weft_dialects::device::Instruction;
use weft_dialects::ir::{affine, ty};

use crate::host::{c_type, place};

/// The end of the lowering, behind the descriptors, as a call, and the declaration of what it calls.
pub fn as_call(instruction: &Instruction<'_>) -> (String, String) {
    let slots = slots(instruction);
    let (name, sums) = (instruction.name, format!("memref<{slots}xf32>"));
    let vector = format!("vector<{slots}xf32>");
    let body = format!(
        "    %z = arith.constant 0 : index
    %r = memref.alloca_scope -> ({vector}) {{
    %pc = memref.alloca() : {sums}
    %pd = memref.alloca() : {sums}
    vector.store %c, %pc[%z] : {sums}, {vector}
    func.call @emulate_{name}(%a3, %b3, %pc, %pd) : (i64, i64, {sums}, {sums}) -> ()
    %d = vector.load %pd[%z] : {sums}, {vector}
    memref.alloca_scope.return %d : {vector}
    }}
    device.yield %r : {vector}
"
    );
    (body, format!("func.func private @emulate_{name}(i64, i64, {sums}, {sums})\n"))
}

/// What all lanes of a group begin together: the results are there behind a wait, and a poison until then.
pub fn in_c(instruction: &Instruction<'_>, lanes: u64) -> String {
    let (name, slots) = (instruction.name, slots(instruction));
    let types = instruction.operand_types();
    let shape = ty::shape(types[2]).expect("shapes are static");
    let map = instruction.fragments()[2].expect("sums have a fragment");
    let elem = c_type(ty::elem(types[0]).expect("tensors have elements"));
    let lowering = instruction.lowering().expect("a lowering");
    let product = lowering.ops().into_iter().find(|op| op.is("nvvm.wgmma.mma_async"));
    let layout = product.and_then(|op| op.attr("layoutB")).expect("a product says how B lies");
    // PTX's "row" of the second factor: its rows are those of k.
    let rows_of_k = layout.to_string().contains("row");
    let mut places = String::new();
    for slot in 0..slots {
        let at = |lane: u64| {
            let at = affine::evaluate(map, &[lane as i64, slot as i64]).expect("a fragment");
            place(&at, &shape).to_string()
        };
        write!(places, "{{{}}},", (0..lanes).map(at).collect::<Vec<_>>().join(",")).unwrap();
    }
    let wide = if elem == "bfloat" { "widened" } else { "(float)" };
    let n = shape[1];
    let b = if rows_of_k { "in_rows(b, k, j)" } else { "in_row(b, j, k)" };
    format!(
        "static const short {name}_at[{slots}][{lanes}] = {{{places}}};
static void {name}_reads(int64_t a, int64_t b, each_number *each) {{
  for (int k = 0; k < 16; ++k) {{
    for (int i = 0; i < 64; ++i) each(in_row(a, i, k));
    for (int j = 0; j < {n}; ++j) each({b});
  }}
}}
void emulate_{name}(int64_t a, int64_t b, const float *c, float *d) {{
  int l = thread_number % LANES;
  wait_warp();
  struct begun *own = begin({name}_reads, a, b);
  for (int s = 0; s < {slots}; ++s) {{
    int i = {name}_at[s][l] / {n}, j = {name}_at[s][l] % {n};
    float sum = settled(c[s], s, 1);
    for (int k = 0; k < 16; ++k)
      sum += {wide}(*(const {elem} *)in_row(a, i, k)) * {wide}(*(const {elem} *){b});
    own->d[s] = sum;
    d[s] = poison(own);
  }}
  wait_warp();
}}
"
    )
}

/// What a wait does with registers of an engine's instructions: they hold results behind it.
pub fn settle(line: &str, site: usize) -> Option<String> {
    let (result, asm) = line.split_once(" = llvm.inline_asm has_side_effects \"\", \"=f")?;
    let operands = asm.split_once("\" ")?.1.split_once(" : ")?.0;
    let (_, record) = line.rsplit_once("-> ")?;
    let count = operands.split(',').count();
    let mut text = format!(
        "%settle_{site}:{count} = memref.alloca_scope -> ({types}) {{
%settle_z_{site} = arith.constant 0 : index
%settle_n_{site} = arith.constant {count} : index
%settle_m_{site} = memref.alloca() : memref<{count}xf32>
%settle_v_{site} = vector.from_elements {operands} : vector<{count}xf32>
vector.store %settle_v_{site}, %settle_m_{site}[%settle_z_{site}] : memref<{count}xf32>, vector<{count}xf32>
%settle_p_{site} = memref.extract_aligned_pointer_as_index %settle_m_{site} : memref<{count}xf32> -> index
func.call @weft_settle(%settle_p_{site}, %settle_n_{site}) : (index, index) -> ()
%settle_w_{site} = vector.load %settle_m_{site}[%settle_z_{site}] : memref<{count}xf32>, vector<{count}xf32>
%settle_e_{site}:{count} = vector.to_elements %settle_w_{site} : vector<{count}xf32>
memref.alloca_scope.return {given} : {types}
}}
%settle_r_{site}_0 = llvm.mlir.undef : {record}\n",
        types = vec!["f32"; count].join(", "),
        given = (0..count).map(|n| format!("%settle_e_{site}#{n}")).collect::<Vec<_>>().join(", "),
    );
    for n in 0..count {
        let to = match n + 1 == count {
            true => result.trim().to_owned(),
            false => format!("%settle_r_{site}_{}", n + 1),
        };
        writeln!(
            text,
            "{to} = llvm.insertvalue %settle_{site}#{n}, %settle_r_{site}_{n}[{n}] : {record}"
        )
        .unwrap();
    }
    Some(text)
}

/// Shared memory in one section of the program, as it lies in one window of a chip's addresses; as much as
/// there is where the launch asks for it.
pub fn in_window(code: &str) -> String {
    let all = "global [200000 x i8] zeroinitializer";
    let line = |line: &str| match line.strip_prefix('@').filter(|_| line.contains(", align 1024")) {
        Some(_) => {
            let line = line.replace("external global [0 x i8]", all);
            line.replace(", align 1024", ", section \"smem\", align 1024") + "\n"
        }
        None => format!("{line}\n"),
    };
    code.lines().map(line).collect()
}

fn slots(instruction: &Instruction<'_>) -> u64 {
    let args = instruction.lowering().expect("a lowering").args();
    ty::count(args[2].ty()).expect("slots are a vector")
}
