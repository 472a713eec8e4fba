//! Nests without the tensors that they touch.

use weft_dialects::ir::{Block, Form, ty};

use super::{Access, Axis, Border, Nest, Start};

impl Nest<'_> {
    /// Returns the structure of a nest, without its tensors: equal ones of a context have equal
    /// forms, and whatever is predicted of one holds for the other.
    pub fn form(&self) -> Vec<usize> {
        let mut words = vec![self.axes.len()];
        for axis in &self.axes {
            words.extend([axis.extent as usize, usize::from(axis.kind == Axis::Reduction)]);
            // Equal lengths are kept once.
            words.push(axis.length.map_or(0, |length| std::ptr::from_ref(length) as usize));
        }
        accesses(&mut words, &self.inputs);
        accesses(&mut words, &self.outputs);
        block(&mut words, self.body);
        for start in &self.starts {
            match start {
                Start::Unread => words.push(0),
                Start::Held => words.push(1),
                Start::From { inputs, body } => {
                    words.push(2);
                    accesses(&mut words, inputs);
                    block(&mut words, *body);
                }
            }
        }
        words.push(usize::from(self.epilogue.is_some()));
        if let Some(epilogue) = &self.epilogue {
            accesses(&mut words, &epilogue.inputs);
            block(&mut words, epilogue.body);
        }
        words.push(self.captures.len());
        words.extend(self.captures.iter().map(|capture| ty::id(capture.tensor.ty())));
        words
    }
}

fn accesses(words: &mut Vec<usize>, accesses: &[Access<'_>]) {
    words.push(accesses.len());
    for access in accesses {
        words.extend([ty::id(access.elem()), access.shape.len()]);
        words.extend(access.shape.iter().map(|&extent| extent as usize));
        for index in &access.index {
            words.extend(index.coefficients.iter().map(|&step| step as usize));
            words.push(index.constant as usize);
        }
        let border = Border::of(access);
        words.push(usize::from(border.is_some()));
        if let Some(border) = border {
            words.push(border.low.len());
            words.extend(border.low.iter().chain(&border.inside).map(|&extent| extent as usize));
            words.extend(Form::of(border.value).words());
        }
    }
}

fn block(words: &mut Vec<usize>, block: Block<'_>) {
    words.extend(Form::of_block(block).words());
}
