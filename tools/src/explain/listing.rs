//! The code of each kernel: its text of the stage `device`, cut where it is long.

use std::collections::BTreeMap;

use weft_dialects::ir::Op;

use super::report::{Kernel, Listing};

/// Lines of one kernel that are shown.
const MOST_LINES: usize = 120;
/// Bytes of all kernels that are shown: a page stays one that a browser opens at once.
const MOST_BYTES: usize = 768 << 10;

/// The text of every kernel of a module of the stage `device`, by its name.
pub(super) fn texts(module: Op<'_>) -> BTreeMap<String, String> {
    let ops = module.body(0).map(|block| block.ops()).unwrap_or_default();
    let kernels = ops.into_iter().filter(|op| op.is("device.kernel"));
    kernels.map(|op| (op.symbol().to_owned(), op.text())).collect()
}

/// A listing for each name, in the order of running; gives every kernel the number of its own.
pub(super) fn listings(texts: &BTreeMap<String, String>, kernels: &mut [Kernel]) -> Vec<Listing> {
    let mut found: Vec<Listing> = Vec::new();
    let mut left = MOST_BYTES;
    for kernel in kernels {
        let known = found.iter().position(|listing| listing.kernel == kernel.kernel);
        kernel.listing = known.or_else(|| {
            let text = texts.get(&kernel.kernel)?;
            let listing = cut(&kernel.kernel, text, left);
            left -= listing.text.len();
            found.push(listing);
            Some(found.len() - 1)
        });
    }
    found
}

/// The most lines that are shown.
fn cut(kernel: &str, text: &str, bytes: usize) -> Listing {
    let mut shown = String::new();
    let mut count = 0;
    for line in text.lines().take(MOST_LINES) {
        if shown.len() + line.len() + 1 > bytes {
            break;
        }
        shown += line;
        shown.push('\n');
        count += 1;
    }
    let lines = text.lines().count();
    Listing { kernel: kernel.to_owned(), lines, shown_lines: count, text: shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_kernels_are_cut_and_it_is_said() {
        let text = "a line\n".repeat(MOST_LINES + 5);
        let whole = cut("k", &text, MOST_BYTES);
        assert_eq!((whole.lines, whole.shown_lines), (MOST_LINES + 5, MOST_LINES));
        // Lines are shown whole or not at all.
        let little = cut("k", &text, 20);
        assert_eq!((little.shown_lines, little.text.as_str()), (2, "a line\na line\n"));
    }
}
