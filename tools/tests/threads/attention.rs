//! Attention as text of upstream dialects, and as the formula in f64.

/// Heads, rows, what these are long, the depth of the first product and the width of the second.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub heads: u64,
    pub rows: u64,
    pub keys: u64,
    pub depth: u64,
    pub width: u64,
}

/// Keys as the first product's columns or rows, and whether scores are masked.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub turned: bool,
    pub masked: bool,
    /// Whether a mask is of each two heads, for all of their rows.
    pub of_heads: bool,
    /// A mask by places, if there is one.
    pub causal: Option<Causal>,
}

/// Rows see keys up to so many behind their own number, which begins again after each part of the rows, and from so
/// many in front of the last one; scores are in f32 until then, or in the type of the factors.
#[derive(Clone, Copy, Debug)]
pub struct Causal {
    pub past: i64,
    pub left: Option<i64>,
    pub parts: u64,
    pub wide: bool,
}

/// Scores divided by eight, with a mask, in `elem`, and the mask's rows.
fn scaled((heads, rows, keys): (u64, u64, u64), form: Form, elem: &str) -> (String, u64) {
    if form.causal.is_some_and(|own| own.wide) {
        let own = format!("{heads}x{rows}x{keys}xf32");
        let text = format!(
            r#"  %c = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%s : tensor<{own}>) outs(%ce : tensor<{own}>) {{
  ^bb0(%x: f32, %o: f32):
    %eighth = arith.constant 0.125 : f32
    %t = arith.mulf %x, %eighth : f32
    linalg.yield %t : f32
  }} -> tensor<{own}>
"#
        );
        return (text, rows);
    }
    let mask = if form.masked { "%i" } else { "%none" };
    let body = format!(
        r#"  ^bb0(%x: f32, %i: {elem}, %o: {elem}):
    %eighth = arith.constant 0.125 : f32
    %none = arith.constant 0.0 : {elem}
    %iw = arith.extf {mask} : {elem} to f32
    %t = arith.mulf %x, %eighth : f32
    %u = arith.addf %t, %iw : f32
    %w = arith.truncf %u : f32 to {elem}
    linalg.yield %w : {elem}
  }}"#
    );
    let own = format!("{heads}x{rows}x{keys}");
    let of_two = format!("{}x2x{rows}x{keys}", heads / 2);
    let mask_rows = if form.of_heads { heads / 2 } else { rows };
    let text = match form.of_heads {
        false => format!(
            r#"  %c = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%s, %a : tensor<{own}xf32>, tensor<{mask_rows}x{keys}x{elem}>) outs(%ce : tensor<{own}x{elem}>) {{
{body} -> tensor<{own}x{elem}>
"#
        ),
        true => format!(
            r#"  %st = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [{}, 2, {rows}, {keys}] : tensor<{own}xf32> into tensor<{of_two}xf32>
  %cf = tensor.empty() : tensor<{of_two}x{elem}>
  %ct = linalg.generic {{indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}} ins(%st, %a : tensor<{of_two}xf32>, tensor<{mask_rows}x{keys}x{elem}>) outs(%cf : tensor<{of_two}x{elem}>) {{
{body} -> tensor<{of_two}x{elem}>
  %c = tensor.collapse_shape %ct [[0, 1], [2], [3]] : tensor<{of_two}x{elem}> into tensor<{own}x{elem}>
"#,
            heads / 2
        ),
    };
    (text, mask_rows)
}

/// The mask by places on scores `%c`: `%cm`.
fn causal((heads, rows, keys): (u64, u64, u64), causal: Causal, elem: &str) -> String {
    let Causal { past, parts, left, .. } = causal;
    let (s, window) = match left {
        Some(left) => {
            let text = format!(
                "    %left = arith.constant {left} : index
    %first = arith.subi %last, %left : index
    %earlier = arith.cmpi slt, %key, %first : index
    %r = arith.select %earlier, %never, %seen : {elem}\n"
            );
            ("%seen", text)
        }
        None => ("%r", String::new()),
    };
    let never = match elem {
        "f16" => "0xFC00",
        "bf16" => "0xFF80",
        _ => "0xFF800000",
    };
    let (own, cut) = (
        format!("{heads}x{rows}x{keys}x{elem}"),
        format!("{heads}x{parts}x{}x{keys}x{elem}", rows / parts),
    );
    let parallel = "\"parallel\", ".repeat(3) + "\"parallel\"";
    format!(
        r#"  %cp = tensor.expand_shape %c [[0], [1, 2], [3]] output_shape [{heads}, {parts}, {}, {keys}] : tensor<{own}> into tensor<{cut}>
  %cq = tensor.empty() : tensor<{cut}>
  %cr = linalg.generic {{indexing_maps = [affine_map<(b, p, m, n) -> (b, p, m, n)>, affine_map<(b, p, m, n) -> (b, p, m, n)>], iterator_types = [{parallel}]}} ins(%cp : tensor<{cut}>) outs(%cq : tensor<{cut}>) {{
  ^bb0(%x: {elem}, %o: {elem}):
    %never = arith.constant {never} : {elem}
    %past = arith.constant {past} : index
    %row = linalg.index 2 : index
    %key = linalg.index 3 : index
    %last = arith.addi %row, %past : index
    %later = arith.cmpi sgt, %key, %last : index
    {s} = arith.select %later, %never, %x : {elem}
{window}    linalg.yield %r : {elem}
  }} -> tensor<{cut}>
  %cm = tensor.collapse_shape %cr [[0], [1, 2], [3]] : tensor<{cut}> into tensor<{own}>
"#,
        rows / parts
    )
}

/// Text on a score `%xw` in f32, where scores are in `elem`.
fn widened(elem: &str, text: &str) -> String {
    match elem {
        "f32" => text.replace("%xw", "%x"),
        _ => format!("    %xw = arith.extf %x : {elem} to f32\n{text}"),
    }
}

/// `softmax(q k / 8 + mask) v` on numbers of `elem`, with sums in f32; what is rounded in between is in `elem`,
/// too.
pub fn text(Shape { heads, rows, keys, depth, width }: Shape, form: Form, elem: &str) -> String {
    let (k, k_map) = match form.turned {
        true => (format!("{heads}x{keys}x{depth}"), "(b, n, k)"),
        false => (format!("{heads}x{depth}x{keys}"), "(b, k, n)"),
    };
    let [three, four] =
        ["\"parallel\", ".repeat(2) + "\"parallel\"", "\"parallel\", ".repeat(3) + "\"reduction\""];
    let (mut scaled, mask_rows) = scaled((heads, rows, keys), form, elem);
    let score = if form.causal.is_some_and(|own| own.wide) { "f32" } else { elem };
    let mut c = "%c";
    if let Some(own) = form.causal {
        scaled += &causal((heads, rows, keys), own, score);
        c = "%cm";
    }
    let largest = widened(score, "    %r = arith.maximumf %o, %xw : f32");
    let shifted = widened(score, "    %d = arith.subf %xw, %y : f32");
    format!(
        r#"
func.func @attention(%q: tensor<{heads}x{rows}x{depth}x{elem}>, %k: tensor<{k}x{elem}>, %v: tensor<{heads}x{keys}x{width}x{elem}>, %a: tensor<{mask_rows}x{keys}x{elem}>) -> tensor<{heads}x{rows}x{width}x{elem}> {{
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<{heads}x{rows}x{keys}xf32>
  %sf = linalg.fill ins(%z : f32) outs(%se : tensor<{heads}x{rows}x{keys}xf32>) -> tensor<{heads}x{rows}x{keys}xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> {k_map}>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = [{four}]}} ins(%q, %k : tensor<{heads}x{rows}x{depth}x{elem}>, tensor<{k}x{elem}>) outs(%sf : tensor<{heads}x{rows}x{keys}xf32>) {{
  ^bb0(%x: {elem}, %y: {elem}, %o: f32):
    %xw = arith.extf %x : {elem} to f32
    %yw = arith.extf %y : {elem} to f32
    %p = arith.mulf %xw, %yw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}x{keys}xf32>
  %ce = tensor.empty() : tensor<{heads}x{rows}x{keys}x{score}>
  %pe = tensor.empty() : tensor<{heads}x{rows}x{keys}x{elem}>
{scaled}  %me = tensor.empty() : tensor<{heads}x{rows}xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<{heads}x{rows}xf32>) -> tensor<{heads}x{rows}xf32>
  %m = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}} ins({c} : tensor<{heads}x{rows}x{keys}x{score}>) outs(%mf : tensor<{heads}x{rows}xf32>) {{
  ^bb0(%x: {score}, %o: f32):
{largest}
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}xf32>
  %e = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = [{three}]}} ins({c}, %m : tensor<{heads}x{rows}x{keys}x{score}>, tensor<{heads}x{rows}xf32>) outs(%se : tensor<{heads}x{rows}x{keys}xf32>) {{
  ^bb0(%x: {score}, %y: f32, %o: f32):
{shifted}
    %r = math.exp %d : f32
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}x{keys}xf32>
  %lf = linalg.fill ins(%z : f32) outs(%me : tensor<{heads}x{rows}xf32>) -> tensor<{heads}x{rows}xf32>
  %l = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%e : tensor<{heads}x{rows}x{keys}xf32>) outs(%lf : tensor<{heads}x{rows}xf32>) {{
  ^bb0(%x: f32, %o: f32):
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}xf32>
  %p = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = [{three}]}} ins(%e, %l : tensor<{heads}x{rows}x{keys}xf32>, tensor<{heads}x{rows}xf32>) outs(%pe : tensor<{heads}x{rows}x{keys}x{elem}>) {{
  ^bb0(%x: f32, %y: f32, %o: {elem}):
    %d = arith.divf %x, %y : f32
    %r = arith.truncf %d : f32 to {elem}
    linalg.yield %r : {elem}
  }} -> tensor<{heads}x{rows}x{keys}x{elem}>
  %we = tensor.empty() : tensor<{heads}x{rows}x{width}xf32>
  %wf = linalg.fill ins(%z : f32) outs(%we : tensor<{heads}x{rows}x{width}xf32>) -> tensor<{heads}x{rows}x{width}xf32>
  %w = linalg.generic {{indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = [{four}]}} ins(%p, %v : tensor<{heads}x{rows}x{keys}x{elem}>, tensor<{heads}x{keys}x{width}x{elem}>) outs(%wf : tensor<{heads}x{rows}x{width}xf32>) {{
  ^bb0(%x: {elem}, %y: {elem}, %o: f32):
    %xw = arith.extf %x : {elem} to f32
    %yw = arith.extf %y : {elem} to f32
    %u = arith.mulf %xw, %yw : f32
    %r = arith.addf %o, %u : f32
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}x{width}xf32>
  %ye = tensor.empty() : tensor<{heads}x{rows}x{width}x{elem}>
  %y = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = [{three}]}} ins(%w : tensor<{heads}x{rows}x{width}xf32>) outs(%ye : tensor<{heads}x{rows}x{width}x{elem}>) {{
  ^bb0(%x: f32, %o: {elem}):
    %r = arith.truncf %x : f32 to {elem}
    linalg.yield %r : {elem}
  }} -> tensor<{heads}x{rows}x{width}x{elem}>
  return %y : tensor<{heads}x{rows}x{width}x{elem}>
}}
"#
    )
}

/// What the formula gives.
pub fn expected(shape: Shape, form: Form, inputs: &[Vec<f64>; 4]) -> Vec<f64> {
    let Shape { heads, rows, keys, depth, width } = shape;
    let [q, k, v, mask] = inputs;
    let mut found = Vec::new();
    for head in 0..heads {
        for row in 0..rows {
            let score = |key: u64| {
                let at = |d: u64| match form.turned {
                    true => (head * keys + key) * depth + d,
                    false => (head * depth + d) * keys + key,
                };
                let own =
                    |d: u64| q[((head * rows + row) * depth + d) as usize] * k[at(d) as usize];
                let line = if form.of_heads { head / 2 } else { row };
                let added = if form.masked { mask[(line * keys + key) as usize] } else { 0.0 };
                let hidden = form.causal.is_some_and(|own| {
                    let last = (row % (rows / own.parts)) as i64 + own.past;
                    let first = own.left.map_or(0, |keys| last - keys);
                    !(first..=last).contains(&(key as i64))
                });
                let added = if hidden { f64::NEG_INFINITY } else { added };
                (0..depth).map(own).sum::<f64>() / 8.0 + added
            };
            let scores: Vec<f64> = (0..keys).map(score).collect();
            let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
            let total: f64 = weights.iter().sum();
            for column in 0..width {
                let value = |key: u64| v[((head * keys + key) * width + column) as usize];
                let sum: f64 = (0..keys).map(|key| weights[key as usize] * value(key)).sum();
                found.push(sum / total);
            }
        }
    }
    found
}

/// Keys lie as the second factor's rows, and scores are masked.
pub const MASKED: Form = Form { turned: true, masked: true, of_heads: false, causal: None };
/// Neither.
pub const PLAIN: Form = Form { turned: false, masked: false, of_heads: false, causal: None };
