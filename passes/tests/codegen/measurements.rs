//! Measurements, which are run by hand.

use super::*;

#[test]
#[ignore = "a measurement"]
fn prints_the_matrix_kernel() {
    for bytes in sizes() {
        eprintln!("{}", print(&gemm(bytes, 1024), Text::Asm));
        let (k, rows, n) = (1024, if bytes == 64 { 12 } else { 6 }, bytes / 2);
        let code = Code::new(&gemm(bytes, k));
        let (mut a, mut b, mut c) = (numbers(k * rows), numbers(k * n), numbers(rows * n));
        let best = (0..2000)
            .map(|_| {
                let begin = std::time::Instant::now();
                (0..10).for_each(|_| code.run("gemm", &[at(&mut a), at(&mut b), at(&mut c)], 1));
                begin.elapsed().as_secs_f64() / 10.0
            })
            .fold(f64::MAX, f64::min);
        eprintln!("{bytes}-byte registers: {:.1} GFLOP/s", 2e-9 * (k * rows * n) as f64 / best);
    }
}

#[test]
#[ignore = "a measurement"]
fn prints_compile_times() {
    let texts = [
        ("gemm", gemm(64, 1024)),
        ("exp", machine(64) + &elementwise("k", 16, ["f32", "f32"], 37, "%r = math.exp %a : f32")),
    ];
    for (name, text) in texts {
        for _ in 0..3 {
            let begin = std::time::Instant::now();
            compile(&text, 1).expect("it compiles");
            eprintln!("{name}: {:?}", begin.elapsed());
        }
    }
}
