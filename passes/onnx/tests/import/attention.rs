//! Attention and the embedding of positions.

use crate::net::{Net, int};

use weft_onnx::Options;
use weft_onnx::proto::tensor_proto::DataType;
use weft_onnx::proto::{AttributeProto, OperatorSetIdProto};

const FLOAT: DataType = DataType::Float;

fn attend(q: &[&str], k: &[&str], v: &[&str], attributes: Vec<AttributeProto>) -> Net {
    let net = Net::new().opset(24).input("q", q).input("k", k).input("v", v);
    net.node_with("Attention", &["q", "k", "v"], &["y"], attributes)
}

#[test]
fn heads() {
    attend(&["2", "6", "5", "8"], &["2", "3", "7", "8"], &["2", "3", "7", "9"], vec![])
        .gives(FLOAT, &["2", "6", "5", "9"]);
    let joined = || vec![int("q_num_heads", 6), int("kv_num_heads", 3)];
    attend(&["2", "5", "48"], &["2", "7", "24"], &["2", "7", "27"], joined())
        .gives(FLOAT, &["2", "5", "54"]);
    attend(&["2", "5", "48"], &["2", "7", "24"], &["2", "7", "27"], vec![])
        .refused("a number of heads that divides the last");
    attend(&["2", "4", "5", "8"], &["2", "3", "7", "8"], &["2", "3", "7", "9"], vec![])
        .refused("heads of K and V that divide those of Q");
    attend(&["2", "6", "5", "8"], &["2", "3", "7", "8"], &["2", "3", "6", "9"], vec![])
        .refused("K and V of other extents");
    let window = |keys: i64| {
        let dims = ["2", "3", "5", "8"];
        attend(&dims, &dims, &dims, vec![int("left_window_size", keys)])
    };
    window(-1).gives(FLOAT, &["2", "3", "5", "8"]);
    window(-2).refused("a number of keys, or -1 for all");
}

#[test]
fn caches_and_masks() {
    let net = |past: &[&str], mask: &[&str], output: &str| {
        let dims = ["1", "2", "3", "4"];
        let net = Net::new().opset(24).input("q", &dims).input("k", &dims).input("v", &dims);
        let net = net.input("past", past).input("m", mask);
        let mut outputs = vec!["a", "b", "c", "d"];
        let at = outputs.iter().position(|&name| name == output).expect("one of the outputs");
        outputs[at] = "y";
        net.node("Attention", &["q", "k", "v", "m", "past", "past"], &outputs)
    };
    let past = ["1", "2", "5", "4"];
    net(&past, &["3", "8"], "b").gives(FLOAT, &["1", "2", "8", "4"]);
    net(&past, &["1", "2", "3", "6"], "d").gives(FLOAT, &["1", "2", "3", "8"]);
    net(&past, &["8"], "a").gives(FLOAT, &["1", "2", "3", "4"]);
    net(&past, &["4", "8"], "a").refused("what broadcasts to 1x2x3x8");
    net(&["1", "3", "5", "4"], &["3", "8"], "a").refused("batch, heads and width as in K and V");
}

#[test]
fn positions() {
    let turn = |x: &[&str], cache: &[&str], attributes| {
        let net = Net::new().opset(23).input("x", x).input("c", cache).input("s", cache);
        net.node_with("RotaryEmbedding", &["x", "c", "s"], &["y"], attributes)
    };
    turn(&["2", "3", "5", "8"], &["2", "5", "4"], vec![]).gives(FLOAT, &["2", "3", "5", "8"]);
    let heads = || vec![int("num_heads", 3), int("rotary_embedding_dim", 6)];
    turn(&["2", "5", "24"], &["2", "5", "3"], heads()).gives(FLOAT, &["2", "5", "24"]);
    turn(&["2", "5", "24"], &["2", "5", "4"], heads()).refused("3 numbers for each position");
    turn(&["2", "5", "24"], &["2", "5", "4"], vec![]).refused("a num_heads that divides the last");
    let odd = vec![int("rotary_embedding_dim", 3)];
    turn(&["2", "3", "5", "8"], &["2", "5", "4"], odd).refused("an even number of them");
}

/// A step of one token with a cache of `past` positions that declares to make one of `room`.
fn step(past: &str, room: &str) -> Net {
    let cache = ["1", "2", past, "8"];
    let mut net = Net::new()
        .input("q", &["1", "1", "32"])
        .input("k", &["1", "1", "16"])
        .input("past", &cache)
        .input_of("lengths", DataType::Int32, &["1"])
        .input_of("total", DataType::Int32, &["1"])
        .output_of("present", FLOAT, &["1", "2", room, "8"]);
    let operands = ["q", "k", "k", "past", "past", "lengths", "total"];
    let heads = vec![int("num_heads", 4), int("kv_num_heads", 2)];
    net = net.node_with("GroupQueryAttention", &operands, &["y", "present"], heads);
    net.graph().node[0].domain = Some("com.microsoft".to_owned());
    net.proto
        .opset_import
        .push(OperatorSetIdProto { domain: Some("com.microsoft".to_owned()), version: Some(1) });
    net
}

#[test]
fn room_that_the_model_declares() {
    step("7", "7").gives(FLOAT, &["1", "1", "32"]);
    step("7", "8").gives(FLOAT, &["1", "1", "32"]);
    step("7", "9").refused("1 to 8");
    step("7", "?").refused("needs to be known at compile time");
    let mut options = Options::default();
    options.add_shape("past=1x2x7x8").expect("a shape");
    step("most", "most").output("y").check_with(&options).expect("one name is one extent");
    let error = step("old", "all").output("y").check_with(&options).expect_err("two names are not");
    assert!(error.to_string().contains("needs to be known at compile time"), "{error}");
}
