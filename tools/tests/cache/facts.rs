//! What of a machine decides about a hit.

use super::desk::Desk;

/// Compiles for a machine, then for what it is after a change: from the cache, or again, named.
fn changes(name: &str, from: &str, to: &str, named: Option<&str>) {
    let desk = Desk::digits();
    let arguments = "--device machine.mlir";
    desk.machine(name, from, from);
    let before = desk.compile(arguments);
    desk.machine(name, from, to);
    let after = desk.compile(arguments);
    match named {
        None => assert!(after.hit(), "{name}: {to}\n{}", after.said),
        Some(named) => {
            assert!(after.missed(), "{name}: {to}\n{}", after.said);
            assert!(after.said.contains(&format!("({named}")), "{named}\n{}", after.said);
        }
    }
    assert_eq!(after.bytes, desk.uncached(arguments), "{name}: {to}");
    desk.machine(name, from, from);
    let back = desk.compile(arguments);
    assert!(back.hit() && back.bytes == before.bytes, "{name}\n{}", back.said);
}

#[test]
fn what_nothing_read_may_change() {
    let comment = ("// A toy: four cores", "// A plaything: four cores");
    let printed =
        ("encoding(\"vld.{type} {to}, {from}, {sizes}\")", "encoding(\"load {to}, {from}\")");
    for (from, to) in [comment, printed] {
        changes("toy", from, to, None);
    }
}

#[test]
fn what_an_instruction_costs_that_no_choice_looked_at_may_change() {
    // The network computes in f32.
    let from = "device.instruction @vfma_f64 on @core operands([@dram, @vreg, @vreg])\n    \
                issue_cycles(5.000000e-01)";
    changes("x86-avx2", from, &from.replace("5.0", "7.0"), None);
}

#[test]
fn what_a_choice_looked_at_misses() {
    changes(
        "x86-avx2",
        "caches(@l3) bytes_per_cycle(32)",
        "caches(@l3) bytes_per_cycle(6)",
        Some("bytes_per_cycle of device.memory @l2"),
    );
}

#[test]
fn what_the_simulator_needs_misses() {
    changes(
        "toy",
        "device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(200)",
        "device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(300)",
        Some("latency_cycles of device.move @in"),
    );
}

#[test]
fn what_only_code_reads_misses() {
    // Lowerings are read by the threads that make code, each in a context of its own.
    changes(
        "x86-avx2",
        "%d = vector.fma %s, %b, %c : !f32_vector",
        "%m = arith.mulf %s, %b : !f32_vector\n    %d = arith.addf %m, %c : !f32_vector",
        Some("lowering of device.instruction @vfma_f32"),
    );
}

#[test]
fn what_else_there_is_misses() {
    let from = "  device.unit @core count(4)";
    let to = format!("  device.memory @more scope(\"core\") capacity_bytes(64)\n{from}");
    changes("toy", from, &to, Some("the names of device.memory"));
}

#[test]
fn the_same_facts_are_used_at_any_number_of_jobs() {
    let recipes = |jobs: u32| {
        let desk = Desk::digits();
        desk.compile(&format!("--device x86-avx2 --jobs {jobs}"));
        let [recipe] = &desk.files("recipes")[..] else { panic!("one recipe") };
        std::fs::read_to_string(recipe).expect("a recipe")
    };
    let (one, four) = (recipes(1), recipes(4));
    assert!(one.contains("lowering"), "{one}");
    assert_eq!(one, four);
}
