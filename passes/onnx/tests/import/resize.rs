//! How far Resize goes, and what it says when it cannot know.

use crate::net::{Net, float, int, ints, tensor, text};

use weft_onnx::proto::tensor_proto::DataType;
use weft_onnx::proto::{AttributeProto, TensorProto};

const FLOAT: DataType = DataType::Float;

fn numbers(net: Net, name: &str, numbers: &[f32]) -> Net {
    let of = tensor(name, FLOAT, &[numbers.len() as i64]);
    net.initializer(TensorProto { float_data: numbers.to_vec(), ..of })
}

fn image() -> Net {
    Net::new().opset(19).input("x", &["1", "2", "5", "7"])
}

fn scaled(scales: &[f32], attributes: Vec<AttributeProto>) -> Net {
    let net = numbers(image(), "scales", scales);
    net.node_with("Resize", &["x", "", "scales"], &["y"], attributes)
}

fn sized(sizes: &[i64], attributes: Vec<AttributeProto>) -> Net {
    let net = image().ints("sizes", sizes);
    net.node_with("Resize", &["x", "", "", "sizes"], &["y"], attributes)
}

#[test]
fn by_scales() {
    scaled(&[1.0, 1.0, 2.0, 2.0], vec![]).gives(FLOAT, &["1", "2", "10", "14"]);
    // A part of an element is cut off.
    scaled(&[1.0, 1.0, 0.5, 1.3], vec![]).gives(FLOAT, &["1", "2", "2", "9"]);
    let some = vec![ints("axes", &[-1, 2]), text("mode", "linear")];
    scaled(&[3.0, 0.6], some).gives(FLOAT, &["1", "2", "3", "21"]);
}

#[test]
fn by_sizes() {
    sized(&[1, 2, 9, 4], vec![text("mode", "cubic")]).gives(FLOAT, &["1", "2", "9", "4"]);
    let keep = |policy| vec![ints("axes", &[2, 3]), text("keep_aspect_ratio_policy", policy)];
    sized(&[10, 10], keep("not_larger")).gives(FLOAT, &["1", "2", "7", "10"]);
    sized(&[10, 10], keep("not_smaller")).gives(FLOAT, &["1", "2", "10", "14"]);
    sized(&[1, 2, 0, 4], vec![]).gives(FLOAT, &["1", "2", "0", "4"]);
}

#[test]
fn every_way_is_planned() {
    let coordinates =
        ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"];
    for mode in ["nearest", "linear", "cubic"] {
        for way in coordinates {
            for (size, name) in [(1, "1"), (3, "3"), (11, "11")] {
                let attributes =
                    vec![text("mode", mode), text("coordinate_transformation_mode", way)];
                sized(&[1, 2, size, 7], attributes).gives(FLOAT, &["1", "2", name, "7"]);
            }
        }
    }
}

#[test]
fn the_nearest_may_be_of_any_type() {
    let net = |mode| {
        let net = Net::new().input_of("x", DataType::Uint8, &["4"]).ints("sizes", &[8]);
        net.node_with("Resize", &["x", "", "", "sizes"], &["y"], vec![text("mode", mode)])
    };
    net("nearest").gives(DataType::Uint8, &["8"]);
    net("linear").refused("float16, bfloat16, float, double");
}

#[test]
fn refusals() {
    scaled(&[1.0, 1.0, 2.0], vec![]).refused("4 finite numbers");
    scaled(&[1.0, 1.0, 0.0, 2.0], vec![]).refused("either 4 scales above 0 or 4 sizes");
    image().node("Resize", &["x"], &["y"]).refused("either 4 scales above 0 or 4 sizes");
    sized(&[1, 2, 5], vec![]).refused("either 4 scales above 0 or 4 sizes");
    scaled(&[1.0; 4], vec![text("mode", "area")]).refused("nearest, linear, cubic");
    let ways = vec![text("coordinate_transformation_mode", "tf_half_pixel_for_nn")];
    scaled(&[1.0; 4], ways).refused("half_pixel, half_pixel_symmetric");
    scaled(&[1.0; 4], vec![text("nearest_mode", "up")]).refused("round_prefer_floor");
    scaled(&[1.0; 4], vec![int("antialias", 1)]).refused("mode linear or cubic");
    let crop = vec![
        text("coordinate_transformation_mode", "tf_crop_and_resize"),
        float("extrapolation_value", 9.0),
    ];
    scaled(&[1.0; 4], crop).refused("crops without \"roi\"");
    sized(&[1, 2, 1 << 40, 7], vec![]).refused("at most 4194304 places to read");
    let net = Net::new().input("x", &["0", "3"]).ints("sizes", &[2, 3]);
    net.node("Resize", &["x", "", "", "sizes"], &["y"]).refused("makes 2 elements of none");
}

#[test]
fn scales_that_only_a_run_knows() {
    let net = image().input("scales", &["4"]).node("Resize", &["x", "", "scales"], &["y"]);
    let error = net.output("y").check().unwrap_err();
    assert!(error.is_unsupported());
    assert!(error.to_string().contains("needs to be known at compile time"), "{error}");
}
