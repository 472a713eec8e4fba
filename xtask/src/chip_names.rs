//! No chip's name stands in `passes/`.

use std::fs;

use crate::Result;
use crate::workspace::{Workspace, files};

/// Passes ask the machine description what it can, never which chip it is.
pub fn none(workspace: &Workspace) -> Result {
    let mut found = Vec::new();
    for path in files(&workspace.root.join("passes"))? {
        // What is not text names nothing.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let shown = path.strip_prefix(&workspace.root).unwrap_or(&path).display();
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = words(line).find(|word| names_chip(word)) {
                found.push(format!("  {shown}:{}: {word}", number + 1));
            }
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(format!(
        "passes must ask the machine description for a fact, not for a chip:\n{}",
        found.join("\n")
    ))
}

/// Words in lower case; an underscore stays inside a word.
fn words(line: &str) -> impl Iterator<Item = String> + '_ {
    line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
}

/// Whether a word holds the name of a chip, of its family or of its target.
fn names_chip(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "k80",
        "p100",
        "v100",
        "a100",
        "h100",
        "h200",
        "gh200",
        "b100",
        "b200",
        "gb200",
        "gb300",
        "epyc",
        "ryzen",
        "threadripper",
        "zen",
        "xeon",
        "haswell",
        "broadwell",
        "skylake",
        "cascadelake",
        "icelake",
        "sapphirerapids",
        "graniterapids",
        "neoverse",
        "graviton",
        "ipu",
    ];
    /// What stands before how many digits: `gfx942`, `mi250x`, `sm90`, `zen4`.
    const FAMILIES: &[(&str, usize)] =
        &[("gfx", 3), ("mi", 2), ("sm", 2), ("stcp", 2), ("zen", 1), ("znver", 1)];

    let parts: Vec<_> = word.split('_').collect();
    let is_named = |part: &str| {
        NAMES.contains(&part)
            || FAMILIES.iter().any(|(family, count)| {
                part.strip_prefix(family).is_some_and(|rest| digits(rest) >= *count)
            })
    };
    // `sm_90a`, `compute_90`
    let is_target = |pair: &[&str]| matches!(pair[0], "sm" | "compute") && digits(pair[1]) >= 2;
    parts.iter().any(|part| is_named(part)) || parts.windows(2).any(is_target)
}

/// How many digits the text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::{names_chip, words};

    fn named(line: &str) -> Vec<String> {
        words(line).filter(|word| names_chip(word)).collect()
    }

    #[test]
    fn finds_chips() {
        assert_eq!(named("if arch == \"sm_90a\" {"), ["sm_90a"]);
        assert_eq!(named("GFX942, MI300X and Zen4"), ["gfx942", "mi300x", "zen4"]);
        assert_eq!(named("fn tile_for_h100()"), ["tile_for_h100"]);
    }

    #[test]
    fn passes_over_what_only_looks_alike() {
        assert!(named("let (mi0, sm1) = frozen(zenith, compute_0, gfx)").is_empty());
    }
}
