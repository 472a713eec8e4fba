//! Trees from the attributes of both forms of the operators.

use std::collections::{BTreeMap, BTreeSet};

use super::{Branch, Trees};
use crate::elements::Elements;
use crate::error::Result;
use crate::node::Node;

/// The attributes of `TreeEnsemble`.
pub const NEWER: &[&str] = &[
    "aggregate_function",
    "leaf_targetids",
    "leaf_weights",
    "membership_values",
    "n_targets",
    "nodes_falseleafs",
    "nodes_falsenodeids",
    "nodes_featureids",
    "nodes_hitrates",
    "nodes_missing_value_tracks_true",
    "nodes_modes",
    "nodes_splits",
    "nodes_trueleafs",
    "nodes_truenodeids",
    "post_transform",
    "tree_roots",
];

/// The attributes of `TreeEnsembleRegressor`.
pub const REGRESSOR: &[&str] = &[
    "aggregate_function",
    "base_values",
    "n_targets",
    "nodes_falsenodeids",
    "nodes_featureids",
    "nodes_hitrates",
    "nodes_missing_value_tracks_true",
    "nodes_modes",
    "nodes_nodeids",
    "nodes_treeids",
    "nodes_truenodeids",
    "nodes_values",
    "post_transform",
    "target_ids",
    "target_nodeids",
    "target_treeids",
    "target_weights",
];

/// The attributes of `TreeEnsembleClassifier`.
pub const CLASSIFIER: &[&str] = &[
    "base_values",
    "class_ids",
    "class_nodeids",
    "class_treeids",
    "class_weights",
    "classlabels_int64s",
    "classlabels_strings",
    "nodes_falsenodeids",
    "nodes_featureids",
    "nodes_hitrates",
    "nodes_missing_value_tracks_true",
    "nodes_modes",
    "nodes_nodeids",
    "nodes_treeids",
    "nodes_truenodeids",
    "nodes_values",
    "post_transform",
];

/// The number of the test of a member of a set.
const MEMBER: u8 = 6;

fn list<'m>(node: &Node<'m>, name: &str) -> Result<&'m [i64]> {
    node.ints(name)?.ok_or_else(|| node.invalid(format!("lacks the attribute {name:?}")))
}

fn tensor(node: &Node<'_>, name: &str) -> Result<Elements> {
    node.tensor(name)?.ok_or_else(|| node.invalid(format!("lacks the attribute {name:?}")))
}

fn numbers(elements: &Elements) -> Vec<f64> {
    elements.scalars().map(crate::elements::Scalar::as_f64).collect()
}

/// The error that lists do not fit each other.
fn uneven(node: &Node<'_>) -> crate::ImportError {
    node.report("has lists of trees that do not fit each other")
        .help("as many numbers in each as there are nodes, or leaves, and places that exist")
        .invalid()
}

/// Trees as `TreeEnsemble` has them: branches and leaves apart.
pub fn newer(node: &Node<'_>) -> Result<Trees> {
    let features = list(node, "nodes_featureids")?;
    let (values, modes) =
        (numbers(&tensor(node, "nodes_splits")?), numbers(&tensor(node, "nodes_modes")?));
    let ways = ["nodes_truenodeids", "nodes_falsenodeids"].map(|name| list(node, name));
    let ends = ["nodes_trueleafs", "nodes_falseleafs"].map(|name| list(node, name));
    let ([yes, no], [yes_ends, no_ends]) = (ways, ends);
    let (ways, ends) = ([yes?, no?], [yes_ends?, no_ends?]);
    let missing = node.ints("nodes_missing_value_tracks_true")?.unwrap_or_default();
    let (targets, weights) =
        (list(node, "leaf_targetids")?, numbers(&tensor(node, "leaf_weights")?));
    let count = features.len();
    let lists = [values.len(), modes.len(), ways[0].len(), ways[1].len(), ends[0].len()];
    let even = lists.iter().all(|&length| length == count) && ends[1].len() == count;
    let missing_fits = missing.is_empty() || missing.len() == count;
    if !even || !missing_fits || targets.len() != weights.len() || count == 0 {
        return Err(uneven(node));
    }
    // A place behind all branches is a leaf; sets take more branches than their nodes, at the end.
    let members = sets(node, &modes)?;
    let more: usize = members.values().map(|set| set.len().saturating_sub(1)).sum();
    let all = count + more;
    let place = |way: usize, at: usize| -> Result<usize> {
        let to = usize::try_from(ways[way][at]).map_err(|_| uneven(node))?;
        let leaf = ends[way][at] != 0;
        let known = if leaf { targets.len() } else { count };
        if to < known { Ok(if leaf { all + to } else { to }) } else { Err(uneven(node)) }
    };
    let mut branches = Vec::with_capacity(all);
    for at in 0..count {
        let mode = modes[at];
        if !(0.0..=f64::from(MEMBER)).contains(&mode) {
            let report = node.report(format!("has a node of mode {mode}"));
            return Err(report.help("0 to 6").invalid());
        }
        let missing = missing.get(at).is_some_and(|&tracks| tracks != 0);
        let ways = [place(0, at)?, place(1, at)?];
        let (feature, value) = (features[at], values[at]);
        branches.push(Branch { feature, value, mode: mode as u8, ways, missing });
    }
    // A member of a set is equal to the first one, or to the next, and so on.
    for (&at, set) in &members {
        let own = branches[at];
        for (number, &value) in set.iter().enumerate() {
            let here = if number == 0 { at } else { branches.len() };
            let next = branches.len() + usize::from(number > 0);
            let last = number + 1 == set.len();
            let ways = [own.ways[0], if last { own.ways[1] } else { next }];
            let branch = Branch { value, mode: 4, ways, ..own };
            if here == at {
                branches[at] = branch;
            } else {
                branches.push(branch);
            }
        }
    }
    let leaves = targets.iter().zip(weights).map(|(&target, weight)| vec![(target, weight)]);
    let roots = list(node, "tree_roots")?.iter().map(|&root| {
        usize::try_from(root).ok().filter(|&root| root < count).ok_or_else(|| uneven(node))
    });
    let roots = roots.collect::<Result<_>>()?;
    let targets = node.int("n_targets")?.unwrap_or(1);
    Ok(Trees { branches, leaves: leaves.collect(), roots, targets, base: vec![] })
}

/// The members of the sets that nodes test, by node.
fn sets(node: &Node<'_>, modes: &[f64]) -> Result<BTreeMap<usize, Vec<f64>>> {
    let nodes = (0..modes.len()).filter(|&at| modes[at] == f64::from(MEMBER));
    let values = match node.tensor("membership_values")? {
        Some(values) => numbers(&values),
        None => vec![],
    };
    let mut sets = values.split(|value| value.is_nan());
    let mut found = BTreeMap::new();
    for at in nodes {
        match sets.next() {
            Some(set) if !set.is_empty() => found.insert(at, set.to_vec()),
            _ => {
                return Err(node
                    .report("tests members of more sets than it has")
                    .help("membership_values with a set for each such node, and NaN behind it")
                    .invalid());
            }
        };
    }
    Ok(found)
}

/// Trees as the operators up to version 3 have them: nodes by the numbers of their trees, weights of
/// leaves apart under names that begin with `kind`.
pub fn older(node: &Node<'_>, kind: &str, targets: i64) -> Result<Trees> {
    let [trees, ids, features, yes, no] = [
        "nodes_treeids",
        "nodes_nodeids",
        "nodes_featureids",
        "nodes_truenodeids",
        "nodes_falsenodeids",
    ]
    .map(|name| list(node, name));
    let (trees, ids, features, ways) = (trees?, ids?, features?, [yes?, no?]);
    let (values, modes) = (node.floats("nodes_values")?, node.strings("nodes_modes")?);
    let missing = node.ints("nodes_missing_value_tracks_true")?.unwrap_or_default();
    let count = trees.len();
    let lists =
        [ids.len(), features.len(), ways[0].len(), ways[1].len(), values.len(), modes.len()];
    let missing_fits = missing.is_empty() || missing.len() == count;
    if lists.iter().any(|&length| length != count) || !missing_fits || count == 0 {
        return Err(uneven(node));
    }
    let number = |mode: &str| {
        const MODES: [&str; 6] =
            ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"];
        MODES.iter().position(|known| *known == mode)
    };
    let all = modes.iter().filter(|mode| **mode != "LEAF").count();
    // Branches first, then leaves, each in the order of the file.
    let (mut branch, mut leaf) = (0, all);
    let mut places = BTreeMap::new();
    for at in 0..count {
        let next = if modes[at] == "LEAF" { &mut leaf } else { &mut branch };
        places.insert((trees[at], ids[at]), *next);
        *next += 1;
    }
    let place = |tree: i64, id: i64| places.get(&(tree, id)).copied().ok_or_else(|| uneven(node));
    let mut own = Trees { targets, ..Trees::default() };
    own.leaves = vec![Vec::new(); count - all];
    let mut begun = BTreeSet::new();
    for at in 0..count {
        if begun.insert(trees[at]) {
            own.roots.push(place(trees[at], ids[at])?);
        }
        if modes[at] == "LEAF" {
            continue;
        }
        let mode = number(modes[at]).ok_or_else(|| {
            let report = node.report(format!("has a node of mode {:?}", modes[at]));
            report.help("LEAF, or BRANCH_ and LEQ, LT, GTE, GT, EQ or NEQ").invalid()
        })?;
        own.branches.push(Branch {
            feature: features[at],
            value: values[at].into(),
            mode: mode as u8,
            ways: [place(trees[at], ways[0][at])?, place(trees[at], ways[1][at])?],
            missing: missing.get(at).is_some_and(|&tracks| tracks != 0),
        });
    }
    let of = |name: &str| list(node, &format!("{kind}_{name}"));
    let (tree, id, target) = (of("treeids")?, of("nodeids")?, of("ids")?);
    let weights = node.floats(&format!("{kind}_weights"))?;
    if [id.len(), target.len(), weights.len()].iter().any(|&length| length != tree.len()) {
        return Err(uneven(node));
    }
    for at in 0..tree.len() {
        let leaf = place(tree[at], id[at])?.checked_sub(all).ok_or_else(|| uneven(node))?;
        own.leaves[leaf].push((target[at], weights[at].into()));
    }
    own.base = node.floats("base_values")?.iter().map(|&base| base.into()).collect();
    Ok(own)
}
