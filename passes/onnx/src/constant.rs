//! `Constant` nodes are initializers written in another place.

use crate::error::{Report, Result};
use crate::graph::describe;
use crate::proto::attribute_proto::AttributeType;
use crate::proto::tensor_proto::DataType;
use crate::proto::{NodeProto, TensorProto};

/// True for a node of the standard operator `Constant`.
pub fn is_constant(node: &NodeProto) -> bool {
    node.op_type() == "Constant" && matches!(node.domain(), "" | "ai.onnx")
}

/// True where an attribute of a node is one that the call of a function gives.
pub fn refers(node: &NodeProto) -> bool {
    node.attribute.iter().any(|attribute| !attribute.ref_attr_name().is_empty())
}

/// The tensor that a `Constant` node makes, and its name.
pub fn tensor_of(node: NodeProto) -> Result<(String, TensorProto)> {
    let what = describe(&node);
    let (1, 0, 1) = (node.attribute.len(), node.input.len(), node.output.len()) else {
        return Err(Report::new(format!(
            "{what} has {} attributes, {} inputs and {} outputs",
            node.attribute.len(),
            node.input.len(),
            node.output.len()
        ))
        .help("a Constant has one attribute, no input and one output")
        .invalid());
    };
    let (attribute, output) = (&node.attribute[0], node.output[0].clone());
    let wrong = || {
        Report::new(format!(
            "{what} has an attribute {:?} of type {}",
            attribute.name(),
            attribute.r#type().as_str_name()
        ))
        .help("value (TENSOR), value_float(s) (FLOAT, FLOATS), value_int(s) (INT, INTS)")
    };
    let of = |ty: DataType, dims: Vec<i64>| TensorProto {
        data_type: Some(ty.into()),
        dims,
        ..TensorProto::default()
    };
    let list = |len: usize| vec![len as i64];
    let tensor = match (attribute.name(), attribute.r#type()) {
        ("value", AttributeType::Tensor) => {
            attribute.t.clone().ok_or_else(|| wrong().note("the tensor is missing").malformed())?
        }
        ("value_float", AttributeType::Float) => {
            TensorProto { float_data: vec![attribute.f()], ..of(DataType::Float, vec![]) }
        }
        ("value_floats", AttributeType::Floats) => TensorProto {
            float_data: attribute.floats.clone(),
            ..of(DataType::Float, list(attribute.floats.len()))
        },
        ("value_int", AttributeType::Int) => {
            TensorProto { int64_data: vec![attribute.i()], ..of(DataType::Int64, vec![]) }
        }
        ("value_ints", AttributeType::Ints) => TensorProto {
            int64_data: attribute.ints.clone(),
            ..of(DataType::Int64, list(attribute.ints.len()))
        },
        ("value_string" | "value_strings" | "sparse_value", _) => return Err(wrong().unsupported()),
        _ => return Err(wrong().invalid()),
    };
    Ok((output, tensor))
}
