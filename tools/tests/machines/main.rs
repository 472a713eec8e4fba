//! Machines that exist only as text run models.

mod desk;
mod resnet;

#[test]
fn writes_resnet() {
    std::fs::write("/tmp/w/resnet18_64.onnx", resnet::resnet18(64)).unwrap();
}
