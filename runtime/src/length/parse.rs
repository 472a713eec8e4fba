//! Lengths from their text.
//!
//! ```text
//! sum     := product (("+" | "-") product)*
//! product := factor ("*" factor)*
//! factor  := "-" factor | number | name | "(" sum ")" | ("min" | "max") "(" sum "," sum ")"
//!          | ("floor" | "ceil") "(" sum "," number ")"
//! ```

use std::str::FromStr;

use super::{Length, Symbol};

/// Why a text is no length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no length: {wanted} was expected at `{rest}`")]
pub struct LengthError {
    /// All of the text.
    pub text: String,
    /// What is left of it where reading ended.
    pub rest: String,
    /// What could stand there.
    pub wanted: &'static str,
}

/// Why a text names no lengths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` does not say what a dimension may be; NAME=7, NAME=1..512 or NAME=8..512,multiple=8 does"
)]
pub struct SymbolError {
    /// The text.
    pub text: String,
}

impl FromStr for Symbol {
    type Err = SymbolError;

    /// From `NAME=N`, `NAME=LEAST..MOST` or `NAME=LEAST..MOST,multiple=N`.
    fn from_str(text: &str) -> Result<Self, SymbolError> {
        let read = || {
            let (name, rest) = text.split_once('=')?;
            let (lengths, multiple) = match rest.split_once(',') {
                Some((lengths, rest)) => (lengths, rest.strip_prefix("multiple=")?.parse().ok()?),
                None => (rest, 1),
            };
            let (least, most) = lengths.split_once("..").unwrap_or((lengths, lengths));
            let (least, most) = (least.parse().ok()?, most.parse().ok()?);
            let symbol = Symbol { name: name.to_owned(), least, most, multiple };
            let some = multiple > 0 && least.checked_next_multiple_of(multiple)? <= most;
            (some && !name.is_empty()).then_some(symbol)
        };
        read().ok_or_else(|| SymbolError { text: text.to_owned() })
    }
}

/// How deep parentheses may be nested.
const DEEPEST: usize = 64;

impl FromStr for Length {
    type Err = LengthError;

    fn from_str(text: &str) -> Result<Self, LengthError> {
        let mut reader = Reader { rest: text.trim_start(), depth: 0 };
        let read = reader.sum().and_then(|sum| match reader.rest {
            "" => Ok(sum),
            _ => Err("the end"),
        });
        let error = |wanted| LengthError { text: text.into(), rest: reader.rest.into(), wanted };
        read.map_err(error)
    }
}

/// The length read, or what could stand where the rest begins.
type Read<T = Length> = Result<T, &'static str>;

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn take(&mut self, sign: char) -> bool {
        let found = self.rest.strip_prefix(sign);
        self.rest = found.map_or(self.rest, str::trim_start);
        found.is_some()
    }

    fn expect(&mut self, sign: char, wanted: &'static str) -> Read<()> {
        if self.take(sign) { Ok(()) } else { Err(wanted) }
    }

    fn word(&mut self, belongs: fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn sum(&mut self) -> Read {
        let mut sum = self.product()?;
        loop {
            let times = if self.take('+') {
                1
            } else if self.take('-') {
                -1
            } else {
                return Ok(sum);
            };
            sum = sum.plus(&self.product()?, times);
        }
    }

    fn product(&mut self) -> Read {
        let mut product = self.factor()?;
        while self.take('*') {
            product = product.times(&self.factor()?);
        }
        Ok(product)
    }

    fn factor(&mut self) -> Read {
        const WANTED: &str = "a number, a name or a parenthesis";
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("something less deeply nested");
        }
        let read = if self.take('-') {
            Ok(Length::number(0).plus(&self.factor()?, -1))
        } else if self.take('(') {
            let sum = self.sum()?;
            self.expect(')', "`)`").map(|()| sum)
        } else if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            self.number().map(Length::number)
        } else if self.rest.starts_with(begins_name) {
            self.named()
        } else {
            Err(WANTED)
        };
        self.depth -= 1;
        read
    }

    fn number(&mut self) -> Read<i64> {
        let before = self.rest;
        let digits = self.word(|c| c.is_ascii_digit());
        digits.parse().map_err(|_| {
            self.rest = before;
            "a number of 63 bits"
        })
    }

    /// A name, or what the name of a function and its arguments are.
    fn named(&mut self) -> Read {
        let name = self.word(in_name);
        if !["min", "max", "floor", "ceil"].contains(&name) || !self.take('(') {
            return Ok(Length::symbol(name));
        }
        let first = self.sum()?;
        self.expect(',', "`,`")?;
        let read = if name == "floor" || name == "ceil" {
            let by = self.number()?;
            if by == 0 {
                return Err("a divisor above 0 before it");
            }
            if name == "floor" { first.floor_div(by) } else { first.ceil_div(by) }
        } else {
            let second = self.sum()?;
            if name == "min" { first.least(&second) } else { first.greatest(&second) }
        };
        self.expect(')', "`)`").map(|()| read)
    }
}

fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn in_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit()
}

/// Returns whether a text can be the name of a length.
pub fn is_name(text: &str) -> bool {
    text.starts_with(begins_name) && text.chars().all(in_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<Length>().expect_err("no length").to_string()
    }

    #[test]
    fn refuses_with_the_place() {
        assert_eq!(
            refused("seq +"),
            "`seq +` is no length: a number, a name or a parenthesis was expected at ``"
        );
        assert!(refused("seq 2").contains("the end was expected at `2`"));
        assert!(refused("(seq").contains("`)` was expected"));
        assert!(refused("floor(seq, 0)").contains("a divisor above 0"));
        assert!(refused("99999999999999999999").contains("63 bits"));
        assert!(refused(&"(".repeat(10_000)).contains("less deeply nested"));
        assert!(refused("sëq").contains("the end was expected at `ëq`"));
    }

    #[test]
    fn names_of_functions_are_names_too() {
        assert_eq!("min + 1".parse::<Length>().map(|read| read.to_string()), Ok("min + 1".into()));
    }

    #[test]
    fn symbols_have_bounds() {
        let read = |text: &str| text.parse::<Symbol>().map(|symbol| symbol.to_string());
        assert_eq!(read("seq=7"), Ok("seq from 7 to 7".into()));
        assert_eq!(read("seq=1..512"), Ok("seq from 1 to 512".into()));
        assert_eq!(read("seq=8..64,multiple=8"), Ok("seq from 8 to 64 in multiples of 8".into()));
        for wrong in ["seq", "=7", "seq=", "seq=5..4", "seq=1..7,multiple=8", "seq=0..8,multiple=0"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn knows_names() {
        assert!(is_name("batch_size2") && is_name("_"));
        assert!(!is_name("") && !is_name("2d") && !is_name("past + 1"));
    }
}
