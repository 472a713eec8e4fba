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
    // Only what stands beside a later wait can be implied by one.
    let mut last_user: Vec<Option<u32>> = vec![None; waits.len()];
    for (user, list) in waits.iter().enumerate() {
        for &earlier in list.iter().rev().skip(1) {
            last_user[earlier as usize] = Some(user as u32);
        }
    }
    let columns: Vec<usize> = (0..waits.len()).filter(|&node| last_user[node].is_some()).collect();
    let mut implied: Vec<Vec<u32>> = vec![Vec::new(); waits.len()];
    let mut rows: Vec<[u64; WORDS]> = Vec::new();
    for block in columns.chunks(WORDS * 64) {
        // Row `j - first` says which columns are done before `j` starts.
        let (first, column) = (block[0], |node: u32| block.binary_search(&(node as usize)).ok());
        let end = block.iter().filter_map(|&node| last_user[node]).max().map_or(0, |user| user + 1);
        rows.clear();
        for user in first..end as usize {
            let mut row = [0; WORDS];
            let list = &waits[user];
            let seen = &list[list.partition_point(|&earlier| (earlier as usize) < first)..];
            for &earlier in seen {
                for (word, before) in row.iter_mut().zip(&rows[earlier as usize - first]) {
                    *word |= before;
                }
            }
            for &earlier in seen {
                if let Some(bit) = column(earlier) {
                    if row[bit / 64] >> (bit % 64) & 1 == 1 {
                        implied[user].push(earlier);
                    }
                    row[bit / 64] |= 1 << (bit % 64);
                }
            }
            rows.push(row);
        }
    }
    for (list, implied) in waits.iter_mut().zip(&implied) {
        // Blocks go up, and lists are sorted, so what is implied is sorted too.
        list.retain(|wait| implied.binary_search(wait).is_err());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
