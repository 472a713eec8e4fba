//! What the tests share: functions to build, and tensors of integers.

use weft_dialects::ir::payload::Payload;
use weft_dialects::ir::{
    Builder, Context, Location, Module, Op, Type, Val, attr, empty_module, module_op, parse, ty,
};
use weft_passes::interpret::Compiled;

/// Elements of a tensor in row-major order, and its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub shape: Vec<u64>,
    pub data: Vec<i64>,
}

impl Tensor {
    /// Small, different numbers.
    pub fn numbered(shape: &[u64], seed: i64) -> Self {
        let count = shape.iter().product::<u64>() as i64;
        let data = (0..count).map(|at| (at * 7 + seed * 13 + 5) % 23 - 11).collect();
        Self { shape: shape.to_vec(), data }
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.data.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    pub fn of_bytes(shape: &[u64], bytes: &[u8]) -> Self {
        let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Self { shape: shape.to_vec(), data: bytes.chunks_exact(8).map(number).collect() }
    }

    pub fn at(&self, index: &[u64]) -> i64 {
        self.data[self.address(index)]
    }

    pub fn at_mut(&mut self, index: &[u64]) -> &mut i64 {
        let address = self.address(index);
        &mut self.data[address]
    }

    fn address(&self, index: &[u64]) -> usize {
        let inside = index.iter().zip(&self.shape).all(|(at, dim)| at < dim);
        assert!(inside, "{index:?} is inside {:?}", self.shape);
        index.iter().zip(&self.shape).fold(0, |sum, (at, dim)| sum * dim + at) as usize
    }
}

/// Every point of a space, in lexicographic order.
pub fn points(extents: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for &extent in extents {
        let longer =
            |point: Vec<u64>| (0..extent).map(move |at| [point.clone(), vec![at]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// A module with one function of tensors of `i64`, whose body the caller writes.
pub fn function<'c>(
    context: &'c Context,
    inputs: &[&Tensor],
    results: &[&[u64]],
    body: impl FnOnce(&mut Payload<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
) -> Module<'c> {
    let module = empty_module(context);
    let elem = ty::int(context, 64);
    let types: Vec<Type<'c>> = inputs.iter().map(|x| ty::tensor(&x.shape, elem)).collect();
    let results: Vec<Type<'c>> = results.iter().map(|shape| ty::tensor(shape, elem)).collect();
    let mut b = Builder::at_end(context, module_op(&module).body(0).expect("a block"));
    let signature = attr::of_type(ty::of_function(context, &types, &results));
    let name = attr::of_string(context, "f");
    let attrs = [("sym_name", name), ("function_type", signature)];
    let function = b.op_with("func.func", &[], &[], &attrs, 1);
    let block = b.block(function.region(0), &types);
    let mut payload = Payload::new(context, block, Location::unknown(context));
    let values = body(&mut payload, &block.args());
    payload.builder().op("func.return", &values, &[]);
    assert!(module_op(&module).verify(), "{}", module_op(&module));
    module
}

/// The first operation of a module.
pub fn first<'c>(module: &Module<'c>) -> Op<'c> {
    module_op(module).body(0).expect("a module has a block").ops()[0]
}

/// Runs the first function of a module.
pub fn run(module: &Module<'_>, inputs: &[&Tensor]) -> Vec<Vec<u8>> {
    let bytes: Vec<_> = inputs.iter().map(|input| input.bytes()).collect();
    let bytes: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    Compiled::of(first(module)).expect("compiles").run(&bytes).expect("runs")
}

/// A module from its text.
pub fn module<'c>(context: &'c Context, text: &str) -> Module<'c> {
    parse(context, text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}
