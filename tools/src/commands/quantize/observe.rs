//! Runs of a model that shows what lies inside of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use weft_onnx::import_model;
use weft_runtime::{Model, Tensor};

use crate::commands::{folder_for_run, read_inputs};
use crate::{Failure, Options, Unit};

/// A compiled model.
pub struct Runner {
    model: Model,
}

/// The tensors of one run, by name.
pub struct Shown {
    tensors: BTreeMap<String, Tensor>,
}

impl Runner {
    /// Compiles a model.
    ///
    /// # Errors
    /// A model that is refused.
    pub fn new(model: weft_onnx::Model, options: &Options) -> Result<Self, Failure> {
        let context = crate::context();
        let (module, imported) = import_model(model, &options.import, &context)?;
        let folder = folder_for_run()?;
        let artifact = folder.path().join("shown.weft");
        let files = Rc::new(imported.files);
        let mut unit = Unit::from_module(&context, module, files, options.clone())?;
        unit.write_artifact(&artifact)?;
        Ok(Self { model: Model::load(&artifact, None)? })
    }

    /// Runs it on the tensors of a file.
    ///
    /// # Errors
    /// Inputs that do not fit.
    pub fn run(&mut self, inputs: &Path) -> Result<Shown, Failure> {
        let inputs = read_inputs(Some(inputs), 0, &self.model)?;
        let mut outputs = self.model.output_buffers();
        let given: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        self.model.run(&given, &mut places)?;
        let plan = self.model.plan();
        let all = plan.inputs.iter().zip(inputs).chain(plan.outputs.iter().zip(outputs));
        let named = all.map(|(port, bytes)| (port.name.clone(), Tensor::of_port(port, bytes)));
        Ok(Shown { tensors: named.collect() })
    }
}

impl Shown {
    /// The numbers of an input or of what is shown.
    pub fn numbers(&self, name: &str) -> impl Iterator<Item = f64> {
        let tensor = &self.tensors[name];
        (0..tensor.elements()).map(|at| tensor.number(at).as_f64())
    }
}
