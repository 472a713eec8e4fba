//! Operators that give an element another type.

use weft_runtime::narrow::{Rounding, Specials};

use super::elementwise::{elementwise, fold_each};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Calc, Num, computed, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("BitCast", 26, 1, &["to"], bit_cast),
    op("Cast", 6, 1, &["to", "saturate", "round_mode"], cast),
    op("CastLike", 15, 2, &["saturate", "round_mode"], cast_like),
];

/// The type that the attribute `to` names.
fn target(node: &Node<'_>) -> Result<ElementType> {
    let code = node.int("to")?.ok_or_else(|| node.invalid("lacks the attribute \"to\""))?;
    ElementType::from_onnx(i32::try_from(code).unwrap_or(-1), &node.result_name())
}

fn cast(node: &Node<'_>) -> Result<Plan> {
    to(node, target(node)?)
}

/// Plans the same bytes as another type.
fn bit_cast(node: &Node<'_>) -> Result<Plan> {
    let (x, element) = (node.input(0, "input")?, target(node)?);
    // A bool takes a byte here.
    let width =
        |element: ElementType| if element == ElementType::Bool { 8 } else { element.bits() };
    if width(x.element()) != width(element) || element == ElementType::Bool {
        return Err(node
            .report(format!("takes the bits of {} for {element}", x.ty))
            .help("a number of the same width")
            .invalid());
    }
    let result = node.ty(element, x.dims().to_vec())?;
    Ok(Plan::new(vec![x.clone()], vec![result.clone()], move |b, args| {
        let inputs = [(&args[0], identity(result.rank()))];
        vec![b.move_at(element, result.dims(), &inputs, |calc, x| calc.bits_as(x[0], element))]
    }))
}

fn cast_like(node: &Node<'_>) -> Result<Plan> {
    to(node, node.input(1, "target_type")?.element())
}

/// Plans a tensor of another element type.
pub fn to(node: &Node<'_>, element: ElementType) -> Result<Plan> {
    let x = node.input(0, "input")?;
    let rounds = Rounds::of(node, element)?;
    let plan = elementwise(node, &[x], element, move |calc, x| rounds.apply(calc, x[0]))?;
    Ok(fold_each(plan, &[x], move |x| rounds.fold(x[0])))
}

/// What becomes of numbers that a type does not have.
#[derive(Clone, Copy)]
pub struct Rounds {
    /// The type.
    pub element: ElementType,
    /// Whether what is too large for a narrow float becomes its greatest number.
    pub saturates: bool,
    /// How numbers become powers of two.
    rounding: Rounding,
}

impl Rounds {
    /// As the standard does it unless told otherwise.
    pub fn to(element: ElementType) -> Self {
        Self { element, saturates: true, rounding: Rounding::Up }
    }

    /// As the attributes of the node say.
    pub fn of(node: &Node<'_>, element: ElementType) -> Result<Self> {
        let rounding = match node.string("round_mode", "up")? {
            "up" => Rounding::Up,
            "down" => Rounding::Down,
            "nearest" => Rounding::Nearest,
            other => {
                return Err(node
                    .report(format!("has round_mode {other:?}"))
                    .help("\"up\", \"down\" or \"nearest\"")
                    .invalid());
            }
        };
        Ok(Self { saturates: node.flag("saturate", true)?, rounding, ..Self::to(element) })
    }

    /// Returns a number of a body as it is stored, or will be.
    pub fn apply<'c>(self, calc: &mut Calc<'_, 'c>, x: Num<'c>) -> Num<'c> {
        let Some(format) = self.element.format() else {
            let number = computed(self.element);
            if !self.element.is_narrow_integer() {
                return calc.cast(x, number);
            }
            // What is out of range wraps, as with integers.
            let wide = calc.cast(x, ElementType::I32);
            return calc.cast(wide, number);
        };
        // Rounded once: a float does not hold every integer of 32 bits, nor a double.
        let x = calc.cast(x, if calc.is_long(x) { ElementType::F64 } else { ElementType::F32 });
        match format.specials {
            Specials::Scale => calc.encoded_scale(x, self.element, self.rounding, self.saturates),
            _ => calc.encoded(x, self.element, self.saturates),
        }
    }

    fn fold(self, x: Scalar) -> Scalar {
        match (x, self.element.integer_range(), self.element.format()) {
            // To bool every number but zero is true, also one half.
            (x, _, _) if self.element == ElementType::Bool => {
                Scalar::Int((x.as_f64() != 0.0).into())
            }
            (Scalar::Float(x), _, None) if self.element.is_narrow_integer() => {
                Scalar::Int((x as i32).into())
            }
            (Scalar::Float(x), Some((least, most)), _) => {
                Scalar::Int((x as i128).clamp(least, most))
            }
            (x, Some(_), _) => x,
            (x, None, Some(format)) => {
                let x = x.as_f64();
                let code = match format.specials {
                    Specials::Scale => format.encode_scale(x, self.rounding, self.saturates),
                    _ => format.encode(x, self.saturates),
                };
                Scalar::Float(format.decode(code))
            }
            (x, None, None) => Scalar::Float(x.as_f64()),
        }
    }
}
