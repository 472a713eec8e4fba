//! The machine's instructions for the kernels that models are made of.

use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{
    Builder, Context, Linear, Mapping, Module, Type, empty_module, module_op, ty,
};
use weft_passes::graph::to_tile;
use weft_passes::tile::{Explained, explain};

use super::loaded::Loaded;
use super::sheet::Section;
use crate::Failure;
use crate::expression::{Element, Kernel};

/// The description of a kernel.
enum Said {
    /// A tensor expression, with the extents of its axes.
    Expression(&'static str, &'static str, Element),
    /// A product of bytes, summed in 32 bits.
    Bytes,
    /// Rows of a table by their numbers.
    Gather,
}

impl Said {
    /// The extents of its axes.
    fn shape(&self) -> &'static str {
        match self {
            Self::Expression(_, shape, _) => shape,
            Self::Bytes => "m=256,n=256,k=256",
            Self::Gather => "i=128,j=64",
        }
    }
}

use Said::{Bytes, Expression, Gather};

const CLASSES: &[(&str, Said)] = &[
    ("GEMM f32", Expression("C[m,n] += A[m,k] * B[k,n]", "m=256,n=256,k=256", Element::F32)),
    ("GEMM f16", Expression("C[m,n] += A[m,k] * B[k,n]", "m=256,n=256,k=256", Element::F16)),
    ("GEMM i8", Bytes),
    ("GEMV", Expression("y[m] += A[m,k] * x[k]", "m=1024,k=1024", Element::F32)),
    (
        "batched GEMM",
        Expression("C[b,m,n] += A[b,m,k] * B[b,k,n]", "b=8,m=128,n=128,k=64", Element::F32),
    ),
    (
        "conv 3x3",
        Expression(
            "O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]",
            "f=64,c=64,y=28,x=28,r=3,s=3",
            Element::F32,
        ),
    ),
    (
        "depthwise 3x3",
        Expression("O[c,y,x] += W[c,r,s] * I[c,y+r,x+s]", "c=64,y=28,x=28,r=3,s=3", Element::F32),
    ),
    ("pointwise", Expression("O[f,p] += W[f,c] * I[c,p]", "f=128,c=64,p=784", Element::F32)),
    ("elementwise add", Expression("Y[i] = A[i] + B[i]", "i=65536", Element::F32)),
    ("relu", Expression("Y[i] = relu(X[i])", "i=65536", Element::F32)),
    ("reduction", Expression("S[i] += X[i,j]", "i=512,j=512", Element::F32)),
    ("softmax maximum", Expression("M[i] max= X[i,j]", "i=256,j=256", Element::F32)),
    ("softmax exponential", Expression("E[i,j] = exp(X[i,j] - M[i])", "i=256,j=256", Element::F32)),
    ("softmax division", Expression("Y[i,j] = E[i,j] / S[i]", "i=256,j=256", Element::F32)),
    (
        "max pooling 2x2",
        Expression("O[c,y,x] max= I[c,y*2+r,x*2+s]", "c=64,y=28,x=28,r=2,s=2", Element::F32),
    ),
    ("gather", Gather),
];

/// Lists the instruction that computes each class, and why others do not.
///
/// # Errors
/// A mistake of weft's: the kernels are well-formed.
pub fn sections(context: &Context, loaded: &Loaded<'_>) -> Result<Vec<Section>, Failure> {
    let mut winners = Section::new(
        "operators",
        "who computes what, in predicted cycles of one unit, and who came second",
        &["kernel", "shape", "winner", "cycles", "second", "cycles"],
    );
    let mut refused: Vec<(String, String, Vec<&str>)> = Vec::new();
    for (name, said) in CLASSES {
        let Some(explained) = ask(context, loaded, said)? else { continue };
        let (who, cycles) = match explained.winner {
            Ok((who, cycles)) => (who, format!("{cycles:.0}")),
            Err(reason) => (format!("nobody: {reason}"), String::new()),
        };
        let (second, more) = match explained.runner_up {
            Some((who, cycles)) => (who, format!("{cycles:.0}")),
            None => (String::new(), String::new()),
        };
        winners.row([(*name).to_owned(), said.shape().to_owned(), who, cycles, second, more]);
        for (instruction, reason) in explained.refusals {
            let known =
                refused.iter_mut().find(|(other, why, _)| *other == instruction && *why == reason);
            match known {
                Some((_, _, classes)) => classes.push(name),
                None => refused.push((instruction, reason, vec![name])),
            }
        }
    }
    let mut refusals = Section::new(
        "refusals",
        "why an instruction does not compute a kernel",
        &["instruction", "rule", "kernels"],
    );
    for (instruction, reason, classes) in refused {
        refusals.row([format!("@{instruction}"), reason, classes.join(", ")]);
    }
    Ok(vec![winners, refusals])
}

/// Returns the matcher's result for the largest kernel of a description.
fn ask(context: &Context, loaded: &Loaded<'_>, said: &Said) -> Result<Option<Explained>, Failure> {
    let module = match said {
        Expression(expression, shape, element) => {
            Kernel::read(expression, shape, *element)?.module(context)
        }
        Bytes => bytes(context),
        Gather => gather(context),
    };
    let op = module_op(&module);
    to_tile::PASS.apply(context, op, &[]).map_err(|_| loaded.collector.failure())?;
    let body = op.body(0).into_iter().flat_map(|block| block.ops());
    // Before what comes behind it, such as rounding a sum to halves.
    let Some(kernel) = body.into_iter().find(|op| op.is("tile.kernel")) else { return Ok(None) };
    let machine = loaded.machine();
    // In the module of the machine, where expansions of functions are looked for.
    let mut b = Builder::after(context, machine.op());
    let copy = b.clone_op(kernel, &mut Mapping::default());
    let explained = explain(machine, copy).map_err(|_| loaded.collector.failure());
    copy.erase();
    Ok(Some(explained?))
}

/// `C[m, n] += A[m, k] * B[k, n]` on signed bytes.
fn bytes(context: &Context) -> Module<'_> {
    let (byte, word) = (ty::int(context, 8), ty::int(context, 32));
    // Types of a graph are signed.
    let [si8, si32] =
        ["si8", "si32"].map(|name| ty::parse(context, name).expect("MLIR has the type"));
    let shape = [256, 256];
    let inputs =
        [("A".to_owned(), ty::tensor(&shape, si8)), ("B".to_owned(), ty::tensor(&shape, si8))];
    model(context, &inputs, ty::tensor(&shape, si32), |payload, inputs| {
        debug_assert_eq!(ty::elem(inputs[0].ty()), Some(byte));
        let start = payload.fill_int(0, &shape, word);
        let axis = |axis| Linear::axis(3, axis);
        let (a, b) = ((inputs[0], vec![axis(0), axis(2)]), (inputs[1], vec![axis(2), axis(1)]));
        let axes = [Axis::Parallel, Axis::Parallel, Axis::Reduction];
        let out = (start, vec![axis(0), axis(1)]);
        payload.generic(&axes, &[a, b], &[out], |s, v| {
            let [a, b] = [v[0], v[1]].map(|value| s.op("arith.extsi", &[value], word));
            let product = s.mul(a, b);
            vec![s.add(v[2], product)]
        })[0]
    })
}

/// `Y[i, j] = T[N[i], j]`.
fn gather(context: &Context) -> Module<'_> {
    let float = Type::float32(context);
    let number = ty::parse(context, "si32").expect("MLIR has the type");
    let inputs = [
        ("T".to_owned(), ty::tensor(&[512, 64], float)),
        ("N".to_owned(), ty::tensor(&[128], number)),
    ];
    let shape = [128, 64];
    model(context, &inputs, ty::tensor(&shape, float), |payload, inputs| {
        let (table, numbers) = (inputs[0], inputs[1]);
        let empty = payload.empty(&shape, float);
        let axis = |axis| Linear::axis(2, axis);
        let axes = [Axis::Parallel, Axis::Parallel];
        let out = (empty, vec![axis(0), axis(1)]);
        payload.generic(&axes, &[(numbers, vec![axis(0)])], &[out], |s, v| {
            let row = s.to_index(v[0]);
            let column = s.index(1);
            vec![s.extract(table, &[row, column])]
        })[0]
    })
}

fn model<'c>(
    context: &'c Context,
    inputs: &[(String, Type<'c>)],
    result: Type<'c>,
    body: impl FnOnce(
        &mut weft_dialects::ir::payload::Payload<'c>,
        &[weft_dialects::ir::Val<'c>],
    ) -> weft_dialects::ir::Val<'c>,
) -> Module<'c> {
    let module = empty_module(context);
    let mut b = GraphBuilder::new(context, module_op(&module), "kernel", inputs, &["Y".to_owned()]);
    let operands = b.inputs();
    let results = b.op("Kernel", "kernel", &operands, &[result], |payload, inputs| {
        vec![body(payload, inputs)]
    });
    b.finish(&results);
    module
}
