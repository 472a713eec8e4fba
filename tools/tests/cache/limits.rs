//! Folders that are shared, full, or not there to be written.

use super::desk::Desk;

#[test]
fn several_processes_share_a_cache() {
    let desk = Desk::digits();
    for _ in 0..3 {
        let command = |number| format!("compile digits.onnx -o {number}.weft --cache cache");
        let children: Vec<_> = (0..4).map(|number| desk.start(&command(number))).collect();
        for child in children {
            let output = child.wait_with_output().expect("weft ends");
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        }
        let read = |number| std::fs::read(desk.path(&format!("{number}.weft"))).expect("written");
        let expected = desk.uncached("");
        assert!((0..4).all(|number| read(number) == expected));
    }
    assert!(desk.compile("").hit());
    assert_eq!(desk.files("artifacts").len(), 1);
}

/// A product with a weight of 400 kB, which differs by `seed`.
fn product(seed: u32) -> String {
    let row = |row: u32| {
        let numbers = (0..320).map(|column| (row * 320 + column) * (seed + 1) % 977);
        let numbers: Vec<String> = numbers.map(|number| format!("{number}.0")).collect();
        format!("[{}]", numbers.join(","))
    };
    let rows: Vec<String> = (0..320).map(row).collect();
    format!(
        "func.func @main(%x: tensor<1x320xf32>) -> tensor<1x320xf32> {{
  %w = arith.constant dense<[{}]> : tensor<320x320xf32>
  %e = tensor.empty() : tensor<1x320xf32>
  %zero = arith.constant 0.0 : f32
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1x320xf32>) -> tensor<1x320xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x320xf32>, tensor<320x320xf32>)
    outs(%c : tensor<1x320xf32>) -> tensor<1x320xf32>
  return %y : tensor<1x320xf32>
}}
",
        rows.join(",")
    )
}

#[test]
fn what_was_not_used_for_longest_goes_first() {
    let desk = Desk::digits();
    for seed in 0..3 {
        std::fs::write(desk.path(&format!("{seed}.mlir")), product(seed)).expect("written");
    }
    let compile = |seed: u32| {
        // Times of files are the order of use.
        std::thread::sleep(std::time::Duration::from_millis(20));
        let command = format!("compile {seed}.mlir -o out.weft --timings --cache cache");
        desk.out(&desk.weft_within("1", &command))
    };
    let bytes = compile(0).bytes.len();
    assert!((350_000..520_000).contains(&bytes), "two fit, three do not: {bytes}");
    assert!(compile(1).missed());
    assert!(compile(0).hit(), "both fit");
    assert!(compile(2).missed());
    let files = desk.files("").into_iter();
    let kept: u64 = files.map(|file| file.metadata().expect("a file").len()).sum();
    assert!(kept <= 1 << 20, "{kept}");
    assert!(compile(2).hit() && compile(0).hit(), "these were used last");
    assert!(compile(1).missed());
}

#[test]
fn a_cache_of_nothing_is_none() {
    let desk = Desk::digits();
    let command = "compile digits.onnx -o out.weft --timings --cache cache";
    for _ in 0..2 {
        let out = desk.out(&desk.weft_within("0", command));
        assert!(!out.hit() && !out.missed(), "{}", out.said);
    }
    assert!(!desk.path("cache").exists());
    let output = desk.weft_within("much", command);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("WEFT_CACHE_MIB is `much`"));
}

#[test]
fn a_folder_that_cannot_be_written_is_said_once() {
    let desk = Desk::digits();
    let expected = desk.uncached("");
    std::fs::write(desk.path("file"), "in the way").expect("written");
    for folder in ["file/cache", "/proc/weft"] {
        let command = format!("compile digits.onnx -o out.weft --cache {folder}");
        let out = desk.out(&desk.weft(&command));
        assert_eq!(out.bytes, expected);
        assert_eq!(out.said.matches("warning: ").count(), 1, "{}", out.said);
        assert!(out.said.contains("cannot be used"), "{}", out.said);
    }
}

#[test]
fn the_environment_says_where_it_is() {
    let desk = Desk::digits();
    desk.weft("compile digits.onnx -o out.weft");
    assert!(desk.path("elsewhere/v1/artifacts").exists());
    let neither = desk.weft("compile digits.onnx -o out.weft --cache cache --no-cache");
    assert_eq!(neither.status.code(), Some(2));
}
