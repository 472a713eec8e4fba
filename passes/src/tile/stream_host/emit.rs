//! Writes segments tile by tile.
//!
//! ```text
//! %y = tile.run "conv" @conv(%x, %w) into(%e)
//!   ->  %h = tile.empty in @host
//!       %t0 = tile.run "conv" @stream_in(%x) into(%a0) {move = @in}         rows 0 to 33 of %x
//!       %c0 = tile.run "conv" @conv_streamed(%t0, %w) into(%b0)             rows 0 to 32
//!       %h0 = tile.run "conv" @stream_out(%c0) into(%h) {move = @out}
//!       ...
//! ```
//!
//! Kernels whose text is the same are one: those of all tiles but the first and the last.

use std::collections::{HashMap, HashSet};

use weft_dialects::ir::pass::Run;
use weft_dialects::ir::{Attribute, Block, Builder, Context, Linear, Op, Type, Val, attr, ty};
use weft_dialects::tile::build::{self, RunOp};

use super::super::views::view;
use super::flow::{Arg, Flow, Step};
use super::segment::{Action, Cut, Segment, Tile, actions, tiles};
use super::spans::Span;
use crate::nest::{Access, Loop, Nest, Start, emit_kernel, index_axis, row_major, scalar_body};

/// Names of the memories, and of the moves between them.
pub(in crate::tile) struct Names<'a> {
    pub host: &'a str,
    pub near: &'a str,
    pub bring: &'a str,
    pub take: &'a str,
}

pub(in crate::tile) struct Emit<'a, 'c> {
    pub context: &'c Context,
    pub module: Op<'c>,
    pub flow: &'a Flow<'c>,
    pub names: &'a Names<'a>,
    /// At the end of the graph.
    pub b: Builder<'c>,
    /// Finished tensors in the host's memory: the model's inputs, and what segments gave.
    pub finished: HashMap<usize, Val<'c>>,
    /// Kernels by their text.
    pub made: HashMap<String, Op<'c>>,
    /// Names that symbols of the module have.
    pub taken: HashSet<String>,
    /// Bodies that copy an element.
    pub copies: HashMap<String, Block<'c>>,
    /// The module that those stand in.
    pub scratch: Op<'c>,
    /// The stitching of kernels, where they are to be stitched.
    pub stitching: Option<Stitching<'a, 'c>>,
    /// Runs that were written since they were last taken.
    pub runs: Vec<Op<'c>>,
}

/// Kernels of an instance: done whole, on tensors that wait near a unit.
#[derive(Clone, Copy)]
pub(in crate::tile) struct Stitching<'a, 'c> {
    /// Bytes there that its tensors take.
    pub taken: u64,
    /// Of what the first byte that a kernel sees of a tensor is a multiple.
    pub align: u64,
    /// Chooses for a kernel.
    pub construct: Construct<'a, 'c>,
}

/// Chooses for a kernel of this nest, whose arguments wait near a unit where that is said, beside
/// so many bytes of other tensors.
pub(in crate::tile) type Construct<'a, 'c> = &'a dyn Fn(Op<'c>, &Nest<'c>, &[bool], u64);

/// Between the host's memory and the device's.
#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

/// A window of a tensor.
#[derive(Clone, Copy)]
struct Window<'w, 'c> {
    tensor: Val<'c>,
    /// Of the tensor.
    shape: &'w [u64],
    /// First element of the window.
    begin: &'w [u64],
}

impl<'c> Window<'_, 'c> {
    /// The access of a copy to the window; from its first element on if `behind`.
    fn access(&self, behind: bool) -> Access<'c> {
        let axes = self.begin.len();
        let begin = |axis: usize| if behind { 0 } else { self.begin[axis] as i64 };
        let index = (0..axes).map(|axis| Linear::axis(axes, axis).offset(begin(axis)));
        Access { tensor: self.tensor, shape: self.shape.to_vec(), index: index.collect() }
    }

    /// Elements of the tensor before the window.
    fn offset(&self) -> i64 {
        let steps = row_major(self.shape).into_iter().zip(self.begin);
        steps.map(|(step, &begin)| step * begin as i64).sum()
    }
}

impl<'a, 'c> Emit<'a, 'c> {
    /// Nothing is written yet before `end`, the end of the graph; bodies that copy stand in
    /// `scratch`.
    pub fn new(
        run: &Run<'c>,
        flow: &'a Flow<'c>,
        names: &'a Names<'a>,
        scratch: Op<'c>,
        end: Op<'c>,
    ) -> Self {
        let inputs = flow.tensors.iter().enumerate();
        let symbols = run.module.body(0).into_iter().flat_map(|block| block.ops());
        Self {
            context: run.context,
            module: run.module,
            flow,
            names,
            b: Builder::before(run.context, end),
            finished: inputs.filter_map(|(number, own)| Some((number, own.source?))).collect(),
            made: HashMap::new(),
            taken: symbols.map(|op| op.symbol().to_owned()).collect(),
            copies: HashMap::new(),
            scratch,
            stitching: None,
            runs: Vec::new(),
        }
    }

    /// Lets the graph give what was made.
    pub fn finish(self, end: Op<'c>) {
        let mut b = self.b.with_location(end.location());
        for (place, tensor) in self.flow.results.iter().enumerate() {
            if let Some(tensor) = tensor {
                let value = view(&mut b, self.finished[tensor], end.operand(place).ty());
                end.set_operand(place, value);
            }
        }
    }

    /// Writes a segment at the end of the graph.
    pub fn segment(&mut self, segment: &Segment, cut: &Cut) {
        let tiles = tiles(self.flow, segment, cut).expect("it was cut before");
        self.actions(segment, &tiles, actions(self.flow, segment, &tiles));
    }

    /// Writes some of what is done for the tiles of a segment.
    pub fn actions(&mut self, segment: &Segment, tiles: &[Tile], actions: Vec<Action>) {
        // Tensors that each tile holds so far, by tile and tensor.
        let mut held: HashMap<(usize, usize), Val<'c>> = HashMap::new();
        for action in actions {
            match action {
                Action::In { tile, tensor } => {
                    let value = self.bring(segment, tensor, &tiles[tile].boxes[&tensor]);
                    held.insert((tile, tensor), value);
                }
                Action::Do { tile, step } => {
                    let points = tiles[tile].points[step - segment.from].as_ref();
                    let points = points.expect("only what has points is done");
                    self.step(step, points, &tiles[tile], |tensor| (tile, tensor), &mut held);
                }
                Action::Out { tile, give } => {
                    let tensor = segment.gives[give];
                    let (spans, piece) = (&tiles[tile].boxes[&tensor], &tiles[tile].pieces[give]);
                    self.take(tensor, held[&(tile, tensor)], spans, piece);
                }
            }
        }
    }

    /// Does a step as it is, on whole tensors.
    pub fn whole(&mut self, number: usize) {
        let flow = self.flow;
        let step = &flow.steps[number];
        self.b = self.b.with_location(step.op.location());
        let value = |own: &mut Self, arg: &Arg<'c>| match arg {
            Arg::Known(value) => *value,
            Arg::Tensor(tensor) => match own.finished.get(tensor) {
                Some(value) => *value,
                None => {
                    let tensor = &flow.tensors[*tensor];
                    own.empty(own.names.host, &tensor.shape, tensor.elem)
                }
            },
        };
        let values: Vec<_> = step.args.iter().map(|arg| value(self, arg)).collect();
        let made = self.run(step.name(), step.kernel, &values, step.op.results().len(), None);
        for (tensor, value) in step.written().into_iter().zip(made) {
            self.finished.insert(tensor, value);
        }
    }

    /// A box of a tensor, brought to the device's memory.
    fn bring(&mut self, segment: &Segment, tensor: usize, spans: &[Span]) -> Val<'c> {
        let flow = self.flow;
        let own = &flow.tensors[tensor];
        let (from, elem, shape) = (self.finished[&tensor], own.elem, &*own.shape);
        let readers = own.readers.iter().filter(|step| (segment.from..segment.to).contains(step));
        let name = readers.map(|&step| flow.steps[step].name()).next().unwrap_or("");
        let sizes: Vec<u64> = spans.iter().map(|(first, past)| past - first).collect();
        let begin: Vec<u64> = spans.iter().map(|span| span.0).collect();
        let place = self.empty(self.names.near, &sizes, elem);
        let zero = vec![0; sizes.len()];
        let from = Window { tensor: from, shape, begin: &begin };
        let place = Window { tensor: place, shape: &sizes, begin: &zero };
        self.copy(Direction::In, name, from, place, &sizes)
    }

    /// Takes a piece of a box out to the tensor in the host's memory.
    fn take(&mut self, tensor: usize, value: Val<'c>, spans: &[Span], piece: &[Span]) {
        let flow = self.flow;
        let own = &flow.tensors[tensor];
        let (shape, elem) = (&*own.shape, own.elem);
        let held: Vec<u64> = spans.iter().map(|(first, past)| past - first).collect();
        let sizes: Vec<u64> = piece.iter().map(|(first, past)| past - first).collect();
        let begin: Vec<u64> = piece.iter().zip(spans).map(|(piece, own)| piece.0 - own.0).collect();
        let at: Vec<u64> = piece.iter().map(|piece| piece.0).collect();
        let place = match self.finished.get(&tensor) {
            Some(&place) => place,
            None => self.empty(self.names.host, shape, elem),
        };
        let from = Window { tensor: value, shape: &held, begin: &begin };
        let place = Window { tensor: place, shape, begin: &at };
        let whole = self.copy(Direction::Out, &own.name, from, place, &sizes);
        self.finished.insert(tensor, whole);
    }

    fn empty(&mut self, memory: &str, shape: &[u64], elem: Type<'c>) -> Val<'c> {
        let empty = build::empty(&mut self.b, memory, ty::tensor(shape, elem));
        self.runs.extend(empty.def());
        empty
    }

    /// Copies a window of one tensor to a window of another, of the same sizes.
    fn copy(
        &mut self,
        direction: Direction,
        name: &str,
        from: Window<'_, 'c>,
        to: Window<'_, 'c>,
        sizes: &[u64],
    ) -> Val<'c> {
        let elem = ty::elem(from.tensor.ty()).expect("tensors have elements");
        let (stem, by, behind) = match direction {
            Direction::In => ("stream_in", self.names.bring, [true, false]),
            Direction::Out => ("stream_out", self.names.take, [false, true]),
        };
        // One kernel copies any box of the tensor behind, seen from the box on.
        let size = ty::byte_size(elem).unwrap_or(1);
        let may_begin = |window: &Window<'_, 'c>| {
            let align = self.stitching.map(|own| own.align);
            align.is_some_and(|align| (window.offset() as u64 * size).is_multiple_of(align))
        };
        let near = behind.map(|behind| !behind);
        let behind = [(&from, behind[0]), (&to, behind[1])].map(|(end, own)| own && may_begin(end));
        let seen = |window: Window<'_, 'c>, behind: bool| if behind { window.offset() } else { 0 };
        let at = [seen(from, behind[0]), seen(to, behind[1])];
        let start = if to.shape == sizes { Start::Unread } else { Start::Held };
        let mut nest = Nest {
            axes: sizes.iter().map(|&extent| Loop::parallel(extent)).collect(),
            inputs: vec![from.access(behind[0])],
            outputs: vec![to.access(behind[1])],
            body: self.copy_body(elem),
            starts: vec![start],
            epilogue: None,
            captures: Vec::new(),
        };
        let index = nest.simplify();
        let kernel = self.kernel(stem, &near, &nest, &index);
        let mark = match self.stitching {
            Some(_) => ("at", attr::of_ints(self.context, &at)),
            None => ("move", attr::of_symbol(self.context, by)),
        };
        self.run(name, kernel, &[from.tensor, to.tensor], 1, Some(mark))[0]
    }

    fn copy_body(&mut self, elem: Type<'c>) -> Block<'c> {
        let (context, scratch) = (self.context, self.scratch);
        let body = || scalar_body(context, scratch, &[elem], elem, |_, args| vec![args[0]]);
        *self.copies.entry(elem.to_string()).or_insert_with(body)
    }

    /// Some points of a step, on what a tile holds.
    fn step(
        &mut self,
        number: usize,
        points: &[Span],
        tile: &Tile,
        key: impl Fn(usize) -> (usize, usize),
        held: &mut HashMap<(usize, usize), Val<'c>>,
    ) {
        let flow = self.flow;
        let step = &flow.steps[number];
        self.b = self.b.with_location(step.op.location());
        let results = step.op.results().len();
        let whole = points.iter().zip(step.nest.extents()).all(|(span, dim)| *span == (0, dim))
            && step
                .touched()
                .iter()
                .all(|tensor| tile.boxes.get(tensor) == Some(&self.flow.tensors[*tensor].whole()));
        let (kernel, operands) = if whole && self.stitching.is_none() {
            (step.kernel, step.args.clone())
        } else {
            let (nest, index, operands) = self.part(step, points, tile);
            let near: Vec<bool> =
                operands.iter().map(|arg| matches!(arg, Arg::Tensor(_))).collect();
            let stem = format!("{}_streamed", step.kernel.symbol());
            (self.kernel(&stem, &near, &nest, &index), operands)
        };
        let mut values = Vec::new();
        for (place, arg) in operands.iter().enumerate() {
            values.push(match arg {
                Arg::Known(value) => *value,
                Arg::Tensor(tensor) => match held.get(&key(*tensor)) {
                    Some(value) => *value,
                    None => {
                        assert!(place + results >= operands.len(), "what is read was made");
                        let spans = &tile.boxes[tensor];
                        let sizes: Vec<u64> = spans.iter().map(|(a, b)| b - a).collect();
                        let elem = self.flow.tensors[*tensor].elem;
                        self.empty(self.names.near, &sizes, elem)
                    }
                },
            });
        }
        let made = self.run(step.name(), kernel, &values, results, None);
        for (tensor, value) in step.written().into_iter().zip(made) {
            held.insert(key(tensor), value);
        }
    }

    /// The nest of some points of a step over boxes, what its body's axes are, and its
    /// arguments.
    fn part(
        &self,
        step: &Step<'c>,
        points: &[Span],
        tile: &Tile,
    ) -> (Nest<'c>, Vec<Linear>, Vec<Arg<'c>>) {
        let mut nest = step.nest.clone();
        let mut now = step.now.clone();
        for (axis, &(first, past)) in points.iter().enumerate() {
            if (first, past) != (0, nest.axes[axis].extent) {
                let (part, moved) = nest.part(axis, first, past - first);
                nest = part;
                now = compose(&now, &moved);
            }
        }
        let of = |access: &Access<'c>| step.args[access.argument().index()];
        let mut operands: Vec<Arg<'c>> = nest.reads().into_iter().map(of).collect();
        operands.extend(nest.captures.iter().map(|own| step.args[own.tensor.index()]));
        operands.extend(nest.outputs.iter().map(of));
        for access in nest.accesses_mut() {
            let Arg::Tensor(tensor) = step.args[access.argument().index()] else { continue };
            if !self.flow.tensors[tensor].may_be_cut {
                continue;
            }
            for (dim, &(first, past)) in tile.boxes[&tensor].iter().enumerate() {
                access.shape[dim] = past - first;
                access.index[dim].constant -= first as i64;
            }
        }
        // If the body asks for an axis of its own text, axes stay as they are.
        if !step.nest.body.ops().into_iter().any(|op| index_axis(op).is_some()) {
            let simple = nest.simplify();
            now = compose(&now, &simple);
        }
        (nest, now, operands)
    }

    /// The kernel of a nest; equal ones are one.
    fn kernel(&mut self, stem: &str, near: &[bool], nest: &Nest<'c>, index: &[Linear]) -> Op<'c> {
        let kernel = emit_kernel(self.context, self.module, "streamed", nest, index);
        let taken = self.stitching.map_or(0, |stitching| stitching.taken);
        let text = format!("{stem} {near:?} {taken} {}", kernel.own_text());
        if let Some(&known) = self.made.get(&text) {
            kernel.erase();
            return known;
        }
        let numbered = (1..).map(|number| format!("{stem}_{number}"));
        let mut names = std::iter::once(stem.to_owned()).chain(numbered);
        let name = names.find(|name| !self.taken.contains(name)).expect("names do not run out");
        kernel.set_attr("sym_name", attr::of_string(self.context, &name));
        self.taken.insert(name);
        self.made.insert(text, kernel);
        if let Some(Stitching { construct, taken, .. }) = self.stitching {
            construct(kernel, nest, near, taken);
        }
        kernel
    }

    fn run(
        &mut self,
        name: &str,
        kernel: Op<'c>,
        values: &[Val<'c>],
        results: usize,
        mark: Option<(&'static str, Attribute<'c>)>,
    ) -> Vec<Val<'c>> {
        let types: Vec<Type<'c>> = kernel
            .body(0)
            .expect("kernels have a body")
            .args()
            .iter()
            .map(|arg| arg.ty())
            .collect();
        let pairs = values.iter().zip(&types);
        let values: Vec<Val<'c>> =
            pairs.map(|(&value, &ty)| view(&mut self.b, value, ty)).collect();
        let views = values.iter().filter_map(|value| value.def());
        self.runs.extend(views.filter(|op| op.is("tile.view")));
        let (inputs, inits) = values.split_at(values.len() - results);
        let run = RunOp { name, kernel: kernel.symbol(), inputs, inits, at: &[] };
        let run = run.build(&mut self.b);
        if let Some((mark, value)) = mark {
            run.set_attr(mark, value);
        }
        self.runs.push(run);
        run.results()
    }
}

/// Expressions of axes, in terms of what those axes are now.
fn compose(outer: &[Linear], inner: &[Linear]) -> Vec<Linear> {
    let axes = inner.first().map_or(0, |index| index.coefficients.len());
    outer.iter().map(|index| index.in_terms_of(axes, inner)).collect()
}
