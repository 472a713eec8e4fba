//! Instructions of warpgroups, as an engine does them: what they read is said by descriptors that the
//! machine file makes, and decoded in `threads.c` as the maker's document says.

use std::fmt::Write as _;

use weft_dialects::device::Instruction;
use weft_dialects::ir::{affine, ty};

use crate::matrix::{c_type, place};

/// The end of the lowering, behind the descriptors, as a call, and the declaration of what it calls.
pub fn as_call(instruction: &Instruction<'_>) -> (String, String) {
    let slots = slots(instruction);
    let (name, sums) = (instruction.name, format!("memref<{slots}xf32>"));
    let vector = format!("vector<{slots}xf32>");
    let (held, first, ty) = match held(instruction) {
        None => (String::new(), "%a3", "i64".to_owned()),
        Some(slots) => {
            let elem = ty::elem(instruction.operand_types()[0]).expect("tensors have elements");
            let ty = format!("memref<{slots}x{elem}>");
            let held = format!(
                "    %pa = memref.alloca() : {ty}
    vector.store %a, %pa[%z] : {ty}, vector<{slots}x{elem}>\n"
            );
            (held, "%pa", ty)
        }
    };
    let body = format!(
        "    %z = arith.constant 0 : index
    %r = memref.alloca_scope -> ({vector}) {{
{held}    %pc = memref.alloca() : {sums}
    %pd = memref.alloca() : {sums}
    vector.store %c, %pc[%z] : {sums}, {vector}
    func.call @emulate_{name}({first}, %b3, %pc, %pd) : ({ty}, i64, {sums}, {sums}) -> ()
    %d = vector.load %pd[%z] : {sums}, {vector}
    memref.alloca_scope.return %d : {vector}
    }}
    device.yield %r : {vector}
"
    );
    (body, format!("func.func private @emulate_{name}({ty}, i64, {sums}, {sums})\n"))
}

/// Slots of a lane for the first factor, where lanes hold it.
fn held(instruction: &Instruction<'_>) -> Option<u64> {
    let args = instruction.lowering().expect("a lowering").args();
    instruction.fragments()[0].and_then(|_| ty::count(args[0].ty()))
}

/// The places of an operand that lanes hold, by slot and lane.
fn places(instruction: &Instruction<'_>, operand: usize, lanes: u64) -> String {
    let args = instruction.lowering().expect("a lowering").args();
    let map = instruction.fragments()[operand].expect("lanes hold the operand");
    let shape = ty::shape(instruction.operand_types()[operand]).expect("shapes are static");
    let rows = (0..ty::count(args[operand].ty()).expect("slots are a vector")).map(|slot| {
        let at = |lane: u64| {
            let at = affine::evaluate(map, &[lane as i64, slot as i64]).expect("a fragment");
            place(&at, &shape).to_string()
        };
        format!("{{{}}},", (0..lanes).map(at).collect::<Vec<_>>().join(","))
    });
    rows.collect()
}

/// What all lanes of a group begin together: the results are there behind a wait, and a poison until then.
pub fn in_c(instruction: &Instruction<'_>, lanes: u64) -> String {
    let (name, slots) = (instruction.name, slots(instruction));
    let types = instruction.operand_types();
    let n = ty::shape(types[2]).expect("shapes are static")[1];
    let elem = c_type(ty::elem(types[0]).expect("tensors have elements"));
    let lowering = instruction.lowering().expect("a lowering");
    // PTX's "row" of the second factor: its rows are those of k; or its last number, 1, says that it is turned.
    let rows_of_k = lowering.ops().into_iter().any(|op| {
        let layout = op.attr("layoutB").is_some_and(|own| own.to_string().contains("row"));
        layout || op.attr("asm_string").is_some_and(|asm| asm.to_string().contains("p, 1, 1, 1;"))
    });
    let wide = if elem == "bfloat" { "widened" } else { "(float)" };
    let b = if rows_of_k { "in_rows(b, k, j)" } else { "in_row(b, j, k)" };
    let sums = places(instruction, 2, lanes);
    let (given, gather, a, reads) = match held(instruction) {
        None => {
            let reads = "for (int i = 0; i < 64; ++i) each(in_row(a, i, k));";
            let a = format!("*(const {elem} *)in_row(a, i, k)");
            ("int64_t a".to_owned(), String::new(), a, reads.to_owned())
        }
        Some(slots) => {
            let places = places(instruction, 0, lanes);
            let gather = format!(
                "  static const short at[{slots}][{lanes}] = {{{places}}};
  static {elem} whole[ALL / LANES][64 * 16];
  {elem} *all = whole[thread_number / LANES];
  for (int s = 0; s < {slots}; ++s) all[at[s][l]] = held[s];
  wait_warp();
  int64_t a = 0;\n"
            );
            (format!("const {elem} *held"), gather, "all[i * 16 + k]".to_owned(), String::new())
        }
    };
    format!(
        "static const short {name}_at[{slots}][{lanes}] = {{{sums}}};
static void {name}_reads(int64_t a, int64_t b, each_number *each) {{
  for (int k = 0; k < 16; ++k) {{
    {reads}
    for (int j = 0; j < {n}; ++j) each({b});
  }}
}}
void emulate_{name}({given}, int64_t b, const float *c, float *d) {{
  int l = thread_number % LANES;
  wait_warp();
{gather}  struct begun *own = begin({name}_reads, a, b);
  for (int s = 0; s < {slots}; ++s) {{
    int i = {name}_at[s][l] / {n}, j = {name}_at[s][l] % {n};
    float sum = settled(c[s], s, 1);
    for (int k = 0; k < 16; ++k)
      sum += {wide}({a}) * {wide}(*(const {elem} *){b});
    own->d[s] = sum;
    d[s] = poison(own);
  }}
  wait_warp();
}}
"
    )
}

/// What a wait does with registers of an engine's instructions: they hold results behind it. Others are only kept
/// where they are.
pub fn settle(line: &str, site: usize) -> Option<String> {
    let (result, asm) = line.split_once(" = llvm.inline_asm has_side_effects \"\", \"=")?;
    let class = asm.chars().next().filter(|class| ['f', 'h', 'r'].contains(class))?;
    let operands = asm.split_once("\" ")?.1.split_once(" : ")?.0;
    let (_, record) = line.rsplit_once("-> ")?;
    let operands: Vec<&str> = operands.split(", ").collect();
    if class != 'f' {
        return Some(fields(&operands, (result, record), site));
    }
    let count = operands.len();
    let mut text = format!(
        "%settle_{site}:{count} = memref.alloca_scope -> ({types}) {{
%settle_z_{site} = arith.constant 0 : index
%settle_n_{site} = arith.constant {count} : index
%settle_m_{site} = memref.alloca() : memref<{count}xf32>
%settle_v_{site} = vector.from_elements {given} : vector<{count}xf32>
vector.store %settle_v_{site}, %settle_m_{site}[%settle_z_{site}] : memref<{count}xf32>, vector<{count}xf32>
%settle_p_{site} = memref.extract_aligned_pointer_as_index %settle_m_{site} : memref<{count}xf32> -> index
func.call @weft_settle(%settle_p_{site}, %settle_n_{site}) : (index, index) -> ()
%settle_w_{site} = vector.load %settle_m_{site}[%settle_z_{site}] : memref<{count}xf32>, vector<{count}xf32>
%settle_e_{site}:{count} = vector.to_elements %settle_w_{site} : vector<{count}xf32>
memref.alloca_scope.return {held} : {types}
}}\n",
        given = operands.join(", "),
        types = vec!["f32"; count].join(", "),
        held = (0..count).map(|n| format!("%settle_e_{site}#{n}")).collect::<Vec<_>>().join(", "),
    );
    let settled: Vec<String> = (0..count).map(|n| format!("%settle_{site}#{n}")).collect();
    let settled: Vec<&str> = settled.iter().map(String::as_str).collect();
    text.push_str(&fields(&settled, (result, record), site));
    Some(text)
}

/// A record of values.
fn fields(values: &[&str], (result, record): (&str, &str), site: usize) -> String {
    let mut text = format!("%settle_r_{site}_0 = llvm.mlir.undef : {record}\n");
    for (n, value) in values.iter().enumerate() {
        let to = match n + 1 == values.len() {
            true => result.trim().to_owned(),
            false => format!("%settle_r_{site}_{}", n + 1),
        };
        writeln!(text, "{to} = llvm.insertvalue {value}, %settle_r_{site}_{n}[{n}] : {record}")
            .unwrap();
    }
    text
}

/// Shared memory in one section of the program, as it lies in one window of a chip's addresses; as much as
/// there is where the launch asks for it.
pub fn in_window(code: &str) -> String {
    let all = "global [232448 x i8] zeroinitializer";
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
