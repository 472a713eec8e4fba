//! Builds the operations of the `graph` dialect, one function each, and whole models.

use weft_runtime::length::{Length, Symbol};

use crate::ir::payload::Payload;
use crate::ir::{Attribute, Block, Builder, Context, Op, Type, Val, attr, ty};

/// `graph.model @name inputs [...] outputs [...] { ... }`, with an empty body that takes the
/// inputs: their names and graph types.
pub fn model<'c>(
    b: &mut Builder<'c>,
    name: &str,
    inputs: &[(String, Type<'c>)],
    outputs: &[String],
) -> (Op<'c>, Block<'c>) {
    let context = b.context();
    let names: Vec<_> = inputs.iter().map(|(name, _)| name).collect();
    let types: Vec<_> = inputs.iter().map(|(_, ty)| *ty).collect();
    let attributes = [
        ("sym_name", attr::of_string(context, name)),
        ("inputs", attr::of_strings(context, &names)),
        ("outputs", attr::of_strings(context, outputs)),
    ];
    let op = b.op_with("graph.model", &[], &[], &attributes, 1);
    (op, b.block(op.region(0), &types))
}

/// `graph.symbol "name" from 1 to 512`.
pub fn symbol<'c>(b: &mut Builder<'c>, symbol: &Symbol) -> Op<'c> {
    let context = b.context();
    let number = |value: u64| attr::of_int(context, value as i64);
    let mut attributes = vec![
        ("name", attr::of_string(context, &symbol.name)),
        ("least", number(symbol.least)),
        ("most", number(symbol.most)),
    ];
    attributes.extend((symbol.multiple > 1).then(|| ("multiple", number(symbol.multiple))));
    b.op_with("graph.symbol", &[], &[], &attributes, 0)
}

/// `graph.length "past"`.
pub fn length<'c>(b: &mut Builder<'c>, length: &Length) -> Val<'c> {
    let context = b.context();
    let text = attr::of_string(context, &length.to_string());
    b.op_with("graph.length", &[], &[Type::index(context)], &[("length", text)], 0).result(0)
}

/// `graph.find "n" %count : ty`.
pub fn find<'c>(b: &mut Builder<'c>, symbol: &str, count: Val<'c>) -> Op<'c> {
    let name = [("name", attr::of_string(b.context(), symbol))];
    b.op_with("graph.find", &[count], &[], &name, 0)
}

/// `graph.call "name" @body(%operands) : (...) -> results`.
pub fn call<'c>(
    b: &mut Builder<'c>,
    [name, body]: [&str; 2],
    operands: &[Val<'c>],
    results: &[Type<'c>],
) -> Op<'c> {
    let context = b.context();
    let attributes =
        [("name", attr::of_string(context, name)), ("body", attr::of_symbol(context, body))];
    b.op_with("graph.call", operands, results, &attributes, 0)
}

/// `graph.weight "tensor" in "file" hash "..." : ty`.
pub fn weight<'c>(
    b: &mut Builder<'c>,
    tensor: &str,
    file: &str,
    hash: &str,
    ty: Type<'c>,
) -> Val<'c> {
    let text = |text: &str| attr::of_string(b.context(), text);
    let attributes = [("tensor", text(tensor)), ("file", text(file)), ("hash", text(hash))];
    b.op_with("graph.weight", &[], &[ty], &attributes, 0).result(0)
}

/// `graph.constant dense<...> : ty -> ty`.
pub fn constant<'c>(b: &mut Builder<'c>, value: Attribute<'c>, ty: Type<'c>) -> Val<'c> {
    b.op_with("graph.constant", &[], &[ty], &[("value", value)], 0).result(0)
}

/// `graph.op "kind" "name"(%operands) : (...) -> results { ... }`.
///
/// `body` builds the payload on arguments of payload types and returns the results, of payload
/// types.
pub fn operator<'c>(
    b: &mut Builder<'c>,
    [kind, name]: [&str; 2],
    operands: &[Val<'c>],
    results: &[Type<'c>],
    body: impl FnOnce(&mut Payload<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
) -> Vec<Val<'c>> {
    let context = b.context();
    let text = |text: &str| attr::of_string(context, text);
    let attributes = [("kind", text(kind)), ("name", text(name))];
    let op = b.op_with("graph.op", operands, results, &attributes, 1);
    let types: Vec<_> = operands.iter().map(|operand| ty::payload(context, operand.ty())).collect();
    let block = b.block(op.region(0), &types);
    let mut payload = Payload::new(context, block, b.location());
    let values = body(&mut payload, &block.args());
    yield_values(payload.builder(), &values);
    op.results()
}

/// `graph.yield %a, %b : ...`, which ends a payload.
pub fn yield_values<'c>(b: &mut Builder<'c>, values: &[Val<'c>]) -> Op<'c> {
    b.op("graph.yield", values, &[])
}

/// `graph.output %a, %b : ...`, which ends a model.
pub fn output<'c>(b: &mut Builder<'c>, values: &[Val<'c>]) -> Op<'c> {
    b.op("graph.output", values, &[])
}

/// Builds a model from its inputs on, one operation after the other.
pub struct GraphBuilder<'c> {
    context: &'c Context,
    model: Op<'c>,
    block: Block<'c>,
}

impl<'c> GraphBuilder<'c> {
    /// A model in `module`, with named inputs of graph types and the names of its outputs.
    pub fn new(
        context: &'c Context,
        module: Op<'c>,
        name: &str,
        inputs: &[(String, Type<'c>)],
        outputs: &[String],
    ) -> Self {
        let body = module.body(0).expect("a module has a block");
        let (model, block) = model(&mut Builder::at_end(context, body), name, inputs, outputs);
        Self { context, model, block }
    }

    /// The `graph.model`.
    pub fn model(&self) -> Op<'c> {
        self.model
    }

    /// The model's inputs.
    pub fn inputs(&self) -> Vec<Val<'c>> {
        self.block.args()
    }

    fn builder(&self) -> Builder<'c> {
        Builder::at_end(self.context, self.block)
    }

    /// `graph.weight`.
    pub fn weight(&mut self, tensor: &str, file: &str, hash: &str, ty: Type<'c>) -> Val<'c> {
        weight(&mut self.builder(), tensor, file, hash, ty)
    }

    /// `graph.constant` from little-endian bytes (booleans one byte each).
    pub fn constant(&mut self, ty: Type<'c>, bytes: &[u8]) -> Val<'c> {
        constant(&mut self.builder(), attr::dense(ty, bytes), ty)
    }

    /// `graph.op`, as [`operator`] builds it.
    pub fn op(
        &mut self,
        kind: &str,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
        body: impl FnOnce(&mut Payload<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        operator(&mut self.builder(), [kind, name], operands, results, body)
    }

    /// `graph.find`.
    pub fn find(&mut self, symbol: &str, count: Val<'c>) -> Op<'c> {
        find(&mut self.builder(), symbol, count)
    }

    /// `graph.call`, whose results have these types.
    pub fn call(&mut self, names: [&str; 2], operands: &[Val<'c>], results: &[Type<'c>]) -> Op<'c> {
        call(&mut self.builder(), names, operands, results)
    }

    /// `graph.output`, which ends the model.
    pub fn finish(self, outputs: &[Val<'c>]) -> Op<'c> {
        output(&mut self.builder(), outputs);
        self.model
    }
}
