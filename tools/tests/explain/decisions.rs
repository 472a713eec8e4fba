//! N-7. Decisions of every room, word by word: the winner, the runner-up and the number that
//! decides; of each refusal the rule and the values. They are remarks and stand in the report.

use serde_json::Value;

use crate::desk::{Desk, list};

/// What a pass says of `examples/digits` on a machine.
struct Case {
    pass: &'static str,
    says: &'static str,
    /// A kernel at which the report says it, where it is on one that runs.
    at: Option<&'static str>,
}

const fn case(pass: &'static str, says: &'static str, at: Option<&'static str>) -> Case {
    Case { pass, says, at }
}

/// A chip of four cores with an array of multipliers.
const TOY: &[Case] = &[
    // graph: who is too large to share a machine with its neighbours.
    case(
        "graph-merge-products",
        "\"logits\" stays a product of its own: about 1680 cycles of it can go to one of 4 @core [units: 10 times 1680 cycles, a handover takes 500]",
        Some("gemm_0"),
    ),
    // tile: joining, layouts, sums in parts, instructions.
    case(
        "tile-fuse-elementwise",
        "@relu_1 stays apart from @conv_5: both together take more [epilogue: 39304 cycles together, 6788 apart]",
        Some("relu_1"),
    ),
    case(
        "tile-lay-out",
        "3 tensors of @conv_2, @batchnormalization_2_relu, @conv_3, @maxpool_0_conv, @conv_5 lie in the model's order with 11931 cycles predicted; second in panels with 12051 [gain: above 11573]",
        Some("conv_5"),
    ),
    case(
        "tile-split-rows",
        "@softmax_0: a softmax of 10 elements is done whole [room: 80 bytes for 65536 of @spad, 1 tiles for 4 units]",
        Some("softmax_0"),
    ),
    case(
        "tile-split-reductions",
        "@gemm_0: axis 1 is reduced in 16 parts side by side with 2759 cycles predicted; second in 4 parts with 2967",
        // The kernel of the parts is another one.
        Some("gemm_0_parts"),
    ),
    case(
        "tile-construct-rtiles",
        "@conv_2: @mac4x4x4, d0 = axis 1, d1 = axis 0, d2 = axis 3, tiles of [8, 4, 8, 3, 3] with 2328 cycles predicted; second @valu, lanes on axis 2 x1, 6 rows on axis 0, 4 rows on axis 1 with 5566",
        Some("conv_2"),
    ),
    case(
        "tile-construct-rtiles",
        "@batchnormalization_1: no axis of the nest moves along the operands as one of @mac4x4x4 [signature: it has d0 ac, d1 bc, d2 ab+, the kernel axis 0 abc]",
        // It is done once, when the artifact is written.
        None,
    ),
    case(
        "tile-connect-edges",
        "@gemm_0_parts to @gemm_0: stays in the shared memory: a kernel of it is no nest that one unit does by itself [member: @gemm_0_parts]",
        Some("gemm_0_parts"),
    ),
    // task: whose order, and by which of the kernels that are offered.
    case(
        "tile-to-task",
        "order by critical path with 10904 cycles predicted; second wavefront with 10904, depth with 10904, the text with 11754",
        None,
    ),
    // device: in which order a core issues.
    case(
        "device-order-instructions",
        "@gemm_0: 2 of 3 blocks are reordered by list scheduling with 16 cycles predicted; second as written with 22",
        Some("gemm_0"),
    ),
];

/// A GPU: blocks, the memory of a block, launches.
const H200: &[Case] = &[
    case(
        "tile-connect-edges",
        "@conv_2_batchnormalization_relu to @maxpool_0_conv: in @smem with 6191 cycles predicted; second apart with 577293; near with tiles of [3, 1, 4, 2, 2] and 192 bytes that wait",
        Some("conv_2_batchnormalization_relu_near_maxpool_0_conv_near"),
    ),
    case(
        "tile-connect-edges",
        "@relu_1, @gemm_0 are one kernel: tiles of [1, 512] that move 41600 bytes with 4701 cycles predicted; second tiles of [2, 512] that move 31040 bytes with 5551; handed over in @smem",
        Some("relu_1_near_gemm_0_near"),
    ),
    // Said where code is made, which remarks of passes come before.
    case(
        "task-lower-to-blocks",
        "launch 0 is kernel by kernel: one kernel takes no less [cycles: 202980 cycles, 40435 in 7 launches]",
        None,
    ),
];

/// Sub-graphs in instances, and who stays whole.
const INSTANCES: &[Case] = &[
    case(
        "tile-split-instances",
        "\"c1\" to \"p1+c2\": 4 instances, 4 along 0 with 4985 cycles predicted; second 2 along 0 with 6122; whole 5844; 2624 bytes at once",
        None,
    ),
    case(
        "tile-split-instances",
        "\"c1\" to \"p1+c2\" stays apart from \"c2\": both together take more [cycles: 41692 cycles, 4985 + 29640 apart]",
        None,
    ),
    case(
        "tile-split-instances",
        "\"c2\" to \"r2\" is not split: its steps one after the other take no more [whole: 29062 cycles, in instances 29640]",
        None,
    ),
];

/// What lies in the memory that cores of a cluster share.
const CLUSTERS: &[Case] = &[
    case(
        "tile-to-task",
        "\"c2\" argument 3 of 2048 bytes is in @llb of cluster 0, whose units alone use it",
        None,
    ),
    case(
        "tile-to-task",
        "\"p1+c2\" is done by @maxpool_0_conv_wide with 257 cycles predicted; second @maxpool_0_conv with 314",
        Some("maxpool_0_conv_wide"),
    ),
    case(
        "tile-to-task",
        "\"logits\" argument 1 of 20480 bytes is read from the device's memory: the cluster reads it no more than once [again: 20480 bytes of 20480]",
        None,
    ),
];

/// The same machine, every step for itself.
const WHOLE: &[&str] = &["--pass-option", "tile-split-instances.instances=none"];

/// Finds the cases among remarks of a compilation, in the report, and at their kernels.
fn found(cases: &[Case], device: &str, more: &[&str]) {
    let desk = Desk::digits();
    let arguments = [&["--device", device], more].concat();
    let report = desk.explain(&arguments);
    let remarks = list(&report["remarks"]);
    let said = said(&desk, cases, &arguments);
    for Case { pass, says, at } in cases {
        let place = remarks.iter().position(|own| own["message"] == *says && own["pass"] == *pass);
        let alike = || {
            let own = remarks.iter().filter(|own| own["pass"] == *pass);
            own.filter_map(|own| own["message"].as_str()).collect::<Vec<_>>().join("\n")
        };
        let place = place.unwrap_or_else(|| panic!("{device}: no `{says}` in\n{}", alike()));
        if *pass != "task-lower-to-blocks" {
            let line = format!("remark: {says}");
            assert!(said.lines().any(|own| own == line), "{device}: no `{line}` in\n{said}");
        }
        let Some(name) = at else { continue };
        let kernels = list(&report["kernels"]).iter();
        let mut named = kernels.filter(|kernel| kernel["kernel"] == *name);
        let told = |kernel: &Value| list(&kernel["remarks"]).contains(&Value::from(place));
        assert!(named.any(told), "{device}: `{says}` is not told at @{name}");
    }
}

/// What passes say where they run.
fn said(desk: &Desk, cases: &[Case], arguments: &[&str]) -> String {
    let options = cases.iter().map(|case| format!("{}.remarks=true", case.pass));
    let options: Vec<_> = options.collect();
    let mut compile = vec!["compile", "digits.onnx", "--emit", "device", "-o", "device.mlir"];
    compile.extend(arguments);
    compile.extend(options.iter().flat_map(|option| ["--pass-option", option.as_str()]));
    String::from_utf8(desk.tool(&compile).stderr).expect("text")
}

#[test]
fn n_7_ten_known_cases_on_a_chip_with_an_array() {
    found(TOY, "toy", WHOLE);
}

#[test]
fn n_7_known_cases_on_a_gpu() {
    found(H200, "h200", &[]);
}

#[test]
fn n_7_known_cases_of_instances() {
    found(INSTANCES, "toy", &[]);
}

#[test]
fn n_7_known_cases_of_clusters() {
    found(CLUSTERS, "stcp920-like", WHOLE);
}

/// The rule in brackets: a word, and behind it values or nothing. Tiles stand in brackets, too.
fn rule(text: &str) -> Option<&str> {
    let rules = text.match_indices(" [").map(|(at, _)| &text[at + 2..]);
    let mut words = rules.filter_map(|rest| rest.split([':', ']']).next());
    words.find(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Whatever is refused, the remark ends with the rule, and nearly all with values.
#[test]
fn n_7_every_refusal_names_its_rule() {
    let words = [
        " stays ",
        " stay whole",
        " is done whole",
        ": dropped,",
        " means another body",
        " is not split",
        " is read from the device's memory",
    ];
    let cases = [("toy", &[][..]), ("h200", &[]), ("toy", WHOLE), ("stcp920-like", WHOLE)];
    for (device, more) in cases {
        let report = Desk::digits().explain(&[&["--device", device], more].concat());
        let mut refusals = 0;
        for remark in list(&report["remarks"]) {
            let text = remark["message"].as_str().expect("text");
            if !words.iter().any(|word| text.contains(word)) {
                continue;
            }
            refusals += 1;
            assert!(rule(text).is_some(), "{device}: {text}");
        }
        assert!(refusals >= 10, "{device}: {refusals}");
    }
}

/// A machine of dozens of instructions says a reason once, and of which they are.
#[test]
fn n_7_instructions_share_a_reason() {
    let report = Desk::digits().explain(&["--device", "h200"]);
    let remarks = list(&report["remarks"]);
    let text = |remark: &Value| remark["message"].as_str().expect("text").to_owned();
    let refused = remarks.iter().map(text).filter(|text| text.contains(" means another body"));
    let reasons: Vec<(String, String)> = refused
        .map(|text| {
            let (kernel, words) = text.split_once(": ").expect("a kernel stands in front");
            let (_, rule) = words.split_once(" [").expect("the rule stands at the end");
            assert!(!words.contains("@wgmma_m64n64k16_f16_kn") || words.contains("(so with @"));
            (kernel.to_owned(), rule.to_owned())
        })
        .collect();
    assert!(!reasons.is_empty());
    for (number, reason) in reasons.iter().enumerate() {
        assert!(!reasons[..number].contains(reason), "{reason:?} is said twice");
    }
}
