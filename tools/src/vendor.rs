//! The declarations of a text with `irdl`, for errors about operations that it does not declare.

use logos::Logos;

use crate::failure::Failure;
use crate::reports::Token;

/// Says, where an operation is unknown in a dialect that the text declares, which ones it
/// declares.
pub(crate) fn with_help(mut failure: Failure, text: &str) -> Failure {
    let Failure::Reported(reported) = &mut failure else { return failure };
    const UNKNOWN: &str = "operation being parsed with an unregistered dialect";
    for diagnostic in reported.diagnostics.iter_mut().filter(|diagnostic| diagnostic.is_error) {
        if diagnostic.message.starts_with(UNKNOWN) {
            // Upstream suggests an option of its own tool.
            diagnostic.message.truncate(UNKNOWN.len());
            let help = "help: declare it with irdl.dialect and irdl.operation";
            diagnostic.notes.push((None, help.to_owned()));
        }
        let Some((_, rest)) = diagnostic.message.split_once("unregistered operation '") else {
            continue;
        };
        let dialect = rest.split('.').next().unwrap_or("");
        let known: Vec<_> =
            operations(text).into_iter().filter(|name| name.starts_with(dialect)).collect();
        if !known.is_empty() {
            let help = format!(
                "help: @{dialect} declares {}; declare others with irdl.operation",
                known.join(", ")
            );
            diagnostic.notes.push((None, help));
        }
    }
    failure
}

/// The operations that a text declares, by full name, in order.
fn operations(text: &str) -> Vec<String> {
    let mut tokens = Token::lexer(text).spanned().map(|(_, span)| &text[span]);
    let (mut dialect, mut found) = ("", Vec::new());
    while let Some(token) = tokens.next() {
        let mut name = || tokens.next().map_or("", |name| name.trim_start_matches('@'));
        match token {
            "irdl.dialect" => dialect = name(),
            "irdl.operation" => found.push(format!("{dialect}.{}", name())),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::operations;

    #[test]
    fn finds_what_is_declared() {
        let text = "irdl.dialect @toy { irdl.operation @mac { } // irdl.operation @not\n\
                    irdl.operation @fill {} }\nirdl.dialect @b { irdl.operation @x {} }";
        assert_eq!(operations(text), ["toy.mac", "toy.fill", "b.x"]);
        assert!(operations("irdl.operation").len() == 1);
    }
}
