//! Lengths that callers decide: how they stand in the text of every stage, and their constraints.

use weft_runtime::length::{Length, Symbol, is_name};

use crate::ir::{Attribute, Context, Diagnostics, Op, Type, attr, ty};
use crate::verify::{count, int, text};

/// The name of the attribute with the lengths of a nest's axes.
pub const OF_AXES: &str = "graph.lengths";

/// The length that a text is; none where it is empty.
///
/// # Errors
/// It is no length; the error says why.
pub fn read(text: &str) -> Result<Option<Length>, String> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|error| format!("{error}")),
    }
}

/// The text of a length, or of none.
pub fn write(length: Option<&Length>) -> String {
    length.map(ToString::to_string).unwrap_or_default()
}

/// The symbols of the module around `op`, in the order of the text.
pub fn symbols(op: Op<'_>) -> Vec<Symbol> {
    symbol_ops(op).into_iter().filter_map(symbol_of).collect()
}

fn symbol_ops<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let module = std::iter::once(op).chain(op.ancestors()).find(|op| op.is("builtin.module"));
    let ops = module.and_then(|module| module.first_block(0)).map(|body| body.ops());
    ops.unwrap_or_default().into_iter().filter(|op| op.is("graph.symbol")).collect()
}

fn symbol_of(op: Op<'_>) -> Option<Symbol> {
    let number = |name| int(op, name).and_then(|value| u64::try_from(value).ok());
    Some(Symbol {
        name: text(op, "name")?.to_owned(),
        least: number("least")?,
        most: number("most")?,
        multiple: number("multiple").unwrap_or(1),
    })
}

/// The lengths that `op` has for each dimension of each of its ports, inputs first; none where all are
/// fixed.
pub fn of_ports(op: Op<'_>) -> Vec<Vec<Option<Length>>> {
    let ports = op.attr("lengths").and_then(attr::array).unwrap_or_default().into_iter();
    let lengths = |port| attr::strings(port).unwrap_or_default().into_iter();
    ports.map(|port| lengths(port).map(|text| read(text).unwrap_or(None)).collect()).collect()
}

/// For each of so many operands of `op` how many elements further on it is seen, where callers decide
/// that.
pub fn shifts(op: Op<'_>, operands: usize) -> Vec<Option<Length>> {
    match op.attr("shifts").and_then(attr::strings) {
        Some(texts) => texts.into_iter().map(|text| read(text).unwrap_or(None)).collect(),
        None => vec![None; operands],
    }
}

/// Writes them, where there are some.
pub fn set_shifts<'c>(context: &'c Context, op: Op<'c>, shifts: &[Option<Length>]) {
    if shifts.iter().any(Option::is_some) {
        let texts: Vec<_> = shifts.iter().map(|shift| write(shift.as_ref())).collect();
        op.set_attr("shifts", attr::of_strings(context, &texts));
    }
}

/// Checks that there is a shift for each of so many operands, where there is one for any.
pub(crate) fn check_shifts(op: Op<'_>, operands: usize, diag: &mut Diagnostics) {
    let Some(texts) = op.attr("shifts").and_then(attr::strings) else { return };
    if texts.len() != operands {
        let (shifts, operands) = (count(texts.len(), "shift"), count(operands, "operand"));
        diag.error(op, format!("{} has {shifts} for {operands}", op.name()))
            .help("give one for each operand, \"\" where it is seen from its beginning");
    }
    texts.into_iter().for_each(|text| check_text(op, text, diag));
}

/// The attribute with the lengths of the dimensions of ports.
pub fn of_dims<'c>(context: &'c Context, ports: &[&Vec<Option<Length>>]) -> Attribute<'c> {
    let texts = |dims: &&Vec<Option<Length>>| {
        let texts: Vec<_> = dims.iter().map(|length| write(length.as_ref())).collect();
        attr::of_strings(context, &texts)
    };
    attr::of_array(context, &ports.iter().map(texts).collect::<Vec<_>>())
}

/// Checks a `graph.symbol`.
pub(crate) fn check_symbol(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(symbol) = symbol_of(op) else {
        diag.error(op, "graph.symbol has a number below zero")
            .help("lengths are zero or more, multiples one or more");
        return;
    };
    if !is_name(&symbol.name) {
        diag.error(op, format!("graph.symbol is named {:?}", symbol.name))
            .help("a name has letters, digits and underscores, and begins with no digit");
    }
    let first = symbol.least.checked_next_multiple_of(symbol.multiple);
    if symbol.multiple == 0 || first.is_none_or(|first| first > symbol.most) {
        diag.error(op, format!("graph.symbol allows no length: {symbol}"))
            .help("let at least one multiple lie between the least and the most");
    }
    let same = |other: &&Op<'_>| text(**other, "name") == Some(&symbol.name);
    if let Some(earlier) = symbol_ops(op).iter().take_while(|other| **other != op).find(same) {
        diag.error(op, format!("the module has two symbols named {}", symbol.name))
            .note(*earlier, "the first one is here")
            .help("write each symbol once");
    }
}

/// Checks that the length in the attribute `name` of `op`, if it has one, is of the module's symbols.
pub(crate) fn check_attr(op: Op<'_>, name: &str, diag: &mut Diagnostics) {
    if let Some(text) = text(op, name) {
        check_text(op, text, diag);
    }
}

fn check_text(op: Op<'_>, text: &str, diag: &mut Diagnostics) {
    let length = match read(text) {
        Ok(None) => return,
        Ok(Some(length)) => length,
        Err(why) => {
            diag.error(op, why).help("a length is a sum of products of symbols, as \"seq + 1\"");
            return;
        }
    };
    let known = symbols(op);
    let unknown = length.symbols().into_iter().find(|name| !known.iter().any(|s| s.name == *name));
    if let Some(name) = unknown {
        let known: Vec<_> = known.iter().map(|symbol| symbol.name.as_str()).collect();
        diag.error(op, format!("the module has no symbol {name}, of which \"{text}\" is made"))
            .help(format!(
                "it has {}",
                if known.is_empty() { "none".into() } else { known.join(", ") }
            ));
    }
}

/// Checks the lengths of a program whose ports have these types.
pub(crate) fn check_ports(op: Op<'_>, types: &[Type<'_>], diag: &mut Diagnostics) {
    let Some(ports) = op.attr("lengths").and_then(attr::array) else { return };
    if ports.len() != types.len() {
        let (lengths, ports) = (count(ports.len(), "list"), count(types.len(), "port"));
        diag.error(op, format!("{} has {lengths} of lengths and {ports}", op.name()))
            .help("give one list for each input, then one for each output");
        return;
    }
    for (port, &ty) in ports.into_iter().zip(types) {
        let texts = attr::strings(port).unwrap_or_default();
        let rank = ty::shape(ty).map_or(0, |shape| shape.len());
        if texts.len() != rank {
            let lengths = count(texts.len(), "length");
            diag.error(op, format!("{} has {lengths} for a port of type {ty}", op.name()))
                .help("give one for each dimension, \"\" where it is fixed");
        }
        texts.into_iter().for_each(|text| check_text(op, text, diag));
    }
}
