//! Every field of `#tile.schedule` decides code: an edit of it shows in the text of `device`, and the
//! answer stays what it was.

use super::{AVX2, Desk, runs_here};

/// A kernel and what is changed in the only schedule of its text.
struct Case<'a> {
    name: &'static str,
    /// Arguments of `weft kernel`, or a program for `weft compile`.
    source: Source,
    device: &'static str,
    /// What stands in the text, and what is put in its place.
    edit: [&'a str; 2],
    /// What the text of `device` has before the edit and not behind it, or the other way round.
    shows: Shows,
}

#[derive(Clone, Copy)]
enum Source {
    Expression(&'static str, &'static str),
    Program(&'static str),
}

enum Shows {
    /// Only another text.
    Differently,
    /// This, so many times before and behind.
    Times(&'static str, [usize; 2]),
}

/// Windows in steps of two along the lanes, over a border of one.
const BORDERED: &str = r#"
#i = affine_map<(c, y, x) -> (c, y, x)>
graph.model @windows inputs ["x", "w"] outputs ["y"] {
^bb0(%x: tensor<8x28x64xf32>, %w: tensor<8x3x3xf32>):
  %y = graph.op "Conv" "conv"(%x, %w) : (tensor<8x28x64xf32>, tensor<8x3x3xf32>) -> tensor<8x28x32xf32> {
  ^bb0(%a: tensor<8x28x64xf32>, %b: tensor<8x3x3xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x30x66xf32>
    %f = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<8x30x66xf32>) {
    ^bb0(%unread: f32):
      linalg.yield %zero : f32
    } -> tensor<8x30x66xf32>
    %p = tensor.insert_slice %a into %f[0, 1, 1] [8, 28, 64] [1, 1, 1] : tensor<8x28x64xf32> into tensor<8x30x66xf32>
    %g = tensor.empty() : tensor<8x28x32xf32>
    %h = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel", "parallel", "parallel"]} outs(%g : tensor<8x28x32xf32>) {
    ^bb0(%unread: f32):
      linalg.yield %zero : f32
    } -> tensor<8x28x32xf32>
    %r = linalg.generic {indexing_maps = [
        affine_map<(c, y, x, r, s) -> (c, y + r, x * 2 + s)>,
        affine_map<(c, y, x, r, s) -> (c, r, s)>,
        affine_map<(c, y, x, r, s) -> (c, y, x)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%p, %b : tensor<8x30x66xf32>, tensor<8x3x3xf32>) outs(%h : tensor<8x28x32xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<8x28x32xf32>
    graph.yield %r : tensor<8x28x32xf32>
  }
  graph.output %y : tensor<8x28x32xf32>
}
"#;

const PRODUCT: Source = Source::Expression("C[m,n] += A[m,k] * B[k,n]", "m=64,n=256,k=256");
const DEPTHWISE: Source =
    Source::Expression("O[c,y,x] += I[c,y+r,x+s] * W[c,r,s]", "c=8,y=28,x=28,r=3,s=3");
/// Its register tile has rows along two axes: channels and lines of an image.
const TWO_ROWS: Source =
    Source::Expression("O[c,y,x] += I[c,y+r,x+s] * W[c,r,s]", "c=8,y=5,x=8,r=3,s=3");

impl Source {
    /// The text of `tile` for a device.
    fn text(self, desk: &Desk, device: &str) -> String {
        let output = match self {
            Source::Expression(expression, shape) => desk.tool_with(&[
                "kernel", expression, "--shape", shape, "--device", device, "--emit", "tile", "-o",
                "-",
            ]),
            Source::Program(program) => {
                desk.write("program.mlir", program);
                let compile = ["compile", "program.mlir", "--device", device, "--emit", "tile"];
                desk.tool_with(&[&compile[..], &["-o", "-"]].concat())
            }
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }
}

impl Case<'_> {
    fn check(&self) {
        let (desk, name) = (Desk::empty(), self.name);
        let before = self.source.text(&desk, self.device);
        let [old, new] = self.edit;
        assert_eq!(before.matches(old).count(), 1, "{name}: {old} in\n{before}");
        desk.write("before.mlir", &before);
        desk.write("after.mlir", &before.replacen(old, new, 1));
        let [device, edited] = ["before", "after"]
            .map(|stem| desk.weft(&format!("compile {stem}.mlir --emit device -o -")));
        match self.shows {
            Shows::Differently => assert_ne!(device, edited, "{name}"),
            Shows::Times(what, [times, later]) => {
                let found = [&device, &edited].map(|text| text.matches(what).count());
                assert_eq!(found, [times, later], "{name}: {what} in\n{device}\n{edited}");
            }
        }
        let run = match self.device {
            "x86-avx2" if !runs_here(AVX2) => return,
            "x86-avx2" => "run",
            _ => "simulate --functional-only",
        };
        desk.weft(&format!("{run} before.mlir --outputs right.npz"));
        let text = desk.weft(&format!("{run} after.mlir --expect right.npz"));
        assert!(text.contains("as expected"), "{name}: {text}");
    }
}

#[test]
fn order_is_that_of_the_loops() {
    Case {
        name: "order",
        source: PRODUCT,
        device: "x86-avx2",
        edit: ["order = [1, 0]", "order = [0, 1]"],
        shows: Shows::Differently,
    }
    .check();
}

/// Six of seven columns, a row at a time, and of the seventh six rows: without growing row by row, too.
#[test]
fn grow_makes_ends_longer() {
    let product = "O[o,y,x] += I[c,y+r,x+s] * W[c,r,s,o]";
    Case {
        name: "grow",
        source: Source::Expression(product, "y=7,x=7,c=64,o=16,r=3,s=3"),
        device: "x86-avx2",
        edit: [", grow = 1", ""],
        shows: Shows::Differently,
    }
    .check();
}

/// Lanes along filters, results in planes: without it each lane of a register is a store of its own.
#[test]
fn transpose_stores_sums_along_rows() {
    let product = "O[o,y,x] += I[c,y+r,x+s] * W[c,r,s,o]";
    Case {
        name: "transpose of sums",
        source: Source::Expression(product, "y=7,x=7,c=64,o=16,r=3,s=3"),
        device: "x86-avx2",
        edit: [", transpose = 2", ""],
        shows: Shows::Differently,
    }
    .check();
}

#[test]
fn rows_are_the_order_of_registers() {
    Case {
        name: "rows",
        source: TWO_ROWS,
        device: "x86-avx2",
        edit: ["<slide", "<rows = [1, 0], slide"],
        shows: Shows::Differently,
    }
    .check();
}

/// Six rows of windows of three read eight rows: without sliding each tap loads its six.
#[test]
fn slide_shares_what_windows_read() {
    Case {
        name: "slide",
        source: DEPTHWISE,
        device: "x86-avx2",
        edit: ["slide = [3, 4], ", ""],
        shows: Shows::Differently,
    }
    .check();
}

#[test]
fn unroll_writes_a_loop_out() {
    Case {
        name: "unroll",
        source: DEPTHWISE,
        device: "x86-avx2",
        edit: ["slide = [3, 4], unroll = [4]", "unroll = [3, 4]"],
        shows: Shows::Differently,
    }
    .check();
}

#[test]
fn transpose_stores_registers_along_rows() {
    Case {
        name: "transpose",
        source: Source::Expression("O[j,i] = I[i,j]", "i=64,j=64"),
        device: "x86-avx2",
        edit: [" schedule <transpose = 1>", ""],
        shows: Shows::Differently,
    }
    .check();
}

/// Sixty-four sums, six rows at a time: ten tiles in a loop, and four rows.
#[test]
fn combine_rows_folds_lanes_of_all_rows() {
    Case {
        name: "combine_rows",
        source: Source::Expression("O[i] += I[i,j]", "i=64,j=64"),
        device: "x86-avx2",
        edit: [" schedule <combine_rows = 0>", ""],
        shows: Shows::Times("device.combine", [0, 2]),
    }
    .check();
}

#[test]
fn stream_names_the_store() {
    Case {
        name: "stream",
        source: Source::Expression("O[i] = I[i] + I[i]", "i=8000000"),
        device: "x86-avx2",
        edit: [" schedule <stream = @stream>", ""],
        shows: Shows::Times("device.copy @stream", [1, 0]),
    }
    .check();
}

#[test]
fn border_names_the_memory_of_planes() {
    Case {
        name: "border",
        source: Source::Program(BORDERED),
        device: "x86-avx2",
        edit: ["border = @l2", "border = @l1"],
        shows: Shows::Times("alloc : memref<31x2x40xf32, \"l1\">", [0, 1]),
    }
    .check();
}

/// One after the other, lanes in steps of two read every other element.
#[test]
fn phases_lay_planes_out() {
    Case {
        name: "phases",
        source: Source::Program(BORDERED),
        device: "x86-avx2",
        edit: [", phases = [2]", ""],
        shows: Shows::Differently,
    }
    .check();
}

/// A product has its factors either way round.
#[test]
fn operands_are_those_of_the_instruction() {
    Case {
        name: "operands",
        source: Source::Expression("C[n] += A[k,n] * B[k,n]", "n=64,k=64"),
        device: "x86-avx2",
        edit: [" because", " schedule <operands = [1, 0, 2]> because"],
        shows: Shows::Differently,
    }
    .check();
}

/// Three steps have room, two of which are on their way.
#[test]
fn stages_are_steps_on_their_way() {
    for (stages, rooms) in [("3", "alloc : memref<3x"), ("5", "alloc : memref<5x")] {
        let schedule = format!("stages = {stages}");
        Case {
            name: "stages",
            source: Source::Expression("C[m,n] += A[m,k] * B[k,n]", "m=64,n=64,k=640"),
            device: "systolic",
            edit: ["stages = 2", &schedule],
            shows: Shows::Times(rooms, [0, 2]),
        }
        .check();
    }
    Case {
        name: "stages",
        source: Source::Expression("C[m,n] += A[m,k] * B[k,n]", "m=64,n=64,k=640"),
        device: "systolic",
        edit: [" schedule <stages = 2>", ""],
        shows: Shows::Differently,
    }
    .check();
}

/// Whatever is left over along one axis, and whatever the other has, each point is done once.
#[test]
fn ends_that_grow_are_all_of_the_points() {
    let product = "O[y,x,n] += I[y+r,x,k] * W[r,k,n]";
    for (shape, tile) in [
        ("y=7,x=7,n=16,r=2,k=5", "[1, 6, 16, 1, 1]"),
        ("y=7,x=8,n=16,r=2,k=5", "[1, 6, 16, 1, 1]"),
        ("y=5,x=11,n=19,r=2,k=3", "[2, 4, 8, 1, 1]"),
        ("y=2,x=7,n=8,r=2,k=3", "[1, 6, 8, 1, 1]"),
        ("y=13,x=3,n=8,r=2,k=2", "[3, 2, 8, 1, 1]"),
        ("y=3,x=5,n=8,r=2,k=4", "[1, 4, 8, 1, 1]"),
    ] {
        let desk = Desk::empty();
        let before = Source::Expression(product, shape).text(&desk, "x86-avx2");
        let (from, to) =
            (before.find("tiles [").expect("tiles"), before.find(" because").expect("why"));
        let extents: Vec<&str> = shape.split(',').map(|size| &size[2..]).collect();
        let task = extents.join(", ");
        let grown = format!(
            "lanes 2 tiles [#tile.rtile<\"l2\"[{task}]>, #tile.rtile<\"vreg\"{tile}>] schedule <order = [1, 0, 2], grow = 0>"
        );
        let on = before[..from].rfind("lanes ").expect("lanes");
        desk.write("before.mlir", &before);
        desk.write("after.mlir", &format!("{}{grown}{}", &before[..on], &before[to..]));
        if runs_here(AVX2) {
            desk.weft("run before.mlir --outputs right.npz");
            let text = desk.weft("run after.mlir --expect right.npz");
            assert!(text.contains("as expected"), "{shape} in {tile}: {text}");
        }
    }
}
