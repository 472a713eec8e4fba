//! ResNet-18 with its batch normalisations, and weights of a seed.

use prost::Message;
use weft_onnx::proto::attribute_proto::AttributeType;
use weft_onnx::proto::tensor_proto::DataType;
use weft_onnx::proto::tensor_shape_proto::{Dimension, dimension};
use weft_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, type_proto,
};

/// The model for images of `side` by `side`, as a file's bytes.
pub fn resnet18(side: i64) -> Vec<u8> {
    let mut net = Net { graph: GraphProto::default(), seed: 18, values: 0 };
    net.graph.name = Some("resnet18_bn".to_owned());
    net.graph.input.push(info("image", &[1, 3, side, side]));
    let mut x = net.conv_bn("image", 3, 64, 7, 2);
    x = net.node("Relu", &[&x], vec![]);
    let window =
        vec![ints("kernel_shape", &[3, 3]), ints("strides", &[2, 2]), ints("pads", &[1; 4])];
    x = net.node("MaxPool", &[&x], window);
    let mut channels = 64;
    for (stage, width) in [64, 128, 256, 512].into_iter().enumerate() {
        for block in 0..2 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let mut y = net.conv_bn(&x, channels, width, 3, stride);
            y = net.node("Relu", &[&y], vec![]);
            y = net.conv_bn(&y, width, width, 3, 1);
            let same = stride == 1 && channels == width;
            let skip = if same { x } else { net.conv_bn(&x, channels, width, 1, stride) };
            x = net.node("Add", &[&y, &skip], vec![]);
            x = net.node("Relu", &[&x], vec![]);
            channels = width;
        }
    }
    x = net.node("GlobalAveragePool", &[&x], vec![]);
    x = net.node("Flatten", &[&x], vec![]);
    let weight = net.weight(&[1000, 512], 0.04, 0.0);
    let bias = net.weight(&[1000], 0.1, 0.0);
    net.graph.node.push(NodeProto {
        op_type: Some("Gemm".to_owned()),
        input: vec![x, weight, bias],
        output: vec!["logits".to_owned()],
        attribute: vec![int("transB", 1)],
        ..NodeProto::default()
    });
    net.graph.output.push(info("logits", &[1, 1000]));
    let opset = OperatorSetIdProto { version: Some(18), ..OperatorSetIdProto::default() };
    let model = ModelProto {
        ir_version: Some(9),
        opset_import: vec![opset],
        graph: Some(net.graph),
        ..ModelProto::default()
    };
    model.encode_to_vec()
}

struct Net {
    graph: GraphProto,
    seed: u64,
    values: usize,
}

impl Net {
    fn name(&mut self) -> String {
        self.values += 1;
        format!("v{}", self.values)
    }

    fn node(&mut self, op: &str, inputs: &[&str], attribute: Vec<AttributeProto>) -> String {
        let output = self.name();
        self.graph.node.push(NodeProto {
            op_type: Some(op.to_owned()),
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: vec![output.clone()],
            attribute,
            ..NodeProto::default()
        });
        output
    }

    /// A convolution without bias whose window reaches half over the border, and what normalises its output.
    fn conv_bn(&mut self, x: &str, from: i64, to: i64, k: i64, stride: i64) -> String {
        let gain = (2.0 / (from * k * k) as f32).sqrt();
        let weight = self.weight(&[to, from, k, k], gain * 1.7, 0.0);
        let attributes = vec![
            ints("kernel_shape", &[k, k]),
            ints("strides", &[stride, stride]),
            ints("pads", &[k / 2; 4]),
        ];
        let y = self.node("Conv", &[x, &weight], attributes);
        let scale = self.weight(&[to], 0.1, 0.7);
        let bias = self.weight(&[to], 0.1, 0.0);
        let mean = self.weight(&[to], 0.1, 0.0);
        let variance = self.weight(&[to], 0.1, 1.0);
        self.node("BatchNormalization", &[&y, &scale, &bias, &mean, &variance], vec![])
    }

    /// A weight of numbers that are spread evenly, `spread` around `centre`.
    fn weight(&mut self, dims: &[i64], spread: f32, centre: f32) -> String {
        let name = self.name();
        let count = dims.iter().product::<i64>();
        let mut raw = Vec::with_capacity(4 * count as usize);
        for _ in 0..count {
            // xorshift64*; the high bits are the good ones.
            self.seed ^= self.seed >> 12;
            self.seed ^= self.seed << 25;
            self.seed ^= self.seed >> 27;
            let bits = self.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40;
            let unit = bits as f32 / (1u64 << 23) as f32 - 1.0;
            raw.extend((centre + spread * unit).to_le_bytes());
        }
        self.graph.initializer.push(TensorProto {
            name: Some(name.clone()),
            data_type: Some(DataType::Float.into()),
            dims: dims.to_vec(),
            raw_data: Some(raw.into()),
            ..TensorProto::default()
        });
        name
    }
}

fn info(name: &str, dims: &[i64]) -> ValueInfoProto {
    let dim = |&extent: &i64| Dimension {
        value: Some(dimension::Value::DimValue(extent)),
        ..Dimension::default()
    };
    let shape = TensorShapeProto { dim: dims.iter().map(dim).collect() };
    let tensor = type_proto::Tensor { elem_type: Some(DataType::Float.into()), shape: Some(shape) };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto { value, ..TypeProto::default() }),
        ..ValueInfoProto::default()
    }
}

fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { i: Some(i), ..attribute(name, AttributeType::Int) }
}

fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { ints: ints.to_vec(), ..attribute(name, AttributeType::Ints) }
}

fn attribute(name: &str, ty: AttributeType) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(ty.into()),
        ..AttributeProto::default()
    }
}
