//! Linear index expressions, and affine maps made of them.

use melior::Context;
use melior::ir::{AffineExpr, AffineMap, Attribute, AttributeLike};
use mlir_sys::*;

use super::{Op, attr};

/// `constant + Σ coefficients[axis] · axis`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Linear {
    /// One factor per loop axis.
    pub coefficients: Vec<i64>,
    /// The constant term.
    pub constant: i64,
}

impl Linear {
    /// The number `constant`, over `axes` axes.
    pub fn constant(axes: usize, constant: i64) -> Self {
        Self { coefficients: vec![0; axes], constant }
    }

    /// The axis `axis` itself.
    pub fn axis(axes: usize, axis: usize) -> Self {
        Self::constant(axes, 0).plus(axis, 1)
    }

    /// Adds `factor · axis`.
    pub fn plus(mut self, axis: usize, factor: i64) -> Self {
        self.coefficients[axis] += factor;
        self
    }

    /// Adds a number.
    pub fn offset(mut self, constant: i64) -> Self {
        self.constant += constant;
        self
    }

    /// Multiplies everything.
    pub fn scale(mut self, factor: i64) -> Self {
        self.coefficients.iter_mut().for_each(|coefficient| *coefficient *= factor);
        self.constant *= factor;
        self
    }

    /// Sum of two expressions over the same axes.
    #[expect(clippy::should_implement_trait, reason = "takes a reference, for chains of calls")]
    pub fn add(mut self, other: &Self) -> Self {
        for (own, others) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *own += others;
        }
        self.constant += other.constant;
        self
    }

    /// The expression in terms of what each of its axes is now, over `axes` others.
    pub fn in_terms_of(&self, axes: usize, now: &[Self]) -> Self {
        let start = Self::constant(axes, self.constant);
        let terms = self.coefficients.iter().zip(now);
        terms.fold(start, |sum, (&factor, axis)| sum.add(&axis.clone().scale(factor)))
    }

    /// The axis, where the expression is that axis and nothing else.
    pub fn as_axis(&self) -> Option<usize> {
        let mut found = None;
        for (axis, &coefficient) in self.coefficients.iter().enumerate() {
            match (coefficient, found) {
                (0, _) => {}
                (1, None) => found = Some(axis),
                _ => return None,
            }
        }
        found.filter(|_| self.constant == 0)
    }

    /// The axis, where the expression is that axis and a number.
    pub fn as_moved_axis(&self) -> Option<usize> {
        self.clone().offset(-self.constant).as_axis()
    }

    /// Whether no axis is in the expression.
    pub fn is_constant(&self) -> bool {
        self.coefficients.iter().all(|&coefficient| coefficient == 0)
    }

    /// Smallest and largest value while each axis runs from zero below its extent.
    pub fn range(&self, extents: &[u64]) -> (i64, i64) {
        let (mut low, mut high) = (self.constant, self.constant);
        for (&coefficient, &extent) in self.coefficients.iter().zip(extents) {
            let reach = coefficient * (extent as i64 - 1);
            low += reach.min(0);
            high += reach.max(0);
        }
        (low, high)
    }

    /// The value at a point.
    pub fn at(&self, point: &[i64]) -> i64 {
        self.constant + self.coefficients.iter().zip(point).map(|(a, b)| a * b).sum::<i64>()
    }

    fn to_expr<'c>(&self, context: &'c Context) -> AffineExpr<'c> {
        let mut sum: Option<AffineExpr<'c>> = None;
        for (axis, &coefficient) in self.coefficients.iter().enumerate() {
            if coefficient == 0 {
                continue;
            }
            let dim = AffineExpr::dim(context, axis);
            let term = if coefficient == 1 {
                dim
            } else {
                dim * AffineExpr::constant(context, coefficient)
            };
            sum = Some(match sum {
                Some(sum) => sum + term,
                None => term,
            });
        }
        match sum {
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => sum + AffineExpr::constant(context, self.constant),
            None => AffineExpr::constant(context, self.constant),
        }
    }

    fn of_expr(axes: usize, expr: AffineExpr<'_>) -> Option<Self> {
        if expr.is_constant() {
            return Some(Self::constant(axes, expr.constant_value()));
        }
        if expr.is_dim() {
            return Some(Self::axis(axes, expr.dim_position()));
        }
        if expr.is_add() {
            return Some(Self::of_expr(axes, expr.lhs())?.add(&Self::of_expr(axes, expr.rhs())?));
        }
        if expr.is_mul() {
            let (left, right) =
                (Self::of_expr(axes, expr.lhs())?, Self::of_expr(axes, expr.rhs())?);
            if right.coefficients.iter().all(|&coefficient| coefficient == 0) {
                return Some(left.scale(right.constant));
            }
            if left.coefficients.iter().all(|&coefficient| coefficient == 0) {
                return Some(right.scale(left.constant));
            }
        }
        None
    }
}

/// An affine map attribute over `axes` axes, one expression per result.
pub fn map<'c>(context: &'c Context, axes: usize, results: &[Linear]) -> Attribute<'c> {
    let exprs: Vec<_> = results.iter().map(|result| result.to_expr(context)).collect();
    let map = AffineMap::new(context, axes, 0, &exprs);
    // SAFETY: the map belongs to the context.
    unsafe { Attribute::from_raw(mlirAffineMapAttrGet(map.to_raw())) }
}

/// The expressions of an affine map attribute; `None` where one is not linear.
pub fn linear(attribute: Attribute<'_>) -> Option<Vec<Linear>> {
    // SAFETY: checked to be an affine map.
    let map = unsafe {
        let raw = attribute.to_raw();
        if !mlirAttributeIsAAffineMap(raw) {
            return None;
        }
        AffineMap::from_raw(mlirAffineMapAttrGetValue(raw))
    };
    if map.symbol_count() != 0 {
        return None;
    }
    (0..map.result_count())
        .map(|index| Linear::of_expr(map.dim_count(), map.result(index).ok()?))
        .collect()
}

/// The values of an `affine.for`'s counter; `None` where its bounds are no numbers.
pub fn rounds(op: Op<'_>) -> Option<Vec<i64>> {
    let bound = |name| match &linear(op.attr(name)?)?[..] {
        [one] if one.coefficients.is_empty() => Some(one.constant),
        _ => None,
    };
    let step =
        usize::try_from(op.attr("step").and_then(attr::int)?).ok().filter(|step| *step > 0)?;
    Some((bound("lowerBoundMap")?..bound("upperBoundMap")?).step_by(step).collect())
}

/// Number of dimensions of an affine map attribute.
pub fn axes(attribute: Attribute<'_>) -> Option<usize> {
    // SAFETY: checked to be an affine map.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAAffineMap(raw)
            .then(|| mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(raw)) as usize)
    }
}

/// The values of an affine map attribute at a point; `None` for a map with symbols, of another
/// number of dimensions, or that divides by zero there. For many points see [`Points`].
pub fn evaluate(attribute: Attribute<'_>, point: &[i64]) -> Option<Vec<i64>> {
    Points::of(attribute)?.at(point)
}

/// An affine map that is evaluated at many points.
#[derive(Clone, Debug)]
pub struct Points {
    axes: usize,
    results: Vec<Tree>,
}

impl Points {
    /// `None` for an attribute that is no affine map.
    pub fn of(attribute: Attribute<'_>) -> Option<Self> {
        Some(Self { axes: axes(attribute)?, results: trees(attribute)? })
    }

    /// Numbers of a result.
    pub fn dims(&self) -> usize {
        self.results.len()
    }

    /// As [`evaluate`].
    pub fn at(&self, point: &[i64]) -> Option<Vec<i64>> {
        let right = point.len() == self.axes;
        right.then(|| self.results.iter().map(|tree| value_of(tree, point)).collect())?
    }
}

fn value_of(tree: &Tree, point: &[i64]) -> Option<i64> {
    let (op, left, right) = match tree {
        Tree::Constant(number) => return Some(*number),
        Tree::Operand(place) => return point.get(*place).copied(),
        Tree::Binary(op, left, right) => (op, value_of(left, point)?, value_of(right, point)?),
    };
    match op {
        TreeOp::Add => left.checked_add(right),
        TreeOp::Mul => left.checked_mul(right),
        _ if right <= 0 => None,
        TreeOp::Mod => Some(left.rem_euclid(right)),
        TreeOp::FloorDiv => Some(left.div_euclid(right)),
        TreeOp::CeilDiv => Some(-(-left).div_euclid(right)),
    }
}

/// An expression of an affine map, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A number.
    Constant(i64),
    /// An operand of the map: dimensions first, then symbols.
    Operand(usize),
    /// One of `+`, `*`, `floordiv`, `ceildiv` and `mod`, on two expressions.
    Binary(TreeOp, Box<Tree>, Box<Tree>),
}

/// The operation of an affine expression on two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TreeOp {
    Add,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
}

/// The expressions of an affine map attribute.
pub fn trees(attribute: Attribute<'_>) -> Option<Vec<Tree>> {
    axes(attribute)?;
    // SAFETY: checked to be an affine map.
    let map = unsafe { AffineMap::from_raw(mlirAffineMapAttrGetValue(attribute.to_raw())) };
    let dims = map.dim_count();
    (0..map.result_count()).map(|index| Some(tree(dims, map.result(index).ok()?))).collect()
}

fn tree(dims: usize, expr: AffineExpr<'_>) -> Tree {
    if expr.is_constant() {
        return Tree::Constant(expr.constant_value());
    }
    if expr.is_dim() {
        return Tree::Operand(expr.dim_position());
    }
    if expr.is_symbol() {
        return Tree::Operand(dims + expr.symbol_position());
    }
    let op = if expr.is_add() {
        TreeOp::Add
    } else if expr.is_mul() {
        TreeOp::Mul
    } else if expr.is_mod() {
        TreeOp::Mod
    } else if expr.is_floor_div() {
        TreeOp::FloorDiv
    } else {
        TreeOp::CeilDiv
    };
    Tree::Binary(op, Box::new(tree(dims, expr.lhs())), Box::new(tree(dims, expr.rhs())))
}

/// One affine map attribute for each result of an affine map attribute.
pub fn results<'c>(attribute: Attribute<'c>) -> Option<Vec<Attribute<'c>>> {
    axes(attribute)?;
    // SAFETY: checked to be an affine map; positions are inside its results.
    unsafe {
        let map = mlirAffineMapAttrGetValue(attribute.to_raw());
        (0..mlirAffineMapGetNumResults(map))
            .map(|mut place| {
                let one = mlirAffineMapGetSubMap(map, 1, &raw mut place);
                Some(Attribute::from_raw(mlirAffineMapAttrGet(one)))
            })
            .collect()
    }
}
