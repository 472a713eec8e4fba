//! The outputs of a model, held against what it declares of them.

use std::collections::BTreeSet;

use super::{Bound, Planner, Source};
use crate::error::{Report, Result};
use crate::inputs::{self, Declared, Extent, Options};
use crate::plan::ValueId;
use crate::proto::ValueInfoProto;
use crate::types::{Shape, TensorType};

/// Operators whose result may be their operand: in another shape, all of it, or in the type that it has.
const SHAPES: [&str; 9] = [
    "Cast",
    "CastLike",
    "Dropout",
    "Flatten",
    "Identity",
    "Reshape",
    "Slice",
    "Squeeze",
    "Unsqueeze",
];

impl Planner<'_> {
    /// Plans the outputs: those of a sequence are called `y.0`, `y.1` and so on, and an optional value that is absent
    /// is no output.
    pub(super) fn outputs(&mut self, options: &Options) -> Result<()> {
        let mut taken = BTreeSet::new();
        for output in &self.model.graph.outputs {
            let bound = self.bound(output.name())?;
            self.output(output.name().to_owned(), bound, (output, options), &mut taken)?;
        }
        if self.graph.outputs.is_empty() {
            return Err(Report::new("the model has no output")
                .note("its outputs are empty sequences and optional values that are absent")
                .help("a tensor among the outputs")
                .unsupported());
        }
        Ok(())
    }

    /// The value of which another one is only another shape, as far as steps say.
    pub(super) fn shown(&self, id: ValueId) -> ValueId {
        let Source::Result { step, .. } = self.graph.values[id.0].source else { return id };
        let step = &self.graph.steps[step];
        let seen = step.plan.operands.first().filter(|_| SHAPES.contains(&step.kind));
        seen.map_or(id, |operand| self.shown(operand.id))
    }

    /// Returns whether a value is an input, or nothing but another shape of it.
    fn shows_input(&self, id: ValueId) -> bool {
        match self.graph.values[id.0].source {
            Source::Input(_) => true,
            Source::Result { step, .. } => {
                let step = &self.graph.steps[step];
                let seen = step.plan.operands.first().map(|operand| operand.id);
                SHAPES.contains(&step.kind) && seen.is_some_and(|id| self.shows_input(id))
            }
            Source::Weight { .. } | Source::Literal(_) | Source::State { .. } => false,
        }
    }

    fn output(
        &mut self,
        name: String,
        bound: Bound,
        (output, options): (&ValueInfoProto, &Options),
        taken: &mut BTreeSet<ValueId>,
    ) -> Result<()> {
        let id = match bound {
            Bound::Nothing => return Ok(()),
            Bound::Sequence(all) => {
                return all.into_iter().enumerate().try_for_each(|(at, bound)| {
                    self.output(format!("{name}.{at}"), bound, (output, options), taken)
                });
            }
            // Numbers that follow from lengths are calculated in a run, not those for the greatest.
            Bound::Tensor(id) if self.graph.values[id.0].numbers.is_some() => {
                self.written_numbers(id)
            }
            Bound::Tensor(id) => id,
        };
        let what = format!("output {name:?}");
        let value = &self.graph.values[id.0];
        if let Some(declared) = inputs::declared_tensor(output, &what)? {
            let open = !options.shapes.is_empty()
                || !options.symbols.is_empty()
                || !self.graph.symbols.is_empty();
            if declared.element != value.ty.element() || !(open || fits(&declared, &value.ty)) {
                return Err(mismatch(&what, &declared, &value.ty));
            }
        }
        let is_result = matches!(value.source, Source::Result { .. });
        // Rows of a caller's tensor are where that has them, and an output's where it does.
        let seen = !self.graph.symbols.is_empty() && self.shows_input(id);
        // Of two that are one tensor the second is a copy.
        let own = is_result && !seen && taken.insert(self.shown(id));
        let id = if own { id } else { self.copy(&name, id) };
        self.graph.outputs.push((name, id));
        Ok(())
    }
}

/// Returns whether a tensor has a declared shape, where that is known.
fn fits(declared: &Declared<'_>, ty: &TensorType) -> bool {
    declared.dims.as_ref().is_none_or(|dims| {
        let known = |(dim, &extent): (&Extent<'_>, &i64)| {
            !matches!(dim, Extent::Known(declared) if *declared != extent)
        };
        dims.len() == ty.rank() && dims.iter().zip(ty.dims()).all(known)
    })
}

fn mismatch(what: &str, declared: &inputs::Declared<'_>, ty: &TensorType) -> crate::ImportError {
    let dims = match &declared.dims {
        None => "any shape".to_owned(),
        Some(dims) if dims.is_empty() => Shape(&[]).to_string(),
        Some(dims) => dims
            .iter()
            .map(|dim| match dim {
                Extent::Known(extent) => extent.to_string(),
                Extent::Symbol(symbol) => (*symbol).to_owned(),
                Extent::Open => "?".to_owned(),
            })
            .collect::<Vec<_>>()
            .join("x"),
    };
    Report::new(format!("{what} is {ty}"))
        .note(format!("the model declares {} of {dims}", declared.element))
        .invalid()
}
