//! Control flow, sequences, optional values and functions: none of them is left in the module.

use weft_onnx::Options;
use weft_onnx::proto::attribute_proto::AttributeType;
use weft_onnx::proto::tensor_proto::DataType;
use weft_onnx::proto::{
    AttributeProto, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto, TypeProto, type_proto,
};

use super::net::{Net, float, info, int};

/// A graph as an attribute.
fn body(name: &str, mut net: Net) -> AttributeProto {
    let graph: GraphProto = net.graph().clone();
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Graph.into()),
        g: Some(graph),
        ..Default::default()
    }
}

/// A body that makes `out` from `x`, which is around it, by one operator.
fn branch(op: &str) -> Net {
    Net::new().node(op, &["x"], &["out"]).output("out")
}

fn condition(net: Net, branches: [Net; 2]) -> Net {
    let [yes, no] = branches;
    let graphs = vec![body("then_branch", yes), body("else_branch", no)];
    net.node_with("If", &["c"], &["y"], graphs)
}

#[test]
fn a_known_condition_takes_one_branch() {
    let net = Net::new().input("x", &["2", "3"]).ints("one", &[1]).node_with(
        "Cast",
        &["one"],
        &["c"],
        vec![int("to", DataType::Bool as i64)],
    );
    let other = branch("NobodyKnows");
    condition(net, [branch("Shape"), other]).gives(DataType::Int64, &["2"]);
}

#[test]
fn a_condition_at_run_time_chooses_between_results() {
    let net = || Net::new().input("x", &["2", "3"]).input_of("c", DataType::Bool, &[]);
    condition(net(), [branch("Neg"), branch("Abs")]).gives(DataType::Float, &["2", "3"]);
    condition(net(), [branch("Neg"), branch("Shape")]).refused("its branches differ");
    condition(net(), [branch("Neg"), branch("Shape")]).refused("float[2x3]");
}

/// A loop body that doubles what it carries and collects it, and goes on while `go` says so.
fn doubling(go: &str) -> Net {
    Net::new()
        .input_of("i", DataType::Int64, &[])
        .input_of("before", DataType::Bool, &[])
        .input("carried", &["2"])
        .node("Identity", &[go], &["after"])
        .node("Add", &["carried", "carried"], &["twice"])
        .node("Neg", &["twice"], &["seen"])
        .output("after")
        .output("twice")
        .output("seen")
}

#[test]
fn a_loop_runs_as_often_as_is_known() {
    let net = |go| {
        Net::new()
            .input("x", &["2"])
            .input_of("run", DataType::Bool, &[])
            .ints("n", &[3])
            .node_with("Loop", &["n", "", "x"], &["last", "y"], vec![body("body", doubling(go))])
    };
    net("before").gives(DataType::Float, &["3", "2"]);
    // As many as a run decides, three at most.
    net("run").gives(DataType::Float, &["3", "2"]);
    net("run").unrolled().refused("a condition says when it runs how many there are");
}

#[test]
fn a_condition_at_run_time_ends_a_loop() {
    let halving = || {
        Net::new()
            .input_of("i", DataType::Int64, &[])
            .input_of("before", DataType::Bool, &[])
            .input("carried", &["2"])
            .node("Identity", &["run"], &["after"])
            .node("Add", &["carried", "carried"], &["twice"])
            .output("after")
            .output("twice")
    };
    let net = || Net::new().input("x", &["2"]).input_of("run", DataType::Bool, &[]).ints("n", &[3]);
    let graph = || vec![body("body", halving())];
    net().node_with("Loop", &["n", "run", "x"], &["y"], graph()).gives(DataType::Float, &["2"]);
    for start in ["run", ""] {
        let open = || net().node_with("Loop", &["", start, "x"], &["y"], graph());
        open().gives(DataType::Float, &["2"]);
        open().unrolled().refused("a condition holds that is only known at run time");
    }
    let endless = || net().node_with("Loop", &["", "", "x"], &["y"], vec![body("body", forever())]);
    endless().refused("loops without end");
}

/// Goes on in every round.
fn forever() -> Net {
    Net::new()
        .input_of("i", DataType::Int64, &[])
        .input_of("before", DataType::Bool, &[])
        .input("carried", &["2"])
        .node("Add", &["carried", "carried"], &["twice"])
        .output("before")
        .output("twice")
}

#[test]
fn a_loop_without_rounds_collects_nothing() {
    let net = Net::new().input("x", &["2"]).ints("n", &[0]);
    let graph = vec![body("body", doubling("before"))];
    net.node_with("Loop", &["n", "", "x"], &["last", "y"], graph)
        .gives(DataType::Float, &["0", "2"]);
}

#[test]
fn loops_that_are_refused() {
    let net = |n: &[i64]| Net::new().input("x", &["2"]).ints("n", n);
    let graph = || vec![body("body", doubling("before"))];
    net(&[1 << 40])
        .node_with("Loop", &["n", "", "x"], &["last", "y"], graph())
        .refused("nothing says how many there may be");
    net(&[1 << 13])
        .node_with("Loop", &["n", "", "x"], &["last", "y"], graph())
        .unrolled()
        .refused("has more than 4096 rounds");
    net(&[2])
        .node_with("Loop", &["n", ""], &["last", "y"], graph())
        .refused("gives 2 inputs to its graph \"body\"");
    net(&[2])
        .node_with("Loop", &["n", "", "x"], &["last", "y", "more"], graph())
        .output("more")
        .refused("it makes 2");
    Net::new()
        .input("x", &["2"])
        .input_of("n", DataType::Int64, &[])
        .node_with("Loop", &["n", "", "x"], &["last", "y"], graph())
        .refused("nothing says how many there may be");
}

/// Adds an element to a sum, and shows it.
fn summing() -> Net {
    Net::new()
        .input("sum", &["2"])
        .input("one", &["2"])
        .node("Add", &["sum", "one"], &["after"])
        .node("Identity", &["after"], &["seen"])
        .output("after")
        .output("seen")
}

#[test]
fn a_scan_goes_along_its_axis() {
    let graph = || vec![body("body", summing()), int("num_scan_inputs", 1)];
    let net = || Net::new().input("s", &["2"]).input("x", &["5", "2"]);
    net()
        .node_with("Scan", &["s", "x"], &["last", "y"], graph())
        .gives(DataType::Float, &["5", "2"]);
    let mut none = graph();
    none[1] = int("num_scan_inputs", 0);
    net().node_with("Scan", &["s", "x"], &["last", "y"], none).refused("scans Some(0)");
    // Version 8 has a batch in front of everything.
    let batched = Net::new().opset(8).input("s", &["3", "2"]).input("x", &["3", "5", "2"]);
    let batched = batched.node_with("Scan", &["", "s", "x"], &["last", "y"], graph());
    batched.gives(DataType::Float, &["3", "5", "2"]);
    let flat = Net::new().opset(8).input("s", &["3", "2"]).input("x", &["3"]);
    let flat = flat.node_with("Scan", &["", "s", "x"], &["last", "y"], graph());
    flat.refused("a batch, and elements behind it");
}

#[test]
fn sequences_are_tuples() {
    let net = || {
        Net::new()
            .input("x", &["7", "2"])
            .ints("sizes", &[3, 3, 1])
            .ints("first", &[0])
            .node("SplitToSequence", &["x", "sizes"], &["parts"])
            .node("SequenceErase", &["parts"], &["two"])
    };
    let join = || vec![int("axis", 1)];
    net()
        .node_with("ConcatFromSequence", &["two"], &["y"], join())
        .gives(DataType::Float, &["3", "4"]);
    net().node("SequenceAt", &["parts", "first"], &["y"]).gives(DataType::Float, &["3", "2"]);
    net().node("Neg", &["parts"], &["y"]).refused("it is a sequence of 3");
    net().node("SequenceLength", &["x"], &["y"]).refused("which is a tensor");
    let net = net().input_of("p", DataType::Int64, &[]);
    net.node("SequenceAt", &["parts", "p"], &["y"]).refused("only known at run time");
}

/// A model with a sequence as its input.
fn of_a_sequence() -> Net {
    let mut net = Net::new();
    let element = info("s", DataType::Float, &["N"]).r#type.map(Box::new);
    let sequence = type_proto::Sequence { elem_type: element };
    let value = Some(type_proto::Value::SequenceType(Box::new(sequence)));
    let mut input = info("s", DataType::Float, &[]);
    input.r#type = Some(TypeProto { value, ..Default::default() });
    net.graph().input.push(input);
    net.node_with("ConcatFromSequence", &["s"], &["y"], vec![int("axis", 0)])
}

#[test]
fn the_length_of_a_sequence_is_given() {
    let net = of_a_sequence();
    net.clone().refused("--tensors s=N");
    let mut options = Options::default();
    options.tensors.insert("s".to_owned(), 2);
    options.add_shape("s.0=3").unwrap();
    options.add_shape("s.1=4").unwrap();
    let net = net.output_of("y", DataType::Float, &["7"]);
    net.check_with(&options).expect("its tensors may have different extents");
}

/// `Scaled(x) { by }`: `LeakyRelu` with that alpha, behind `op`.
fn with_function(op: &str) -> Net {
    let mut net = Net::new().input("x", &["2"]);
    let alpha = AttributeProto { ref_attr_name: Some("by".to_owned()), ..float("alpha", 0.0) };
    let node = |op: &str, domain: &str, input: &str, output: &str, attribute| NodeProto {
        op_type: Some(op.to_owned()),
        domain: Some(domain.to_owned()),
        input: vec![input.to_owned()],
        output: vec![output.to_owned()],
        attribute,
        ..Default::default()
    };
    let domain = if op == "Scaled" { "local" } else { "" };
    net.proto.functions.push(FunctionProto {
        name: Some("Scaled".to_owned()),
        domain: Some("local".to_owned()),
        input: vec!["a".to_owned()],
        output: vec!["b".to_owned()],
        attribute: vec!["by".to_owned()],
        node: vec![
            node(op, domain, "a", "m", vec![]),
            node("LeakyRelu", "", "m", "b", vec![alpha]),
        ],
        opset_import: vec![OperatorSetIdProto { version: Some(18), ..Default::default() }],
        ..Default::default()
    });
    net.graph().node.push(node("Scaled", "local", "x", "y", vec![float("by", 0.5)]));
    net
}

#[test]
fn functions_are_inlined() {
    with_function("Neg").gives(DataType::Float, &["2"]);
    with_function("Scaled").refused("is in a function that calls itself");
    with_function("NobodyKnows").refused("NobodyKnows");
}
