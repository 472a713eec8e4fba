//! The meaning of an expression: axes with extents, tensors with shapes, a value per point.

use weft_dialects::ir::Linear;

use super::element::Element;
use super::extents::{BYTES_MAX, Given, SHAPE, extents};
use super::syntax::{
    Access, Assign, Function, Kind, Node, Operation, Result, Span, Statement, parse, wrong,
};
use crate::failure::Failure;
use crate::reports::Report;
use crate::sources::Sources;

/// A loop axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Number of points.
    pub extent: u64,
}

/// A tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its extents.
    pub shape: Vec<u64>,
}

/// The computation of a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number; a whole one for integers.
    Number(f64),
    /// An element, by the number of the read.
    Read(usize),
    /// The opposite number.
    Negate(Box<Value>),
    /// Two numbers together.
    Binary(Operation, Box<Value>, Box<Value>),
    /// A function of one or two numbers.
    Call(Function, Vec<Value>),
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The axes: those of the output in its order, then those that are folded.
    pub axes: Vec<Axis>,
    /// The tensors that are read, in the order of the expression.
    pub inputs: Vec<Tensor>,
    /// The views that are written.
    pub output: Tensor,
    /// The reduction into the output.
    pub assign: Assign,
    /// Each different element that a point reads: the input's number, and the index.
    pub reads: Vec<(usize, Vec<Linear>)>,
    /// The value at a point.
    pub value: Value,
    /// The type of every element.
    pub element: Element,
}

impl Kernel {
    /// Understands an expression, with the extents of its axes as `m=128,n=256`.
    ///
    /// ```
    /// use weft::expression::{Element, Kernel};
    /// let kernel = Kernel::read("C[m,n] += A[m,k] * B[k,n]", "m=4,n=6,k=5", Element::F32)?;
    /// assert_eq!((&kernel.inputs[1].shape[..], kernel.points()), (&[5, 6][..], 120));
    /// # Ok::<(), weft::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A report on the text that is wrong.
    pub fn read(expression: &str, shape: &str, element: Element) -> Result<Self, Failure> {
        Self::read_with(expression, shape, element, Borders::Refused)
    }

    /// The same, of an expression whose windows may begin before their tensor: an index that
    /// goes down to `-p` reads `p` zeros on either side of a dimension.
    ///
    /// Such a kernel says how tensors are touched; [`Kernel::module`] cannot write it.
    ///
    /// # Errors
    /// As [`Kernel::read`].
    pub fn read_bordered(expression: &str, shape: &str, element: Element) -> Result<Self, Failure> {
        Self::read_with(expression, shape, element, Borders::Zeros)
    }

    fn read_with(
        expression: &str,
        shape: &str,
        element: Element,
        borders: Borders,
    ) -> Result<Self, Failure> {
        let mut sources = Sources::default();
        sources.add("expression", expression);
        sources.add("--shape", shape);
        let kernel = parse(expression).and_then(|statement| {
            let extents = extents(shape)?;
            Checker::new(&statement, &extents, element, borders)
                .and_then(|checker| checker.kernel(&statement))
        });
        kernel.map_err(|report| Failure::placed(*report, sources))
    }

    /// The number of axes that the output has.
    pub fn free(&self) -> usize {
        self.output.shape.len()
    }

    /// The number of points.
    pub fn points(&self) -> u64 {
        self.axes.iter().map(|axis| axis.extent).product()
    }
}

/// The meaning of an index below 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Borders {
    /// A mistake.
    Refused,
    /// Zeros, as many behind the last element.
    Zeros,
}

struct Checker {
    borders: Borders,
    axes: Vec<Axis>,
    element: Element,
    output: Tensor,
    inputs: Vec<Tensor>,
    reads: Vec<(usize, Vec<Linear>)>,
}

impl Checker {
    fn new(
        statement: &Statement,
        given: &[Given],
        element: Element,
        borders: Borders,
    ) -> Result<Self> {
        let mut axes: Vec<(String, Span)> = Vec::new();
        for index in &statement.target.indices {
            let Kind::Axis(name) = &index.kind else {
                let report = wrong(&index.span, "an index of the left side is not an axis");
                return Err(Box::new(report.help("calculate indices on the right side")));
            };
            if let Some((_, first)) = axes.iter().find(|(known, _)| known == name) {
                let report =
                    wrong(&index.span, format!("the axis {name} stands on the left twice"));
                return Err(Box::new(report.label(0, first.clone(), "first here")));
            }
            axes.push((name.clone(), index.span.clone()));
        }
        let free = axes.len();
        collect(&statement.value, false, &mut axes)?;
        if let Some((name, span)) = axes.get(free).filter(|_| statement.assign == Assign::Set) {
            let report = wrong(&statement.assign_span, "`=` cannot reduce an axis")
                .label(0, span.clone(), format!("{name} is not on the left"))
                .help("+=, *=, max= or min=");
            return Err(Box::new(report));
        }
        for given in given {
            if !axes.iter().any(|(name, _)| *name == given.name) {
                let names: Vec<_> = axes.iter().map(|(name, _)| name.as_str()).collect();
                let report = Report::at(
                    SHAPE,
                    given.span.clone(),
                    format!("there is no axis {}", given.name),
                );
                return Err(Box::new(report.help(format!("the axes are {}", names.join(", ")))));
            }
        }
        let mut missing: Option<Report> = None;
        let mut sized = Vec::new();
        for (name, span) in &axes {
            match given.iter().find(|given| given.name == *name) {
                Some(given) => sized.push(Axis { name: name.clone(), extent: given.extent }),
                None => {
                    let report = missing.take().unwrap_or_else(|| {
                        let lacking = axes.iter().map(|(name, _)| name);
                        let lacking =
                            lacking.filter(|name| !given.iter().any(|own| own.name == **name));
                        let example: Vec<_> = lacking.map(|name| format!("{name}=64")).collect();
                        Report::new("an axis has no extent")
                            .help(format!("give it with --shape {}", example.join(",")))
                    });
                    missing = Some(report.label(0, span.clone(), format!("how long is {name}?")));
                }
            }
        }
        if let Some(report) = missing {
            return Err(Box::new(report));
        }
        let points = sized.iter().try_fold(1i64, |all, axis| all.checked_mul(axis.extent as i64));
        if points.is_none() {
            let whole = statement.target.span.start..statement.value.span.end;
            let report = wrong(&whole, "the axes have more points together than can be counted");
            return Err(Box::new(report.help("smaller extents")));
        }
        let shape = sized[..free].iter().map(|axis| axis.extent).collect();
        let output = Tensor { name: statement.target.name.clone(), shape };
        fits(&output, &statement.target.span, element)?;
        let (inputs, reads) = (Vec::new(), Vec::new());
        Ok(Self { borders, axes: sized, element, output, inputs, reads })
    }

    fn kernel(mut self, statement: &Statement) -> Result<Kernel> {
        let value = self.value(&statement.value)?;
        let Self { axes, element, output, inputs, reads, .. } = self;
        Ok(Kernel { axes, inputs, output, assign: statement.assign, reads, value, element })
    }

    fn value(&mut self, node: &Node) -> Result<Value> {
        Ok(match &node.kind {
            Kind::Number(text) => Value::Number(self.number(text, &node.span)?),
            Kind::Axis(name) => {
                let report = wrong(&node.span, format!("`{name}` is an axis, not a number"))
                    .help(format!("read a tensor, as {name}[...]; a scalar is {name}[]"));
                return Err(Box::new(report));
            }
            Kind::Access(access) => Value::Read(self.read(access)?),
            Kind::Negate(inner) => Value::Negate(Box::new(self.value(inner)?)),
            Kind::Binary(operation, left, right) => {
                if *operation == Operation::Divide && !self.element.is_float() {
                    self.check_divisor(right)?;
                }
                let (left, right) = (self.value(left)?, self.value(right)?);
                Value::Binary(*operation, Box::new(left), Box::new(right))
            }
            Kind::Call(function, arguments) => {
                if let (Function::Math(name), false) = (function, self.element.is_float()) {
                    let report = wrong(&node.span, format!("`{name}` takes floats"))
                        .note(format!("the elements are {}", self.element))
                        .help("--dtype f32");
                    return Err(Box::new(report));
                }
                let arguments = arguments.iter().map(|argument| self.value(argument));
                Value::Call(*function, arguments.collect::<Result<_>>()?)
            }
        })
    }

    fn number(&self, text: &str, span: &Span) -> Result<f64> {
        let number: f64 = text.parse().unwrap_or(f64::INFINITY);
        if !number.is_finite() {
            return Err(Box::new(wrong(span, "the number is too large")));
        }
        if let Some((_, greatest)) = self.element.range() {
            // 53 bits are exact, and no literal needs more.
            let most = (greatest as f64).min((1u64 << 53) as f64);
            if number.fract() != 0.0 || number > most {
                let report = wrong(span, format!("{text} is no {}", self.element));
                return Err(Box::new(report.help(format!("a whole number up to {most}"))));
            }
        }
        Ok(number)
    }

    /// Integers are divided by a number that is known, for 0 stops the program.
    fn check_divisor(&self, divisor: &Node) -> Result<()> {
        match &divisor.kind {
            Kind::Number(text) if text.parse::<f64>().is_ok_and(|number| number != 0.0) => Ok(()),
            _ => {
                let report = wrong(&divisor.span, "integers are divided by what may be 0")
                    .help("divide by a number other than 0, or use floats with --dtype f32");
                Err(Box::new(report))
            }
        }
    }

    /// The number of the read; the tensor grows as far as it reaches.
    fn read(&mut self, access: &Access) -> Result<usize> {
        if access.name == self.output.name {
            let message = format!("{} is written and read", access.name);
            let report = wrong(&access.span, message);
            return Err(Box::new(report.help("`+=` already adds to the value so far")));
        }
        let mut index = Vec::new();
        let mut reach = Vec::new();
        for (dim, node) in access.indices.iter().enumerate() {
            let linear = self.linear(node)?;
            let Some((low, high)) = range(&linear, &self.axes) else {
                return Err(Box::new(wrong(&node.span, "the index does not fit in 64 bits")));
            };
            if low < 0 && self.borders == Borders::Refused {
                let report = wrong(&node.span, format!("the index goes down to {low}"))
                    .note(format!("dimension {dim} of {} begins at 0", access.name))
                    .help(format!("add {}", low.unsigned_abs()));
                return Err(Box::new(report));
            }
            // As far as it goes below 0 it goes beyond the end.
            let stored = (high + 1 + low.min(0)).max(1);
            reach.push(stored as u64);
            index.push(linear);
        }
        let number = match self.inputs.iter().position(|input| input.name == access.name) {
            Some(number) => number,
            None => {
                self.inputs.push(Tensor { name: access.name.clone(), shape: reach.clone() });
                self.inputs.len() - 1
            }
        };
        let input = &mut self.inputs[number];
        if input.shape.len() != reach.len() {
            let message = format!(
                "{} has {} dimensions here and {} before",
                access.name,
                reach.len(),
                input.shape.len()
            );
            return Err(Box::new(wrong(&access.span, message)));
        }
        for (own, reach) in input.shape.iter_mut().zip(reach) {
            *own = (*own).max(reach);
        }
        fits(input, &access.span, self.element)?;
        let read = (number, index);
        if let Some(known) = self.reads.iter().position(|known| *known == read) {
            return Ok(known);
        }
        self.reads.push(read);
        Ok(self.reads.len() - 1)
    }

    /// An index as a sum of axes times whole numbers.
    fn linear(&self, node: &Node) -> Result<Linear> {
        let axes = self.axes.len();
        let large = || Box::new(wrong(&node.span, "the index does not fit in 64 bits"));
        Ok(match &node.kind {
            Kind::Number(text) => {
                let number = text.parse::<i64>().map_err(|_| {
                    Box::new(
                        wrong(&node.span, format!("{text} is not an index")).help("a whole number"),
                    )
                })?;
                Linear::constant(axes, number)
            }
            Kind::Axis(name) => {
                let axis = self.axes.iter().position(|axis| axis.name == *name);
                Linear::axis(axes, axis.expect("every axis was collected"))
            }
            Kind::Negate(inner) => scale(self.linear(inner)?, -1).ok_or_else(large)?,
            Kind::Binary(operation, left, right) => {
                let (left, right) = (self.linear(left)?, self.linear(right)?);
                let (left_known, right_known) = (known(&left), known(&right));
                match (operation, left_known, right_known) {
                    (Operation::Add, ..) => add(left, &right).ok_or_else(large)?,
                    (Operation::Subtract, ..) => {
                        let right = scale(right, -1).ok_or_else(large)?;
                        add(left, &right).ok_or_else(large)?
                    }
                    (Operation::Multiply, Some(factor), _) => {
                        scale(right, factor).ok_or_else(large)?
                    }
                    (Operation::Multiply, _, Some(factor)) => {
                        scale(left, factor).ok_or_else(large)?
                    }
                    _ => return Err(not_linear(&node.span)),
                }
            }
            Kind::Access(_) | Kind::Call(..) => return Err(not_linear(&node.span)),
        })
    }
}

fn not_linear(span: &Span) -> Box<Report> {
    let report = wrong(span, "the index is not a sum of axes times whole numbers");
    Box::new(report.help("such as h*2 + r"))
}

/// The axes that stand in indices, each once, in the order of the text.
fn collect(node: &Node, in_index: bool, axes: &mut Vec<(String, Span)>) -> Result<()> {
    match &node.kind {
        Kind::Number(_) => {}
        Kind::Axis(name) if in_index => {
            if !axes.iter().any(|(known, _)| known == name) {
                axes.push((name.clone(), node.span.clone()));
            }
        }
        // Errors in it are reported later.
        Kind::Axis(_) => {}
        Kind::Access(_) if in_index => return Err(not_linear(&node.span)),
        Kind::Access(access) => {
            for index in &access.indices {
                collect(index, true, axes)?;
            }
        }
        Kind::Negate(inner) => collect(inner, in_index, axes)?,
        Kind::Binary(_, left, right) => {
            collect(left, in_index, axes)?;
            collect(right, in_index, axes)?;
        }
        Kind::Call(_, arguments) => {
            for argument in arguments {
                collect(argument, in_index, axes)?;
            }
        }
    }
    Ok(())
}

fn fits(tensor: &Tensor, span: &Span, element: Element) -> Result<()> {
    let bytes = element.dtype().bytes() as i64;
    let size = tensor.shape.iter().try_fold(bytes, |size, &dim| size.checked_mul(dim as i64));
    if size.is_some_and(|size| size <= BYTES_MAX) {
        return Ok(());
    }
    let report = wrong(span, format!("{} has more bytes than a process can address", tensor.name))
        .note(format!("its shape is {:?}", tensor.shape))
        .help("smaller extents");
    Err(Box::new(report))
}

/// The number, where no axis takes part.
fn known(linear: &Linear) -> Option<i64> {
    linear.coefficients.iter().all(|&factor| factor == 0).then_some(linear.constant)
}

fn scale(mut linear: Linear, factor: i64) -> Option<Linear> {
    for number in linear.coefficients.iter_mut().chain([&mut linear.constant]) {
        *number = number.checked_mul(factor)?;
    }
    Some(linear)
}

fn add(mut left: Linear, right: &Linear) -> Option<Linear> {
    for (own, other) in left.coefficients.iter_mut().zip(&right.coefficients) {
        *own = own.checked_add(*other)?;
    }
    left.constant = left.constant.checked_add(right.constant)?;
    Some(left)
}

/// The least and the greatest index; `None` where they do not fit.
fn range(linear: &Linear, axes: &[Axis]) -> Option<(i64, i64)> {
    let (mut low, mut high) = (linear.constant, linear.constant);
    for (&factor, axis) in linear.coefficients.iter().zip(axes) {
        let reach = factor.checked_mul(axis.extent as i64 - 1)?;
        low = low.checked_add(reach.min(0))?;
        high = high.checked_add(reach.max(0))?;
    }
    // The extent is one more.
    (high < i64::MAX).then_some((low, high))
}
