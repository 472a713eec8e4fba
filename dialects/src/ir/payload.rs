//! Writing payloads: what an operator computes, in `linalg`, `tensor`, `arith` and `math`.

use melior::Context;
use melior::ir::{Location, Type};

use super::affine::{Linear, map};
use super::builder::Builder;
use super::handle::{Block, Op, Val};
use super::{attr, ty};

/// The kind of a loop axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Its points are independent.
    Parallel,
    /// Its points are folded into the outputs, in order.
    Reduction,
}

/// Builds the body of a payload on tensors.
///
/// All types are payload types: signless, booleans as `i8`.
pub struct Payload<'c> {
    b: Builder<'c>,
}

impl<'c> Payload<'c> {
    /// Appends to `block`.
    pub fn new(context: &'c Context, block: Block<'c>, location: Location<'c>) -> Self {
        Self { b: Builder::at_end(context, block).with_location(location) }
    }

    /// Inserts before `op`, at its location.
    pub fn before(context: &'c Context, op: Op<'c>) -> Self {
        Self { b: Builder::before(context, op) }
    }

    /// The context.
    pub fn context(&self) -> &'c Context {
        self.b.context()
    }

    /// The builder below, for what is not said here.
    pub fn builder(&mut self) -> &mut Builder<'c> {
        &mut self.b
    }

    /// `tensor.empty`: a tensor without content.
    pub fn empty(&mut self, shape: &[u64], elem: Type<'c>) -> Val<'c> {
        let ty = ty::tensor(shape, elem);
        self.b.op("tensor.empty", &[], &[ty]).result(0)
    }

    /// A tensor full of one number.
    pub fn fill(&mut self, value: f64, shape: &[u64], elem: Type<'c>) -> Val<'c> {
        let scalar = self.b.number(elem, value);
        self.fill_with(scalar, shape, elem)
    }

    /// A tensor full of one integer, exact for 64 bits.
    pub fn fill_int(&mut self, value: i64, shape: &[u64], elem: Type<'c>) -> Val<'c> {
        let scalar = self.b.integer(elem, value);
        self.fill_with(scalar, shape, elem)
    }

    fn fill_with(&mut self, scalar: Val<'c>, shape: &[u64], elem: Type<'c>) -> Val<'c> {
        let empty = self.empty(shape, elem);
        let axes = shape.len();
        let identity: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
        // A generic rather than `linalg.fill`: one form for every nest.
        self.generic(&vec![Axis::Parallel; axes], &[], &[(empty, identity)], |_, _| vec![scalar])[0]
    }

    /// `linalg.generic`: a loop nest over `axes`.
    ///
    /// Each operand comes with one index expression per dimension; the extents of
    /// the axes follow from the shapes. The body gets one scalar per input and
    /// per output (the value so far) and gives the new value of each output.
    ///
    /// Returns one tensor per output.
    pub fn generic(
        &mut self,
        axes: &[Axis],
        inputs: &[(Val<'c>, Vec<Linear>)],
        outputs: &[(Val<'c>, Vec<Linear>)],
        body: impl FnOnce(&mut Scalar<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let context = self.context();
        let all: Vec<_> = inputs.iter().chain(outputs).collect();
        let maps: Vec<_> = all.iter().map(|(_, access)| map(context, axes.len(), access)).collect();
        let kinds = axes.iter().map(|axis| attr::of_iterator(context, *axis == Axis::Parallel));
        let kinds: Vec<_> = kinds.collect();
        let operands: Vec<_> = all.iter().map(|(tensor, _)| *tensor).collect();
        let results: Vec<_> = outputs.iter().map(|(tensor, _)| tensor.ty()).collect();
        let op = self.b.op_with(
            "linalg.generic",
            &operands,
            &results,
            &[
                ("indexing_maps", attr::of_array(context, &maps)),
                ("iterator_types", attr::of_array(context, &kinds)),
                (
                    "operandSegmentSizes",
                    attr::of_ints32(context, &[inputs.len() as i32, outputs.len() as i32]),
                ),
            ],
            1,
        );
        let scalars: Vec<_> = operands
            .iter()
            .map(|tensor| ty::elem(tensor.ty()).expect("operands of a nest are tensors"))
            .collect();
        let block = self.b.block(op.region(0), &scalars);
        let mut scalar = Scalar { b: self.b.into_block(block) };
        let values = body(&mut scalar, &block.args());
        scalar.b.op("linalg.yield", &values, &[]);
        op.results()
    }

    /// `tensor.extract_slice` with static offsets, sizes and (positive) strides.
    pub fn slice(
        &mut self,
        tensor: Val<'c>,
        offsets: &[i64],
        sizes: &[i64],
        strides: &[i64],
    ) -> Val<'c> {
        self.slice_at(tensor, (offsets, &[]), sizes, strides)
    }

    /// The same at offsets of which some, `i64::MIN` in the list, are values.
    pub fn slice_at(
        &mut self,
        tensor: Val<'c>,
        (offsets, places): (&[i64], &[Val<'c>]),
        sizes: &[i64],
        strides: &[i64],
    ) -> Val<'c> {
        let context = self.context();
        let operands = [&[tensor], places].concat();
        let segments = [1, places.len() as i32, 0, 0];
        let shape: Vec<_> = sizes.iter().map(|&size| size as u64).collect();
        let elem = ty::elem(tensor.ty()).expect("a slice is of a tensor");
        let attributes = [
            ("static_offsets", attr::of_ints(context, offsets)),
            ("static_sizes", attr::of_ints(context, sizes)),
            ("static_strides", attr::of_ints(context, strides)),
            ("operandSegmentSizes", attr::of_ints32(context, &segments)),
        ];
        let types = [ty::tensor(&shape, elem)];
        self.b.op_with("tensor.extract_slice", &operands, &types, &attributes, 0).result(0)
    }

    /// `tensor.insert_slice`: `target` with the window at `offsets` replaced by `source`.
    pub fn insert(
        &mut self,
        source: Val<'c>,
        target: Val<'c>,
        offsets: &[i64],
        strides: &[i64],
    ) -> Val<'c> {
        self.insert_at(source, target, (offsets, &[]), strides)
    }

    /// The same at offsets of which some, `i64::MIN` in the list, are values.
    pub fn insert_at(
        &mut self,
        source: Val<'c>,
        target: Val<'c>,
        (offsets, places): (&[i64], &[Val<'c>]),
        strides: &[i64],
    ) -> Val<'c> {
        let context = self.context();
        let operands = [&[source, target], places].concat();
        let segments = [1, 1, places.len() as i32, 0, 0];
        let sizes: Vec<_> = ty::shape(source.ty())
            .expect("the window has a static shape")
            .iter()
            .map(|&size| size as i64)
            .collect();
        self.b
            .op_with(
                "tensor.insert_slice",
                &operands,
                &[target.ty()],
                &[
                    ("static_offsets", attr::of_ints(context, offsets)),
                    ("static_sizes", attr::of_ints(context, &sizes)),
                    ("static_strides", attr::of_ints(context, strides)),
                    ("operandSegmentSizes", attr::of_ints32(context, &segments)),
                ],
                0,
            )
            .result(0)
    }

    /// Writes a view: the same elements in row-major order under another shape.
    ///
    /// Written as `tensor.reshape` with a constant shape.
    pub fn reshape(&mut self, tensor: Val<'c>, shape: &[u64]) -> Val<'c> {
        if ty::shape(tensor.ty()).as_deref() == Some(shape) {
            return tensor;
        }
        let context = self.context();
        let elem = ty::elem(tensor.ty()).expect("a reshape is of a tensor");
        let index_type = ty::tensor(&[shape.len() as u64], ty::int(context, 64));
        let bytes: Vec<u8> = shape.iter().flat_map(|dim| dim.to_le_bytes()).collect();
        let dims = self
            .b
            .op_with(
                "arith.constant",
                &[],
                &[index_type],
                &[("value", attr::dense(index_type, &bytes))],
                0,
            )
            .result(0);
        self.b.op("tensor.reshape", &[tensor, dims], &[ty::tensor(shape, elem)]).result(0)
    }
}

/// Builds scalar bodies.
pub struct Scalar<'c> {
    b: Builder<'c>,
}

impl<'c> Scalar<'c> {
    /// Appends to the place of a builder.
    pub fn at(b: Builder<'c>) -> Self {
        Self { b }
    }

    /// The context.
    pub fn context(&self) -> &'c Context {
        self.b.context()
    }

    /// The builder below, for what is not said here.
    pub fn builder(&mut self) -> &mut Builder<'c> {
        &mut self.b
    }

    /// Any operation of one result.
    pub fn op(&mut self, name: &str, operands: &[Val<'c>], result: Type<'c>) -> Val<'c> {
        self.b.op(name, operands, &[result]).result(0)
    }

    /// A float constant, or an integer one of a small number.
    pub fn number(&mut self, ty: Type<'c>, value: f64) -> Val<'c> {
        self.b.number(ty, value)
    }

    /// An integer (or index) constant.
    pub fn integer(&mut self, ty: Type<'c>, value: i64) -> Val<'c> {
        self.b.integer(ty, value)
    }

    /// An operation whose result has the type of its first operand.
    pub fn same(&mut self, name: &str, operands: &[Val<'c>]) -> Val<'c> {
        let ty = operands[0].ty();
        self.op(name, operands, ty)
    }

    fn by_kind(&mut self, float: &str, int: &str, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        let name = if ty::is_float(x.ty()) { float } else { int };
        self.same(name, &[x, y])
    }

    /// `x + y`.
    pub fn add(&mut self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.by_kind("arith.addf", "arith.addi", x, y)
    }

    /// `x - y`.
    pub fn sub(&mut self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.by_kind("arith.subf", "arith.subi", x, y)
    }

    /// `x * y`.
    pub fn mul(&mut self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.by_kind("arith.mulf", "arith.muli", x, y)
    }

    /// `arith.cmpf` by name of the predicate: `oeq`, `olt`, `une`, …
    ///
    /// # Panics
    /// On a name that `arith` does not have.
    pub fn cmpf(&mut self, predicate: &str, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        const NAMES: [&str; 16] = [
            "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
            "ule", "une", "uno", "true",
        ];
        self.compare("arith.cmpf", &NAMES, predicate, x, y)
    }

    /// `arith.cmpi` by name of the predicate: `eq`, `slt`, `ult`, …
    ///
    /// # Panics
    /// On a name that `arith` does not have.
    pub fn cmpi(&mut self, predicate: &str, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        const NAMES: [&str; 10] =
            ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
        self.compare("arith.cmpi", &NAMES, predicate, x, y)
    }

    fn compare(
        &mut self,
        op: &str,
        names: &[&str],
        predicate: &str,
        x: Val<'c>,
        y: Val<'c>,
    ) -> Val<'c> {
        let number = names
            .iter()
            .position(|name| *name == predicate)
            .unwrap_or_else(|| panic!("{op} has no predicate {predicate}"));
        let context = self.context();
        self.b
            .op_with(
                op,
                &[x, y],
                &[ty::int(context, 1)],
                &[("predicate", attr::of_int(context, number as i64))],
                0,
            )
            .result(0)
    }

    /// `arith.select`.
    pub fn select(&mut self, condition: Val<'c>, yes: Val<'c>, no: Val<'c>) -> Val<'c> {
        let ty = yes.ty();
        self.op("arith.select", &[condition, yes, no], ty)
    }

    /// A stored boolean (`i8`, 0 or 1) as an `i1`.
    pub fn truth(&mut self, stored: Val<'c>) -> Val<'c> {
        let ty = ty::int(self.context(), 1);
        self.op("arith.trunci", &[stored], ty)
    }

    /// An `i1` as a stored boolean.
    pub fn stored(&mut self, truth: Val<'c>) -> Val<'c> {
        let ty = ty::int(self.context(), 8);
        self.op("arith.extui", &[truth], ty)
    }

    /// `linalg.index`: the point's coordinate on an axis.
    pub fn index(&mut self, axis: usize) -> Val<'c> {
        let context = self.context();
        let index = Type::index(context);
        self.b
            .op_with(
                "linalg.index",
                &[],
                &[index],
                &[("dim", attr::of_int(context, axis as i64))],
                0,
            )
            .result(0)
    }

    /// An integer as an index, taken as signed.
    pub fn to_index(&mut self, x: Val<'c>) -> Val<'c> {
        let index = Type::index(self.context());
        self.op("arith.index_cast", &[x], index)
    }

    /// An index as an integer type.
    pub fn from_index(&mut self, x: Val<'c>, ty: Type<'c>) -> Val<'c> {
        self.op("arith.index_cast", &[x], ty)
    }

    /// `tensor.extract`: an element of a tensor from outside the nest.
    pub fn extract(&mut self, tensor: Val<'c>, indices: &[Val<'c>]) -> Val<'c> {
        let elem = ty::elem(tensor.ty()).expect("an element is of a tensor");
        let operands: Vec<_> = std::iter::once(tensor).chain(indices.iter().copied()).collect();
        self.op("tensor.extract", &operands, elem)
    }
}
