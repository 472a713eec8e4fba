//! Operators of `ai.onnx.ml`.

use std::slice::from_ref;

use crate::net::{
    Node, as_floats, check, floats, floats_of, int, ints_of, longs, refused, run, text, texts,
};

#[test]
fn features_of_numbers() {
    let x = floats(&[2, 2], &[1.0, -4.0, 3.0, 0.0]);
    let attributes = [floats_of("offset", &[1.0, 0.0]), floats_of("scale", &[2.0])];
    let scaler = Node("ai.onnx.ml.Scaler", &attributes);
    check(&scaler, from_ref(&x), &[vec![0.0, -8.0, 4.0, 0.0]]);
    let attributes = [text("norm", "L1")];
    check(&Node("ai.onnx.ml.Normalizer", &attributes), from_ref(&x), &[vec![0.2, -0.8, 1.0, 0.0]]);
    let attributes = [text("norm", "L3")];
    refused(&Node("ai.onnx.ml.Normalizer", &attributes), from_ref(&x), "MAX, L1 or L2");
    check(&Node("ai.onnx.ml.Binarizer", &[]), from_ref(&x), &[vec![1.0, 0.0, 1.0, 0.0]]);
    let indices = longs(&[2], &[1, 0]);
    let extract = Node("ai.onnx.ml.ArrayFeatureExtractor", &[]);
    check(&extract, &[x.clone(), indices], &[vec![-4.0, 1.0, 0.0, 3.0]]);
    let attributes = [floats_of("imputed_value_floats", &[7.0]), int("replaced_value_int64", 0)];
    check(&Node("ai.onnx.ml.Imputer", &attributes), from_ref(&x), &[vec![1.0, -4.0, 3.0, 7.0]]);
    let joined = Node("ai.onnx.ml.FeatureVectorizer", &[]);
    let both = vec![1.0, -4.0, 1.0, -4.0, 3.0, 0.0, 3.0, 0.0];
    check(&joined, &[x.clone(), x], &[both]);
}

#[test]
fn linear_models() {
    let x = floats(&[2, 2], &[1.0, 2.0, 3.0, -1.0]);
    let attributes = [floats_of("coefficients", &[2.0, -1.0]), floats_of("intercepts", &[0.5])];
    check(&Node("ai.onnx.ml.LinearRegressor", &attributes), from_ref(&x), &[vec![0.5, 7.5]]);
    let labels = [ints_of("classlabels_ints", &[10, 20]), text("post_transform", "LOGISTIC")];
    let all = [&attributes[..], &labels].concat();
    let got = run(&Node("ai.onnx.ml.LinearClassifier", &all), from_ref(&x), 2).expect("it runs");
    assert_eq!(got[0][0], 20);
    let logistic = |x: f64| 1.0 / (1.0 + f64::exp(-x));
    let scores = as_floats(&got[1]);
    for (score, x) in scores.iter().zip([-0.5, 0.5, -7.5, 7.5]) {
        assert!((f64::from(*score) - logistic(x)).abs() < 1e-5, "{scores:?}");
    }
    let texts = [&attributes[..], &[texts("classlabels_strings", &["a", "b"])]].concat();
    refused(&Node("ai.onnx.ml.LinearClassifier", &texts), &[x], "labels that are texts");
}

/// Two trees: `x0 <= 1 ? 10 : 20`, and `x1 > 0 ? (x0 < 0 ? 1 : 2) : 3`.
#[test]
fn trees() {
    let attributes = [
        ints_of("nodes_treeids", &[0, 0, 0, 1, 1, 1, 1, 1]),
        ints_of("nodes_nodeids", &[0, 1, 2, 0, 1, 2, 3, 4]),
        ints_of("nodes_featureids", &[0, 0, 0, 1, 0, 0, 0, 0]),
        ints_of("nodes_truenodeids", &[1, 0, 0, 1, 3, 0, 0, 0]),
        ints_of("nodes_falsenodeids", &[2, 0, 0, 2, 4, 0, 0, 0]),
        floats_of("nodes_values", &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        texts(
            "nodes_modes",
            &["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "BRANCH_LT", "LEAF", "LEAF", "LEAF"],
        ),
        ints_of("target_treeids", &[0, 0, 1, 1, 1]),
        ints_of("target_nodeids", &[1, 2, 2, 3, 4]),
        ints_of("target_ids", &[0; 5]),
        floats_of("target_weights", &[10.0, 20.0, 3.0, 1.0, 2.0]),
        floats_of("base_values", &[0.5]),
    ];
    let x = floats(&[3, 2], &[1.0, 1.0, 2.0, -1.0, -1.0, 5.0]);
    let regressor = Node("ai.onnx.ml.TreeEnsembleRegressor", &attributes);
    check(&regressor, from_ref(&x), &[vec![12.5, 23.5, 11.5]]);
    let average = [&attributes[..], &[text("aggregate_function", "AVERAGE")]].concat();
    let averaged = Node("ai.onnx.ml.TreeEnsembleRegressor", &average);
    check(&averaged, from_ref(&x), &[vec![6.5, 12.0, 6.0]]);
    // As a classifier of two classes with one score: a share, where no weight is negative.
    let classes: Vec<_> = attributes[..7]
        .iter()
        .cloned()
        .chain([
            ints_of("class_treeids", &[0, 0, 1, 1, 1]),
            ints_of("class_nodeids", &[1, 2, 2, 3, 4]),
            ints_of("class_ids", &[0; 5]),
            floats_of("class_weights", &[0.25, 0.5, 0.0, 0.125, 0.375]),
            ints_of("classlabels_int64s", &[4, 9]),
        ])
        .collect();
    let classifier = Node("ai.onnx.ml.TreeEnsembleClassifier", &classes);
    let got = run(&classifier, from_ref(&x), 2).expect("it runs");
    assert_eq!(as_floats(&got[1]), [0.375, 0.625, 0.5, 0.5, 0.625, 0.375]);
    assert_eq!(got[0].iter().step_by(8).copied().collect::<Vec<_>>(), [9, 4, 4]);
    let narrow = floats(&[3, 1], &[1.0, 2.0, 3.0]);
    refused(&regressor, &[narrow], "batch and features");
}
