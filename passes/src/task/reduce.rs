//! Fewer tokens for the same order.
//!
//! ```text
//! b after(a), c after(a, b)   ->   b after(a), c after(b)
//! ```
//!
//! The transitive reduction of what waits for what; it is unique, so nothing is
//! chosen here.

/// Columns that one sweep follows: 4,096 of them, one bit each.
const WORDS: usize = 64;

/// Drops every `waits[j][..]` that another wait of `j` implies.
///
/// Each list is sorted, without repeats, and names smaller numbers than its own.
///
/// ```
/// # use weft_passes::task::reduce::reduce;
/// let mut waits = vec![vec![], vec![0], vec![0, 1]];
/// reduce(&mut waits);
/// assert_eq!(waits, [vec![], vec![0], vec![1]]);
/// ```
pub fn reduce(waits: &mut [Vec<u32>]) {
    // The last wait of a list comes after all others: nothing implies it.
    let asked: Vec<&[u32]> =
        waits.iter().map(|list| list.split_last().map_or(&[][..], |(_, rest)| rest)).collect();
    let implied = sweep(waits, &asked, Count::Others);
    for (list, implied) in waits.iter_mut().zip(&implied) {
        list.retain(|wait| implied.binary_search(wait).is_err());
    }
}

/// For each node those of `asked` that its waits do not keep before it.
///
/// Lists are as for [`reduce`].
///
/// ```
/// # use weft_passes::task::reduce::unordered;
/// let waits = [vec![], vec![0], vec![1], vec![1]];
/// let asked = [vec![], vec![], vec![0, 1], vec![0, 2]];
/// assert_eq!(unordered(&waits, &asked), [vec![], vec![], vec![], vec![2]]);
/// ```
pub fn unordered(waits: &[Vec<u32>], asked: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let slices: Vec<&[u32]> = asked.iter().map(Vec::as_slice).collect();
    let ordered = sweep(waits, &slices, Count::All);
    let missing = |(asked, ordered): (&Vec<u32>, &Vec<u32>)| {
        asked.iter().copied().filter(|node| ordered.binary_search(node).is_err()).collect()
    };
    asked.iter().zip(&ordered).map(missing).collect()
}

/// Which ways from a node count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    /// The lists of two waits and more.
    Others,
    /// A single wait as well.
    All,
}

/// For each node those of `asked` that are done before it starts, sorted.
///
/// Only what is asked for gets a column, and a sweep ends at the last node that
/// asks, so that short waits cost little however long the program is.
fn sweep(waits: &[Vec<u32>], asked: &[&[u32]], count: Count) -> Vec<Vec<u32>> {
    let mut last_user: Vec<Option<u32>> = vec![None; waits.len()];
    for (user, list) in asked.iter().enumerate() {
        for &earlier in *list {
            last_user[earlier as usize] = Some(user as u32);
        }
    }
    let columns: Vec<u32> =
        (0..waits.len() as u32).filter(|&node| last_user[node as usize].is_some()).collect();
    let mut column_of = vec![usize::MAX; waits.len()];
    for (column, &node) in columns.iter().enumerate() {
        column_of[node as usize] = column;
    }
    let mut found: Vec<Vec<u32>> = vec![Vec::new(); waits.len()];
    let mut rows: Vec<[u64; WORDS]> = Vec::new();
    for (number, block) in columns.chunks(WORDS * 64).enumerate() {
        let (first, last) = (block[0], block[block.len() - 1]);
        let end = block.iter().filter_map(|&node| last_user[node as usize]).max().unwrap_or(first);
        let inside = |list: &[u32]| {
            let from = list.partition_point(|&earlier| earlier < first);
            from..list.partition_point(|&earlier| earlier <= last)
        };
        let begin = number * WORDS * 64;
        let bit =
            |node: u32| column_of[node as usize].checked_sub(begin).filter(|&bit| bit < WORDS * 64);
        let has = |row: &[u64; WORDS], bit: usize| row[bit / 64] >> (bit % 64) & 1 == 1;
        // Row `node - first` says which columns are done before `node` starts.
        rows.clear();
        for user in first..=end {
            let list = &waits[user as usize];
            let mut row = [0; WORDS];
            for &earlier in list[inside(list).start..].iter().rev() {
                // What is before one that a later one waits for, is before that, too.
                if bit(earlier).is_some_and(|bit| has(&row, bit)) {
                    continue;
                }
                for (word, before) in row.iter_mut().zip(&rows[(earlier - first) as usize]) {
                    *word |= before;
                }
            }
            let others = row;
            for bit in list[inside(list)].iter().filter_map(|&earlier| bit(earlier)) {
                row[bit / 64] |= 1 << (bit % 64);
            }
            let seen = if count == Count::All { &row } else { &others };
            let asked = asked[user as usize];
            for &earlier in &asked[inside(asked)] {
                // Blocks go up and lists are sorted, so what is found is sorted too.
                if bit(earlier).is_some_and(|bit| has(seen, bit)) {
                    found[user as usize].push(earlier);
                }
            }
            rows.push(row);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use petgraph::algo::toposort;
    use petgraph::algo::tred::{
        dag_to_toposorted_adjacency_list, dag_transitive_reduction_closure,
    };
    use petgraph::graph::DiGraph;
    use proptest::prelude::*;

    /// For each node, what is done before it starts.
    fn closure(waits: &[Vec<u32>]) -> Vec<Vec<bool>> {
        let mut done: Vec<Vec<bool>> = Vec::new();
        for list in waits {
            let mut row = vec![false; waits.len()];
            for &earlier in list {
                row[earlier as usize] = true;
                for (own, other) in row.iter_mut().zip(&done[earlier as usize]) {
                    *own |= other;
                }
            }
            done.push(row);
        }
        done
    }

    fn graph() -> impl Strategy<Value = Vec<Vec<u32>>> {
        prop::collection::vec(prop::collection::vec(0u32..1000, 0..6), 1..60).prop_map(|raw| {
            raw.into_iter()
                .enumerate()
                .map(|(node, list)| {
                    let mut list: Vec<u32> = match node {
                        0 => Vec::new(),
                        _ => list.into_iter().map(|wait| wait % node as u32).collect(),
                    };
                    list.sort_unstable();
                    list.dedup();
                    list
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn keeps_the_order_with_the_fewest_waits(waits in graph()) {
            let mut reduced = waits.clone();
            reduce(&mut reduced);
            let order = closure(&waits);
            prop_assert_eq!(closure(&reduced), order.clone());
            for list in &reduced {
                for &wait in list {
                    let implied = list
                        .iter()
                        .any(|&other| other != wait && order[other as usize][wait as usize]);
                    prop_assert!(!implied);
                }
            }
        }

        /// The reduction of an acyclic graph is unique: another way to compute it gives the same.
        #[test]
        fn is_the_transitive_reduction(waits in graph()) {
            let mut whole: DiGraph<(), ()> = DiGraph::new();
            waits.iter().for_each(|_| { whole.add_node(()); });
            let edges = waits.iter().zip(0u32..);
            let edges = edges.flat_map(|(list, user)| list.iter().map(move |&wait| (wait, user)));
            whole.extend_with_edges(edges);
            let order = toposort(&whole, None).expect("who waits comes later");
            let (sorted, places) = dag_to_toposorted_adjacency_list::<_, u32>(&whole, &order);
            let (expected, _) = dag_transitive_reduction_closure(&sorted);
            let mut reduced = waits.clone();
            reduce(&mut reduced);
            prop_assert_eq!(reduced.iter().map(Vec::len).sum::<usize>(), expected.edge_count());
            for (list, user) in reduced.iter().zip(0..) {
                for &wait in list {
                    let ends = [wait as usize, user].map(|node| places[node]);
                    prop_assert!(expected.contains_edge(ends[0], ends[1]));
                }
            }
        }

        #[test]
        fn tells_what_is_not_ordered((waits, asked) in (graph(), graph())) {
            let count = waits.len().min(asked.len());
            let (waits, asked) = (&waits[..count], &asked[..count]);
            let order = closure(waits);
            for (node, missing) in unordered(waits, asked).into_iter().enumerate() {
                let expected: Vec<u32> =
                    asked[node].iter().copied().filter(|&wait| !order[node][wait as usize]).collect();
                prop_assert_eq!(missing, expected);
            }
        }
    }

    /// More columns than one sweep follows.
    #[test]
    fn crosses_sweeps() {
        let count = 10_000u32;
        let mut waits: Vec<Vec<u32>> = (0..count)
            .map(|node| {
                let mut list: Vec<u32> =
                    [node / 2, node.saturating_sub(3), node.saturating_sub(1)].into();
                list.retain(|&wait| wait < node);
                list.sort_unstable();
                list.dedup();
                list
            })
            .collect();
        reduce(&mut waits);
        for (node, list) in waits.iter().enumerate().skip(1) {
            assert_eq!(*list, [node as u32 - 1]);
        }
    }
}
