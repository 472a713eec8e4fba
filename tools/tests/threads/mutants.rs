//! Kernels with one thing wrong, of every way in which groups share what they work on: each is refused, stops,
//! or computes something else.
//!
//! `programs` change a word of the text of `device`, which the verifier reads. `codes` take a wait, a barrier or
//! a fence out of the code for one thread, which no verifier sees: there the threads of the host are alone.

use crate::edited::{AMPERE, CDNA, HOPPER, LANES, Product};
use crate::host::Written;
use crate::kinds::{
    ARRIVALS, BARRIERS, CARRIED, CLUSTERS, FEWER, FILLS, GATHERS, HANDED, Kind, MOVES, Mutant,
    ROOMS, SIZES, SWIZZLES, TOKENS, WAITS, edited, for_less, without,
};
use crate::numbers::{Random, bytes};
use crate::{joined, one_pass};

/// A kernel, and what it computes.
struct Original {
    machine: &'static str,
    program: String,
    given: Vec<Vec<u8>>,
    result: Vec<u8>,
}

impl Original {
    fn new(machine: &'static str, program: String, given: Vec<Vec<u8>>) -> Self {
        let mut own = Self { machine, program, given, result: Vec::new() };
        own.result = own.run(&own.program).expect("the kernel is right");
        own
    }

    /// A product of random numbers, in blocks of a schedule.
    fn product(product: &Product, schedule: &str) -> Self {
        let program = product.program(schedule);
        let mut random = Random(11);
        let [m, n, k] = product.extents();
        let inputs = [m * k, k * n].map(|count| random.numbers(count, product.elem));
        let given = inputs.iter().map(|numbers| bytes(numbers, product.elem));
        let given = given.chain([vec![0xff; (m * n * 4) as usize]]).collect();
        Self::new(product.machine, program, given)
    }

    fn run(&self, program: &str) -> Result<Vec<u8>, String> {
        self.run_written(&Written::of(self.machine, program)?)
    }

    fn run_written(&self, written: &Written) -> Result<Vec<u8>, String> {
        let mut given = self.given.clone();
        written.run(&mut given)?;
        Ok(given.pop().expect("there is an output"))
    }

    fn code(&self) -> String {
        Written::of(self.machine, &self.program).expect("the kernel is right").code
    }

    /// Tests that every program with one thing wrong is told from this one; there are some of every kind.
    fn programs(&self, kinds: &[Kind]) {
        let mut alive = Vec::new();
        for (name, mutate) in kinds {
            let mutants = mutate(&self.program);
            assert!(!mutants.is_empty(), "{}: nothing to {name}", self.machine);
            for (what, text) in mutants {
                let run = self.run(&text);
                if let Err(why) = &run {
                    assert!(!is_of_syntax(why), "{what}: {why}");
                }
                if run.is_ok_and(|result| result == self.result) {
                    alive.push(format!("{name}: {what}"));
                }
            }
        }
        assert!(alive.is_empty(), "{}: nobody sees these:\n{}", self.machine, alive.join("\n"));
    }

    /// The same for code without one of the lines that have some of these words; where it waits for all but some,
    /// also for code that waits for one less.
    fn codes(&self, words: &[&str]) {
        let code = self.code();
        for word in words {
            let mut texts = without(&code, word);
            assert!(!texts.is_empty(), "{}: no {word} in the code", self.machine);
            texts
                .extend(word.contains("wait").then(|| for_less(&code, word)).into_iter().flatten());
            self.texts(texts);
        }
    }

    /// The same for these texts of code.
    fn texts(&self, texts: Vec<Mutant>) {
        let mut written = Written::of(self.machine, &self.program).expect("the kernel is right");
        assert!(!texts.is_empty(), "{}: nothing to change", self.machine);
        let mut alive = Vec::new();
        for (what, text) in texts {
            written.code = text;
            if self.run_written(&written).is_ok_and(|result| result == self.result) {
                alive.push(what);
            }
        }
        assert!(alive.is_empty(), "{}: nobody sees these:\n{}", self.machine, alive.join("\n"));
    }

    /// The same for code that does not wait for a phase, waits for the other one, expects other bytes, or brings from
    /// another place; and for descriptors with another number.
    fn boxes(&self) {
        let mut written = Written::of(self.machine, &self.program).expect("the kernel is right");
        let (code, heads) = (written.code.clone(), written.boxes.clone());
        let changed = |word: &'static str, operand: usize, how: &'static str| {
            edited(&code, move |line| with_operand(line, word, operand, how).into_iter().collect())
        };
        let mut texts = edited(&code, |line| {
            let waits = line.contains("try.wait").then(|| line.split_once(" = "));
            let result = waits.flatten().map(|(result, _)| result);
            result.map(|result| format!("{result} = arith.constant true")).into_iter().collect()
        });
        texts.extend(changed("try.wait", 1, "xori"));
        // All that count bytes are made alike, and all at which groups arrive.
        let made = changed("mbarrier.init", 1, "addi");
        let first = [0, made.len() / 2];
        let made = made.into_iter().enumerate().filter(|(number, _)| first.contains(number));
        texts.extend(made.map(|(_, own)| own));
        texts.extend(changed("expect.tx", 1, "addi"));
        texts.extend(changed("bulk.tensor", 3, "addi"));
        self.texts(texts);
        let mut alive = Vec::new();
        let mut run = |what: String, written: &Written| {
            if self.run_written(written).is_ok_and(|result| result == self.result) {
                alive.push(what);
            }
        };
        for (at, head) in heads.iter().enumerate() {
            for other in with_numbers(head) {
                written.boxes = heads.clone();
                written.boxes[at].clone_from(&other);
                run(format!("{head} -> {other}"), &written);
            }
        }
        assert!(alive.is_empty(), "{}: nobody sees these:\n{}", self.machine, alive.join("\n"));
    }
}

/// Code that brings boxes for one block, or for the block alone, or always the first block's part of them.
fn shares(code: &str) -> Vec<Mutant> {
    let mut texts = edited(code, |line| {
        let Some((before, rest)) = line.split_once('(').filter(|_| line.contains("bulk.tensor"))
        else {
            return Vec::new();
        };
        let (operands, after) = rest.split_once(')').expect("it has operands");
        let operands: Vec<&str> = operands.split(", ").collect();
        // Behind the place are the mask, a hint, and whether there is a mask.
        let mask = operands.len() - 5;
        if !code.contains(&format!("{} = arith.constant true", operands[mask + 2])) {
            return Vec::new();
        }
        let with = |own: &str, at: usize| {
            let mut all = operands.clone();
            all[at] = "%other";
            let all = all.join(", ");
            format!("%other = arith.constant {own}\n{before}({all}){after}")
        };
        vec![with("1 : i16", mask), with("2 : i16", mask), with("false", mask + 2)]
    });
    texts.extend(edited(code, |line| {
        let reads = line.contains("cluster.ctarank").then(|| line.split_once(" = "));
        let result = reads.flatten().map(|(result, _)| result);
        result.map(|result| format!("{result} = arith.constant 0 : i32")).into_iter().collect()
    }));
    texts
}

/// A call with a word, one operand of which is changed by one, or in its last bit.
fn with_operand(line: &str, word: &str, operand: usize, how: &str) -> Option<String> {
    let (before, rest) = line.split_once('(').filter(|_| line.contains(word))?;
    let (operands, after) = rest.split_once(')')?;
    let mut operands: Vec<&str> = operands.split(", ").collect();
    let ty = after.split(['(', ')']).nth(1)?.split(", ").nth(operand)?;
    let own = operands[operand];
    operands[operand] = "%other";
    let operands = operands.join(", ");
    Some(format!(
        "%other_by = arith.constant 1 : {ty}\n%other = arith.{how} {own}, %other_by : {ty}\n{before}({operands}){after}"
    ))
}

/// What the head says of a tensor, with half of a number: of points, of strides, of a dimension, or of swizzled bits.
fn with_numbers(head: &str) -> Vec<String> {
    let words: Vec<&str> = head.split_whitespace().collect();
    let kinds = ["extents", "strides", "points", "swizzle"].into_iter();
    let changed = kinds.map(|kind| {
        let at = words.iter().position(|word| *word == kind).expect("it is said") + 1;
        let halves = words[at].split('x').map(|own| {
            let own: u64 = own.parse().expect("a number");
            (own / 2).max(1).to_string()
        });
        let halves: Vec<String> = halves.collect();
        let halves = halves.join("x");
        let mut own = words.clone();
        own[at] = &halves;
        own.join(" ")
    });
    changed.collect()
}

/// Whether a text is refused for what it is not: a program.
fn is_of_syntax(why: &str) -> bool {
    let words = ["expected ", "undeclared", "redefinition", "unexpected", "undefined", "custom op"];
    words.iter().any(|word| why.contains(word))
}

#[test]
fn blocks_of_warps_with_one_thing_wrong_are_told_from_right_ones() {
    let small = AMPERE.with_shape("m=70,n=72,k=104");
    let plain = Original::product(&small, "");
    plain.programs(&[BARRIERS, MOVES, FILLS, SIZES]);
    plain.codes(&["barrier.cta.sync"]);
    let ahead = Original::product(&small, "schedule <stages = 2>");
    ahead.programs(&[BARRIERS, MOVES, SIZES]);
    ahead.codes(&["barrier.cta.sync"]);
    let rooms = Original::product(&small, "schedule <stages = 3>");
    rooms.programs(&[BARRIERS, MOVES, SIZES, ROOMS, FEWER]);
    rooms.codes(&["barrier.cta.sync"]);
}

#[test]
fn copies_of_an_engine_with_one_thing_wrong_are_told_from_right_ones() {
    let engine = Original::product(
        &AMPERE.with_shape("m=70,n=72,k=104"),
        "schedule <ahead = @stage_ahead, stages = 3>",
    );
    engine.programs(&[WAITS, TOKENS, BARRIERS, MOVES, SIZES, ROOMS, FEWER, GATHERS]);
    engine.codes(&["barrier.cta.sync", "cp.async.wait.group"]);
}

#[test]
fn instructions_of_warpgroups_with_one_thing_wrong_are_told_from_right_ones() {
    let small = HOPPER.with_shape("m=100,n=136,k=328");
    let direct = Original::product(&small, "schedule <ahead = @stage_ahead, stages = 4>");
    direct.programs(&[WAITS, CARRIED, BARRIERS, SIZES, ROOMS, FEWER, SWIZZLES]);
    direct.codes(&["barrier.cta.sync", "cp.async.wait.group", "wgmma.wait", "fence.proxy.async"]);
}

/// Boxes of tensors: what is asked for, the barriers that count bytes, and who waits for them.
#[test]
fn boxes_of_tensors_with_one_thing_wrong_are_told_from_right_ones() {
    let small = HOPPER.with_shape("m=100,n=136,k=328");
    let product = Original::product(&small, "schedule <ahead = @stage_boxes, stages = 4>");
    product.programs(&[WAITS, TOKENS, CARRIED, ARRIVALS, SIZES, ROOMS, FEWER, SWIZZLES]);
    product.codes(&[
        "barrier.cta.sync",
        "expect.tx",
        "bulk.tensor",
        "fence.mbarrier_init",
        "mbarrier.arrive.shared",
    ]);
    product.boxes();
    let (program, given) = one_pass::by_warpgroups("@stage_boxes");
    let rows = Original::new("h200", program, given);
    rows.programs(&[WAITS, TOKENS, BARRIERS, ARRIVALS, ROOMS, FEWER]);
    // The barrier behind the words' making is followed by another one before groups use them.
    rows.codes(&["wgmma.wait", "mbarrier.arrive.shared"]);
}

/// A group of its own asks for boxes: what it waits for, who meets without it, and whose registers others get.
#[test]
fn groups_that_ask_with_one_thing_wrong_are_told_from_right_ones() {
    let (program, given) = one_pass::by_warpgroups("@stage_boxes_apart");
    let rows = Original::new("h200", program, given);
    rows.programs(&[WAITS, BARRIERS, ARRIVALS, ROOMS, FEWER]);
    rows.codes(&["barrier.cta.sync", "mbarrier.arrive.shared", "setmaxnreg.dec"]);
    let code = rows.code();
    let more = |line: &str, word: &str| -> Option<String> {
        let (before, rest) = line.split_once('(').filter(|_| line.contains(word))?;
        let (own, after) = rest.split_once(')')?;
        Some(format!(
            "%by = arith.constant 8 : i32\n%n = arith.addi {own}, %by : i32\n{before}(%n){after}"
        ))
    };
    for word in ["setmaxnreg.inc", "setmaxnreg.dec"] {
        rows.texts(edited(&code, |line| more(line, word).into_iter().collect()));
    }
    // Who waits for an arrival of the round before.
    let waits = edited(&code, |line| {
        let waits = line.contains("try.wait").then(|| line.split_once(" = "));
        let result = waits.flatten().map(|(result, _)| result);
        result.map(|result| format!("{result} = arith.constant true")).into_iter().collect()
    });
    rows.texts(waits);
}

/// RTasks that bring boxes together: who waits for whom, what each brings, and to whom.
#[test]
fn clusters_with_one_thing_wrong_are_told_from_right_ones() {
    let small = HOPPER.with_shape("m=200,n=136,k=328");
    let schedule = "schedule <ahead = @stage_boxes, cluster = [2, 1, 1], stages = 4>";
    let product = Original::product(&small, schedule);
    product.programs(&[ROOMS, CLUSTERS]);
    product.codes(&["barrier.cluster"]);
    product.texts(shares(&product.code()));
}

#[test]
fn blocks_of_wavefronts_with_one_thing_wrong_are_told_from_right_ones() {
    let rooms = Original::product(&CDNA, "schedule <stages = 2>");
    rooms.programs(&[BARRIERS, MOVES, SIZES]);
    rooms.codes(&["s.barrier"]);
    let lanes = Original::product(&LANES, "schedule <stages = 2>");
    lanes.programs(&[BARRIERS, MOVES, SIZES]);
}

/// Groups that go by turns: what one hands over is taken two barriers later.
#[test]
fn turns_with_one_thing_wrong_are_told_from_right_ones() {
    let (program, given) = one_pass::by_turns();
    let turns = Original::new("mi300x", program, given);
    turns.programs(&[MOVES, ROOMS, FEWER, HANDED]);
    // One more in front of all is that of the groups that are behind.
    let mut texts = without(&turns.code(), "s.barrier");
    assert_eq!(texts.len(), 8, "another one may be in that place");
    texts.remove(4);
    turns.texts(texts);
}

#[test]
fn tiles_of_members_with_one_thing_wrong_are_told_from_right_ones() {
    let (program, given) = joined::near();
    let near = Original::new("h200", program, given);
    near.programs(&[BARRIERS]);
    near.codes(&["bar.warp.sync"]);
}

#[test]
fn rows_of_warpgroups_with_one_thing_wrong_are_told_from_right_ones() {
    let (program, given) = one_pass::by_warpgroups("@stage_ahead");
    let direct = Original::new("h200", program, given);
    direct.programs(&[WAITS, BARRIERS, ROOMS, FEWER, SWIZZLES]);
    direct.codes(&["barrier.cta.sync", "cp.async.wait.group", "wgmma.wait", "fence.proxy.async"]);
}

#[test]
fn rows_in_one_pass_with_one_thing_wrong_are_told_from_right_ones() {
    let (program, given) = one_pass::by_engine();
    let engine = Original::new("a100", program, given);
    engine.programs(&[WAITS, TOKENS, BARRIERS, MOVES, ROOMS, FEWER]);
    engine.codes(&["barrier.cta.sync", "cp.async.wait.group"]);
}
