//! `graph-to-tile`: the door from operators to kernels.
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
//! expressions. After this door nothing has an operator's name but its report.

use std::collections::{HashMap, HashSet};

use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{
    Block, Builder, Context, Linear, Location, Module, Op, Report, Type, Val, attr, empty_module,
    module_op, ty,
};

use super::border;
use super::pieces::{Piece, Window};
use crate::nest::{self, Access, Capture, Loop, Nest, NestError, Start};
use crate::tile;

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
    for model in models {
        let mut door = Door::new(run.context, run.module, model, &memory)?;
        door.model(model)?;
        run.count("kernels", door.kernels.len() as u64);
        run.count("runs", door.runs);
        model.erase();
    }
    Ok(())
}

/// The memory that all units share, or a name for it while no machine is there.
fn shared_memory(module: Op<'_>) -> String {
    weft_dialects::device::Machine::of(module)
        .and_then(|machine| machine.shared())
        .map(|memory| memory.name.to_owned())
        .unwrap_or_else(|| "dram".to_owned())
}

struct Door<'c> {
    context: &'c Context,
    module: Op<'c>,
    /// At the end of the tile-graph.
    b: Builder<'c>,
    memory: String,
    /// Where a piece of an input may lie whose border is laid out beside its use.
    near: Option<tile::NearCache<'c>>,
    values: HashMap<Val<'c>, Val<'c>>,
    /// What lies inside the borders of payload tensors that are read with theirs.
    bordered: HashMap<Val<'c>, Val<'c>>,
    /// Tensors that depend on weights and literals alone.
    constants: HashSet<Val<'c>>,
    /// From a kernel's text to its name.
    kernels: HashMap<String, String>,
    names: HashMap<String, usize>,
    runs: u64,
    /// Holds the bodies of nests that no payload wrote: copies and fills.
    scratch: Module<'c>,
    copies: HashMap<String, Block<'c>>,
}

/// One operator while it is cut.
struct Cut<'c> {
    name: &'c str,
    kind: &'c str,
    pieces: HashMap<Val<'c>, Piece<'c>>,
}

impl<'c> Door<'c> {
    fn new(
        context: &'c Context,
        module: Op<'c>,
        model: Op<'c>,
        memory: &str,
    ) -> Result<Self, Failed> {
        let body = model.body(0).ok_or(Failed)?;
        let inputs: Vec<Type<'c>> = body.args().iter().map(|arg| arg.ty()).collect();
        let outputs: Vec<Type<'c>> = body
            .terminator()
            .map(|end| end.operands().iter().map(|value| value.ty()).collect())
            .unwrap_or_default();
        let signature = ty::of_function(context, &inputs, &outputs);
        let mut b = Builder::before(context, model);
        let names = |name: &str| model.attr(name).ok_or(Failed);
        let graph = b.op_with(
            "tile.graph",
            &[],
            &[],
            &[
                ("sym_name", attr::of_string(context, model.symbol())),
                ("inputs", names("inputs")?),
                ("outputs", names("outputs")?),
                ("signature", attr::of_type(signature)),
            ],
            1,
        );
        let types: Vec<_> = inputs.iter().map(|&input| ty::payload(context, input)).collect();
        let block = b.block(graph.region(0), &types);
        let values = body.args().into_iter().zip(block.args()).collect();
        Ok(Self {
            context,
            module,
            b: Builder::at_end(context, block),
            memory: memory.to_owned(),
            near: weft_dialects::device::Machine::of(module).and_then(tile::near_cache),
            values,
            bordered: HashMap::new(),
            constants: HashSet::new(),
            kernels: HashMap::new(),
            names: HashMap::new(),
            runs: 0,
            scratch: empty_module(context),
            copies: HashMap::new(),
        })
    }

    fn model(&mut self, model: Op<'c>) -> Result<(), Failed> {
        for op in model.body(0).ok_or(Failed)?.ops() {
            self.b = self.b.with_location(op.location());
            match op.name() {
                "graph.weight" => {
                    let ty = ty::payload(self.context, op.result(0).ty());
                    let attrs: Vec<_> = op.attrs();
                    let new = self.b.op_with("graph.weight", &[], &[ty], &attrs, 0).result(0);
                    self.constants.insert(new);
                    self.values.insert(op.result(0), new);
                }
                "graph.constant" => {
                    let new = self.literal(op, op.result(0).ty())?;
                    self.values.insert(op.result(0), new);
                }
                "graph.op" => self.operator(op)?,
                "graph.output" => {
                    let values: Vec<_> =
                        op.operands().iter().map(|value| self.values[value]).collect();
                    self.b.op("tile.output", &values, &[]);
                }
                other => {
                    Report::new(op.location(), format!("{other} has no form in a tile-graph"))
                        .help("a model holds graph.weight, graph.constant and graph.op");
                    return Err(Failed);
                }
            }
        }
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
        let new = self.b.op_with("graph.constant", &[], &[ty], &[("value", value)], 0).result(0);
        self.constants.insert(new);
        Ok(new)
    }

    fn operator(&mut self, op: Op<'c>) -> Result<(), Failed> {
        let text = |name: &str| op.attr(name).and_then(attr::string).unwrap_or("");
        let payload = op.body(0).ok_or(Failed)?;
        let mut cut = Cut { name: text("name"), kind: text("kind"), pieces: HashMap::new() };
        for (arg, operand) in payload.args().into_iter().zip(op.operands()) {
            cut.pieces.insert(arg, Piece::Tensor(self.values[&operand]));
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
                cut.pieces.insert(op.result(0), Piece::Empty(op.result(0).ty()));
                Ok(())
            }
            "tensor.reshape" | "tensor.expand_shape" | "tensor.collapse_shape" => {
                let source = self.tensor(cut, op.operand(0))?;
                let view = self.view(source, op.result(0).ty());
                cut.pieces.insert(op.result(0), Piece::Tensor(view));
                Ok(())
            }
            "tensor.extract_slice" => {
                let window = self.window(cut, op, op.operand(0))?;
                if ty::shape(op.result(0).ty()).map(|shape| shape.len()) != Some(window.sizes.len())
                {
                    return refuse(op, "a slice that drops dimensions");
                }
                cut.pieces.insert(op.result(0), Piece::Window(window));
                Ok(())
            }
            "tensor.insert_slice" | "tensor.pad" if border::beside_use(op, self.near) => {
                cut.pieces.insert(op.result(0), Piece::Border(op));
                Ok(())
            }
            "tensor.insert_slice" => self.insert(cut, op),
            "tensor.pad" => self.pad(cut, op),
            "arith.constant" => {
                // Scalars are copied into bodies; a shape operand is in the type.
                let value = op.result(0);
                let read = value.uses().iter().any(|(user, _)| !user.is("tensor.reshape"));
                if ty::is_tensor(value.ty()) && read {
                    let tensor = self.literal(op, value.ty())?;
                    cut.pieces.insert(value, Piece::Tensor(tensor));
                }
                Ok(())
            }
            _ => refuse(op, op.name()),
        }
    }

    /// The piece as a tensor of the tile-graph, copied where it was a window.
    fn tensor(&mut self, cut: &mut Cut<'c>, value: Val<'c>) -> Result<Val<'c>, Failed> {
        let piece = cut.pieces.get(&value).cloned().ok_or(Failed)?;
        let tensor = match piece {
            Piece::Tensor(tensor) => tensor,
            Piece::Empty(ty) => self.empty(ty),
            Piece::Window(window) => {
                let fresh = self.empty(value.ty());
                let whole = Window::whole(fresh).ok_or(Failed)?;
                self.copy(cut, &window, &whole)?
            }
            Piece::Start(op) => {
                self.nest(cut, op)?;
                return self.tensor(cut, value);
            }
            Piece::Border(op) => {
                if op.is("tensor.pad") {
                    self.pad(cut, op)?;
                } else {
                    self.insert(cut, op)?;
                }
                return self.tensor(cut, value);
            }
        };
        cut.pieces.insert(value, Piece::Tensor(tensor));
        Ok(tensor)
    }

    fn window(&mut self, cut: &mut Cut<'c>, op: Op<'c>, of: Val<'c>) -> Result<Window<'c>, Failed> {
        let outer = match cut.pieces.get(&of) {
            Some(Piece::Window(window)) => window.clone(),
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
        let memory = attr::of_symbol(self.context, &self.memory);
        self.b.op_with("tile.empty", &[], &[ty], &[("memory", memory)], 0).result(0)
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
        let view = self.b.op("tile.view", &[tensor], &[ty]).result(0);
        if self.constants.contains(&tensor) {
            self.constants.insert(view);
        }
        view
    }

    fn generic(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<(), Failed> {
        if starts_another(op) || border::surrounds(op, self.near) {
            cut.pieces.insert(op.result(0), Piece::Start(op));
            return Ok(());
        }
        self.nest(cut, op)
    }

    /// Makes the kernel of a `linalg.generic` and applies it.
    fn nest(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<(), Failed> {
        let nest = self.read(cut, op)?;
        let results = self.apply(cut, nest)?;
        for (old, new) in op.results().into_iter().zip(results) {
            let new = self.view(new, old.ty());
            cut.pieces.insert(old, Piece::Tensor(new));
        }
        Ok(())
    }

    fn read(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<Nest<'c>, Failed> {
        let say = |error: NestError| {
            Report::new(op.location(), error.to_string());
            Failed
        };
        let axes = nest::generic_axes(op).map_err(say)?;
        let mut accesses = nest::generic_accesses(op).map_err(say)?;
        let outs = accesses.split_off(nest::generic_inputs(op));
        let inputs = accesses
            .into_iter()
            .map(|access| self.access(cut, access))
            .collect::<Result<Vec<_>, _>>()?;
        let (mut outputs, mut starts) = (Vec::new(), Vec::new());
        for (number, out) in outs.into_iter().enumerate() {
            let read = nest::reads_output(op, number);
            let piece = cut.pieces.get(&out.tensor).cloned().ok_or(Failed)?;
            let mut tensor = None;
            starts.push(match piece {
                _ if !read => Start::Unread,
                Piece::Empty(_) => Start::Unread,
                Piece::Start(start) => {
                    let mut own = nest::generic_accesses(start).map_err(say)?;
                    let place = own.split_off(nest::generic_inputs(start)).remove(0);
                    let own = own
                        .into_iter()
                        .map(|access| self.access(cut, access))
                        .collect::<Result<Vec<_>, _>>()?;
                    let inputs =
                        nest::rebase(own, &place.index, &out.index, axes.len()).map_err(say)?;
                    Start::From { inputs, body: start.body(0).ok_or(Failed)? }
                }
                Piece::Tensor(_) | Piece::Window(_) | Piece::Border(_) => {
                    tensor = Some(self.own_copy(cut, out.tensor)?);
                    Start::Held
                }
            });
            let tensor = match tensor {
                Some(tensor) => tensor,
                None => self.empty(out.tensor.ty()),
            };
            outputs.push(Access { tensor, ..out });
        }
        let body = op.body(0).ok_or(Failed)?;
        let mut captures = Vec::new();
        for value in nest::captured(body) {
            if ty::is_tensor(value.ty()) {
                captures.push(Capture { value, tensor: self.tensor(cut, value)? });
            }
        }
        Ok(Nest { axes, inputs, outputs, body, starts, epilogue: None, captures })
    }

    fn access(&mut self, cut: &mut Cut<'c>, access: Access<'c>) -> Result<Access<'c>, Failed> {
        if let Some(Piece::Window(window)) = cut.pieces.get(&access.tensor) {
            return Ok(window.access(access.index));
        }
        if let Some(Piece::Border(op)) = cut.pieces.get(&access.tensor).cloned() {
            let inside = self.tensor(cut, op.operand(0))?;
            self.bordered.insert(access.tensor, inside);
            return Ok(access);
        }
        let tensor = self.tensor(cut, access.tensor)?;
        Ok(Access { tensor, ..access })
    }

    /// Simplifies a nest, makes or finds its kernel, and applies it.
    fn apply(&mut self, cut: &Cut<'c>, mut nest: Nest<'c>) -> Result<Vec<Val<'c>>, Failed> {
        if nest.axes.iter().any(|axis| axis.extent == 0) {
            return self.apply_empty(cut, nest);
        }
        let index = nest.simplify();
        let mut operands: Vec<Val<'c>> = Vec::new();
        for access in nest.reads() {
            let ty = ty::tensor(&access.shape_in_memory(), access.elem());
            let tensor = self.bordered.get(&access.tensor).copied().unwrap_or(access.tensor);
            operands.push(self.view(tensor, ty));
        }
        operands.extend(nest.captures.iter().map(|capture| capture.tensor));
        let inputs = operands.len();
        let mut results = Vec::new();
        for access in &nest.outputs {
            let ty = ty::tensor(&access.shape, access.elem());
            operands.push(self.view(access.tensor, ty));
            results.push(ty);
        }
        let fixed: String = operands[..inputs]
            .iter()
            .map(|operand| if self.constants.contains(operand) { 'c' } else { 'v' })
            .collect();
        let kernel = self.kernel(cut.kind, &nest, &index, &fixed);
        let run = self.b.op_with(
            "tile.run",
            &operands,
            &results,
            &[
                ("name", attr::of_string(self.context, cut.name)),
                ("kernel", attr::of_symbol(self.context, &kernel)),
                (
                    "operandSegmentSizes",
                    attr::of_ints32(self.context, &[inputs as i32, results.len() as i32]),
                ),
            ],
            0,
        );
        self.runs += 1;
        let inits_fixed = nest.starts.iter().zip(&nest.outputs).all(|(start, output)| {
            !matches!(start, Start::Held) || self.constants.contains(&output.tensor)
        });
        if inits_fixed && !fixed.contains('v') {
            self.constants.extend(run.results());
        }
        // Callers know the shapes from before the axes were fused.
        Ok(run
            .results()
            .into_iter()
            .zip(&nest.outputs)
            .map(|(result, output)| self.view(result, output.tensor.ty()))
            .collect())
    }

    /// A nest without points: its outputs are what they start with.
    fn apply_empty(&mut self, cut: &Cut<'c>, nest: Nest<'c>) -> Result<Vec<Val<'c>>, Failed> {
        let parallel: Vec<usize> =
            (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).collect();
        let none = parallel.iter().any(|&axis| nest.axes[axis].extent == 0);
        let keep = |access: Access<'c>| Access {
            index: access
                .index
                .iter()
                .map(|index| Linear {
                    coefficients: parallel.iter().map(|&axis| index.coefficients[axis]).collect(),
                    constant: index.constant,
                })
                .collect(),
            ..access
        };
        let mut results = Vec::new();
        for (start, output) in nest.starts.into_iter().zip(nest.outputs) {
            results.push(match start {
                Start::From { inputs, body } if !none => {
                    let nest = Nest {
                        axes: parallel.iter().map(|&axis| nest.axes[axis]).collect(),
                        inputs: inputs.into_iter().map(keep).collect(),
                        outputs: vec![keep(output)],
                        body,
                        starts: vec![Start::Unread],
                        epilogue: None,
                        captures: Vec::new(),
                    };
                    self.apply(cut, nest)?[0]
                }
                _ => output.tensor,
            });
        }
        Ok(results)
    }

    /// The name of the kernel for a nest; equal ones are one, unless their
    /// constant operands differ: weights may be laid out for their kernel.
    fn kernel(&mut self, kind: &str, nest: &Nest<'c>, index: &[Linear], fixed: &str) -> String {
        let kernel = nest::emit_kernel(self.context, self.module, "kernel", nest, index);
        let text = format!("{fixed} {}", kernel.own_text());
        if let Some(name) = self.kernels.get(&text) {
            kernel.erase();
            return name.clone();
        }
        let stem: String = kind
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
            .collect();
        let number = self.names.entry(stem.clone()).or_insert(0);
        let name = format!("{stem}_{number}");
        *number += 1;
        kernel.set_attr("sym_name", attr::of_string(self.context, &name));
        self.kernels.insert(text, name.clone());
        name
    }

    /// A tensor with the piece's content that nothing else will read.
    fn own_copy(&mut self, cut: &mut Cut<'c>, value: Val<'c>) -> Result<Val<'c>, Failed> {
        let made_here = value.def().is_some_and(|op| {
            op.is("linalg.generic") || op.is("tensor.insert_slice") || op.is("tensor.pad")
        });
        let tensor = match cut.pieces.get(&value).cloned() {
            Some(Piece::Empty(ty)) => return Ok(self.empty(ty)),
            Some(Piece::Window(window)) => {
                let fresh = self.empty(value.ty());
                let whole = Window::whole(fresh).ok_or(Failed)?;
                return self.copy(cut, &window, &whole);
            }
            _ => self.tensor(cut, value)?,
        };
        if made_here && value.uses().len() == 1 {
            return Ok(tensor);
        }
        let fresh = self.empty(value.ty());
        let (from, to) =
            (Window::whole(tensor).ok_or(Failed)?, Window::whole(fresh).ok_or(Failed)?);
        self.copy(cut, &from, &to)
    }

    fn insert(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<(), Failed> {
        let (source, target) = (op.operand(0), op.operand(1));
        let from = match cut.pieces.get(&source) {
            Some(Piece::Window(window)) => window.clone(),
            _ => {
                let tensor = self.tensor(cut, source)?;
                Window::whole(tensor).ok_or(Failed)?
            }
        };
        let place = self.own_copy(cut, target)?;
        let Some(to) = Window::of_slice(op, place) else {
            return refuse(op, "a slice at positions that are not constant");
        };
        if from.sizes.len() != to.sizes.len() {
            return refuse(op, "a slice that drops dimensions");
        }
        let result = self.copy(cut, &from, &to)?;
        cut.pieces.insert(op.result(0), Piece::Tensor(result));
        Ok(())
    }

    fn pad(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<(), Failed> {
        let value = op.body(0).and_then(|body| body.terminator()).map(|end| end.operand(0));
        let Some(constant) =
            value.and_then(|value| value.def()).filter(|op| op.is("arith.constant"))
        else {
            return refuse(op, "padding with a value that is not constant");
        };
        let Some(low) =
            op.attr("static_low").and_then(attr::ints).filter(|low| !low.contains(&i64::MIN))
        else {
            return refuse(op, "padding by amounts that are not constant");
        };
        let ty = op.result(0).ty();
        let shape = ty::shape(ty).ok_or(Failed)?;
        let body = self.scratch_body(ty, |payload| {
            payload.builder().clone_op(constant, &mut Default::default()).result(0)
        });
        let axes: Vec<Loop> =
            shape.iter().map(|&extent| Loop { extent, kind: Axis::Parallel }).collect();
        let index = (0..axes.len()).map(|axis| Linear::axis(axes.len(), axis)).collect();
        let output = Access { tensor: self.empty(ty), shape, index };
        let fill = Nest {
            axes,
            inputs: Vec::new(),
            outputs: vec![output],
            body,
            starts: vec![Start::Unread],
            epilogue: None,
            captures: Vec::new(),
        };
        let filled = self.apply(cut, fill)?[0];
        let source = self.tensor(cut, op.operand(0))?;
        let from = Window::whole(source).ok_or(Failed)?;
        let rank = low.len();
        let to = Window {
            tensor: filled,
            offsets: low,
            strides: vec![1; rank],
            sizes: from.sizes.clone(),
        };
        let result = self.copy(cut, &from, &to)?;
        cut.pieces.insert(op.result(0), Piece::Tensor(result));
        Ok(())
    }

    /// Copies one window into another; gives the tensor written to, afterwards.
    fn copy(
        &mut self,
        cut: &Cut<'c>,
        from: &Window<'c>,
        to: &Window<'c>,
    ) -> Result<Val<'c>, Failed> {
        let elem = ty::elem(from.tensor.ty()).ok_or(Failed)?;
        let body = match self.copies.get(&elem.to_string()) {
            Some(body) => *body,
            None => {
                let body = self.copy_body(elem);
                self.copies.insert(elem.to_string(), body);
                body
            }
        };
        let axes: Vec<Loop> = from
            .sizes
            .iter()
            .map(|&size| Loop { extent: size as u64, kind: Axis::Parallel })
            .collect();
        let index: Vec<Linear> =
            (0..axes.len()).map(|axis| Linear::axis(axes.len(), axis)).collect();
        // A window leaves the rest of its tensor as it was.
        let whole = Window::whole(to.tensor).is_some_and(|whole| whole.sizes == to.sizes);
        let start = if whole { Start::Unread } else { Start::Held };
        let nest = Nest {
            axes,
            inputs: vec![from.access(index.clone())],
            outputs: vec![to.access(index)],
            body,
            starts: vec![start],
            epilogue: None,
            captures: Vec::new(),
        };
        Ok(self.apply(cut, nest)?[0])
    }

    fn copy_body(&mut self, elem: Type<'c>) -> Block<'c> {
        let ty = ty::tensor(&[1], elem);
        self.scratch_generic(ty, true, |_, args| args[0])
    }

    fn scratch_body(
        &mut self,
        ty: Type<'c>,
        value: impl FnOnce(&mut Payload<'c>) -> Val<'c>,
    ) -> Block<'c> {
        let module = module_op(&self.scratch).body(0).expect("a module has a block");
        let mut payload = Payload::new(self.context, module, Location::unknown(self.context));
        let value = value(&mut payload);
        self.scratch_generic(ty, false, |_, _| value)
    }

    /// The body of a parallel nest written into the scratch module.
    fn scratch_generic(
        &mut self,
        ty: Type<'c>,
        reads: bool,
        body: impl FnOnce(&mut Builder<'c>, &[Val<'c>]) -> Val<'c>,
    ) -> Block<'c> {
        let module = module_op(&self.scratch).body(0).expect("a module has a block");
        let mut payload = Payload::new(self.context, module, Location::unknown(self.context));
        let shape = ty::shape(ty).unwrap_or_default();
        let tensor = payload.empty(&shape, ty::elem(ty).unwrap_or(ty));
        let rank = shape.len();
        let access = (tensor, (0..rank).map(|axis| Linear::axis(rank, axis)).collect::<Vec<_>>());
        let inputs = if reads { vec![access.clone()] } else { Vec::new() };
        let results =
            payload.generic(&vec![Axis::Parallel; rank], &inputs, &[access], |scalar, args| {
                vec![body(scalar.builder(), args)]
            });
        let generic = results[0].def().expect("a nest gives its results");
        generic.body(0).expect("linalg.generic has a body")
    }
}

/// Whether a parallel nest does nothing but give one other nest its start.
pub(super) fn starts_another(op: Op<'_>) -> bool {
    let [result] = op.results()[..] else { return false };
    let [(user, operand)] = result.uses()[..] else { return false };
    let parallel = nest::generic_axes(op)
        .is_ok_and(|axes| axes.iter().all(|axis| axis.kind == Axis::Parallel));
    let plain = nest::generic_accesses(op).is_ok_and(|accesses| {
        accesses.last().is_some_and(|out| out.index.iter().all(|index| index.as_axis().is_some()))
    });
    let body = op.body(0).expect("linalg.generic has a body");
    let asks = body.ops().iter().any(|op| nest::index_axis(*op).is_some());
    let reads = nest::captured(body).iter().any(|value| ty::is_tensor(value.ty()));
    user.is("linalg.generic")
        && operand >= nest::generic_inputs(user)
        && user.block() == op.block()
        && parallel
        && plain
        && !asks
        && !reads
        && !nest::reads_output(op, 0)
        && nest::reads_output(user, operand - nest::generic_inputs(user))
}

fn refuse<T>(op: Op<'_>, what: &str) -> Result<T, Failed> {
    Report::new(op.location(), format!("a payload cannot hold {what}")).help(
        "payloads hold linalg.generic, tensor.empty, reshapes, slices at constant positions, \
         tensor.pad and constants",
    );
    Err(Failed)
}
