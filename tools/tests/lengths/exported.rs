//! What exporters write around networks whose lengths callers decide: places, parts and other shapes of tensors.

use weft_onnx::proto::tensor_proto::DataType;

use super::net::{Dim, Net, int, ints, word};
use super::run::Subject;
use super::{SEQ, check, symbol};

const BATCH: Dim = Dim::Named("batch");

/// A few lengths of both, none and all of them among these.
fn check_all(subject: &Subject) {
    let lengths: &[&[u64]] = &[&[3, 20], &[1, 1], &[2, 7], &[3, 13], &[2, 0], &[1, 19]];
    check(subject, &[symbol("batch", 1, 3), symbol("seq", 0, 20)], lengths);
}

/// The extents of a tensor, some of them as one number each.
fn extents(net: &mut Net, x: &str, dims: &[i64]) -> Vec<String> {
    let shape = net.op("Shape", &[x], &[]);
    let one = |net: &mut Net, dim: i64| {
        let at = net.longs(&[dim]);
        net.op("Gather", &[&shape, &at], &[])
    };
    dims.iter().map(|&dim| one(net, dim)).collect()
}

/// A mask becomes one row of all tokens, which are looked up there: as `torch.onnx.export` without dynamo has it.
#[test]
fn tokens_of_all_sequences_in_one_row() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, SEQ]);
    let flat = net.op("Flatten", &[&x], &[int("axis", 0)]);
    let open = net.longs(&[-1]);
    let flat = net.op("Reshape", &[&flat, &open], &[]);
    let [batch, seq] = &extents(&mut net, &x, &[0, 1])[..] else { panic!("two extents") };
    let (zero, one) = (net.longs(&[0]), net.longs(&[1]));
    let scalars = [batch, seq, &zero, &one].map(|own| net.op("Squeeze", &[own], &[]));
    let range = |net: &mut Net, end: &str| net.op("Range", &[&scalars[2], end, &scalars[3]], &[]);
    let rows = range(&mut net, &scalars[0]);
    let rows = net.op("Unsqueeze", &[&rows, &one], &[]);
    let rows = net.op("Mul", &[&rows, &scalars[1]], &[]);
    let columns = range(&mut net, &scalars[1]);
    let places = net.op("Add", &[&rows, &columns], &[]);
    let found = net.op("Gather", &[&flat, &places], &[]);
    let doubled = net.op("Add", &[&found, &x], &[]);
    check_all(&Subject::new(net, &[&flat, &found, &doubled]));
}

/// Tokens of all sequences below each other for a product, and apart again.
#[test]
fn rows_below_each_other_and_apart_again() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, SEQ, Dim::Fixed(12)]);
    let shape = net.longs(&[-1, 12]);
    let rows = net.op("Reshape", &[&x, &shape], &[]);
    let w = net.floats(&[12, 20], |place| (place % 7) as f32 / 7.0 - 0.4);
    let rows = net.op("MatMul", &[&rows, &w], &[]);
    let own = extents(&mut net, &x, &[0, 1]);
    let width = net.longs(&[4, 5]);
    let shape = net.op("Concat", &[&own[0], &own[1], &width], &[int("axis", 0)]);
    let heads = net.op("Reshape", &[&rows, &shape], &[]);
    let turned = net.op("Transpose", &[&heads], &[ints("perm", &[1, 0, 2, 3])]);
    let width = net.longs(&[20]);
    let shape = net.op("Concat", &[&own[1], &own[0], &width], &[int("axis", 0)]);
    let turned = net.op("Reshape", &[&turned, &shape], &[]);
    // A Reshape to 0 copies an extent: of no tokens it says something else.
    let lengths: &[&[u64]] = &[&[3, 20], &[1, 1], &[2, 7], &[3, 13], &[1, 19]];
    let symbols = [symbol("batch", 1, 3), symbol("seq", 1, 20)];
    check(&Subject::new(net, &[&rows, &heads, &turned]), &symbols, lengths);
}

/// Neighbours beside each other, as differences and shifted labels have them.
#[test]
fn all_but_the_first_and_all_but_the_last() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, SEQ, Dim::Fixed(3)]);
    let part = |net: &mut Net, x: &str, [start, end]: [i64; 2]| {
        let (start, end, axis) = (net.longs(&[start]), net.longs(&[end]), net.longs(&[1]));
        net.op("Slice", &[x, &start, &end, &axis], &[])
    };
    let first = part(&mut net, &x, [0, 1]);
    let longer = net.op("Concat", &[&first, &x], &[int("axis", 1)]);
    let behind = part(&mut net, &longer, [1, i64::MAX]);
    let before = part(&mut net, &longer, [0, -1]);
    let differences = net.op("Sub", &[&behind, &before], &[]);
    let inner = part(&mut net, &x, [2, -3]);
    let most = part(&mut net, &x, [0, 5]);
    // The last ones, of which there may be fewer.
    let last = part(&mut net, &x, [-3, i64::MAX]);
    let before_last = part(&mut net, &x, [-4, -1]);
    check_all(&Subject::new(net, &[&differences, &inner, &most, &last, &before_last]));
}

/// Sums of everything before, as positions behind padding have them.
#[test]
fn sums_of_everything_before() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, SEQ]);
    let axis = net.longs(&[1]);
    let axis = net.op("Squeeze", &[&axis], &[]);
    let sums = net.op("CumSum", &[&x, &axis], &[]);
    let before = net.op("CumSum", &[&x, &axis], &[int("exclusive", 1)]);
    let zero = net.longs(&[0]);
    let zero = net.op("Squeeze", &[&zero], &[]);
    let down = net.op("CumSum", &[&sums, &zero], &[]);
    check_all(&Subject::new(net, &[&sums, &before, &down]));
}

/// Elements whose places data say, from both ends.
#[test]
fn elements_at_places() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, SEQ, Dim::Fixed(4)]);
    let places = net.input(DataType::Int64, &[BATCH, SEQ, Dim::Fixed(2)]);
    let table = net.floats(&[9, 3], |place| place as f32 / 9.0);
    // Data are 0 to 4.
    let (two, three) = (net.longs(&[2]), net.longs(&[3]));
    let signed = net.op("Sub", &[&places, &two], &[]);
    let signed = net.op("Min", &[&signed, &two], &[]);
    let own = net.op("GatherElements", &[&x, &signed], &[int("axis", 2)]);
    let word = net.op("Gather", &[&table, &places], &[]);
    let in_heads = net.op("Mod", &[&places, &three], &[]);
    let rows = net.op("GatherND", &[&table, &in_heads], &[]);
    let subject = Subject::new(net, &[&own, &word, &rows]);
    check_all(&subject);
}

/// Along lengths, where places are counted from the end that a run has.
#[test]
fn elements_at_places_along_a_length() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ, Dim::Fixed(4)]);
    let places = net.input(DataType::Int64, &[SEQ]);
    let (two, one) = (net.longs(&[2]), net.longs(&[1]));
    // From -2 to 2: all of them lie inside of three elements and more.
    let signed = net.op("Sub", &[&places, &two], &[]);
    let rows = net.op("Gather", &[&x, &signed], &[]);
    let as_rows = net.op("Unsqueeze", &[&signed, &one], &[]);
    let points = net.op("GatherND", &[&x, &as_rows], &[]);
    let four = net.longs(&[1, 4]);
    let wide = net.op("Expand", &[&as_rows, &four], &[]);
    let elements = net.op("GatherElements", &[&x, &wide], &[int("axis", 0)]);
    let subject = Subject::new(net, &[&rows, &points, &elements]);
    check(&subject, &[symbol("seq", 3, 20)], &[&[20], &[3], &[7], &[16]]);
}

/// Images of which callers decide how many there are, larger by a number.
#[test]
fn larger_images() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, Dim::Fixed(2), Dim::Fixed(5), Dim::Fixed(6)]);
    let none = net.floats(&[0], |_| 0.0);
    let scales = net.floats(&[4], |place| if place < 2 { 1.0 } else { 2.0 });
    let y = net.op("Resize", &[&x, &none, &scales], &[word("mode", "linear")]);
    let z = net.op("Resize", &[&x, &none, &scales], &[word("mode", "nearest")]);
    let subject = Subject::new(net, &[&y, &z]);
    check(&subject, &[symbol("batch", 1, 5)], &[&[5], &[1], &[3]]);
}

/// Sounds and images of any size: windows along lengths, with borders and without.
#[test]
fn windows_along_lengths() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, Dim::Fixed(4), SEQ]);
    let conv = |net: &mut Net, x: &str, dims: [i64; 3], attributes: &[_]| {
        let w = net.floats(&dims, |place| (place % 13) as f32 / 13.0 - 0.45);
        let b = net.floats(&dims[..1], |place| place as f32 / 10.0);
        net.op("Conv", &[x, &w, &b], attributes)
    };
    let same = conv(&mut net, &x, [6, 4, 3], &[ints("pads", &[1, 1])]);
    let same = net.op("Relu", &[&same], &[]);
    let steps = [ints("pads", &[2, 1]), ints("strides", &[2])];
    let half = conv(&mut net, &same, [8, 6, 4], &steps);
    let valid = conv(&mut net, &x, [5, 4, 2], &[ints("dilations", &[2])]);
    let groups = conv(&mut net, &x, [4, 1, 3], &[ints("pads", &[1, 1]), int("group", 4)]);
    let upper = conv(&mut net, &x, [6, 4, 4], &[word("auto_pad", "SAME_UPPER")]);
    let window = [ints("kernel_shape", &[3]), ints("pads", &[1, 1]), ints("strides", &[2])];
    let most = net.op("MaxPool", &[&same], &window);
    let subject = Subject::new(net, &[&same, &half, &valid, &groups, &upper, &most]);
    let lengths: &[&[u64]] = &[&[3, 20], &[1, 3], &[2, 7], &[3, 13], &[2, 4], &[1, 19]];
    check(&subject, &[symbol("batch", 1, 3), symbol("seq", 3, 20)], lengths);
}

#[test]
fn images_of_any_size() {
    let mut net = Net::default();
    let (rows, columns) = (Dim::Named("rows"), Dim::Named("columns"));
    let x = net.input(DataType::Float, &[Dim::Fixed(1), Dim::Fixed(3), rows, columns]);
    let w = net.floats(&[8, 3, 3, 3], |place| (place % 13) as f32 / 13.0 - 0.45);
    let y = net.op("Conv", &[&x, &w], &[ints("pads", &[1; 4]), ints("strides", &[2, 2])]);
    let y = net.op("Relu", &[&y], &[]);
    let window = [ints("kernel_shape", &[3, 3]), ints("pads", &[1; 4]), ints("strides", &[1, 1])];
    let z = net.op("MaxPool", &[&y], &window);
    let z = net.op("Add", &[&y, &z], &[]);
    let w = net.floats(&[8, 8, 3, 3], |place| (place % 11) as f32 / 11.0 - 0.45);
    let z = net.op("Conv", &[&z, &w], &[ints("pads", &[1; 4])]);
    let means = net.op("GlobalAveragePool", &[&z], &[]);
    let subject = Subject::new(net, &[&z, &means]);
    let symbols = [symbol("columns", 2, 18), symbol("rows", 2, 14)];
    check(&subject, &symbols, &[&[18, 14], &[2, 2], &[7, 5], &[18, 3], &[5, 14], &[12, 13]]);
}
