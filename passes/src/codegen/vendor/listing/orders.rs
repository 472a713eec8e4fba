//! Moves, instructions and operations on lanes in a listing, by their encodings.

use weft_dialects::device::{Apply, Combine, Copy, Fill, Invoke, Move, Transfer, View};
use weft_dialects::ir::{Op, Type, ty};

use super::super::allocations;
use super::super::sum::Sum;
use super::{Listing, Name, mnemonic, number, write_encoding};

impl<'c> Listing<'_, 'c> {
    /// The byte address of the first element of a view; registers by their number.
    pub(super) fn place(&self, view: &View<'c>) -> String {
        let ty = view.memref.ty();
        let Some(memory) = self.machine.memory_of(ty) else { return "?".to_owned() };
        let (mut sum, strides) = match self.allocations.of(view.memref) {
            Some(allocation) => {
                (Sum::number(allocation.address as i64), allocation.strides.clone())
            }
            None => (Sum::register(self.name(view.memref)), allocations::strides(&memory, ty)),
        };
        for (index, stride) in view.indices.iter().zip(strides) {
            sum = sum.plus(&self.sum(*index).scale(stride as i64));
        }
        match (memory.register_bytes(), sum.as_number()) {
            (Some(register), Some(at)) => {
                let (number, rest) = (at / register as i64, at % register as i64);
                let inside = if rest == 0 { String::new() } else { format!("+{rest}") };
                format!("{}{number}{inside}", memory.name)
            }
            (Some(_), None) => format!("{}[{sum}]", memory.name),
            (None, _) => sum.to_string(),
        }
    }

    /// One transfer by the encoding of its move.
    fn moved(&mut self, op: Op<'c>, name: &str, facts: Facts) {
        let way = self.machine.move_named(name);
        let engine = way.as_ref().and_then(|way| way.engine());
        let encoding = way.as_ref().and_then(|way: &Move<'_>| way.encoding()).map_or_else(
            || {
                format!(
                    "{name}.{{type}} {{to}}, {{from}}, {{sizes}}, {{from_strides}}, {{to_strides}}"
                )
            },
            str::to_owned,
        );
        let line = write_encoding(&encoding, &|name| {
            Some(match name {
                "from" => facts.from.clone(),
                "to" => facts.to.clone(),
                "sizes" => by(&facts.sizes),
                "from_strides" => by(&facts.from_strides),
                "to_strides" => by(&facts.to_strides),
                "value" => facts.value.clone(),
                "type" => facts.elem.clone(),
                _ => return None,
            })
        });
        self.line(line);
        self.mark(engine, op.results().first().copied());
    }

    pub(super) fn transfer(&mut self, transfer: &Transfer<'c>) {
        let elem = elem(transfer.source.memref.ty());
        let bytes = bytes(transfer.source.memref.ty());
        let facts = Facts {
            from: self.place(&transfer.source),
            to: self.place(&transfer.target),
            sizes: transfer.sizes.iter().map(|&size| size as i64).collect(),
            from_strides: transfer.from_strides.iter().map(|stride| stride * bytes).collect(),
            to_strides: transfer.to_strides.iter().map(|stride| stride * bytes).collect(),
            value: "0".to_owned(),
            elem,
        };
        self.moved(transfer.op, transfer.move_name, facts);
    }

    /// A fill comes from a number instead of an address.
    pub(super) fn fill(&mut self, fill: &Fill<'c>) {
        let ty = fill.target.memref.ty();
        let value = number(fill.value);
        let facts = Facts {
            from: format!("#{value}"),
            to: self.place(&fill.target),
            sizes: fill.sizes.iter().map(|&size| size as i64).collect(),
            from_strides: vec![0; fill.sizes.len()],
            to_strides: fill.strides.iter().map(|stride| stride * bytes(ty)).collect(),
            value,
            elem: elem(ty),
        };
        self.moved(fill.op, fill.move_name, facts);
    }

    pub(super) fn copy(&mut self, copy: &Copy<'c>) {
        let stride = |view: &View<'c>, dim: usize, step: u64| {
            let memory = self.machine.memory_of(view.memref.ty());
            let strides = memory.map(|memory| allocations::strides(&memory, view.memref.ty()));
            strides.and_then(|strides| strides.get(dim).copied()).unwrap_or(0) as i64 * step as i64
        };
        let facts = Facts {
            from: self.place(&copy.source),
            to: self.place(&copy.target),
            sizes: vec![copy.count as i64],
            from_strides: vec![stride(&copy.source, copy.from_dim, copy.from_step)],
            to_strides: vec![stride(&copy.target, copy.to_dim, copy.to_step)],
            value: "0".to_owned(),
            elem: elem(copy.source.memref.ty()),
        };
        self.moved(copy.op, copy.move_name, facts);
    }

    pub(super) fn invoke(&mut self, invoke: &Invoke<'c>) {
        let places: Vec<_> = invoke.views.iter().map(|view| self.place(view)).collect();
        let instruction = self.machine.instruction(invoke.instruction);
        let encoding = instruction.as_ref().and_then(|found| found.encoding());
        let line = match encoding {
            Some(encoding) => {
                write_encoding(encoding, &|name| places.get(name.parse::<usize>().ok()?).cloned())
            }
            None => format!("{} {}", invoke.instruction, places.join(", ")),
        };
        self.line(line);
        let engine = instruction.and_then(|found| found.engine());
        self.mark(engine, invoke.op.results().first().copied());
    }

    /// One line for each operation on lanes: `addf.4xf32 vreg0, vreg1, vreg2`.
    pub(super) fn apply(&mut self, apply: &Apply<'c>) {
        for (view, arg) in apply.inputs.iter().zip(apply.body.args()) {
            let place = self.place(view);
            let memory = self.machine.memory_of(view.memref.ty());
            let name = match memory {
                Some(memory) if memory.is_registers() => place,
                // One element for all lanes, read where it lies.
                _ => format!("[{place}]"),
            };
            self.set(arg, Name::Text(name));
        }
        let results = apply.body.terminator().map(|end| end.operands()).unwrap_or_default();
        let outputs: Vec<_> = apply.outputs.iter().map(|view| self.place(view)).collect();
        let needs_line = |op: Op<'c>| !op.is("device.yield") && !op.is("device.lane");
        for op in apply.body.iter() {
            if !needs_line(op) || self.known(op).is_some() {
                self.op(op);
                continue;
            }
            let operands = self.operands(op);
            let result = op.results().first().copied();
            let output = results.iter().position(|yielded| Some(*yielded) == result);
            let name = match output {
                Some(number) => outputs[number].clone(),
                None => self.temporary(),
            };
            let what =
                result.map_or(String::new(), |result| format!(".{}x{}", apply.lanes, result.ty()));
            let all = std::iter::once(name.clone()).chain(operands).collect::<Vec<_>>().join(", ");
            self.line(format_args!("{}{what} {all}", mnemonic(op)));
            if let Some(result) = result {
                self.set(result, Name::Text(name));
            }
        }
        // A result that is an input needs a move.
        for (yielded, output) in results.into_iter().zip(outputs) {
            let name = self.name(yielded);
            if name != output {
                self.line(format_args!("move.{}x{} {output}, {name}", apply.lanes, yielded.ty()));
            }
        }
    }

    pub(super) fn combine(&mut self, combine: &Combine<'c>) {
        let (from, to) = (self.place(&combine.input), self.place(&combine.output));
        let how = combine.body.iter().find(|op| !op.is("device.yield"));
        let how = how.map_or(String::new(), mnemonic);
        let elem = elem(combine.input.memref.ty());
        self.line(format_args!("reduce.{how}.{}x{elem} {to}, {from}", combine.lanes));
    }
}

/// The facts that an encoding of a move may name.
struct Facts {
    from: String,
    to: String,
    sizes: Vec<i64>,
    from_strides: Vec<i64>,
    to_strides: Vec<i64>,
    value: String,
    elem: String,
}

/// `16x4x4`.
fn by(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

pub(super) fn elem(ty: Type<'_>) -> String {
    ty::elem(ty).map_or_else(|| ty.to_string(), |elem| elem.to_string())
}

fn bytes(ty: Type<'_>) -> i64 {
    ty::elem(ty).and_then(ty::byte_size).unwrap_or(1) as i64
}
