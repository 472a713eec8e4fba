//! Determinants, by elimination with the greatest pivot of each column.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Build, Tensor, computed, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[op("Det", 11, 1, &[], det)];

/// The most rows: each is a step of its own.
const ROWS_MAX: i64 = 256;

fn det(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let (lead, rows) = match x.dims() {
        [lead @ .., rows, columns] if rows == columns => (lead.to_vec(), *rows),
        _ => {
            let report = node.report(format!("reads {}", x.ty));
            return Err(report.help("square matrices").invalid());
        }
    };
    if rows > ROWS_MAX {
        let report = node.report(format!("reads matrices of {rows} rows"));
        return Err(report
            .help(format!("at most {ROWS_MAX}, for steps are unrolled"))
            .unsupported());
    }
    let element = x.element();
    let result = node.ty(element, lead.clone())?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let batch: i64 = lead.iter().product();
        let number = computed(element);
        if batch == 0 {
            return vec![b.empty(element, &lead)];
        }
        let x = b.reshape(&args[0], &[batch, rows, rows]);
        let mut rest = b.cast(&x, number);
        let mut product = b.fill(number, &[batch], Scalar::Int(1));
        while rest.dims()[1] > 0 {
            let place = pivot(b, &rest);
            (rest, product) = eliminated(b, &rest, &place, &product);
        }
        let product = b.cast(&product, element);
        vec![b.reshape(&product, &lead)]
    }))
}

/// The row with the greatest number in the first column.
fn pivot<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
    let (batch, rows) = (x.dims()[0], x.dims()[1]);
    let best = b.fill(x.element(), &[batch], Scalar::Int(-1));
    let place = b.fill(ElementType::I64, &[batch], Scalar::Int(0));
    let own = vec![Linear::axis(2, 0)];
    let column = vec![Linear::axis(2, 0), Linear::axis(2, 1), Linear::constant(2, 0)];
    let outputs = [(&best, own.clone()), (&place, own)];
    let axes = [Axis::Parallel, Axis::Reduction];
    let found = b.nest(&axes, &[batch, rows], &[(x, column)], &outputs, |calc, given| {
        let size = calc.abs(given[0]);
        let here = calc.index(1);
        let here = calc.counted(here, ElementType::I64);
        let better = calc.gt(size, given[1]);
        vec![calc.select(better, size, given[1]), calc.select(better, here, given[2])]
    });
    found.into_iter().nth(1).expect("two outputs give two results")
}

/// What is left without the pivot's row and the first column, and the product with the pivot.
fn eliminated<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    place: &Tensor<'c>,
    product: &Tensor<'c>,
) -> (Tensor<'c>, Tensor<'c>) {
    let (batch, rows) = (x.dims()[0], x.dims()[1]);
    let number = x.element();
    let inputs = [(product, identity(1)), (place, identity(1))];
    let product = b.map_at(number, &[batch], &inputs, |calc, given| {
        let (row, zero) = (calc.coordinate(given[1]), calc.at(0));
        let here = calc.index(0);
        let found = calc.extract(x, &[here, row, zero]);
        let found = calc.loaded(found);
        // The first row takes the pivot's place: that turns the sign.
        let (stays, turned) = (calc.eq(row, zero), calc.neg(found));
        let factor = calc.select(stays, found, turned);
        calc.mul(given[0], factor)
    });
    let dims = [batch, rows - 1, rows - 1];
    let inputs = [(place, vec![Linear::axis(3, 0)])];
    let rest = b.map_at(number, &dims, &inputs, |calc, given| {
        let (image, zero, one) = (calc.index(0), calc.at(0), calc.at(1));
        let pivot = calc.coordinate(given[0]);
        let (row, column) = (calc.index(1), calc.index(2));
        let (row, column) = (calc.add(row, one), calc.add(column, one));
        let swapped = calc.eq(row, pivot);
        let row = calc.select(swapped, zero, row);
        let places = [[row, column], [row, zero], [pivot, column], [pivot, zero]];
        let [own, first, above, corner] = places.map(|[row, column]| {
            let found = calc.extract(x, &[image, row, column]);
            calc.loaded(found)
        });
        // Without a pivot the product is zero already.
        let (nothing, unit) = (calc.like(corner, 0.0), calc.like(corner, 1.0));
        let singular = calc.eq(corner, nothing);
        let corner = calc.select(singular, unit, corner);
        let factor = calc.div(first, corner);
        let part = calc.mul(factor, above);
        calc.sub(own, part)
    });
    (rest, product)
}
