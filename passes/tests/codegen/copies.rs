//! Copies between memory and registers.

use super::*;

/// A kernel of one register, one copy in and one out, with what else they say.
fn copies(
    bytes: usize,
    elem: &str,
    lanes: usize,
    [x, y]: [&str; 2],
    [from, to]: [&str; 2],
    [i, j]: [&str; 2],
) -> String {
    format!(
        r#"{machine}
device.kernel @k tasks 2 {{
^bb0(%task: index, %x: memref<{x}x{elem}>, %y: memref<{y}x{elem}>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = device.alloc : memref<{lanes}x{elem}, "vreg">
  device.copy @load %x[{i}] to %r[%c0] {from} : memref<{x}x{elem}> to memref<{lanes}x{elem}, "vreg">
  device.copy @store %r[%c0] to %y[{j}] {to} : memref<{lanes}x{elem}, "vreg"> to memref<{y}x{elem}>
}}"#,
        machine = machine(bytes)
    )
}

#[test]
fn copies_by_steps() {
    for bytes in sizes() {
        let lanes = bytes / 4;
        for (step, count) in
            [2, 3, 4, 5].into_iter().flat_map(|step| [lanes, 5, 3, 1].map(|count| (step, count)))
        {
            let span = (count - 1) * step + 1;
            let from = format!("count {count} from_step {step}");
            let to = format!("count {lanes}");
            let code = Code::new(&copies(
                bytes,
                "f32",
                lanes,
                [&format!("2x{span}"), &format!("2x{lanes}")],
                [&from, &to],
                ["%task, %c0"; 2],
            ));
            let (mut x, mut y) = (numbers(2 * span), vec![9.0f32; 2 * lanes]);
            code.run("k", &[at(&mut x), at(&mut y)], 2);
            let expected: Vec<f32> = (0..2)
                .flat_map(|row| (0..lanes).map(move |t| (row, t)))
                .map(|(row, t)| if t < count { x[row * span + t * step] } else { 0.0 })
                .collect();
            assert_eq!(y, expected, "step {step}, count {count}");
        }
    }
}

#[test]
fn copies_columns() {
    for bytes in sizes() {
        let lanes = bytes / 4;
        for count in [lanes, 5, 1] {
            let [from, to] =
                [format!("count {count} from_dim 0"), format!("count {count} to_dim 0 to_step 2")];
            let code = Code::new(&copies(
                bytes,
                "i32",
                lanes,
                [&format!("{count}x3"), &format!("{}x2", 2 * count)],
                [&from, &to],
                ["%c0, %c1", "%c1, %task"],
            ));
            let mut x: Vec<i32> = (0..3 * count as i32).collect();
            let mut y = vec![-1i32; 4 * count];
            code.run("k", &[at(&mut x), at(&mut y)], 2);
            for (row, column) in (0..2 * count).flat_map(|row| [(row, 0), (row, 1)]) {
                let wanted = if row % 2 == 1 { x[3 * (row / 2) + 1] } else { -1 };
                assert_eq!(y[2 * row + column], wanted, "row {row}");
            }
        }
    }
}

#[test]
fn copies_bytes_under_a_mask() {
    for bytes in sizes() {
        for count in [1, 7, 13, bytes] {
            let whole = format!("count {count}");
            let code = Code::new(&copies(
                bytes,
                "i8",
                bytes,
                [&format!("2x{count}"); 2],
                [&whole; 2],
                ["%task, %c0"; 2],
            ));
            let (mut x, mut y) =
                ((0..2 * count as u32).map(|i| i as u8).collect::<Vec<_>>(), vec![0u8; 2 * count]);
            code.run("k", &[at(&mut x), at(&mut y)], 2);
            assert_eq!(x, y);
        }
    }
}

#[test]
fn copies_memory_to_memory() {
    for bytes in sizes() {
        for count in [3, bytes / 4, 100] {
            let text = format!(
                r#"{machine}
device.kernel @k tasks 2 {{
^bb0(%task: index, %x: memref<2x{count}xf32>, %y: memref<{count}x2xf32>):
  %c0 = arith.constant 0 : index
  device.copy @through %x[%task, %c0] to %y[%c0, %task] count {count} to_dim 0 : memref<2x{count}xf32> to memref<{count}x2xf32>
}}"#,
                machine = machine(bytes)
            );
            let (mut x, mut y) = (numbers(2 * count), vec![0f32; 2 * count]);
            Code::new(&text).run("k", &[at(&mut x), at(&mut y)], 2);
            assert!((0..2 * count).all(|i| y[i] == x[i % 2 * count + i / 2]));
        }
    }
}

#[test]
fn gathers_and_loads_neighbours() {
    for bytes in sizes() {
        let lanes = bytes / 4;
        let text = format!(
            r#"{machine}
device.kernel @k tasks 2 {{
^bb0(%task: index, %table: memref<50x3xf32>, %rows: memref<{lanes}xi32>, %bias: memref<{more}xf32>, %y: memref<2x{lanes}xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ri = device.alloc : memref<{lanes}xi32, "vreg">
  %ry = device.alloc : memref<{lanes}xf32, "vreg">
  device.copy @load %rows[%c0] to %ri[%c0] count {lanes} : memref<{lanes}xi32> to memref<{lanes}xi32, "vreg">
  device.apply @valu lanes {lanes} ins(%ri[%c0], %bias[%task]) outs(%ry[%c0]) : (memref<{lanes}xi32, "vreg">, memref<{more}xf32>) -> (memref<{lanes}xf32, "vreg">) {{
  ^bb0(%row: i32, %scale: f32):
    %i = arith.index_cast %row : i32 to index
    %t = memref.load %table[%i, %c1] : memref<50x3xf32>
    %lane = device.lane
    %j = arith.addi %task, %lane : index
    %b = memref.load %bias[%j] : memref<{more}xf32>
    %same = memref.load %bias[%c1] : memref<{more}xf32>
    %k = arith.index_cast %j : index to i32
    %f = arith.sitofp %k : i32 to f32
    %0 = arith.mulf %t, %scale : f32
    %1 = arith.addf %0, %b : f32
    %2 = arith.addf %1, %same : f32
    %3 = arith.addf %2, %f : f32
    device.yield %3 : f32
  }}
  device.copy @store %ry[%c0] to %y[%task, %c0] count {lanes} : memref<{lanes}xf32, "vreg"> to memref<2x{lanes}xf32>
}}"#,
            machine = machine(bytes),
            more = lanes + 1,
        );
        let (mut table, mut bias) = (numbers(150), numbers(lanes + 1));
        let mut rows: Vec<i32> = (0..lanes as i32).map(|i| i * 17 % 50).collect();
        let mut y = vec![0f32; 2 * lanes];
        Code::new(&text).run("k", &[at(&mut table), at(&mut rows), at(&mut bias), at(&mut y)], 2);
        for (task, lane) in
            [0, 1].into_iter().flat_map(|task| (0..lanes).map(move |lane| (task, lane)))
        {
            let wanted = table[3 * rows[lane] as usize + 1] * bias[task]
                + bias[task + lane]
                + bias[1]
                + (task + lane) as f32;
            assert_eq!(y[task * lanes + lane], wanted);
        }
    }
}
