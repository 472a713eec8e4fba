//! Scalar operations, applied to many lanes at once.
//!
//! A value that is the same in every lane stays a scalar until it meets one that
//! is not. Indices remember how they go up with the lane, so that a load from
//! neighbouring places is one vector load.

use rustc_hash::FxHashMap;
use weft_dialects::device::View;
use weft_dialects::ir::{Block, Builder, Diagnostics, Mapping, Op, Type, Val, attr, ty};

use super::view;

/// A scalar of the body, for all lanes.
#[derive(Clone, Copy)]
pub enum Lanes<'c> {
    /// One scalar for all lanes.
    Uniform(Val<'c>),
    /// One lane each; `line` where it is an index or integer that goes up with the lane.
    Each {
        /// The vector.
        vector: Val<'c>,
        /// Value in lane zero.
        line: Option<Val<'c>>,
    },
}

/// A body on its way into vectors.
pub struct Lanewise<'c> {
    b: Builder<'c>,
    lanes: u64,
    values: FxHashMap<Val<'c>, Lanes<'c>>,
}

impl<'c> Lanewise<'c> {
    /// Builds at the place of `b`, on vectors of `lanes`.
    pub fn new(b: Builder<'c>, lanes: u64) -> Self {
        Self { b, lanes, values: FxHashMap::default() }
    }

    /// Enters the value of a body's argument: a vector, or a scalar for all lanes.
    pub fn set(&mut self, scalar: Val<'c>, value: Val<'c>) {
        let lanes = if ty::is_vector(value.ty()) {
            Lanes::Each { vector: value, line: None }
        } else {
            Lanes::Uniform(value)
        };
        self.values.insert(scalar, lanes);
    }

    /// Applies a block; the values it yields, as vectors (as scalars for one lane).
    pub fn run(&mut self, body: Block<'c>, diag: &mut Diagnostics) -> Vec<Val<'c>> {
        for op in body.ops() {
            if op.is("device.yield") {
                return op.operands().into_iter().map(|operand| self.vector(operand)).collect();
            }
            self.apply(op, diag);
        }
        Vec::new()
    }

    fn get(&self, scalar: Val<'c>) -> Lanes<'c> {
        self.values.get(&scalar).copied().unwrap_or(Lanes::Uniform(scalar))
    }

    fn vector(&mut self, scalar: Val<'c>) -> Val<'c> {
        match self.get(scalar) {
            Lanes::Uniform(value) => view::splat(&mut self.b, value, self.lanes),
            Lanes::Each { vector, .. } => vector,
        }
    }

    fn uniform(&self, scalar: Val<'c>) -> Option<Val<'c>> {
        match self.get(scalar) {
            Lanes::Uniform(value) => Some(value),
            Lanes::Each { .. } => None,
        }
    }

    fn apply(&mut self, op: Op<'c>, diag: &mut Diagnostics) {
        if op.region_count() > 0 {
            diag.error(op, format!("{} cannot be applied to every lane", op.name()))
                .help("a body of lanes is straight-line code");
        } else if op.is("device.lane") && op.attr("along").is_none() {
            let lane = self.lane_number();
            self.values.insert(op.result(0), lane);
        } else if let Some(operands) = op
            .operands()
            .into_iter()
            .map(|operand| self.uniform(operand))
            .collect::<Option<Vec<_>>>()
        {
            self.once(op, &operands);
        } else if op.is("memref.load") {
            let loaded = self.load(op);
            self.set(op.result(0), loaded);
        } else {
            self.each(op);
        }
    }

    fn lane_number(&mut self) -> Lanes<'c> {
        let zero = self.b.index(0);
        if self.lanes == 1 {
            return Lanes::Uniform(zero);
        }
        let vector = view::lane_numbers(&mut self.b, self.lanes);
        Lanes::Each { vector, line: Some(zero) }
    }

    /// An operation whose operands are the same in every lane.
    fn once(&mut self, op: Op<'c>, operands: &[Val<'c>]) {
        let mut map = Mapping::default();
        for (old, &new) in op.operands().into_iter().zip(operands) {
            map.set(old, new);
        }
        let copy = self.b.clone_op(op, &mut map);
        for (old, new) in op.results().into_iter().zip(copy.results()) {
            self.values.insert(old, Lanes::Uniform(new));
        }
    }

    /// An operation lane by lane, as one on vectors.
    fn each(&mut self, op: Op<'c>) {
        let operands: Vec<_> = op
            .operands()
            .into_iter()
            .enumerate()
            .map(|(number, operand)| match self.uniform(operand) {
                // One condition chooses between whole vectors.
                Some(condition) if op.is("arith.select") && number == 0 => condition,
                _ => self.vector(operand),
            })
            .collect();
        let types: Vec<_> =
            op.results().iter().map(|result| ty::vector(self.lanes, result.ty())).collect();
        let line = self.line(op);
        let copy = match op.name() {
            // Upstream's operation has one power for all lanes; the intrinsic has one for each.
            "llvm.intr.ldexp" => self.intrinsic("llvm.ldexp", &operands, &types),
            name => self.b.op_with(name, &operands, &types, &op.attrs(), 0),
        };
        for (old, vector) in op.results().into_iter().zip(copy.results()) {
            self.values.insert(old, Lanes::Each { vector, line });
        }
    }

    fn intrinsic(&mut self, name: &str, operands: &[Val<'c>], types: &[Type<'c>]) -> Op<'c> {
        let context = self.b.context();
        let none = attr::parse(context, "array<i32>").expect("an empty array");
        let segments = attr::of_ints32(context, &[operands.len() as i32, 0]);
        let attributes = [
            ("intrin", attr::of_string(context, name)),
            ("op_bundle_sizes", none),
            ("operandSegmentSizes", segments),
        ];
        self.b.op_with("llvm.call_intrinsic", operands, types, &attributes, 0)
    }

    /// Lane zero of a result that goes up with the lane.
    fn line(&mut self, op: Op<'c>) -> Option<Val<'c>> {
        let operands = op.operands();
        let begins: Vec<_> = operands
            .iter()
            .map(|&operand| match self.get(operand) {
                Lanes::Uniform(value) => Some((value, false)),
                Lanes::Each { line, .. } => line.map(|line| (line, true)),
            })
            .collect::<Option<_>>()?;
        let rises: Vec<_> = begins.iter().map(|&(_, rises)| rises).collect();
        match (op.name(), rises.as_slice()) {
            ("arith.addi", [true, false] | [false, true])
            | ("arith.subi", [true, false])
            | ("arith.index_cast" | "arith.extsi", [true]) => {
                let begins: Vec<_> = begins.into_iter().map(|(value, _)| value).collect();
                Some(
                    self.b
                        .op_with(op.name(), &begins, &[op.result(0).ty()], &op.attrs(), 0)
                        .result(0),
                )
            }
            _ => None,
        }
    }

    /// A load whose place differs between lanes.
    fn load(&mut self, op: Op<'c>) -> Val<'c> {
        let operands = op.operands();
        let (memref, indices) = (operands[0], &operands[1..]);
        let places: Vec<_> = indices.iter().map(|&index| self.get(index)).collect();
        let (last, others) = places.split_last().expect("a load that differs has an index");
        let fixed: Option<Vec<_>> = others
            .iter()
            .map(|place| match place {
                Lanes::Uniform(value) => Some(*value),
                Lanes::Each { .. } => None,
            })
            .collect();
        if let (Some(mut indices), Lanes::Each { line: Some(begin), .. }) = (fixed, *last) {
            indices.push(begin);
            return view::load(&mut self.b, &View { memref, indices }, self.lanes);
        }
        let loaded: Vec<_> = (0..self.lanes)
            .map(|lane| {
                let indices = places
                    .iter()
                    .map(|place| match *place {
                        Lanes::Uniform(value) => value,
                        Lanes::Each { vector, .. } => view::lane(&mut self.b, vector, lane),
                    })
                    .collect();
                view::load(&mut self.b, &View { memref, indices }, 1)
            })
            .collect();
        view::from_lanes(&mut self.b, &loaded)
    }
}
