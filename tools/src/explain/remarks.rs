//! Which kernel and which edge a remark is about: those whose names it says.

use std::collections::HashMap;

use super::report::{Edge, Graph, Kernel, Remark};

/// Remarks in the order in which they came, those that say the same once.
pub(super) fn counted(said: &[crate::Remark]) -> Vec<Remark> {
    let mut found: Vec<Remark> = Vec::new();
    let mut numbers: HashMap<(&str, &str), usize> = HashMap::new();
    for crate::Remark { pass, message } in said {
        let number = *numbers.entry((pass, message)).or_insert_with(|| {
            found.push(Remark { pass, message: message.clone(), times: 0 });
            found.len() - 1
        });
        found[number].times += 1;
    }
    found
}

/// Remarks by the words that they say.
pub(super) struct Index<'a> {
    /// Numbers of remarks, by the symbol that they name.
    symbols: HashMap<&'a str, Vec<usize>>,
    /// The operator that a remark begins with, in quotes.
    operators: Vec<Option<&'a str>>,
    /// Numbers of remarks on an operator that name no kernel, by its name.
    alone: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Index<'a> {
    pub fn of(remarks: &'a [Remark]) -> Self {
        let mut symbols: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, remark) in remarks.iter().enumerate() {
            for symbol in named(&remark.message) {
                let numbers = symbols.entry(symbol).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        }
        let operators: Vec<_> = remarks.iter().map(|remark| quoted(&remark.message)).collect();
        let mut alone: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, operator) in operators.iter().enumerate() {
            // Its kernel stands right behind it; units and instructions may come later.
            let rest = remarks[number].message.split_once("\" ").map_or("", |(_, rest)| rest);
            let names_kernel = rest.starts_with('@') || rest.starts_with("is done by @");
            if let Some(operator) = operator.filter(|_| !names_kernel) {
                alone.entry(operator).or_default().push(number);
            }
        }
        Self { symbols, operators, alone }
    }

    /// Remarks on a kernel: those that name it, and begin with no other operator's name; and
    /// those on one of its operators.
    pub fn of_kernel(&self, op: &str, kernel: &str) -> Vec<usize> {
        let own = |number: &usize| self.operators[*number].is_none_or(|named| named == op);
        let operators = op.split('+').filter_map(|operator| self.alone.get(operator)).flatten();
        operators.copied().chain(self.naming(kernel).into_iter().filter(own)).collect()
    }

    /// Remarks that name both kernels.
    fn of_both(&self, one: &str, other: &str) -> Vec<usize> {
        let others = self.naming(other);
        let both = |number: &usize| one != other && others.contains(number);
        self.naming(one).into_iter().filter(both).collect()
    }

    /// Remarks that name a kernel, or one that it was made from: passes put a word behind a
    /// name, as in `conv_1_panels`, and the names of those that become one behind each other.
    fn naming(&self, symbol: &str) -> Vec<usize> {
        let words = symbol.match_indices('_').map(|(at, _)| at);
        let words = words.filter(|at| symbol[at + 1..].starts_with(|c: char| c.is_alphabetic()));
        let names = words.map(|at| &symbol[..at]).chain([symbol]);
        let mut found: Vec<usize> =
            names.filter_map(|name| self.symbols.get(name)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Gives every kernel and every edge the numbers of its remarks.
pub(super) fn attach(remarks: &[Remark], kernels: &mut [Kernel], graph: &mut Graph) {
    let index = Index::of(remarks);
    for kernel in kernels.iter_mut() {
        kernel.remarks = index.of_kernel(&kernel.op, &kernel.kernel);
    }
    let Graph { nodes, edges, .. } = graph;
    let ends = |edge: &Edge| Some((&nodes[edge.from?], &nodes[edge.to?]));
    for edge in edges {
        if let Some((from, to)) = ends(edge) {
            edge.remarks = index.of_both(&from.kernel, &to.kernel);
        }
    }
    // A node that is a part of a kernel adds the remarks on it.
    for node in nodes.iter() {
        let Some(kernel) = node.runs_in.map(|number| &mut kernels[number]) else { continue };
        if kernel.kernel != node.kernel {
            kernel.remarks.extend(index.of_kernel(&node.op, &node.kernel));
        }
    }
    for kernel in kernels {
        kernel.remarks.sort_unstable();
        kernel.remarks.dedup();
    }
}

/// The symbols in a text, without their `@`.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split('@').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.' && c != '$');
        rest[..end.unwrap_or(rest.len())].trim_end_matches('.')
    })
}

/// The text in quotes that another begins with.
fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.split_once('"').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(message: &str) -> Remark {
        Remark { pass: "p", message: message.to_owned(), times: 1 }
    }

    #[test]
    fn symbols_end_where_names_do() {
        let found: Vec<_> = named("@a_1: on @vfma.f32, before @b.").collect();
        assert_eq!(found, ["a_1", "vfma.f32", "b"]);
    }

    #[test]
    fn what_is_said_again_is_counted() {
        let said = |message: &str| crate::Remark { pass: "p", message: message.to_owned() };
        let counted = counted(&[said("a"), said("b"), said("a")]);
        let told: Vec<_> = counted.iter().map(|one| (one.message.as_str(), one.times)).collect();
        assert_eq!(told, [("a", 2), ("b", 1)]);
    }

    #[test]
    fn remarks_go_to_whom_they_name() {
        let remarks = [
            remark("@b stays apart from @a: something else reads it, too"),
            remark("\"x\" @a is whole on unit 0"),
            remark("nobody is named"),
            remark("\"conv\" stays a direct convolution: its windows are 2 apart, not 1"),
        ];
        let index = Index::of(&remarks);
        assert_eq!(index.of_kernel("x", "a"), [0, 1]);
        assert_eq!(index.of_kernel("y", "a"), [0]);
        assert_eq!(index.of_kernel("conv+relu", "c"), [3]);
        assert_eq!(index.of_both("a", "b"), [0]);
        assert_eq!(index.of_kernel("y", "a_panels"), [0], "what it was made from");
        assert!(index.of_kernel("y", "a_1").is_empty(), "another one");
        assert!(index.of_both("a", "a").is_empty() && index.of_kernel("x", "c").is_empty());
    }
}
