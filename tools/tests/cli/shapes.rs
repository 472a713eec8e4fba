//! Extents that a model leaves open.

use weft_onnx::proto::tensor_shape_proto::dimension::Value::DimParam;
use weft_runtime::npz;
use weft_runtime::{DType, Tensor};

use super::{fails, folder, model_of, succeeds, write};

/// The tensors that a model is run on say its extents; the option is for who has none.
#[test]
fn inputs_say_their_extents() {
    let folder = folder();
    write(&folder, "open.onnx", model_of("Neg", DimParam("batch".to_owned())));
    let given = Tensor { dtype: DType::F32, shape: vec![3], bytes: vec![0; 12] };
    for (file, name) in [("named.npz", "x"), ("numbered.npz", "arr_0")] {
        npz::write(&folder.path().join(file), [(name, &given)]).expect("written");
        let text = succeeds(folder.path(), &["run", "open.onnx", "--inputs", file]);
        assert!(text.contains("y: float32 [3]"), "{text}");
    }
    fails(folder.path(), &["run", "open.onnx"], &["--shape x=N"]);
    let shape = ["run", "open.onnx", "--inputs", "named.npz", "--shape", "x=4"];
    fails(folder.path(), &shape, &["[3]", "[4]"]);
    npz::write(&folder.path().join("other.npz"), [("z", &given)]).expect("written");
    fails(folder.path(), &["run", "open.onnx", "--inputs", "other.npz"], &["--shape x=N"]);
}
