//! Equations that can be read, and those that cannot.

use crate::net::{Net, text};

use weft_onnx::proto::tensor_proto::DataType;

fn sum(equation: &str, operands: &[&[&str]]) -> Net {
    let names: Vec<_> = (0..operands.len()).map(|at| format!("x{at}")).collect();
    let mut net = Net::new();
    for (name, dims) in names.iter().zip(operands) {
        net = net.input(name, dims);
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    net.node_with("Einsum", &names, &["y"], vec![text("equation", equation)])
}

fn gives(equation: &str, operands: &[&[&str]], dims: &[&str]) {
    sum(equation, operands).gives(DataType::Float, dims);
}

#[test]
fn products() {
    gives("bij, bjk -> bik", &[&["2", "3", "4"], &["2", "4", "5"]], &["2", "3", "5"]);
    gives("i,j,k->kij", &[&["2"], &["3"], &["4"]], &["4", "2", "3"]);
    // Without a right side: what stands once, by the alphabet.
    gives("ba,ac", &[&["2", "3"], &["3", "4"]], &["2", "4"]);
    gives("ba", &[&["2", "3"]], &["3", "2"]);
    gives("ii->i", &[&["3", "3"]], &["3"]);
    gives("ij->", &[&["3", "4"]], &[]);
}

#[test]
fn open_axes() {
    gives("...ij,...jk->...ik", &[&["7", "2", "3"], &["3", "4"]], &["7", "2", "4"]);
    gives("...i->...", &[&["7", "2", "3"]], &["7", "2"]);
    gives("a...,b...", &[&["2", "5"], &["3", "1"]], &["5", "2", "3"]);
}

#[test]
fn refusals() {
    let refused = |equation, told| {
        sum(equation, &[&["2", "3"], &["3", "4"]]).refused(told);
    };
    for equation in ["ij->ij", "ij,jkl->ik", "ij,jk->iz", "ij,jk->ii", "i1,jk->i", ""] {
        refused(equation, "a letter for each dimension");
    }
    refused("ij,ik->jk", "an axis of both 2 and 3 elements");
}
