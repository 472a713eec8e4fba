//! From an operation's name to the constraints that Rust checks, and what they share.
//!
//! MLIR asks for an operation before it looks into its regions, so a constraint
//! that looks inside, or at another operation, may meet IR that is not verified yet:
//! it says nothing about parts that are missing.

use rustc_hash::FxHashMap;

use crate::device::Machine;
use crate::ir::{Block, Diagnostics, Op, Type, Val, attr, parts, ty};
use crate::repeat::Repeat;
use crate::{device, graph, task, tile};

/// One numbered constraint.
pub(crate) type Constraint = for<'c> fn(Op<'c>, &mut Diagnostics);

/// The constraints of each operation, by its name.
pub(crate) type Table = &'static [(&'static str, &'static [Constraint])];

/// Checks every numbered constraint of `op`; reports what is wrong.
pub(crate) fn verify(op: Op<'_>) -> bool {
    let mut diag = Diagnostics::new();
    match op.name().split_once('.') {
        Some(("graph", _)) => graph::verify::check(op, &mut diag),
        Some(("tile", _)) => tile::verify::check(op, &mut diag),
        Some(("task", _)) => task::verify::check(op, &mut diag),
        Some(("device", _)) => device::verify::check(op, &mut diag),
        _ => {}
    }
    diag.is_ok()
}

/// Checks the constraints that `table` has for `op`.
pub(crate) fn check_table(table: Table, op: Op<'_>, diag: &mut Diagnostics) {
    let name = op.name();
    if let Some((_, constraints)) = table.iter().find(|(own, _)| *own == name) {
        constraints.iter().for_each(|constraint| constraint(op, diag));
    }
}

/// The kernels of a module by name.
pub(crate) struct Kernels<'c> {
    by_name: FxHashMap<&'c str, Op<'c>>,
}

impl<'c> Kernels<'c> {
    /// Returns those of the module around `op`.
    pub(crate) fn around(op: Op<'c>) -> Self {
        let module = op.ancestors().find(|op| op.is("builtin.module"));
        let body = module.and_then(|module| module.first_block(0));
        let kernels = body.into_iter().flat_map(Block::iter).filter(|op| {
            op.is("tile.kernel") || op.is("device.kernel") || Repeat::of(*op).is_some()
        });
        Self { by_name: kernels.map(|kernel| (kernel.symbol(), kernel)).collect() }
    }

    /// Returns whether there are none: then a reference is to something outside the text.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The kernel `name`.
    pub(crate) fn get(&self, name: &str) -> Option<Op<'c>> {
        self.by_name.get(name).copied()
    }

    /// Checks that `kernel` is there and takes values of the types `given`.
    pub(crate) fn check_call(
        &self,
        op: Op<'c>,
        kernel: &str,
        given: &[Type<'c>],
        diag: &mut Diagnostics,
    ) {
        if self.is_empty() {
            return;
        }
        let Some(callee) = self.get(kernel) else {
            diag.error(op, format!("{} calls @{kernel}, which is not a kernel", op.name()))
                .help("name a tile.kernel, a device.kernel or a body of this module");
            return;
        };
        let taken = kernel_types(callee);
        if taken.len() != given.len() {
            let (given, taken) = (count(given.len(), "value"), taken.len());
            diag.error(
                op,
                format!("{} gives {given} to @{kernel}, which takes {taken}", op.name()),
            )
            .note(callee, "the kernel is here");
            return;
        }
        for (place, (&given, &taken)) in given.iter().zip(&taken).enumerate() {
            if !same_elements(given, taken) {
                let what = format!("{} gives {given} to @{kernel}", op.name());
                diag.error(op, format!("{what}, whose argument {place} is {taken}"))
                    .note(callee, "the kernel is here")
                    .help("shapes and element types have to be the same");
            }
        }
    }
}

/// The types of a kernel's tensors or memrefs, without the number of the rTask; those of a body's inputs.
pub(crate) fn kernel_types(kernel: Op<'_>) -> Vec<Type<'_>> {
    if kernel.is("task.program") {
        let signature = kernel.attr("signature").and_then(attr::type_of).and_then(ty::function);
        let inputs = signature.map(|(inputs, _)| inputs).unwrap_or_default();
        return inputs.into_iter().map(parts::payload).collect();
    }
    let args = kernel.first_block(0).map(Block::args).unwrap_or_default();
    let skipped = usize::from(kernel.is("device.kernel"));
    args.into_iter().skip(skipped).map(|arg| arg.ty()).collect()
}

/// Returns whether two tensors, memrefs or vectors have one static shape and element type.
pub(crate) fn same_elements(one: Type<'_>, other: Type<'_>) -> bool {
    let shape = ty::shape(one);
    shape.is_some() && shape == ty::shape(other) && ty::elem(one) == ty::elem(other)
}

/// Returns whether two types have as many elements, of one type.
pub(crate) fn same_count(one: Type<'_>, other: Type<'_>) -> bool {
    let elements = elements(one);
    elements.is_some() && elements == self::elements(other)
}

/// Returns the number of elements and their type; a scalar has one. `None` for dynamic shapes.
pub(crate) fn elements<'c>(ty: Type<'c>) -> Option<(u64, Type<'c>)> {
    match ty::elem(ty) {
        Some(elem) => {
            let count = ty::shape(ty)?.into_iter().try_fold(1, u64::checked_mul)?;
            Some((count, elem))
        }
        None => Some((1, ty)),
    }
}

/// Checks that the machine, where the module has one, has the memory of an attribute.
pub(crate) fn check_memory(op: Op<'_>, attribute: &str, diag: &mut Diagnostics) {
    if let Some(machine) = Machine::of(op)
        && let Some(memory) = symbol(op, attribute)
    {
        check_fact(op, machine, "device.memory", memory, diag);
    }
}

/// Checks that the machine has the fact `name` of the given kind.
pub(crate) fn check_fact<'c>(
    op: Op<'c>,
    machine: Machine<'c>,
    kind: &str,
    name: &str,
    diag: &mut Diagnostics,
) -> Option<Op<'c>> {
    let found = machine.fact(kind, name);
    if found.is_none() {
        let own: Vec<_> = machine.facts(kind).map(|fact| format!("@{}", fact.symbol())).collect();
        let noun = match kind.trim_start_matches("device.") {
            "lanes" => "lane unit",
            noun => noun,
        };
        let what = format!("{} names @{name}, which is no {noun} of the machine", op.name());
        diag.error(op, format!("{what} @{}", machine.name()))
            .note(machine.raw(), "the machine is here")
            .help(format!(
                "it has {}",
                if own.is_empty() { "none".into() } else { own.join(", ") }
            ));
    }
    found
}

/// Checks that a reshape keeps its elements.
pub(crate) fn check_view(op: Op<'_>, diag: &mut Diagnostics) {
    if let (Some(source), Some(result)) = (op.operands().first(), op.results().first())
        && !same_count(source.ty(), result.ty())
    {
        let (source, result) = (source.ty(), result.ty());
        diag.error(op, format!("{} shows {source} as {result}", op.name()))
            .help("a view keeps the number of elements and their type");
    }
}

/// A number with its noun: `1 index`, `2 indices`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match (number, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "index") => format!("{number} indices"),
        (_, "operand memory") => format!("{number} operand memories"),
        _ => format!("{number} {noun}s"),
    }
}

/// The integer of an attribute.
pub(crate) fn int(op: Op<'_>, name: &str) -> Option<i64> {
    op.attr(name).and_then(attr::int)
}

/// The text of an attribute.
pub(crate) fn text<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    op.attr(name).and_then(attr::string)
}

/// The symbol that an attribute names.
pub(crate) fn symbol<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    op.attr(name).and_then(attr::symbol)
}

/// Checks that an integer that is there is above zero.
pub(crate) fn check_positive(op: Op<'_>, name: &str, diag: &mut Diagnostics) {
    if let Some(value) = int(op, name).filter(|&value| value <= 0) {
        diag.error(op, format!("{} has {name} {value}", op.name())).help("it has to be above zero");
    }
}

/// There is one place for each of `values` in the attribute `at` of `op`, inside of it.
pub(crate) fn check_places(op: Op<'_>, values: &[Val<'_>], diag: &mut Diagnostics) {
    let Some(at) = op.attr("at").and_then(attr::ints) else { return };
    if at.len() != values.len() {
        let (places, values) = (count(at.len(), "place"), count(values.len(), "operand"));
        diag.error(op, format!("{} sees {values} from {places} on", op.name()))
            .help("give one element number per operand, 0 for the first");
        return;
    }
    for (&place, value) in at.iter().zip(values) {
        let elements = ty::count(value.ty()).and_then(|count| i64::try_from(count).ok());
        let inside = |&elements: &i64| place == 0 || (0..elements).contains(&place);
        if let Some(elements) = elements.filter(|elements| !inside(elements)) {
            diag.error(op, format!("{} sees {} from element {place} on", op.name(), value.ty()))
                .help(format!("its elements are 0 to {}", elements - 1));
        }
    }
}
