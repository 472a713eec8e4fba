//! Upstream functions on tensors as models: `linalg` and TOSA.
//!
//! ```text
//! func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { ...linalg, tosa... }
//!   ->  graph.model @f inputs ["arg0"] outputs ["result0"] { graph.op "Func" "f"(%x) { ... } }
//! ```
//!
//! Upstream passes inline calls, turn TOSA and `arith` on tensors into `linalg` and named operations
//! into their general form; the function is then one operator, whose payload it is.

use melior::pass::PassManager;
use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Block, Builder, Context, Mapping, Module, Op, Report, module_op, ty};

use super::simplify_payloads::simplify;
use crate::interpret::element_type;

/// The upstream passes that lower everything to `linalg.generic`. Named operations go first: a
/// convolution has no other way down.
const PIPELINE: &str = "builtin.module(inline,symbol-dce,\
    func.func(lower-affine,tosa-optional-decompositions,tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,\
    tosa-to-tensor,convert-elementwise-to-linalg,linalg-generalize-named-ops,\
    linalg-inline-scalar-operands),canonicalize,cse)";

/// Replaces the functions of a module by models.
///
/// # Errors
/// Reported: nothing that could be a model, types without a static shape, upstream
/// passes that refuse.
pub fn import<'c>(context: &'c Context, module: &mut Module<'c>) -> Result<(), Failed> {
    let op = module_op(module);
    if functions(op).is_empty() {
        Report::new(op.location(), "the module has no model")
            .help("a graph.model, tile.graph or task.program, or a func.func on tensors");
        return Err(Failed);
    }
    let manager = PassManager::new(context);
    melior::utility::register_all_passes();
    let parsed =
        melior::utility::parse_pass_pipeline(manager.as_operation_pass_manager(), PIPELINE);
    parsed.expect("upstream has the passes");
    manager.run(module).map_err(|_| Failed)?;
    let op = module_op(module);
    for function in functions(op) {
        wrap(context, op, function)?;
    }
    Ok(())
}

fn functions(module: Op<'_>) -> Vec<Op<'_>> {
    let ops = module.body(0).map(|block| block.ops()).unwrap_or_default();
    let bodied = |op: &Op<'_>| op.is("func.func") && op.body(0).is_some();
    ops.into_iter().filter(bodied).collect()
}

/// Gives each reader of a tensor of one number everywhere a fill of its own, which becomes what its sums start from:
/// one that several share would be a kernel, whose result is copied for each.
fn fill_apart<'c>(context: &'c Context, body: Block<'c>) {
    for op in body.ops() {
        let fills = op.is("linalg.generic")
            && op.segments().is_some_and(|parts| parts.first().is_some_and(Vec::is_empty))
            && op.body(0).is_some_and(|inner| inner.ops().len() == 1)
            && op.results().len() == 1;
        let uses = if fills { op.result(0).uses() } else { Vec::new() };
        for (user, operand) in uses.into_iter().skip(1) {
            let own = Builder::before(context, op).clone_op(op, &mut Mapping::default());
            user.set_operand(operand, own.result(0));
        }
    }
}

fn wrap<'c>(context: &'c Context, module: Op<'c>, function: Op<'c>) -> Result<(), Failed> {
    let body = function.body(0).ok_or(Failed)?;
    let end = body.terminator().ok_or(Failed)?;
    for value in body.args().into_iter().chain(end.operands()) {
        let elem = ty::elem(value.ty());
        let good = ty::is_tensor(value.ty())
            && ty::shape(value.ty()).is_some()
            && elem.is_some_and(|elem| element_type(elem).is_some() && !ty::is_index(elem));
        if !good {
            Report::new(
                function.location(),
                format!("@{} takes or gives {}", function.symbol(), value.ty()),
            )
            .help("tensors of static shape, of i1, i8, i16, i32, i64, f16, bf16, f32 or f64");
            return Err(Failed);
        }
    }
    let inputs: Vec<_> = body
        .args()
        .iter()
        .enumerate()
        .map(|(number, arg)| (format!("arg{number}"), arg.ty()))
        .collect();
    let outputs: Vec<String> =
        (0..end.operands().len()).map(|number| format!("result{number}")).collect();
    let results: Vec<_> = end.operands().iter().map(|value| value.ty()).collect();
    let name = function.symbol().to_owned();
    // Inside a payload, arguments are what memory holds: a boolean is an i8.
    simplify(context, body)?;
    fill_apart(context, body);
    let end = body.terminator().ok_or(Failed)?;
    let mut graph = GraphBuilder::new(context, module, &name, &inputs, &outputs);
    let operands = graph.inputs();
    let values = graph.op("Func", &name, &operands, &results, |payload, args| {
        let mut map = Mapping::default();
        for (old, new) in body.args().into_iter().zip(args) {
            map.set(old, *new);
        }
        for op in body.ops().into_iter().filter(|op| *op != end) {
            payload.builder().clone_op(op, &mut map);
        }
        end.operands().into_iter().map(|value| map.get(value)).collect()
    });
    graph.finish(&values);
    function.erase();
    Ok(())
}
