//! The constants of an artifact: weights as they lie in their files, and
//! expressions over them, evaluated once by the interpreter.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::rc::Rc;

use weft_dialects::ir::Op;
use weft_onnx::Weights;
use weft_passes::interpret::Compiled;
use weft_passes::task::{ConstantSource, ConstantValue};
use weft_runtime::artifact::Constants;

use crate::Failure;

/// Evaluates constants in order, each dropped after its last use.
pub(crate) struct Evaluator<'a, 'c> {
    pub module: Op<'c>,
    pub files: &'a BTreeMap<String, Weights>,
    /// True if the content of weights is compared with the hash in the text.
    pub check_hashes: bool,
}

/// Bytes of a constant: a slice of a file, or computed.
#[derive(Clone)]
enum Bytes {
    File(weft_onnx::Elements),
    Own(Rc<Vec<u8>>),
}

impl Bytes {
    fn get(&self) -> &[u8] {
        match self {
            Bytes::File(elements) => elements.bytes(),
            Bytes::Own(bytes) => bytes,
        }
    }
}

impl Evaluator<'_, '_> {
    /// Writes every stored constant at its place.
    pub fn write(
        &self,
        sources: &[ConstantSource<'_>],
        out: &mut Constants<'_>,
    ) -> Result<(), Failure> {
        let mut last_use: Vec<usize> = (0..sources.len()).collect();
        for (index, source) in sources.iter().enumerate() {
            if let ConstantValue::Expression { operands, .. } = &source.value {
                operands.iter().for_each(|&operand| last_use[operand] = index);
            }
        }
        let mut kernels: HashMap<&str, Compiled> = HashMap::new();
        let mut values: Vec<Option<Bytes>> = vec![None; sources.len()];
        let mut pending: Vec<Vec<u8>> = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            let bytes = match &source.value {
                ConstantValue::Weight { file, tensor, hash } => {
                    Bytes::File(self.weight(file, tensor, hash, source.bytes)?)
                }
                ConstantValue::Literal(bytes) => Bytes::Own(Rc::new(bytes.clone())),
                ConstantValue::Expression { kernel, operands, result, .. } => {
                    if *result == 0 {
                        if !kernels.contains_key(kernel) {
                            kernels.insert(kernel, Compiled::of(self.kernel(kernel)?)?);
                        }
                        let inputs: Vec<Bytes> = operands
                            .iter()
                            .filter_map(|&operand| values[operand].clone())
                            .collect();
                        pending = evaluate(&kernels[kernel], &inputs)?;
                    }
                    Bytes::Own(Rc::new(std::mem::take(&mut pending[*result])))
                }
            };
            if let Some(offset) = source.offset {
                out.pad_to(offset)?;
                out.write_all(bytes.get()).map_err(|source| Failure::File {
                    doing: "write",
                    path: "the artifact's constants".into(),
                    source,
                })?;
            }
            values[index] = Some(bytes);
            if let ConstantValue::Expression { operands, .. } = &source.value {
                for &operand in operands.iter().filter(|&&operand| last_use[operand] == index) {
                    values[operand] = None;
                }
            }
        }
        Ok(())
    }

    fn weight(
        &self,
        file: &str,
        tensor: &str,
        hash: &str,
        bytes: u64,
    ) -> Result<weft_onnx::Elements, Failure> {
        let weights = self.files.get(file).ok_or_else(|| {
            Failure::said(
                format!("the text names weights of the file `{file}`, which was not given"),
                format!("--weights {file}=PATH, or --weights PATH for the file `model`"),
            )
        })?;
        let elements = weights.tensor(tensor)?;
        if elements.bytes().len() as u64 != bytes {
            return Err(Failure::said(
                format!(
                    "the weight `{tensor}` has {} bytes in its file and {bytes} in the text",
                    elements.bytes().len()
                ),
                "the file that the text was made from",
            ));
        }
        if self.check_hashes && elements.hash() != hash {
            return Err(Failure::said(
                format!(
                    "the weight `{tensor}` has the hash {} in its file and {hash} in the text",
                    elements.hash()
                ),
                "the file that the text was made from",
            ));
        }
        Ok(elements)
    }

    fn kernel(&self, name: &str) -> Result<Op<'_>, Failure> {
        let ops = self.module.body(0).map(|block| block.ops()).unwrap_or_default();
        ops.into_iter().find(|op| op.is("tile.kernel") && op.symbol() == name).ok_or_else(|| {
            Failure::said(
                format!("the constant expression @{name} is no tile.kernel of the module"),
                "a kernel that only constants use stays a tile program",
            )
        })
    }
}

/// The results of a kernel; arguments beyond the operands start as zeros.
fn evaluate(kernel: &Compiled, operands: &[Bytes]) -> Result<Vec<Vec<u8>>, Failure> {
    let arguments = kernel.program.inputs.len() - kernel.constants.len();
    let zeros = kernel.program.inputs[operands.len()..arguments].iter().map(|&input| {
        let tensor = &kernel.program.tensors[input as usize];
        zeros(tensor.len * tensor.ty.bytes() as u64)
    });
    let zeros = zeros.collect::<Result<Vec<_>, _>>()?;
    let inputs: Vec<&[u8]> =
        operands.iter().map(Bytes::get).chain(zeros.iter().map(Vec::as_slice)).collect();
    kernel
        .run(&inputs)
        .map_err(|error| Failure::said(error.to_string(), "constants that the model can compute"))
}

/// Returns so many bytes of zeros, if memory is left for them.
fn zeros(bytes: u64) -> Result<Vec<u8>, Failure> {
    let fits = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if !usize::try_from(bytes).is_ok_and(fits) {
        return Err(Failure::said(
            format!("a constant of {bytes} bytes cannot be computed: no memory is left"),
            "a model whose constants fit the memory of this machine",
        ));
    }
    Ok(vec![0; bytes as usize])
}
