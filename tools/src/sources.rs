//! The texts that diagnostics point into.

use std::ops::Range;

/// A text and what people call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A path, or a name.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// The texts of one compilation, in one numbering of lines.
///
/// MLIR remembers a line and a column for every operation. The model's text and the
/// machine's are both read into one module, so the lines of the second count on where
/// those of the first end: a line then also says which text it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    texts: Vec<Source>,
}

impl Sources {
    /// Adds a text, and gives it as it has to be parsed: behind as many empty lines as
    /// the texts before it take.
    pub fn add(&mut self, name: &str, text: &str) -> String {
        let lines: usize = self.texts.iter().map(|source| lines(&source.text)).sum();
        self.texts.push(Source { name: name.to_owned(), text: text.to_owned() });
        format!("{}{text}", "\n".repeat(lines))
    }

    /// The text with a number from [`Sources::find`].
    pub fn get(&self, source: usize) -> &Source {
        &self.texts[source]
    }

    /// All texts, in the order of their lines.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.texts.iter()
    }

    /// Which text has this line and column (from one), and where in it they are, in bytes.
    ///
    /// A column behind the end of its line means that end.
    pub fn find(&self, line: usize, column: usize) -> Option<(usize, usize)> {
        let mut line = line.checked_sub(1)?;
        for (number, source) in self.texts.iter().enumerate() {
            let own = lines(&source.text);
            if line >= own {
                line -= own;
                continue;
            }
            let begin = match line {
                0 => 0,
                line => source.text.match_indices('\n').nth(line - 1)?.0 + 1,
            };
            let rest = &source.text[begin..];
            let end = rest.find('\n').unwrap_or(rest.len());
            return Some((number, floor(&source.text, begin + (column.max(1) - 1).min(end))));
        }
        None
    }
}

/// Lines that a text takes, counting the one behind its last line break: an error at the
/// end of a text is reported there.
fn lines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count() + 1
}

/// The last place at or before `at` where a character begins.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The bytes of the line that holds the byte `at`, without its line break.
pub fn line_around(text: &str, at: usize) -> Range<usize> {
    let begin = text[..at].rfind('\n').map_or(0, |before| before + 1);
    let end = text[at..].find('\n').map_or(text.len(), |behind| at + behind);
    begin..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_on() {
        let mut sources = Sources::default();
        assert_eq!(sources.add("a", "one\ntwo\n"), "one\ntwo\n");
        let second = sources.add("b", "three\nfour");
        assert_eq!(second, "\n\n\nthree\nfour");
        assert_eq!(sources.find(2, 3), Some((0, 6)));
        assert_eq!(sources.find(3, 1), Some((0, 8)));
        assert_eq!(sources.find(4, 1), Some((1, 0)));
        assert_eq!(sources.find(5, 2), Some((1, 7)));
        assert_eq!(second.lines().nth(4), Some("four"));
        assert_eq!(sources.find(6, 1), None);
        assert_eq!(sources.find(0, 1), None);
    }

    #[test]
    fn columns_are_clamped() {
        let mut sources = Sources::default();
        sources.add("a", "ab\né");
        assert_eq!(sources.find(1, 99), Some((0, 2)));
        // The second byte of a character means the character.
        assert_eq!(sources.find(2, 2), Some((0, 3)));
    }
}
