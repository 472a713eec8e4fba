//! Bodies, which a call repeats: how they stand in the text of every stage, and their constraints.

use std::collections::BTreeSet;

use weft_runtime::length::Length;

use crate::finds::{Find, add_asked};
use crate::ir::{Context, Diagnostics, Op, Type, attr, ty};
use crate::verify::{symbol, text};
use crate::{aliases, lengths, task};

/// How often a body is done.
#[derive(Clone, Debug)]
pub struct Repeat<'c> {
    /// The `graph.model`, `tile.graph` or `task.program`.
    pub op: Op<'c>,
    /// The name that stands for the number of the round.
    pub round: &'c str,
    /// How many rounds there are; as many as the condition holds where that is all.
    pub rounds: Option<Length>,
    /// Whether the first state says if there is another round.
    pub conditional: bool,
}

impl<'c> Repeat<'c> {
    /// Returns it if `op` is a body.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let round = text(op, "round").filter(|_| is_program(op))?;
        let rounds = text(op, "rounds").and_then(|text| lengths::read(text).ok().flatten());
        Some(Self { op, round, rounds, conditional: op.attr("conditional").is_some() })
    }

    /// The symbols of what it asks for, in and out of rounds; not the name of its own round.
    pub fn asks(&self) -> BTreeSet<String> {
        let mut asked = BTreeSet::new();
        asked.extend(self.rounds.iter().flat_map(Length::symbols).map(str::to_owned));
        let around = module_ops(self.op);
        self.op.walk(&mut |op| {
            if op == self.op {
                return;
            }
            match called(op).and_then(|name| around.iter().find(|own| own.symbol() == name)) {
                Some(inner) if Self::of(*inner).is_some() => {
                    asked.extend(Self::of(*inner).iter().flat_map(Self::asks));
                }
                Some(kernel) => add_asked(*kernel, &mut asked),
                None => {}
            }
        });
        add_asked(self.op, &mut asked);
        asked.remove(self.round);
        asked
    }

    /// Lets `op`, of another stage, be repeated in the same way.
    pub fn copy_to(&self, op: Op<'c>) {
        for name in ["round", "rounds", "conditional"] {
            if let Some(own) = self.op.attr(name) {
                op.set_attr(name, own);
            }
        }
    }
}

/// Makes a body of `op`.
pub fn set<'c>(
    context: &'c Context,
    op: Op<'c>,
    (round, rounds, conditional): (&str, Option<&Length>, bool),
) {
    op.set_attr("round", attr::of_string(context, round));
    if let Some(rounds) = rounds {
        op.set_attr("rounds", attr::of_string(context, &rounds.to_string()));
    }
    if conditional {
        op.set_attr("conditional", attr::unit(context));
    }
}

/// The bodies of the module around `op`.
pub fn bodies<'c>(op: Op<'c>) -> Vec<Repeat<'c>> {
    module_ops(op).into_iter().filter_map(Repeat::of).collect()
}

/// The operations of a module that are no bodies: what is compiled, or run, is one of them.
pub fn others<'c>(module: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    module_ops(module).into_iter().filter(|op| Repeat::of(*op).is_none())
}

fn module_ops<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let module = std::iter::once(op).chain(op.ancestors()).find(|op| op.is("builtin.module"));
    module.and_then(|module| module.first_block(0)).map(|block| block.ops()).unwrap_or_default()
}

fn is_program(op: Op<'_>) -> bool {
    ["graph.model", "tile.graph", "task.program"].contains(&op.name())
}

/// The symbol of the kernel or body that an operation applies.
pub fn called<'c>(op: Op<'c>) -> Option<&'c str> {
    match op.name() {
        "graph.call" => symbol(op, "body"),
        "tile.run" | "task.range" => symbol(op, "kernel"),
        _ => None,
    }
}

/// The program that calls a body.
fn caller<'c>(body: Op<'c>) -> Option<Op<'c>> {
    let calls = |op: &Op<'c>| {
        let ops = op.first_block(0).map(|block| block.ops()).unwrap_or_default();
        ops.into_iter().any(|op| called(op) == Some(body.symbol()))
    };
    let programs = module_ops(body).into_iter().filter(|op| is_program(*op));
    Repeat::of(body).and_then(|_| programs.into_iter().find(calls))
}

/// For each output the input in whose memory it lies.
fn within(op: Op<'_>, outputs: usize) -> Vec<Option<usize>> {
    let mut found = vec![None; outputs];
    let pairs: Vec<(usize, usize)> = match op.is("task.program") {
        true => {
            let ops = op.first_block(0).map(|block| block.ops()).unwrap_or_default();
            let ports = ops.into_iter().filter_map(task::Port::output);
            ports.filter_map(|port| Some((port.within? as usize, port.index as usize))).collect()
        }
        false => aliases::of(op).into_iter().map(|own| (own.input, own.output)).collect(),
    };
    for (input, output) in pairs {
        if let Some(place) = found.get_mut(output) {
            *place = Some(input);
        }
    }
    found
}

/// Checks how a program whose ports have these types is repeated, if it is.
pub(crate) fn check(op: Op<'_>, [inputs, outputs]: [&[Type<'_>]; 2], diag: &mut Diagnostics) {
    let Some(own) = Repeat::of(op) else {
        if let Some(name) =
            ["rounds", "conditional"].into_iter().find(|name| op.attr(name).is_some())
        {
            diag.error(op, format!("{} says {name}, and not what is repeated", op.name()))
                .help("write `repeat` and a name for the number of the round");
        }
        return;
    };
    lengths::check_attr(op, "rounds", diag);
    if own.rounds.is_none() && !own.conditional {
        diag.error(op, format!("{} is repeated without end", op.name()))
            .help("write `to` and how many rounds there are, or `while`");
    }
    check_round(&own, diag);
    let states = inputs.len().checked_sub(outputs.len());
    let good = states.is_some_and(|first| {
        let ports = within(op, outputs.len()).into_iter().enumerate();
        ports.into_iter().all(|(number, input)| input == Some(first + number))
    });
    if !good {
        let what = format!("{} is repeated, and its last inputs are not its states", op.name());
        diag.error(op, what)
            .help("let each output lie in an input, in order, the last in the last");
    }
    if own.conditional {
        let bit = |ty: &&Type<'_>| {
            let elem = ty::elem(**ty).map(|elem| elem.to_string());
            ty::count(**ty) == Some(1) && elem.is_some_and(|elem| elem == "i1" || elem == "i8")
        };
        if outputs.first().filter(bit).is_none() {
            diag.error(op, format!("the condition of {} is no boolean", op.name()))
                .help("the first state is one element that says if there is another round");
        }
    }
}

/// The name of a round is a symbol of the module that nothing else decides.
fn check_round(own: &Repeat<'_>, diag: &mut Diagnostics) {
    let (op, round) = (own.op, own.round);
    let known = lengths::symbols(op);
    if !known.iter().any(|symbol| symbol.name == round) {
        let names: Vec<_> = known.iter().map(|symbol| symbol.name.as_str()).collect();
        diag.error(op, format!("the module has no symbol {round}, which stands for a round")).help(
            format!("it has {}", if names.is_empty() { "none".into() } else { names.join(", ") }),
        );
    }
    let mut others = Vec::new();
    for other in module_ops(op) {
        let repeats = Repeat::of(other).is_some_and(|other| other.round == round);
        others.extend((other != op && repeats).then_some(other));
        let inside = other.first_block(0).map(|block| block.ops()).unwrap_or_default();
        let finds = inside.into_iter().filter_map(Find::of).filter(|find| find.symbol == round);
        others.extend(finds.map(|find| find.op));
    }
    if let Some(other) = others.first() {
        diag.error(op, format!("{round} stands for a round, and for something else"))
            .note(*other, "the other one is here")
            .help("a name stands for one number at a time");
    }
    if own.rounds.as_ref().is_some_and(|rounds| rounds.symbols().contains(&round)) {
        diag.error(op, format!("how many rounds there are depends on {round}, a round"))
            .help("say it by other names");
    }
}

/// Checks a `graph.call`: C1, C2.
pub(crate) fn check_call(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(name) = called(op) else { return };
    let own = bodies(op).into_iter().map(|own| own.op).find(|own| own.symbol() == name);
    let Some(body) = own else {
        diag.error(op, format!("graph.call names @{name}, which is no body"))
            .help("name a graph.model of this module that has `repeat`");
        return;
    };
    let Some(block) = body.first_block(0) else { return };
    let ends = block.terminator().map(|end| end.operands()).unwrap_or_default();
    for (what, given, taken) in
        [("operands", op.operands(), block.args()), ("results", op.results(), ends)]
    {
        let types = |values: &[crate::ir::Val<'_>]| {
            values.iter().map(|value| value.ty().to_string()).collect::<Vec<_>>().join(", ")
        };
        let (given, taken) = (types(&given), types(&taken));
        if given != taken {
            diag.error(op, format!("graph.call of @{name} has {what} ({given})"))
                .note(body, format!("the body has ({taken})"))
                .help("both have to be the same");
        }
    }
}

/// The bodies that a program calls are called once, for their states are memory of their own; and none calls itself, or
/// one that it lies in.
pub(crate) fn check_calls<'c>(op: Op<'c>, diag: &mut Diagnostics) {
    let bodies: Vec<_> = bodies(op).into_iter().map(|body| body.op.symbol()).collect();
    if bodies.is_empty() {
        return;
    }
    let mut around = vec![op];
    while let Some(caller) = caller(around[around.len() - 1]) {
        if caller == op {
            diag.error(op, format!("the body @{} calls itself", op.symbol()))
                .help("a body calls bodies that do not lie around it");
        }
        if around.contains(&caller) {
            return;
        }
        around.push(caller);
    }
    let inside = |op: Op<'c>| op.first_block(0).map(|block| block.ops()).unwrap_or_default();
    let programs = module_ops(op).into_iter().filter(|op| is_program(*op));
    let mut seen = Vec::new();
    for call in programs.flat_map(inside) {
        let Some(name) = called(call).filter(|name| bodies.contains(name)) else { continue };
        let earlier = seen.iter().find(|(other, _)| *other == name);
        if let Some((_, first)) = earlier
            && call.parent() == Some(op)
        {
            diag.error(call, format!("@{name} is called twice"))
                .note(*first, "the first call is here")
                .help("write a body for each call");
        }
        seen.push((name, call));
    }
}
