//! Kernels of every kind, drawn at random.

use super::*;
use crate::convolutions::{Conv, conv};
use crate::elementwise::elementwise;
use crate::movement::{gather, transpose};
use crate::pools::{argmax, chain, pool, two_axes};
use crate::products::{Matmul, matmul};
use crate::reductions::{reduction, softmax};

/// One case of any kind.
fn any(random: &mut Random) -> Case {
    let elem = ["f32", "f32", "f32", "f32", "f64", "i32", "i64", "i16", "i8", "f16"];
    let elem = elem[random.below(10)];
    match random.below(12) {
        0 | 1 => {
            let shape = Matmul {
                mnk: (random.extent(40), random.extent(130), random.extent(40)),
                transposed_x: random.coin(),
                transposed_y: random.coin(),
                bias: random.coin(),
                constant_y: random.coin(),
                epilogue: random.coin(),
                cast: matches!(elem, "f32" | "i32") && random.coin(),
            };
            matmul(shape, elem)
        }
        2 => loop {
            let shape = Conv {
                counts: [
                    1 + random.below(2),
                    random.extent(9),
                    random.extent(33),
                    [1, 1, 2, 5][random.below(4)],
                ],
                image: [random.extent(17), random.extent(33)],
                kernel: [1 + random.below(4), 1 + random.below(4)],
                stride: 1 + random.below(2),
                dilation: 1 + random.below(2),
                padding: random.below(3),
                constant: random.coin(),
                epilogue: random.coin(),
            };
            if shape.out(0).is_some() && shape.out(1).is_some() {
                break conv(shape, if elem == "f16" { "f32" } else { elem });
            }
        },
        3 => {
            let fold = ["sum", "max", "min"][random.below(3)];
            let columns = random.extent(40);
            reduction(random.extent(40), columns, random.below(2), fold, elem)
        }
        4 => softmax(random.extent(40), random.extent(130), "f32"),
        5 => {
            let x = [random.extent(9), random.extent(9), random.extent(40)];
            let y = x.map(|extent| if random.coin() { 1 } else { extent });
            elementwise(&x, &y[random.below(3)..], arithmetic(elem).1, elem)
        }
        6 => {
            let dims = [random.extent(9), random.extent(33), random.extent(33)];
            let orders = [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][random.below(5)];
            transpose(&dims, &orders, elem)
        }
        7 => {
            let (size, columns) = (1 + random.below(4), random.extent(40));
            pool(random.extent(40), columns.max(size), size, 1 + random.below(3), "f32")
        }
        8 => argmax(random.extent(40), random.extent(40)),
        9 => two_axes([(); 4].map(|()| random.extent(17))),
        10 => chain(random.extent(130), random.extent(130), random.extent(40)),
        _ => gather(random.extent(40), random.extent(40), random.extent(40), elem),
    }
}

#[test]
fn any_kernel() {
    let number = |name: &str, fallback: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(fallback)
    };
    let mut random = Random(number("WEFT_SEED", 1));
    let cases: Vec<Case> =
        (0..number("WEFT_RANDOM_KERNELS", 24)).map(|_| any(&mut random)).collect();
    check(&cases);
}
