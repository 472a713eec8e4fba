//! A kernel in the place of two, of which one reads what the other makes.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use weft_dialects::ir::{Builder, Context, Form, Linear, Op, Type, Val, attr};
use weft_dialects::tile::build::RunOp;

use super::views::{erase_views, kernel_of, view};
use crate::nest::{self, Access, Nest};

/// A kernel in the place of two.
#[derive(Clone)]
pub(super) struct Joint<'c> {
    kernel: Op<'c>,
    /// For each of its arguments whose operand it takes, the reader's or the maker's, and which.
    operands: Rc<[(Part, usize)]>,
}

#[derive(Clone, Copy)]
enum Part {
    Reader,
    Maker,
}

/// The kernels of a module, by their names.
pub(super) struct Kernels<'c> {
    context: &'c Context,
    module: Op<'c>,
    named: HashMap<String, Op<'c>>,
    /// From the two kernels that one was made of, and what it is, to its name.
    made: HashMap<([String; 2], Form), String>,
}

impl<'c> Kernels<'c> {
    pub fn of(context: &'c Context, module: Op<'c>, kernels: &[Op<'c>]) -> Self {
        let named = kernels.iter().map(|kernel| (kernel.symbol().to_owned(), *kernel)).collect();
        Self { context, module, named, made: HashMap::new() }
    }

    pub fn named(&self, name: &str) -> Option<Op<'c>> {
        self.named.get(name).copied()
    }

    /// The kernel of a run.
    ///
    /// # Panics
    /// If there is none of that name.
    pub fn applied_by(&self, run: Op<'c>) -> Op<'c> {
        self.named[kernel_of(run)]
    }

    /// The kernel of a nest that was made of those of a maker and a `reader`, to whose arguments its
    /// accesses go.
    pub fn joint(&mut self, names: &[&str; 2], reader: Op<'c>, joined: &Nest<'c>) -> Joint<'c> {
        let arguments = joined.reads().into_iter().map(Access::argument);
        let captures = joined.captures.iter().map(|capture| capture.tensor);
        let outputs = joined.outputs.iter().map(Access::argument);
        let own = reader.body(0);
        let operands = arguments.chain(captures).chain(outputs).map(|argument| {
            let of = argument.owner_block() == own;
            (if of { Part::Reader } else { Part::Maker }, argument.index())
        });
        let operands = operands.collect();
        Joint { kernel: self.kernel(names, joined), operands }
    }

    /// The kernel of a joined nest; equal ones of the same two kernels are one.
    fn kernel(&mut self, parts: &[&str; 2], nest: &Nest<'c>) -> Op<'c> {
        let axes = nest.axes.len();
        let same: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
        let kernel = nest::emit_kernel(self.context, self.module, "joined", nest, &same);
        let key = (parts.map(str::to_owned), Form::of(kernel));
        if let Some(name) = self.made.get(&key) {
            kernel.erase();
            return self.named[name];
        }
        let stem = joined_name(parts[0], parts[1]);
        let name = (0..)
            .map(|number| if number == 0 { stem.clone() } else { format!("{stem}_{number}") })
            .find(|name| !self.named.contains_key(name))
            .expect("names do not run out");
        kernel.set_attr("sym_name", attr::of_string(self.context, &name));
        self.named.insert(name.clone(), kernel);
        self.made.insert(key, name);
        kernel
    }

    /// Applies the joined kernel in the place of the user; the maker stays.
    pub fn apply(&self, user: Op<'c>, maker: Op<'c>, joint: &Joint<'c>) -> Op<'c> {
        let kernel = joint.kernel;
        let args = kernel.body(0).expect("it was written").args();
        let types: Vec<Type<'c>> = args.iter().map(|arg| arg.ty()).collect();
        let mut b = Builder::before(self.context, user).with_location(user.location());
        let mut operand = |(&(part, number), &ty): (&(Part, usize), &Type<'c>)| {
            let run = match part {
                Part::Reader => user,
                Part::Maker => maker,
            };
            view(&mut b, run.operand(number), ty)
        };
        let values: Vec<Val<'c>> = joint.operands.iter().zip(&types).map(&mut operand).collect();
        let names = [maker, user].map(|op| op.attr("name").and_then(attr::string).unwrap_or(""));
        let name = if names[0] == names[1] { names[0].to_owned() } else { names.join("+") };
        let (inputs, inits) = values.split_at(values.len() - 1);
        let run = RunOp { name: &name, kernel: kernel.symbol(), inputs, inits, at: &[] };
        let run = run.build(&mut b);
        for (reader, operand) in user.result(0).uses() {
            if reader.is("tile.view") {
                reader.result(0).replace_with(view(&mut b, run.result(0), reader.result(0).ty()));
            } else {
                let ty = user.result(0).ty();
                reader.set_operand(operand, view(&mut b, run.result(0), ty));
            }
        }
        erase_views(user.result(0));
        user.erase();
        run
    }

    /// Erases kernels that were applied `before` or were made here, and that nothing applies now.
    pub fn erase_unused(&self, before: &HashSet<String>, after: &HashSet<String>) {
        for name in before.difference(after).chain(self.made.values()) {
            if !after.contains(name) {
                self.named[name].erase();
            }
        }
    }
}

/// The name of a kernel that is made of two: what both were made of is named once.
fn joined_name(maker: &str, reader: &str) -> String {
    let digit = |c: char| c.is_ascii_digit();
    let shared = maker.trim_end_matches(digit);
    let own = match reader.strip_prefix(shared).filter(|_| shared.ends_with('_')) {
        Some(rest) => rest.trim_start_matches(digit),
        None => reader,
    };
    let own = own.trim_end_matches(|c: char| digit(c) || c == '_').trim_start_matches('_');
    if own.is_empty() { maker.to_owned() } else { format!("{maker}_{own}") }
}
