//! The syntax of an expression, before its meaning is checked.

use std::ops::Range;

use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};
use pest::iterators::Pair;
use pest_derive::Parser;

use crate::reports::Report;

/// Bytes of the expression.
pub type Span = Range<usize>;

/// Longer ones would nest too deep.
const LENGTH_MAX: usize = 4096;

/// Deeper ones are not written by people.
const DEPTH_MAX: usize = 64;

#[derive(Parser)]
#[grammar = "expression.pest"]
struct Grammar;

/// The assignment of the right side to the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assign {
    /// `=`: as it is.
    Set,
    /// `+=`: summed.
    Sum,
    /// `*=`: multiplied.
    Product,
    /// `max=`: the greatest.
    Max,
    /// `min=`: the least.
    Min,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// A function of one or two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// An operation of `math` on floats, by its name there.
    Math(&'static str),
    /// The size of a number.
    Abs,
    /// The number, or 0 where that is greater.
    Relu,
    /// The greater of two.
    Max,
    /// The lesser of two.
    Min,
}

/// Every function by name, with the number of its arguments.
const FUNCTIONS: [(&str, usize, Function); 16] = [
    ("abs", 1, Function::Abs),
    ("ceil", 1, Function::Math("ceil")),
    ("cos", 1, Function::Math("cos")),
    ("erf", 1, Function::Math("erf")),
    ("exp", 1, Function::Math("exp")),
    ("exp2", 1, Function::Math("exp2")),
    ("floor", 1, Function::Math("floor")),
    ("log", 1, Function::Math("log")),
    ("log2", 1, Function::Math("log2")),
    ("max", 2, Function::Max),
    ("min", 2, Function::Min),
    ("relu", 1, Function::Relu),
    ("rsqrt", 1, Function::Math("rsqrt")),
    ("sin", 1, Function::Math("sin")),
    ("sqrt", 1, Function::Math("sqrt")),
    ("tanh", 1, Function::Math("tanh")),
];

/// A line: a tensor, and what it becomes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statement {
    pub target: Access,
    pub assign: Assign,
    pub assign_span: Span,
    pub value: Node,
}

/// A tensor with indices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Access {
    pub name: String,
    pub indices: Vec<Node>,
    pub span: Span,
}

/// A part of an expression or of an index.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub kind: Kind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number(String),
    Axis(String),
    Access(Access),
    Negate(Box<Node>),
    Binary(Operation, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

pub(super) type Result<T, E = Box<Report>> = std::result::Result<T, E>;

/// A report about a part of the expression.
pub(super) fn wrong(span: &Span, message: impl Into<String>) -> Report {
    Report::at(0, span.clone(), message)
}

/// Takes an expression apart.
pub(super) fn parse(text: &str) -> Result<Statement> {
    if text.len() > LENGTH_MAX {
        let message = format!("the expression has {} bytes", text.len());
        return Err(Box::new(Report::new(message).help(format!("at most {LENGTH_MAX}"))));
    }
    check_depth(text)?;
    let mut parsed =
        Grammar::parse(Rule::statement, text).map_err(|error| refused(text, &error))?;
    let statement = parsed.next().expect("a statement was parsed");
    let mut parts = statement.into_inner();
    let mut next = || parts.next().expect("the grammar says so");
    let target = access(next())?;
    let sign = next();
    let assign = match sign.as_str() {
        "=" => Assign::Set,
        "+=" => Assign::Sum,
        "*=" => Assign::Product,
        "max=" => Assign::Max,
        _ => Assign::Min,
    };
    Ok(Statement { target, assign, assign_span: span(&sign), value: sum(next())? })
}

fn check_depth(text: &str) -> Result<()> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            let report = wrong(&(at..at + 1), format!("brackets nest deeper than {DEPTH_MAX}"));
            return Err(Box::new(report));
        }
    }
    Ok(())
}

/// Returns the error for text that stands where something else was expected.
fn refused(text: &str, error: &Error<Rule>) -> Box<Report> {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let found = text[at..].chars().next();
    let message = match found {
        Some(found) => format!("unexpected `{found}`"),
        None => "the expression ends too early".to_owned(),
    };
    let report = wrong(&(at..at + found.map_or(0, char::len_utf8)), message);
    let ErrorVariant::ParsingError { positives, .. } = &error.variant else {
        return Box::new(report);
    };
    let mut words: Vec<_> = positives.iter().map(word).collect();
    words.dedup();
    Box::new(match words.is_empty() {
        true => report.help("a tensor, `=` or `+=`, and an expression: C[m,n] += A[m,k] * B[k,n]"),
        false => report.help(format!("expected here: {}", words.join(", or "))),
    })
}

fn word(rule: &Rule) -> &'static str {
    match rule {
        Rule::statement | Rule::access => "a tensor such as `A[m, k]`",
        Rule::assign => "`=`, `+=`, `*=`, `max=` or `min=`",
        Rule::sum | Rule::product | Rule::factor => "an expression",
        Rule::add_sign => "`+` or `-`",
        Rule::mul_sign => "`*` or `/`",
        Rule::minus => "`-`",
        Rule::group | Rule::open => "`(`",
        Rule::close => "`)`",
        Rule::open_index => "`[`",
        Rule::close_index => "`]`",
        Rule::comma => "`,`",
        Rule::call => "a function such as `exp(x)`",
        Rule::axis => "an axis",
        Rule::name => "a name",
        Rule::number => "a number",
        Rule::EOI => "the end",
        Rule::WHITESPACE => "a blank",
    }
}

/// Returns the span of a part, without the blanks behind it.
fn span(pair: &Pair<'_, Rule>) -> Span {
    let span = pair.as_span();
    span.start()..span.start() + pair.as_str().trim_end().len()
}

/// The parts that mean something: brackets and commas have done their work.
fn parts<'t>(pair: Pair<'t, Rule>) -> impl Iterator<Item = Pair<'t, Rule>> {
    pair.into_inner().filter(|part| {
        !matches!(
            part.as_rule(),
            Rule::open | Rule::close | Rule::open_index | Rule::close_index | Rule::comma
        )
    })
}

fn access(pair: Pair<'_, Rule>) -> Result<Access> {
    let span = span(&pair);
    let mut parts = parts(pair);
    let name = parts.next().expect("an access has a name").as_str().to_owned();
    Ok(Access { name, indices: parts.map(sum).collect::<Result<_>>()?, span })
}

/// A sum or a product: operands with signs between them, from the left.
fn sum(pair: Pair<'_, Rule>) -> Result<Node> {
    let begin = pair.as_span().start();
    let each = match pair.as_rule() {
        Rule::sum => sum,
        _ => factor,
    };
    let mut parts = pair.into_inner();
    let mut left = each(parts.next().expect("it has a first operand"))?;
    while let (Some(sign), Some(right)) = (parts.next(), parts.next()) {
        let operation = match sign.as_str() {
            "+" => Operation::Add,
            "-" => Operation::Subtract,
            "*" => Operation::Multiply,
            _ => Operation::Divide,
        };
        let right = each(right)?;
        let span = begin..right.span.end;
        left = Node { kind: Kind::Binary(operation, Box::new(left), Box::new(right)), span };
    }
    Ok(left)
}

fn factor(pair: Pair<'_, Rule>) -> Result<Node> {
    let span = span(&pair);
    let mut parts = parts(pair).peekable();
    let mut negative = false;
    while parts.next_if(|part| part.as_rule() == Rule::minus).is_some() {
        negative = !negative;
    }
    let atom = atom(parts.next().expect("a factor has something behind its signs"))?;
    Ok(match negative {
        true => Node { kind: Kind::Negate(Box::new(atom)), span },
        false => atom,
    })
}

fn atom(pair: Pair<'_, Rule>) -> Result<Node> {
    let span = span(&pair);
    let kind = match pair.as_rule() {
        Rule::number => Kind::Number(pair.as_str().to_owned()),
        Rule::axis => Kind::Axis(pair.as_str().trim_end().to_owned()),
        Rule::access => Kind::Access(access(pair)?),
        Rule::call => call(pair)?,
        _ => return sum(parts(pair).next().expect("a group holds a sum")),
    };
    Ok(Node { kind, span })
}

fn call(pair: Pair<'_, Rule>) -> Result<Kind> {
    let whole = span(&pair);
    let mut parts = parts(pair);
    let name = parts.next().expect("a call has a name");
    let Some((_, count, function)) = FUNCTIONS.iter().find(|(known, _, _)| *known == name.as_str())
    else {
        let known: Vec<_> = FUNCTIONS.iter().map(|(name, _, _)| *name).collect();
        let report = wrong(&span(&name), format!("there is no function `{}`", name.as_str()));
        return Err(Box::new(report.help(format!("one of {}", known.join(", ")))));
    };
    let arguments = parts.map(sum).collect::<Result<Vec<_>>>()?;
    if arguments.len() != *count {
        let message = format!("`{}` is given {} arguments", name.as_str(), arguments.len());
        return Err(Box::new(wrong(&whole, message).help(format!("it takes {count}"))));
    }
    Ok(Kind::Call(*function, arguments))
}
