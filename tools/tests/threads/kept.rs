//! Rows that a group reads several times, kept in the memory of a block by a copy.

use weft_passes::pipeline::Stage;

use crate::kernels::{check_text, unit_of_text};

/// The greatest of each row, then their sum without it, then each without the first and with the second: whole
/// numbers of quarters, which no order of sums rounds.
fn rows(count: u64, width: u64, elem: &str) -> String {
    let (own, row) = (format!("tensor<{count}x{width}x{elem}>"), format!("tensor<{count}xf32>"));
    let (given, wide, narrow) = match elem {
        "f32" => ("%p", "", ("%t", "")),
        _ => (
            "%g",
            "    %p = arith.extf %g : f16 to f32\n",
            ("%o", "    %o = arith.truncf %t : f32 to f16\n"),
        ),
    };
    let fold = |name: &str, reads: &str, types: &str, args: &str, start: &str, body: &str| {
        let maps = "#row, ".repeat(reads.matches('%').count());
        format!(
            "  %{name} = linalg.generic {{indexing_maps = [#all, {maps}#row], iterator_types = [\"parallel\", \"reduction\"]}} ins(%x{reads} : {own}{types}) outs({start} : {row}) {{\n  \
             ^bb0({given}: {elem}{args}, %a: f32):\n{wide}{body}    linalg.yield %t : f32\n  }} -> {row}\n"
        )
    };
    let most = fold("m", "", "", "", "%first", "    %t = arith.maximumf %a, %p : f32\n");
    let (reads, types) = (", %m", format!(", {row}"));
    let sum = "    %d = arith.subf %p, %f : f32\n    %t = arith.addf %a, %d : f32\n";
    let sum = fold("s", reads, &types, ", %f: f32", "%zr", sum);
    format!(
        "#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @rows(%x: {own}) -> {own} {{
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %er = tensor.empty() : {row}
  %em = tensor.empty() : {row}
  %ex = tensor.empty() : {own}
  %zr = linalg.fill ins(%zero : f32) outs(%er : {row}) -> {row}
  %first = linalg.fill ins(%low : f32) outs(%em : {row}) -> {row}
{most}{sum}  %y = linalg.generic {{indexing_maps = [#all, #row, #row, #all], iterator_types = [\"parallel\", \"parallel\"]}} ins(%x, %m, %s : {own}, {row}, {row}) outs(%ex : {own}) {{
  ^bb0({given}: {elem}, %f: f32, %h: f32, %a: {elem}):
{wide}    %d = arith.subf %p, %f : f32
    %t = arith.addf %d, %h : f32
{}    linalg.yield {} : {elem}
  }} -> {own}
  return %y : {own}
}}
",
        narrow.1, narrow.0
    )
}

#[test]
fn rows_that_are_read_three_times_come_once() {
    // Rows of whole registers, and ragged ones.
    for (machine, count, width, elem) in [
        ("h200", 40, 1024, "f32"),
        ("a100", 40, 1003, "f16"),
        ("v100", 40, 1003, "f32"),
        ("mi300x", 40, 1024, "f16"),
    ] {
        let text = rows(count, width, elem);
        let context = weft::context();
        let mut unit = unit_of_text(&context, machine, &text);
        unit.lower(Stage::Tile).expect("the machine can do it");
        let tiles = unit.module().text();
        assert!(tiles.contains("@copy_near(%arg0)"), "{machine}, {elem}: {width} a row\n{tiles}");
        assert_eq!(tiles.matches("(%arg0)").count(), 1, "{machine}: others read it, too\n{tiles}");
        check_text(machine, machine, &text, &[(elem, vec![count, width])], elem);
    }
}
