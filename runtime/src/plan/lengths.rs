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
    /// The names that data decide, in the order of steps.
    pub finds: Vec<Find>,
    /// The steps that are repeated, by where they begin; one around another comes first.
    pub loops: Vec<Loop>,
}

/// A name that stands for what a step calculates. Nothing that follows from it is read before
/// ([`Plan::validate`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Find {
    /// The step behind which it is known.
    pub step: u32,
    /// The name, by its number.
    pub symbol: u32,
    /// What holds the number, an integer of 64 bits.
    pub buffer: u32,
}

/// Steps that are done round by round. All units wait for each other in front of each round, and behind the last
/// one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// The first step.
    pub first: u32,
    /// One past the last step.
    pub end: u32,
    /// The name, by its number, that stands for the number of the round, from 0 on. Only these steps ask
    /// for it. It is no more than the name allows: a run in which it would be ends with an error.
    pub symbol: u32,
    /// How many rounds there are, none where it is below zero; as many as the condition holds without it.
    pub rounds: Option<Length>,
    /// The buffer whose first byte is zero when there is no other round.
    pub condition: Option<u32>,
}

/// What follows from a name, by number: entries of the table, shares and shifts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Following {
    /// In [`Lengths::table`].
    pub table: Vec<usize>,
    /// In [`Lengths::shares`].
    pub shares: Vec<usize>,
    /// In [`Lengths::shifts`].
    pub shifts: Vec<usize>,
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
    #[error("`{symbol}` came out as {found}, and the model was compiled for {allowed}")]
    Found { symbol: String, found: i64, allowed: Symbol },
    #[error("a loop goes on after {most} rounds, the most that it was compiled for")]
    Rounds { most: u64 },
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
    /// Returns whether callers, or data, decide any length.
    pub fn has_lengths(&self) -> bool {
        !self.lengths.symbols.is_empty()
    }

    /// Returns whether callers decide any length.
    pub fn has_lengths_of_callers(&self) -> bool {
        self.lengths.symbols.iter().any(|symbol| !self.finds(&symbol.name))
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
            // One that is fixed needs nobody to say it, and others are found.
            None if symbol.least == symbol.most || self.finds(&symbol.name) => Ok(symbol.most),
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
        // What follows from names that data decide is written when these are known, and nobody reads
        // it before.
        let all = self.lengths_of(values);
        let later = |length: &Length| length.symbols().into_iter().any(|name| self.finds(name));
        Ok(Binding {
            symbols: values.to_vec(),
            inputs: all.inputs()?,
            outputs: all.most_of_outputs()?,
            table: (lengths.table.iter().enumerate())
                .map(|(at, own)| if later(own) { Ok(0) } else { all.entry(at) })
                .collect::<Result<_, _>>()?,
            shares: (lengths.shares.iter().enumerate())
                .map(|(at, own)| if later(&own.tasks) { Ok([0; 2]) } else { all.share(at) })
                .collect::<Result<_, _>>()?,
            shifts: (lengths.shifts.iter().enumerate())
                .map(|(at, own)| if later(&own.bytes) { Ok(0) } else { all.shift(at) })
                .collect::<Result<_, _>>()?,
        })
    }

    /// All lengths of the plan, where each symbol stands for a number.
    pub fn lengths_of<'a>(&'a self, symbols: &'a [u64]) -> Valued<'a> {
        Valued { plan: self, symbols }
    }

    /// Returns whether data, or a loop, decide what a name stands for.
    pub fn finds(&self, name: &str) -> bool {
        let Lengths { symbols, finds, loops, .. } = &self.lengths;
        let found = finds.iter().map(|find| find.symbol);
        let mut decided = found.chain(loops.iter().map(|own| own.symbol));
        decided.any(|own| symbols.get(own as usize).is_some_and(|symbol| symbol.name == name))
    }

    /// Returns whether a run decides any name.
    pub fn decides(&self) -> bool {
        !self.lengths.finds.is_empty() || !self.lengths.loops.is_empty()
    }

    /// The names that a run decides, by number: each is known when the ones before are.
    fn decided(&self) -> Vec<u32> {
        let Lengths { finds, loops, .. } = &self.lengths;
        let finds = finds.iter().map(|find| (find.step.saturating_add(1), 0, find.symbol));
        // One around another begins before it.
        let loops = loops.iter().map(|own| (own.first, 1, own.symbol));
        let mut all: Vec<_> = finds.chain(loops).collect();
        all.sort_by_key(|&(step, kind, _)| (step, kind));
        all.into_iter().map(|(_, _, symbol)| symbol).collect()
    }

    /// What is known when a name is, by its number, that a run decides: what follows from it and from none
    /// that is decided later.
    pub fn following(&self, symbol: u32) -> Following {
        let Lengths { symbols, table, shares, shifts, .. } = &self.lengths;
        let name = |symbol: u32| symbols.get(symbol as usize).map_or("", |own| &own.name);
        let decided = self.decided();
        let behind = decided.iter().skip_while(|other| **other != symbol).skip(1);
        let later: Vec<&str> = behind.map(|&other| name(other)).collect();
        let own = |length: &Length| {
            let names = length.symbols();
            names.contains(&name(symbol)) && !names.iter().any(|name| later.contains(name))
        };
        let numbers = |all: &mut dyn Iterator<Item = &Length>| {
            all.enumerate().filter(|(_, length)| own(length)).map(|(number, _)| number).collect()
        };
        Following {
            table: numbers(&mut table.iter()),
            shares: numbers(&mut shares.iter().map(|share| &share.tasks)),
            shifts: numbers(&mut shifts.iter().map(|shift| &shift.bytes)),
        }
    }

    /// The lengths for values by name; those that are not named are the largest.
    ///
    /// # Errors
    /// A name that the plan does not have, or a value that it was not compiled for.
    pub fn bind_names(&self, named: &[(String, u64)]) -> Result<Binding, BindError> {
        let symbols = &self.lengths.symbols;
        let said = || symbols.iter().filter(|symbol| !self.finds(&symbol.name));
        if let Some((name, _)) =
            named.iter().find(|(name, _)| !said().any(|symbol| symbol.name == *name))
        {
            let known = said().map(|symbol| symbol.name.clone()).collect();
            return Err(BindError::NoSymbol { name: name.clone(), known });
        }
        let value = |symbol: &Symbol| {
            let named = named.iter().find(|(name, _)| *name == symbol.name);
            named.map_or(symbol.most, |(_, value)| *value)
        };
        self.bind_values(&symbols.iter().map(value).collect::<Vec<_>>())
    }
}

/// How far a dimension goes: what it is, for messages; its length; and the room for it.
type End<'a> = &'a dyn Fn(&dyn Fn() -> String, &Length, u64) -> Result<u64, BindError>;

/// The lengths of a plan, where each of its symbols stands for a number.
#[derive(Clone, Copy)]
pub struct Valued<'a> {
    plan: &'a Plan,
    symbols: &'a [u64],
}

impl Valued<'_> {
    fn value(&self, what: &dyn Fn() -> String, length: &Length) -> Result<i64, BindError> {
        let of = |name: &str| {
            let own = self.plan.lengths.symbols.iter().position(|symbol| symbol.name == name)?;
            i64::try_from(*self.symbols.get(own)?).ok()
        };
        length
            .value(&of)
            .ok_or_else(|| BindError::Overflow { what: what(), length: length.clone() })
    }

    /// A value from 0 to as many as there is room for.
    fn within(
        &self,
        what: &dyn Fn() -> String,
        length: &Length,
        most: u64,
    ) -> Result<u64, BindError> {
        let value = self.value(what, length)?;
        let room = || BindError::Room { what: what(), length: length.clone(), value, most };
        u64::try_from(value).ok().filter(|own| *own <= most).ok_or_else(room)
    }

    /// Shapes of ports, of which `end` gives each dimension: from what it is, its length, and as much as
    /// there is room for.
    fn ports(
        &self,
        kind: &str,
        (ports, lengths): (&[Port], &[Vec<Length>]),
        end: End<'_>,
    ) -> Result<Vec<Vec<u64>>, BindError> {
        let shape = |(number, port): (usize, &Port)| {
            let Some(lengths) = lengths.get(number).filter(|dims| !dims.is_empty()) else {
                return Ok(port.shape.clone());
            };
            let dims = lengths.iter().zip(&port.shape).enumerate();
            let dim = |(dim, (length, &most)): (usize, (&Length, &u64))| {
                let what = || format!("dimension {dim} of {kind} `{}`", port.name);
                end(&what, length, most)
            };
            dims.map(dim).collect()
        };
        ports.iter().enumerate().map(shape).collect()
    }

    /// Shape of each input.
    fn inputs(&self) -> Result<Vec<Vec<u64>>, BindError> {
        let ports = (&self.plan.inputs[..], &self.plan.lengths.inputs[..]);
        self.ports("input", ports, &|what, length, most| self.within(what, length, most))
    }

    /// Shape of each output.
    ///
    /// # Errors
    /// A length that is more than there is room for, as for the others.
    pub fn outputs(&self) -> Result<Vec<Vec<u64>>, BindError> {
        let ports = (&self.plan.outputs[..], &self.plan.lengths.outputs[..]);
        self.ports("output", ports, &|what, length, most| self.within(what, length, most))
    }

    /// The greatest shape of each output, whatever data decide.
    ///
    /// # Errors
    /// As [`Valued::outputs`], of what callers decide.
    pub fn most_of_outputs(&self) -> Result<Vec<Vec<u64>>, BindError> {
        let plan = self.plan;
        let range = |name: &str| {
            let number = plan.lengths.symbols.iter().position(|symbol| symbol.name == name)?;
            let symbol = &plan.lengths.symbols[number];
            let ends = match plan.finds(name) {
                true => [symbol.least, symbol.most],
                false => [*self.symbols.get(number)?; 2],
            };
            Some(ends.map(|end| end as i64))
        };
        let ports = (&plan.outputs[..], &plan.lengths.outputs[..]);
        self.ports("output", ports, &|what, length, most| {
            if !length.symbols().into_iter().any(|name| plan.finds(name)) {
                return self.within(what, length, most);
            }
            // What cannot be said is as much as there is room for.
            let end = length.range(&range).and_then(|[_, end]| u64::try_from(end.max(0)).ok());
            Ok(end.map_or(most, |end| end.min(most)))
        })
    }

    /// How often a loop is done, by its number, where that is said.
    pub fn rounds(&self, number: usize) -> Result<Option<u64>, BindError> {
        let own = self.plan.lengths.loops[number].rounds.as_ref();
        let rounds = own.map(|own| self.value(&|| format!("the rounds of loop {number}"), own));
        Ok(rounds.transpose()?.map(|rounds| u64::try_from(rounds).unwrap_or(0)))
    }

    /// An entry of the table, by its number.
    pub fn entry(&self, number: usize) -> Result<i64, BindError> {
        self.value(&|| "a kernel".to_owned(), &self.plan.lengths.table[number])
    }

    /// The first rTask of a share, and the one behind its last.
    pub fn share(&self, number: usize) -> Result<[u64; 2], BindError> {
        let share = &self.plan.lengths.shares[number];
        let what = || format!("the rTasks of step {}", share.step);
        let tasks = self.within(&what, &share.tasks, self.plan.steps[share.step as usize].end)?;
        let cut =
            |part: u32| (u128::from(tasks) * u128::from(part) / u128::from(share.parts)) as u64;
        Ok([cut(share.part), cut(share.part + 1)])
    }

    /// By how many bytes a buffer begins further on.
    pub fn shift(&self, number: usize) -> Result<u64, BindError> {
        let shift = &self.plan.lengths.shifts[number];
        let what = || format!("the place in buffer {}", shift.buffer);
        self.within(&what, &shift.bytes, self.plan.buffers[shift.buffer as usize].bytes)
    }
}

impl Binding {
    /// Ports with the shapes of this run.
    pub fn ports(ports: &[Port], shapes: &[Vec<u64>]) -> Vec<Port> {
        let own = ports.iter().zip(shapes);
        own.map(|(port, shape)| Port { shape: shape.clone(), ..port.clone() }).collect()
    }
}
