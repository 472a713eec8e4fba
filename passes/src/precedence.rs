//! A graph of dependences among items that are numbered in a valid order: operators
//! of a program, instructions of a core.

use std::ops::Add;

use petgraph::csr::Csr;

/// Things, and who has to wait for whom. What an edge says beside that is an `E`.
pub(crate) struct Precedence<E = ()> {
    graph: Csr<(), E>,
    /// Number of items that each still waits for.
    missing: Vec<usize>,
}

impl<E: Clone> Precedence<E> {
    /// Of things that wait for those in their lists, each smaller than their own number and named
    /// once.
    pub fn of<L: IntoIterator<Item = (usize, E)>>(before: impl Iterator<Item = L>) -> Self {
        let mut missing = Vec::new();
        let mut edges: Vec<(u32, u32, E)> = Vec::new();
        for (number, list) in before.enumerate() {
            let known = edges.len();
            edges.extend(list.into_iter().map(|(one, edge)| (one as u32, number as u32, edge)));
            missing.push(edges.len() - known);
        }
        // Those that wait for one stay in their order.
        edges.sort_by_key(|&(one, number, _)| (one, number));
        let mut graph =
            Csr::from_sorted_edges(&edges).expect("edges are sorted, and no two the same");
        while graph.node_count() < missing.len() {
            graph.add_node(());
        }
        Self { graph, missing }
    }

    /// Returns the items that wait for no others any more, in their order.
    pub fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.missing.len()).filter(|&number| self.is_free(number))
    }

    /// Returns whether an item waits for no other any more.
    pub fn is_free(&self, number: usize) -> bool {
        self.missing[number] == 0
    }

    /// One is done: those that waited for it, in their order, and whether they are free now.
    pub fn done(&mut self, number: usize) -> impl Iterator<Item = (usize, bool)> {
        let Self { graph, missing } = self;
        graph.neighbors_slice(number as u32).iter().map(|&later| {
            missing[later as usize] -= 1;
            (later as usize, missing[later as usize] == 0)
        })
    }

    /// The longest way from the start of each to the end of all (the critical path), where one that
    /// no other waits for takes `alone`, and one that another waits for `before` it.
    pub fn ways<T: Copy + PartialOrd + Add<Output = T>>(
        &self,
        alone: impl Fn(usize) -> T,
        before: impl Fn(usize, &E) -> T,
    ) -> Vec<T> {
        let mut ways: Vec<T> = (0..self.missing.len()).map(alone).collect();
        for number in (0..ways.len()).rev() {
            let later = self.graph.neighbors_slice(number as u32);
            for (&later, edge) in later.iter().zip(self.graph.edges_slice(number as u32)) {
                let way = before(number, edge) + ways[later as usize];
                if way > ways[number] {
                    ways[number] = way;
                }
            }
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_that_one_waits_for_frees_it() {
        let before = [vec![], vec![], vec![(0, ()), (1, ())], vec![(0, ())]];
        let mut precedence = Precedence::of(before.into_iter());
        assert_eq!(precedence.free().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(precedence.done(0).collect::<Vec<_>>(), [(2, false), (3, true)]);
        assert_eq!(precedence.done(1).collect::<Vec<_>>(), [(2, true)]);
        assert!(precedence.is_free(2) && precedence.done(3).next().is_none());
    }

    /// Cycles of things, and edges with cycles between them.
    fn graph() -> impl Strategy<Value = Vec<(u64, Vec<(usize, u64)>)>> {
        let one = (0u64..9, prop::collection::vec((0usize..1000, 0u64..9), 0..4));
        prop::collection::vec(one, 1..12).prop_map(|raw| {
            let earlier = |number: usize, (one, cycles): (usize, u64)| (one % number, cycles);
            let own = raw.into_iter().enumerate().map(|(number, (alone, list))| {
                let list = list.into_iter().filter(|_| number > 0);
                let mut list: Vec<_> = list.map(|edge| earlier(number, edge)).collect();
                list.sort_unstable();
                list.dedup_by_key(|edge| edge.0);
                (alone, list)
            });
            own.collect()
        })
    }

    /// The longest of all ways from one on, by trying each.
    fn longest(graph: &[(u64, Vec<(usize, u64)>)], from: usize) -> u64 {
        let later = (from + 1..graph.len()).flat_map(|later| {
            let edges = graph[later].1.iter().filter(|(one, _)| *one == from);
            edges.map(move |(_, cycles)| cycles + longest(graph, later))
        });
        later.max().unwrap_or(0).max(graph[from].0)
    }

    proptest! {
        #[test]
        fn ways_are_the_longest(graph in graph()) {
            let precedence = Precedence::of(graph.iter().map(|(_, list)| list.clone()));
            let ways = precedence.ways(|number| graph[number].0, |_, &cycles| cycles);
            for (number, way) in ways.into_iter().enumerate() {
                prop_assert_eq!(way, longest(&graph, number));
            }
        }
    }
}
