//! Why a recipe does not hold any more.

use std::collections::BTreeMap;

use weft_dialects::device::{Fact, Machine};

use super::hash_of;
use super::record::Recipe;

/// The lines of a recipe that do not hold, the compiler and the options before the facts.
pub(super) fn differences(
    recipe: &Recipe,
    inputs: &[(String, String)],
    machine: Machine<'_>,
    values: &mut BTreeMap<Fact, String>,
) -> Vec<String> {
    let lacks = |own: &[(String, String)], other: &[(String, String)]| -> Vec<String> {
        own.iter().filter(|line| !other.contains(line)).map(|(name, _)| name.clone()).collect()
    };
    let mut lines = lacks(&recipe.inputs, inputs);
    lines.extend(lacks(inputs, &recipe.inputs));
    if lines.is_empty() && recipe.inputs != inputs {
        lines.push("the order of options".to_owned());
    }
    lines.dedup();
    for line in &recipe.facts {
        let fact = line.fact();
        let value = values.entry(fact).or_insert_with_key(|fact| hash_of(fact, machine));
        if *value != line.value {
            lines.push(line.fact().to_string());
        }
    }
    lines
}

/// The fewest differences, in words; none where nothing differs or nothing is known.
pub(super) fn shortest(recipes: Vec<Vec<String>>) -> Option<String> {
    let nearest = recipes.into_iter().filter(|lines| !lines.is_empty()).min_by_key(Vec::len)?;
    let (first, more) = nearest.split_first()?;
    Some(match more.len() {
        0 => format!("{first} changed"),
        more => format!("{first} and {more} more changed"),
    })
}
