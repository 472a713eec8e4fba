//! ONNX's Slice with any starts, ends and steps, against its definition.
//!
//! What is imported is run by the interpreter: the question is which elements are meant.

use proptest::prelude::*;
use prost::Message;
use weft::{Options, Unit};
use weft_onnx::proto::tensor_shape_proto::Dimension;
use weft_onnx::proto::tensor_shape_proto::dimension::Value::DimValue;
use weft_onnx::proto::type_proto::{Tensor, Value};
use weft_onnx::proto::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto,
    TypeProto, ValueInfoProto,
};
use weft_passes::interpret::run_model;

/// Along one axis: its extent, and what is cut out of it.
#[derive(Clone, Debug)]
struct Cut {
    extent: i64,
    start: i64,
    end: i64,
    step: i64,
}

/// Extents of a few elements; places inside, at the ends, and far outside.
fn cut() -> impl Strategy<Value = Cut> {
    let place = prop_oneof![
        -6..=6i64,
        Just(i64::MAX),
        Just(i64::MIN),
        Just(i64::from(i32::MAX)),
        Just(i64::from(i32::MIN)),
    ];
    let step = prop_oneof![1..=3i64, -3..=-1i64, Just(i64::MAX), Just(i64::MIN + 1)];
    (0..=5i64, place.clone(), place, step).prop_map(|(extent, start, end, step)| Cut {
        extent,
        start,
        end,
        step,
    })
}

/// The places that the definition names, in order.
fn places(cut: &Cut) -> Vec<i64> {
    if cut.extent == 0 {
        return Vec::new();
    }
    let inside = |at: i64, low: i64, high: i64| {
        let at = i128::from(at) + if at < 0 { i128::from(cut.extent) } else { 0 };
        at.clamp(i128::from(low), i128::from(high)) as i64
    };
    let (mut at, end) = match cut.step > 0 {
        true => (inside(cut.start, 0, cut.extent), inside(cut.end, 0, cut.extent)),
        false => (inside(cut.start, 0, cut.extent - 1), inside(cut.end, -1, cut.extent - 1)),
    };
    let mut found = Vec::new();
    while if cut.step > 0 { at < end } else { at > end } {
        found.push(at);
        let Some(next) = at.checked_add(cut.step) else { break };
        at = next;
    }
    found
}

fn integers(name: &str, values: Vec<i64>) -> TensorProto {
    TensorProto {
        name: Some(name.to_owned()),
        dims: vec![values.len() as i64],
        data_type: Some(7),
        int64_data: values,
        ..Default::default()
    }
}

fn model(cuts: &[Cut]) -> Vec<u8> {
    let port = |name: &str, dims: Option<Vec<i64>>| {
        let dims = dims.map(|dims| TensorShapeProto {
            dim: dims
                .into_iter()
                .map(|dim| Dimension { value: Some(DimValue(dim)), ..Default::default() })
                .collect(),
        });
        let tensor = Tensor { elem_type: Some(6), shape: dims };
        let ty = TypeProto { value: Some(Value::TensorType(tensor)), ..Default::default() };
        ValueInfoProto { name: Some(name.to_owned()), r#type: Some(ty), ..Default::default() }
    };
    let names = ["x", "starts", "ends", "axes", "steps"];
    let node = NodeProto {
        op_type: Some("Slice".to_owned()),
        input: names.map(str::to_owned).to_vec(),
        output: vec!["y".to_owned()],
        ..Default::default()
    };
    let list = |of: &dyn Fn(&Cut) -> i64| cuts.iter().map(of).collect::<Vec<_>>();
    let graph = GraphProto {
        name: Some("g".to_owned()),
        node: vec![node],
        initializer: vec![
            integers("starts", list(&|cut| cut.start)),
            integers("ends", list(&|cut| cut.end)),
            integers("axes", (0..cuts.len() as i64).collect()),
            integers("steps", list(&|cut| cut.step)),
        ],
        input: vec![port("x", Some(list(&|cut| cut.extent)))],
        output: vec![port("y", None)],
        ..Default::default()
    };
    let opset = OperatorSetIdProto { version: Some(17), ..Default::default() };
    let model = ModelProto {
        ir_version: Some(8),
        opset_import: vec![opset],
        graph: Some(graph),
        ..Default::default()
    };
    model.encode_to_vec()
}

/// The elements of a tensor of 0, 1, 2, … that are cut out of it.
fn expected(cuts: &[Cut]) -> Vec<i32> {
    cuts.iter().fold(vec![0], |numbers, cut| {
        let along = places(cut);
        let each =
            |number: i32| along.iter().map(move |at| number * cut.extent as i32 + *at as i32);
        numbers.into_iter().flat_map(each).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn slices_are_what_they_are_defined_to_be(cuts in prop::collection::vec(cut(), 1..=3)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("slice.onnx");
        std::fs::write(&path, model(&cuts)).expect("written");
        let context = weft::context();
        let unit = Unit::open(&context, &path, Options::default())
            .map_err(|failure| TestCaseError::fail(failure.to_string()))?;
        let models = unit.module().body(0).expect("a body").ops();
        let model = models.into_iter().find(|op| op.is("graph.model")).expect("a model");
        let count: i64 = cuts.iter().map(|cut| cut.extent).product();
        let x: Vec<u8> = (0..count as i32).flat_map(i32::to_le_bytes).collect();
        let weights = &mut |_: &str, _: &str| unreachable!("short lists stand in the text");
        let got = run_model(model, &[x], weights, &mut |_, _| {}).expect("it has a meaning");
        let numbers = got[0].chunks(4).map(|four| i32::from_le_bytes(four.try_into().unwrap()));
        prop_assert_eq!(numbers.collect::<Vec<_>>(), expected(&cuts));
    }
}
