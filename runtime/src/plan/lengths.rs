//! What of a plan callers decide with each run: the lengths of dimensions, and all that follows.

use serde::{Deserialize, Serialize};

use super::{Plan, Port};
use crate::length::{Length, Symbol};

/// The lengths of a plan; none of anything where all shapes are fixed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths {
    /// The names that lengths are made of.
    pub symbols: Vec<Symbol>,
    /// For each input a length for each dimension.
    pub inputs: Vec<Vec<Length>>,
    /// The same of each output.
    pub outputs: Vec<Vec<Length>>,
    /// What kernels read, 8 bytes each, in [`super::Base::Lengths`].
    pub table: Vec<Length>,
    /// The steps whose rTasks are dealt out when lengths are known.
    pub shares: Vec<Share>,
    /// The buffers that begin further on when lengths are known.
    pub shifts: Vec<Shift>,
}

/// A buffer that begins further on in a run than it is written down: a kernel writes there, and no
/// further than the buffer ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shift {
    /// Its number; shifts are in the order of buffers.
    pub buffer: u32,
    /// How many bytes.
    pub bytes: Length,
}

/// A step that does a share of the rTasks that there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Its number; shares are in the order of steps.
    pub step: u32,
    /// How many rTasks there are.
    pub tasks: Length,
    /// Which share it does.
    pub part: u32,
    /// Of how many.
    pub parts: u32,
}

/// Why inputs, or lengths, do not fit a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum BindError {
    #[error("the model has {expected} inputs, and {found} shapes were given")]
    Inputs { expected: usize, found: usize },
    #[error("input `{name}` has {expected} dimensions, and {found} were given")]
    Rank { name: String, expected: usize, found: usize },
    #[error("input `{name}` has {expected} elements along dimension {dim}, and {found} were given")]
    Extent { name: String, dim: usize, expected: u64, found: u64 },
    #[error("`{symbol}` is {first} in input `{one}` and {second} in input `{other}`")]
    Disagree { symbol: String, first: u64, one: String, second: u64, other: String },
    #[error(
        "input `{name}` has {found} elements along dimension {dim}, which is `{length}`: {expected}"
    )]
    Length { name: String, dim: usize, length: Length, expected: i64, found: u64 },
    #[error("`{symbol}` is {found}, and the model was compiled for {allowed}")]
    Outside { symbol: String, found: u64, allowed: Symbol },
    #[error("no input says how long `{symbol}` is; it was compiled for {allowed}")]
    Unknown { symbol: String, allowed: Symbol },
    #[error("the model has no dimension named `{name}`; it has {known:?}")]
    NoSymbol { name: String, known: Vec<String> },
    #[error("`{length}` is {value}, and {what} has room for {most}")]
    Room { what: String, length: Length, value: i64, most: u64 },
    #[error("`{length}` of {what} exceeds 63 bits")]
    Overflow { what: String, length: Length },
}

/// A plan's lengths in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// What each symbol stands for.
    pub symbols: Vec<u64>,
    /// Shape of each input.
    pub inputs: Vec<Vec<u64>>,
    /// Shape of each output.
    pub outputs: Vec<Vec<u64>>,
    /// What kernels read.
    pub table: Vec<i64>,
    /// First rTask, and the one behind the last, of each step that does a share.
    pub shares: Vec<[u64; 2]>,
    /// Bytes by which buffers begin further on.
    pub shifts: Vec<u64>,
}

impl Plan {
    /// Returns whether callers decide any length.
    pub fn has_lengths(&self) -> bool {
        !self.lengths.symbols.is_empty()
    }

    /// The lengths for inputs of these shapes.
    ///
    /// # Errors
    /// Shapes that disagree with the plan or with each other.
    pub fn bind_shapes(&self, shapes: &[&[u64]]) -> Result<Binding, BindError> {
        let (expected, found) = (self.inputs.len(), shapes.len());
        if expected != found {
            return Err(BindError::Inputs { expected, found });
        }
        let symbols = &self.lengths.symbols;
        let mut values: Vec<Option<(u64, &Port)>> = vec![None; symbols.len()];
        for (number, (port, shape)) in self.inputs.iter().zip(shapes).enumerate() {
            let (name, expected, found) = (port.name.clone(), port.shape.len(), shape.len());
            if expected != found {
                return Err(BindError::Rank { name, expected, found });
            }
            for (dim, (&found, &extent)) in shape.iter().zip(&port.shape).enumerate() {
                let length = self.lengths.inputs.get(number).and_then(|dims| dims.get(dim));
                let Some(length) = length.filter(|length| length.as_number().is_none()) else {
                    if found != extent {
                        let (name, expected) = (port.name.clone(), extent);
                        return Err(BindError::Extent { name, dim, expected, found });
                    }
                    continue;
                };
                let Some(symbol) = length.as_symbol() else { continue };
                let own = symbols.iter().position(|own| own.name == symbol);
                let Some(value) = own.map(|own| &mut values[own]) else { continue };
                if let Some((first, one)) = *value
                    && first != found
                {
                    let (one, other) = (one.name.clone(), port.name.clone());
                    let symbol = symbol.to_owned();
                    return Err(BindError::Disagree { symbol, first, one, second: found, other });
                }
                *value = Some((found, port));
            }
        }
        let known = values.into_iter().zip(symbols).map(|(value, symbol)| match value {
            Some((value, _)) => Ok(value),
            // One that is fixed needs nobody to say it.
            None if symbol.least == symbol.most => Ok(symbol.most),
            None => {
                Err(BindError::Unknown { symbol: symbol.name.clone(), allowed: symbol.clone() })
            }
        });
        let binding = self.bind_values(&known.collect::<Result<Vec<_>, _>>()?)?;
        self.check_lengths(shapes, &binding)?;
        Ok(binding)
    }

    /// Lengths that are more than a name follow from others.
    fn check_lengths(&self, shapes: &[&[u64]], binding: &Binding) -> Result<(), BindError> {
        let ports = self.inputs.iter().zip(&self.lengths.inputs);
        for ((port, lengths), (shape, bound)) in ports.zip(shapes.iter().zip(&binding.inputs)) {
            let dims = shape.iter().zip(bound).zip(lengths).enumerate();
            for (dim, ((&found, &expected), length)) in dims {
                if found != expected {
                    let (name, length) = (port.name.clone(), length.clone());
                    let expected = expected as i64;
                    return Err(BindError::Length { name, dim, length, expected, found });
                }
            }
        }
        Ok(())
    }

    /// The lengths for a value of each symbol, in the order of the plan.
    ///
    /// # Errors
    /// A value that the plan was not compiled for.
    pub fn bind_values(&self, values: &[u64]) -> Result<Binding, BindError> {
        let lengths = &self.lengths;
        for (symbol, &found) in lengths.symbols.iter().zip(values) {
            if !symbol.allows(found) {
                let (allowed, symbol) = (symbol.clone(), symbol.name.clone());
                return Err(BindError::Outside { symbol, found, allowed });
            }
        }
        let value = |what: &dyn Fn() -> String, length: &Length| {
            let of = |name: &str| {
                let own = lengths.symbols.iter().position(|symbol| symbol.name == name)?;
                i64::try_from(*values.get(own)?).ok()
            };
            let overflow = || BindError::Overflow { what: what(), length: length.clone() };
            length.value(&of).ok_or_else(overflow)
        };
        let shapes = |kind: &str, ports: &[Port], lengths: &[Vec<Length>]| {
            let shape = |(number, port): (usize, &Port)| {
                let Some(lengths) = lengths.get(number).filter(|dims| !dims.is_empty()) else {
                    return Ok(port.shape.clone());
                };
                let dims = lengths.iter().zip(&port.shape).enumerate();
                let dim = |(dim, (length, &most)): (usize, (&Length, &u64))| {
                    let what = || format!("dimension {dim} of {kind} `{}`", port.name);
                    let value = value(&what, length)?;
                    let room = || {
                        let (what, length) = (what(), length.clone());
                        BindError::Room { what, length, value, most }
                    };
                    u64::try_from(value).ok().filter(|own| *own <= most).ok_or_else(room)
                };
                dims.map(dim).collect::<Result<Vec<_>, _>>()
            };
            ports.iter().enumerate().map(shape).collect::<Result<Vec<_>, _>>()
        };
        let table = |length| value(&|| "a kernel".to_owned(), length);
        let share = |share: &Share| {
            let what = || format!("the rTasks of step {}", share.step);
            let tasks = value(&what, &share.tasks)?;
            let most = self.steps[share.step as usize].end;
            let room = || {
                let (what, length) = (what(), share.tasks.clone());
                BindError::Room { what, length, value: tasks, most }
            };
            let tasks = u64::try_from(tasks).ok().filter(|own| *own <= most).ok_or_else(room)?;
            let cut =
                |part: u32| (u128::from(tasks) * u128::from(part) / u128::from(share.parts)) as u64;
            Ok([cut(share.part), cut(share.part + 1)])
        };
        let shift = |shift: &Shift| {
            let what = || format!("the place in buffer {}", shift.buffer);
            let (value, most) =
                (value(&what, &shift.bytes)?, self.buffers[shift.buffer as usize].bytes);
            let room = || {
                let (what, length) = (what(), shift.bytes.clone());
                BindError::Room { what, length, value, most }
            };
            u64::try_from(value).ok().filter(|own| *own <= most).ok_or_else(room)
        };
        Ok(Binding {
            shifts: lengths.shifts.iter().map(shift).collect::<Result<_, _>>()?,
            symbols: values.to_vec(),
            inputs: shapes("input", &self.inputs, &lengths.inputs)?,
            outputs: shapes("output", &self.outputs, &lengths.outputs)?,
            table: lengths.table.iter().map(table).collect::<Result<_, _>>()?,
            shares: lengths.shares.iter().map(share).collect::<Result<_, _>>()?,
        })
    }

    /// The lengths for values by name; those that are not named are the largest.
    ///
    /// # Errors
    /// A name that the plan does not have, or a value that it was not compiled for.
    pub fn bind_names(&self, named: &[(String, u64)]) -> Result<Binding, BindError> {
        let symbols = &self.lengths.symbols;
        if let Some((name, _)) =
            named.iter().find(|(name, _)| !symbols.iter().any(|symbol| symbol.name == *name))
        {
            let known = symbols.iter().map(|symbol| symbol.name.clone()).collect();
            return Err(BindError::NoSymbol { name: name.clone(), known });
        }
        let value = |symbol: &Symbol| {
            let named = named.iter().find(|(name, _)| *name == symbol.name);
            named.map_or(symbol.most, |(_, value)| *value)
        };
        self.bind_values(&symbols.iter().map(value).collect::<Vec<_>>())
    }
}

impl Binding {
    /// Ports with the shapes of this run.
    pub fn ports(ports: &[Port], shapes: &[Vec<u64>]) -> Vec<Port> {
        let own = ports.iter().zip(shapes);
        own.map(|(port, shape)| Port { shape: shape.clone(), ..port.clone() }).collect()
    }
}
