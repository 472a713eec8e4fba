//! One arena for the tiles of a joined kernel (WE-5): placements that live at once lie apart, the arena is
//! as large as was judged, and a tile is written over where that is safe.

use weft_dialects::ir::{Module, context, parse};
use weft_passes::nest::Nest;
use weft_passes::tile::placements::{NotInPlace, Placements, may_write_over};
use weft_passes::tile::propagate::{Chain, Link, propagate};
use weft_passes::tile::traffic::handed_over;
use weft_runtime::artifact::Artifact;
use weft_runtime::cpu::Model;

use crate::edges::{ALL, Desk, MACHINE};
use crate::support::{Kernel, nest};
use crate::tiles::{COPY, link, with};

pub const SUM: &str = "%s = arith.addf %0, %1 : f32\nlinalg.yield %s : f32";
pub const TILE: &str = "8x16xf32";
pub const ROW: &str = "8xf32";

fn copy(
    axes: &'static str,
    from: (&'static str, &'static str),
    to: (&'static str, &'static str),
) -> Kernel {
    Kernel { axes, operands: vec![from, to], body: COPY }
}

/// Each element from one in the same place.
pub fn element() -> Kernel {
    copy("r c", ("r, c", TILE), ("r, c", TILE))
}

/// Each element from two in the same place.
pub fn two() -> Kernel {
    Kernel {
        axes: "r c",
        operands: vec![("r, c", TILE), ("r, c", TILE), ("r, c", TILE)],
        body: SUM,
    }
}

pub fn sum() -> Kernel {
    Kernel { axes: "r +c", operands: vec![("r, c", TILE), ("r", ROW)], body: SUM }
}

/// Whether the member 1 may write over the tile of member 0, and the arena, in a group whose last
/// tile has `sizes`.
fn judge(
    kernels: &[Kernel],
    links: &[Link],
    sizes: &[u64],
) -> (Result<(), NotInPlace>, Placements) {
    let mut found = None;
    with(kernels, |nests| found = Some(judge_nests(nests, links, sizes)));
    found.expect("it was judged")
}

fn judge_nests(
    nests: &[Nest<'_>],
    links: &[Link],
    sizes: &[u64],
) -> (Result<(), NotInPlace>, Placements) {
    let chain = Chain::new(nests.iter().collect(), links.to_vec());
    let tiles = propagate(&chain, sizes).expect("tiles");
    let placements = handed_over(&chain, &vec![false; nests.len()]).placements(&tiles);
    (may_write_over(&chain, &tiles, 0, 1), placements)
}

#[test]
fn we_5_a_last_reader_of_the_same_places_writes_over_them() {
    let links = [link(1, 0, 0), link(2, 0, 1)];
    let (may, placements) = judge(&[element(), element(), element()], &links, &[4, 16]);
    assert_eq!(may, Ok(()));
    assert_eq!(placements.bytes, 4 * 16 * 4);
    assert_eq!(placements.of[1].expect("it waits").over, Some(0));
    // Read twice, both times in that place.
    let links = [link(1, 0, 0), link(1, 1, 0), link(2, 0, 1)];
    assert_eq!(judge(&[element(), two(), element()], &links, &[4, 16]).0, Ok(()));
    // Chains of them keep one placement.
    let links = [link(1, 0, 0), link(2, 0, 1), link(3, 0, 2)];
    let (_, placements) = judge(&[element(), element(), element(), element()], &links, &[4, 16]);
    assert_eq!(placements.bytes, 4 * 16 * 4);
    assert_eq!(placements.of[2].expect("it waits").life, (0, 3));
}

/// A group, the tile of its last member, and why member 1 does not write over that of member 0.
type Case = (Vec<Kernel>, Vec<Link>, &'static [u64], NotInPlace);

#[test]
fn we_5_what_is_not_provably_safe_lies_apart() {
    let chained = [link(1, 0, 0), link(2, 0, 1)];
    let square = "16x16xf32";
    let transposed = || copy("r c", ("c, r", square), ("r, c", square));
    let straight = || copy("r c", ("r, c", square), ("r, c", square));
    let rounded = Kernel {
        axes: "r c",
        operands: vec![("r, c", TILE), ("r, c", "8x16xi32")],
        body: "%i = arith.fptosi %0 : f32 to i32\nlinalg.yield %i : i32",
    };
    let back = Kernel {
        axes: "r c",
        operands: vec![("r, c", "8x16xi32"), ("r, c", TILE)],
        body: "%f = arith.sitofp %0 : i32 to f32\nlinalg.yield %f : f32",
    };
    let deep = "8x16x2xf32";
    let wider = copy("r c k", ("r, c", TILE), ("r, c, k", deep));
    let deeper = copy("r c k", ("r, c, k", deep), ("r, c, k", deep));
    let off = Kernel {
        axes: "r c",
        operands: vec![("r, c", TILE), ("0, c", TILE), ("r, c", TILE)],
        body: SUM,
    };
    let cases: [Case; 7] = [
        (
            vec![element(), element(), two()],
            vec![link(2, 0, 0), link(2, 1, 1)],
            &[4, 16],
            NotInPlace::Unread,
        ),
        (
            vec![element(), element(), two()],
            vec![link(1, 0, 0), link(2, 0, 0), link(2, 1, 1)],
            &[4, 16],
            NotInPlace::ReadLater(2),
        ),
        (
            vec![element(), sum(), copy("r", ("r", ROW), ("r", ROW))],
            chained.to_vec(),
            &[4],
            NotInPlace::Folds,
        ),
        (vec![element(), rounded, back], chained.to_vec(), &[4, 16], NotInPlace::Elements),
        (vec![element(), wider, deeper], chained.to_vec(), &[4, 16, 2], NotInPlace::Dimensions),
        (
            vec![straight(), transposed(), straight()],
            chained.to_vec(),
            &[16, 16],
            NotInPlace::Places,
        ),
        // One of its two reads is elsewhere.
        (
            vec![element(), off, element()],
            vec![link(1, 0, 0), link(1, 1, 0), link(2, 0, 1)],
            &[8, 16],
            NotInPlace::Places,
        ),
    ];
    for (kernels, links, sizes, why) in cases {
        let (may, placements) = judge(&kernels, &links, sizes);
        assert_eq!(may, Err(why));
        assert_eq!(placements.of[1].expect("it waits").over, None, "{why}");
    }
}

/// Sums of five rows read more of a tensor than those of three rows of what writes over it.
#[test]
fn we_5_a_larger_tile_is_not_written_over() {
    let tall = "12x16xf32";
    let rows = || copy("r c", ("r, c", tall), ("r, c", tall));
    let kernels = [
        rows(),
        Kernel {
            axes: "r c +i",
            operands: vec![("r + i, c", tall), ("i", "5xf32"), ("r, c", TILE)],
            body: "%s = arith.addf %0, %2 : f32\nlinalg.yield %s : f32",
        },
        rows(),
        Kernel {
            axes: "r c +i",
            operands: vec![("r + i, c", tall), ("i", "3xf32"), ("r, c", TILE), ("r, c", TILE)],
            body: "%s = arith.addf %0, %3 : f32\nlinalg.yield %s : f32",
        },
    ];
    with(&kernels, |nests| {
        let links = vec![link(1, 0, 0), link(2, 0, 0), link(3, 0, 2), link(3, 2, 1)];
        let chain = Chain::new(nests.iter().collect(), links);
        let may = |rows: u64| {
            let tiles = propagate(&chain, &[rows, 16]).expect("tiles");
            may_write_over(&chain, &tiles, 0, 2)
        };
        assert_eq!(may(2), Err(NotInPlace::Sizes));
    });
}

/// The plane of a tensor with a border is copied from its tile while its elements are made.
#[test]
fn we_5_what_is_read_with_a_border_is_not_written_over() {
    let text = "#p = affine_map<(r, c) -> (r + 1, c + 1)>
#q = affine_map<(r, c) -> (r, c)>
tile.kernel @k {
^bb0(%x: tensor<8x16xf32>, %o: tensor<8x16xf32>):
  %p = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<8x16xf32> to tensor<10x18xf32>
  %r = linalg.generic {indexing_maps = [#p, #q, #q], iterator_types = [\"parallel\", \"parallel\"]}
      ins(%p, %x : tensor<10x18xf32>, tensor<8x16xf32>) outs(%o : tensor<8x16xf32>) {
  ^bb1(%0: f32, %1: f32, %2: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  tile.yield %r : tensor<8x16xf32>
}";
    let context = context();
    let plain = [element(), element()].map(|kernel| kernel.module(&context));
    let bordered: Module<'_> = parse(&context, text).expect("a kernel");
    let [first, last] = plain.each_ref().map(nest);
    let middle = nest(&bordered);
    let links = [link(1, 0, 0), link(1, 1, 0), link(2, 0, 1)];
    let (may, _) = judge_nests(&[first, middle, last], &links, &[8, 16]);
    assert_eq!(may, Err(NotInPlace::Border));
}

/// Where the pieces of the arena in a cache of a device program end, and how many there are.
fn peak(device: &str) -> (u64, usize) {
    let pieces = device.lines().filter_map(|line| {
        let (offset, ty) = line.split_once("device.alloc at ")?.1.split_once(" : memref<")?;
        let (shape, memory) = ty.split_once("xf32, ")?;
        assert!(["\"l1\">", "\"l2\">"].contains(&memory), "{memory}");
        let count: u64 = shape.split('x').map(|dim| dim.parse::<u64>().expect("a size")).product();
        Some(offset.parse::<u64>().expect("bytes") + 4 * count)
    });
    let ends: Vec<u64> = pieces.collect();
    (ends.iter().copied().max().unwrap_or(0), ends.len())
}

/// What was judged to wait in the last group that was taken.
fn judged(remarks: &str) -> u64 {
    let told = remarks.lines().rfind(|line| line.contains(" bytes that wait")).expect("a remark");
    let before = told.split(" bytes that wait").next().expect("text");
    before.rsplit(' ').next().expect("a number").parse().expect("bytes")
}

#[test]
fn we_5_the_arena_is_as_large_as_was_judged() {
    for name in ["attention.mlir", "feed.mlir", "norm.mlir"] {
        let desk = Desk::new(name);
        let compile = format!("compile model.mlir --device {MACHINE} {ALL}");
        let remarks = "--pass-option tile-connect-edges.remarks=true --emit tile -o -";
        let told = desk.run(&format!("{compile} {remarks}"));
        let judged = judged(&String::from_utf8_lossy(&told.stderr));
        let (peak, pieces) = peak(&desk.weft(&format!("{compile} --emit device -o -")));
        assert!(pieces > 0, "{name}");
        assert_eq!(peak, judged, "{name}");
        desk.weft(&format!("{compile} -o model.weft"));
        let artifact = Artifact::open(&desk.path("model.weft")).expect("an artifact");
        let lent: Vec<u64> =
            artifact.plan().kernels.iter().map(|kernel| kernel.scratch_bytes).collect();
        assert_eq!(lent, [peak], "{name}");
    }
}

/// Elementwise kernels that are no part of others are members, and write over what they read.
#[test]
fn we_5_results_stay_where_tiles_are_written_over() {
    let desk = Desk::new("attention.mlir");
    desk.base();
    let options = format!("{ALL} --pass-option tile-fuse-elementwise.fuse=false");
    let text =
        desk.weft(&format!("compile model.mlir --device {MACHINE} --emit tile -o - {options}"));
    desk.holds(&text);
    let task = desk.weft("compile edited.mlir --emit task -o -");
    let waiting = task.matches("= tile.empty in @l1").count();
    let (_, placements) = peak(&desk.weft("compile edited.mlir --emit device -o -"));
    assert!(placements < waiting, "{placements} buffers for {waiting} tiles");
}

#[test]
fn we_5_an_edited_plan_is_refused() {
    let desk = Desk::new("attention.mlir");
    let device =
        desk.weft(&format!("compile model.mlir --device {MACHINE} {ALL} --emit device -o -"));
    // The second piece begins inside the first.
    let second = device.match_indices("device.alloc at ").nth(1).expect("two pieces").0;
    let (before, piece) = device.split_at(second);
    let (_, ty) = piece.split_once(" : ").expect("a type");
    desk.write("edited.mlir", &format!("{before}device.alloc at 0 : {ty}"));
    desk.fails("compile edited.mlir -o x.weft", &["device.alloc shares byte 0 with a live buffer"]);
}

/// What waits is more than the caller has stack.
#[test]
fn we_5_a_caller_with_a_small_stack_runs_what_is_joined() {
    let desk = Desk::new("attention.mlir");
    let model = "func.func @wide(%x: tensor<1x96x64xf32>, %w: tensor<1x64x1024xf32>, %v: tensor<1x1024x48xf32>) -> tensor<1x96x48xf32> {
  %z = \"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.matmul %x, %w, %z, %z : (tensor<1x96x64xf32>, tensor<1x64x1024xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x96x1024xf32>
  %m = tosa.reduce_max %a {axis = 2 : i32} : (tensor<1x96x1024xf32>) -> tensor<1x96x1xf32>
  %d = tosa.sub %a, %m : (tensor<1x96x1024xf32>, tensor<1x96x1xf32>) -> tensor<1x96x1024xf32>
  %b = tosa.matmul %d, %v, %z, %z : (tensor<1x96x1024xf32>, tensor<1x1024x48xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x96x48xf32>
  return %b : tensor<1x96x48xf32>
}
";
    desk.write("model.mlir", model);
    desk.weft(&format!("compile model.mlir --device {MACHINE} {ALL} -o model.weft"));
    let path = desk.path("model.weft");
    let run = move || {
        let mut model = Model::load(&path, Some(1)).expect("a model");
        let lent = model.plan().kernels.iter().map(|kernel| kernel.scratch_bytes).max();
        let inputs: Vec<Vec<u8>> = model
            .plan()
            .inputs
            .iter()
            .map(|port| vec![0; port.bytes().expect("bytes") as usize])
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let mut outputs = model.output_buffers();
        let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        model.run(&inputs, &mut places).expect("it runs");
        lent
    };
    const STACK: usize = 128 << 10;
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run).expect("a thread");
    let lent = thread.join().expect("it returns").expect("a kernel");
    assert!(lent > STACK as u64, "{lent} bytes wait");
}
