//! The tokens of MLIR text: where a diagnostic's token ends.

use std::ops::Range;

use logos::Logos;

use crate::sources::line_around;

/// A token of MLIR text. Types and attributes come as the words and signs they are made of.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub enum Token {
    /// `linalg.generic`, `f32`, `x64xf32`.
    #[regex(r"[A-Za-z_][A-Za-z0-9_$.]*")]
    Word,
    /// `%0`, `%sum`, `%pair#1`.
    #[regex(r"%[A-Za-z0-9_$.\-]+(#[0-9]+)?")]
    Value,
    /// `@kernel`, `@"a name"`.
    #[regex(r#"@([A-Za-z_][A-Za-z0-9_$.]*|"([^"\\\n]|\\[^\n])*")"#)]
    Symbol,
    /// `^bb0`.
    #[regex(r"\^[A-Za-z0-9_$.\-]+")]
    Block,
    /// `!f32_lanes`, `#map`.
    #[regex(r"[!#][A-Za-z_][A-Za-z0-9_$.]*")]
    Alias,
    /// `42`, `0x2A`, `1.5e-3`.
    #[regex(r"0x[0-9A-Fa-f]+")]
    #[regex(r"[0-9]+(\.[0-9]*([eE][-+]?[0-9]+)?)?")]
    Number,
    /// `"text"`.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    String,
    /// `->`, `(`, `=`.
    #[token("->")]
    #[token("::")]
    #[token("...")]
    #[regex(r"[-+*/=<>(){}\[\],:;?|&.!#]")]
    Sign,
}

/// The bytes of the token that holds the byte `at`; without one there, the character.
///
/// No token goes over a line break, so one line says it.
pub fn extent(text: &str, at: usize) -> Range<usize> {
    let line = line_around(text, at);
    let tokens = Token::lexer(&text[line.clone()]).spanned();
    let found = tokens
        .map(|(_, span)| line.start + span.start..line.start + span.end)
        .find(|span| span.contains(&at));
    found.unwrap_or_else(|| {
        let width = text[at..line.end].chars().next().map_or(0, char::len_utf8);
        at..at + width
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Token, &str)> {
        let tokens = Token::lexer(text).spanned();
        tokens.map(|(token, span)| (token.expect("a token"), &text[span])).collect()
    }

    #[test]
    fn words_values_and_symbols() {
        assert_eq!(
            tokens("%c#1 = tile.run @\"a b\"(%0) // ^no \"token\""),
            [
                (Token::Value, "%c#1"),
                (Token::Sign, "="),
                (Token::Word, "tile.run"),
                (Token::Symbol, "@\"a b\""),
                (Token::Sign, "("),
                (Token::Value, "%0"),
                (Token::Sign, ")"),
            ]
        );
        assert_eq!(
            tokens("^bb0(%x: !lanes) -> tensor<4x8xf32>, #map"),
            [
                (Token::Block, "^bb0"),
                (Token::Sign, "("),
                (Token::Value, "%x"),
                (Token::Sign, ":"),
                (Token::Alias, "!lanes"),
                (Token::Sign, ")"),
                (Token::Sign, "->"),
                (Token::Word, "tensor"),
                (Token::Sign, "<"),
                (Token::Number, "4"),
                (Token::Word, "x8xf32"),
                (Token::Sign, ">"),
                (Token::Sign, ","),
                (Token::Alias, "#map"),
            ]
        );
    }

    #[test]
    fn numbers_and_strings() {
        assert_eq!(
            tokens(r#"5.000000e-01 0x7F [12] "a \" b""#),
            [
                (Token::Number, "5.000000e-01"),
                (Token::Number, "0x7F"),
                (Token::Sign, "["),
                (Token::Number, "12"),
                (Token::Sign, "]"),
                (Token::String, r#""a \" b""#),
            ]
        );
    }

    #[test]
    fn extents() {
        let text = "a\n  device.memory @spad é";
        assert_eq!(&text[extent(text, 4)], "device.memory");
        assert_eq!(&text[extent(text, 10)], "device.memory");
        assert_eq!(&text[extent(text, 19)], "@spad");
        // Between tokens, on what is no token, and behind the end.
        assert_eq!(&text[extent(text, 2)], " ");
        assert_eq!(&text[extent(text, 24)], "é");
        assert_eq!(extent(text, text.len()), text.len()..text.len());
    }
}
