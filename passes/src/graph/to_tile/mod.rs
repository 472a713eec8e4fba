//! `graph-to-tile`: the conversion from operators to kernels.
//!
//! ```text
//! graph.op "Conv" (x, w) { pad; generic }
//!   ->  %p = tile.run @fill into(tile.empty); %q = tile.run @copy(x) into(%p)
//!       %y = tile.run @conv(%q, w) into(tile.empty)
//! ```
//!
//! Every loop nest of a payload becomes a kernel of its own, with as few axes as
//! say the same; equal kernels are one. A nest that only gives another its
//! starting value goes into that kernel; reshapes are views; slices are index
//! expressions. After this conversion nothing has an operator's name but its report.
//!
//! Here a payload is walked; `payload_tensor.rs` says what its tensors are meanwhile, `nests.rs` makes
//! kernels, `copies.rs` writes tensors in parts, `border.rs` says which padding is left to them.

mod border;
mod copies;
mod nests;
mod payload_tensor;

use std::collections::{HashMap, HashSet};

use weft_dialects::aliases;
use weft_dialects::finds::Find;
use weft_dialects::graph::{self, Model, Weight};
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{
    Block, Builder, Context, Form, Module, Op, Report, Type, Val, attr, empty_module, ty,
};
use weft_dialects::repeat::Repeat;
use weft_dialects::tile::build;

use self::payload_tensor::{PayloadTensor, Window};
use crate::tile;

pub(super) use self::nests::starts_another;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-to-tile",
    description: "Cut operators into kernels of one loop nest and hang them in a tile-graph",
    options: &[],
    statistics: &[("kernels", "different kernels"), ("runs", "kernels applied")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let models: Vec<_> = run
        .module
        .body(0)
        .into_iter()
        .flat_map(|block| block.ops())
        .filter(|op| op.is("graph.model"))
        .collect();
    let memory = shared_memory(run.module);
    let mut known = KnownKernels::default();
    for model in models {
        let mut conversion = Conversion::new(run.context, run.module, model, &memory, known)?;
        conversion.model(model)?;
        run.count("runs", conversion.runs);
        known = conversion.known;
        model.erase();
    }
    run.count("kernels", known.by_form.len() as u64);
    Ok(())
}

/// The memory that all units share, or a name for it while no machine is there.
fn shared_memory(module: Op<'_>) -> String {
    weft_dialects::device::Machine::of(module)
        .and_then(|machine| machine.shared())
        .map(|memory| memory.name.to_owned())
        .unwrap_or_else(|| "dram".to_owned())
}

/// The kernels of a module.
#[derive(Default)]
struct KnownKernels {
    /// From which operands are known beforehand, and what a kernel is, to its name.
    by_form: HashMap<(String, Form), String>,
    /// How many begin with a word.
    names: HashMap<String, usize>,
}

struct Conversion<'c> {
    context: &'c Context,
    module: Op<'c>,
    /// At the end of the tile-graph.
    b: Builder<'c>,
    memory: String,
    /// The cache for tiles of inputs that are stored with their borders.
    cache: Option<tile::PrivateCache<'c>>,
    values: HashMap<Val<'c>, Val<'c>>,
    /// The tensors inside the borders of payload tensors that are read with theirs.
    bordered: HashMap<Val<'c>, Val<'c>>,
    /// Tensors that depend on weights and literals alone.
    constants: HashSet<Val<'c>>,
    known: KnownKernels,
    runs: u64,
    /// Holds the bodies of nests that no payload wrote: copies and fills.
    scratch: Module<'c>,
    copies: HashMap<String, Block<'c>>,
    /// Inputs in whose memory an output lies.
    grown: HashSet<Val<'c>>,
}

/// One operator while it is cut.
struct Cut<'c> {
    name: &'c str,
    kind: &'c str,
    tensors: HashMap<Val<'c>, PayloadTensor<'c>>,
}

impl<'c> Conversion<'c> {
    fn new(
        context: &'c Context,
        module: Op<'c>,
        model: Op<'c>,
        memory: &str,
        known: KnownKernels,
    ) -> Result<Self, Failed> {
        let model = Model::of(model).ok_or(Failed)?;
        let args = model.body.args();
        let inputs: Vec<Type<'c>> = args.iter().map(|arg| arg.ty()).collect();
        let outputs: Vec<Type<'c>> = model.results().iter().map(|value| value.ty()).collect();
        let graph = build::GraphOp {
            name: model.name,
            inputs: &model.inputs,
            outputs: &model.outputs,
            signature: (&inputs, &outputs),
        };
        let block = graph.build(&mut Builder::before(context, model.op));
        for name in ["lengths", "aliases"] {
            if let (Some(own), Some(graph)) = (model.op.attr(name), block.parent()) {
                graph.set_attr(name, own);
            }
        }
        if let (Some(own), Some(graph)) = (Repeat::of(model.op), block.parent()) {
            own.copy_to(graph);
        }
        let grown = aliases::of(model.op).into_iter().map(|alias| block.arg(alias.input));
        let grown = grown.collect();
        let values = args.into_iter().zip(block.args()).collect();
        Ok(Self {
            context,
            module,
            b: Builder::at_end(context, block),
            memory: memory.to_owned(),
            // A border beside its use is laid out from the whole tensor, and where tensors may
            // not fit the device's memory they are cut.
            cache: weft_dialects::device::Machine::of(module)
                .filter(|machine| tile::stream_host::host_memory(*machine).is_none())
                .and_then(tile::private_cache),
            values,
            bordered: HashMap::new(),
            constants: HashSet::new(),
            known,
            runs: 0,
            scratch: empty_module(context),
            copies: HashMap::new(),
            grown,
        })
    }

    fn model(&mut self, model: Op<'c>) -> Result<(), Failed> {
        for op in model.body(0).ok_or(Failed)?.ops() {
            self.b = self.b.with_location(op.location());
            match op.name() {
                "graph.weight" => {
                    let ty = ty::payload(self.context, op.result(0).ty());
                    let Weight { tensor, file, hash, .. } = Weight::of(op).ok_or(Failed)?;
                    let new = graph::build::weight(&mut self.b, tensor, file, hash, ty);
                    self.constants.insert(new);
                    self.values.insert(op.result(0), new);
                }
                "graph.constant" => {
                    let new = self.literal(op, op.result(0).ty())?;
                    self.values.insert(op.result(0), new);
                }
                "graph.op" => self.operator(op)?,
                "graph.find" => {
                    let find = Find::of(op).ok_or(Failed)?;
                    build::find(&mut self.b, find.symbol, self.values[&find.count]);
                }
                "graph.call" => self.call(op)?,
                "graph.output" => {
                    let values: Vec<_> =
                        op.operands().iter().map(|value| self.values[value]).collect();
                    build::output(&mut self.b, &values);
                }
                other => {
                    Report::new(
                        op.location(),
                        format!("{other} cannot be lowered to a tile-graph"),
                    )
                    .help("a model holds graph.weight, graph.constant, graph.op, graph.call and graph.find");
                    return Err(Failed);
                }
            }
        }
        Ok(())
    }

    /// A body is a kernel whose last operands are its states.
    fn call(&mut self, op: Op<'c>) -> Result<(), Failed> {
        let call = graph::Call::of(op).ok_or(Failed)?;
        let operands: Vec<_> = op.operands().iter().map(|value| self.values[value]).collect();
        let states = operands.len().checked_sub(op.results().len()).ok_or(Failed)?;
        let (inputs, inits) = operands.split_at(states);
        let run = build::RunOp { name: call.name, kernel: call.body, inputs, inits, at: &[] };
        let made = run.build(&mut self.b);
        self.values.extend(op.results().into_iter().zip(made.results()));
        self.runs += 1;
        Ok(())
    }

    /// A `graph.constant` of the payload type with the literal of `op`.
    fn literal(&mut self, op: Op<'c>, ty: Type<'c>) -> Result<Val<'c>, Failed> {
        let ty = ty::payload(self.context, ty);
        let Some(bytes) = op.attr("value").and_then(attr::dense_bytes) else {
            Report::new(op.location(), format!("the literal of {} is not dense", op.name()));
            return Err(Failed);
        };
        let value = attr::dense(ty, &bytes);
        let new = graph::build::constant(&mut self.b, value, ty);
        self.constants.insert(new);
        Ok(new)
    }

    fn operator(&mut self, op: Op<'c>) -> Result<(), Failed> {
        let text = |name: &str| op.attr(name).and_then(attr::string).unwrap_or("");
        let payload = op.body(0).ok_or(Failed)?;
        let mut cut = Cut { name: text("name"), kind: text("kind"), tensors: HashMap::new() };
        for (arg, operand) in payload.args().into_iter().zip(op.operands()) {
            cut.tensors.insert(arg, PayloadTensor::Tensor(self.values[&operand]));
        }
        for inner in payload.ops() {
            if inner.is("graph.yield") {
                for (result, value) in op.results().into_iter().zip(inner.operands()) {
                    let tensor = self.tensor(&mut cut, value)?;
                    self.values.insert(result, tensor);
                }
            } else {
                self.statement(&mut cut, inner)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<(), Failed> {
        match op.name() {
            "linalg.generic" => self.generic(cut, op),
            "tensor.empty" => {
                cut.tensors.insert(op.result(0), PayloadTensor::Empty(op.result(0).ty()));
                Ok(())
            }
            "tensor.reshape" | "tensor.expand_shape" | "tensor.collapse_shape" => {
                let source = self.tensor(cut, op.operand(0))?;
                let view = self.view(source, op.result(0).ty());
                cut.tensors.insert(op.result(0), PayloadTensor::Tensor(view));
                Ok(())
            }
            "tensor.extract_slice" => {
                let window = self.window(cut, op, op.operand(0))?;
                if ty::shape(op.result(0).ty()).map(|shape| shape.len()) != Some(window.sizes.len())
                {
                    return refuse(op, "a slice that drops dimensions");
                }
                cut.tensors.insert(op.result(0), PayloadTensor::Window(window));
                Ok(())
            }
            "tensor.insert_slice" | "tensor.pad" if border::beside_use(op, self.cache) => {
                cut.tensors.insert(op.result(0), PayloadTensor::Border(op));
                Ok(())
            }
            "tensor.insert_slice" => self.insert(cut, op),
            "tensor.pad" => self.pad(cut, op),
            // Slices read it.
            "graph.length" => Ok(()),
            "arith.constant" => {
                // Scalars are copied into bodies; a shape operand is in the type.
                let value = op.result(0);
                let read = value.uses().iter().any(|(user, _)| !user.is("tensor.reshape"));
                if ty::is_tensor(value.ty()) && read {
                    let tensor = self.literal(op, value.ty())?;
                    cut.tensors.insert(value, PayloadTensor::Tensor(tensor));
                }
                Ok(())
            }
            _ => refuse(op, op.name()),
        }
    }

    /// Returns a payload tensor as a tensor of the tile-graph, copied if it was a window.
    fn tensor(&mut self, cut: &mut Cut<'c>, value: Val<'c>) -> Result<Val<'c>, Failed> {
        let piece = cut.tensors.get(&value).cloned().ok_or(Failed)?;
        let tensor = match piece {
            PayloadTensor::Tensor(tensor) => tensor,
            PayloadTensor::Empty(ty) => self.empty(ty),
            PayloadTensor::Window(window) => {
                let fresh = self.empty(value.ty());
                let whole = Window::whole(fresh).ok_or(Failed)?;
                self.copy(cut, &window, &whole)?
            }
            PayloadTensor::Start(op) => {
                self.nest(cut, op)?;
                return self.tensor(cut, value);
            }
            PayloadTensor::Border(op) => {
                if op.is("tensor.pad") {
                    self.pad(cut, op)?;
                } else {
                    self.insert(cut, op)?;
                }
                return self.tensor(cut, value);
            }
        };
        cut.tensors.insert(value, PayloadTensor::Tensor(tensor));
        Ok(tensor)
    }

    fn window(&mut self, cut: &mut Cut<'c>, op: Op<'c>, of: Val<'c>) -> Result<Window<'c>, Failed> {
        let outer = match cut.tensors.get(&of) {
            Some(PayloadTensor::Window(window)) if op.operands().len() == 1 => window.clone(),
            _ => {
                let tensor = self.tensor(cut, of)?;
                Window::whole(tensor).ok_or(Failed)?
            }
        };
        match Window::of_slice(op, of) {
            Some(window) => Ok(window.inside(&outer)),
            None => refuse(op, "a slice at positions that are not constant"),
        }
    }

    fn empty(&mut self, ty: Type<'c>) -> Val<'c> {
        build::empty(&mut self.b, &self.memory, ty)
    }

    fn view(&mut self, tensor: Val<'c>, ty: Type<'c>) -> Val<'c> {
        // A view of a view is one of what that one is of.
        let tensor = match tensor.def() {
            Some(op) if op.is("tile.view") => op.operand(0),
            _ => tensor,
        };
        if tensor.ty() == ty {
            return tensor;
        }
        let view = build::view(&mut self.b, tensor, ty);
        if self.constants.contains(&tensor) {
            self.constants.insert(view);
        }
        view
    }
}

fn refuse<T>(op: Op<'_>, what: &str) -> Result<T, Failed> {
    Report::new(op.location(), format!("a payload cannot hold {what}")).help(
        "payloads hold linalg.generic, tensor.empty, reshapes, slices at constant positions, \
         tensor.pad and constants",
    );
    Err(Failed)
}
