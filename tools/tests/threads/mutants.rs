//! Kernels with one thing wrong, of every way in which groups share what they work on: each is refused, stops,
//! or computes something else.
//!
//! `programs` change a word of the text of `device`, which the verifier reads. `codes` take a wait, a barrier or
//! a fence out of the code for one thread, which no verifier sees: there the threads of the host are alone.

use crate::edited::{AMPERE, CDNA, HOPPER, LANES, Product};
use crate::host::Written;
use crate::numbers::{Random, bytes};
use crate::{joined, one_pass};

/// A kernel, and what it computes.
struct Original {
    machine: &'static str,
    program: String,
    given: Vec<Vec<u8>>,
    result: Vec<u8>,
}

/// One thing wrong: what, and the text with it.
type Mutant = (String, String);

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

/// Texts that lack one of the lines with a word.
fn without(text: &str, word: &str) -> Vec<Mutant> {
    edited(text, |line| line.contains(word).then(String::new).into_iter().collect())
}

/// Texts that wait for one less at one of the lines with a word, whose operand is what may be under way.
fn for_less(text: &str, word: &str) -> Vec<Mutant> {
    edited(text, |line| {
        let Some((before, rest)) = line.split_once('(').filter(|_| line.contains(word)) else {
            return Vec::new();
        };
        let (left, after) = rest.split_once(')').expect("it has an operand");
        let ty = after.split(['(', ')']).nth(1).expect("it has a type");
        let one = format!("%one_more = arith.constant 1 : {ty}");
        let more = format!("%left_more = arith.addi {left}, %one_more : {ty}");
        vec![format!("{one}\n{more}\n{before}(%left_more){after}")]
    })
}

/// Texts of which one line is another.
fn edited(text: &str, change: impl Fn(&str) -> Vec<String>) -> Vec<Mutant> {
    let lines: Vec<&str> = text.lines().collect();
    let mut mutants = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for changed in change(line) {
            let what = format!("{at}: {}  ->  {}", line.trim(), changed.trim());
            let mut all = lines.clone();
            all[at] = &changed;
            mutants.push((what, all.join("\n")));
        }
    }
    mutants
}

/// What is done to a program, and its programs with that.
type Kind = (&'static str, fn(&str) -> Vec<Mutant>);

const WAITS: Kind = ("leave out a wait", |text| without(text, "device.wait "));
const BARRIERS: Kind = ("leave out a barrier", |text| {
    let mut mutants = without(text, "device.barrier \"core\"");
    mutants.extend(without(text, "device.barrier \"warp\""));
    mutants
});
/// Moves without a token: others are waited for.
const MOVES: Kind = ("leave out a transfer", |text| {
    edited(text, |line| {
        let moves = line.contains("device.transfer ") && !line.contains("-> !device.token");
        moves.then(String::new).into_iter().collect()
    })
});
const FILLS: Kind = ("leave out what sums begin with", |text| without(text, "device.fill "));
/// Of the last wait's tokens the last one, behind which all are there.
const TOKENS: Kind = ("leave out a token", |text| {
    edited(text, |line| {
        let tokens = line.trim_start().strip_prefix("device.wait ");
        let fewer = tokens.and_then(|tokens| tokens.rsplit_once(", "));
        fewer.map(|(tokens, _)| format!("device.wait {tokens}")).into_iter().collect()
    })
});
/// What a round carries to the next one is what it was given.
const CARRIED: Kind = ("carry a token of the round before", carried);
const SIZES: Kind =
    ("move half", |text| edited(text, |line| halved(line, " sizes [").into_iter().collect()));
const ROOMS: Kind = ("take the first room", |text| {
    edited(text, |line| {
        let Some((name, operands)) = line.split_once(" = arith.remui ") else { return Vec::new() };
        let (of, by) = operands.split_once(", ").expect("it has two operands");
        let count = by.split(" : ").next().expect("it has a type");
        // A number below the rooms is another one than it should be.
        vec![format!("{name} = arith.subi {of}, {of} : index // of {count}")]
    })
});
const FEWER: Kind = ("have a room less", |text| {
    let rooms = |line: &str| {
        let (_, ty) = line.split_once("device.alloc")?.1.split_once("memref<")?;
        let near = ty.contains("\"smem\"") || ty.contains("\"lds\"");
        let (count, rest) = ty.split_once('x')?;
        let count: u64 = count.parse().ok().filter(|count| near && *count > 1)?;
        Some((format!("memref<{ty}"), format!("memref<{}x{rest}", count - 1)))
    };
    let all = text.lines().filter_map(rooms);
    all.map(|(from, to)| (format!("{from} -> {to}"), text.replace(&from, &to))).collect()
});
/// Arrivals that nobody makes or waits for, and one in front of what the group still waits for.
const ARRIVALS: Kind = ("arrive too early", |text| {
    let mut mutants = edited(text, |line| {
        let made = line.contains("device.arrive ").then(|| line.split_once(" = "));
        let never = made.flatten().map(|(token, _)| format!("{token} = device.ready"));
        let waits = line.split_once(" after(").and_then(|(before, rest)| {
            let (_, behind) = rest.split_once(')')?;
            Some(format!("{before}{behind}"))
        });
        never.into_iter().chain(waits).collect()
    });
    let lines: Vec<&str> = text.lines().collect();
    let early = (1..lines.len()).filter(|&at| {
        lines[at].contains("device.arrive ") && lines[at - 1].contains("device.wait ")
    });
    mutants.extend(early.map(|at| {
        let mut all = lines.clone();
        all.swap(at - 1, at);
        (format!("{at}: {} comes first", lines[at].trim()), all.join("\n"))
    }));
    mutants
});
/// What rTasks of a cluster do together: no barrier, one of a block alone, no cluster, and one of other rTasks.
const CLUSTERS: Kind = ("let rTasks of a cluster be alone", |text| {
    edited(text, |line| {
        let barrier = line.contains("device.barrier \"cluster\"");
        let core = barrier.then(|| line.replace("cluster", "core"));
        let nothing = barrier.then(String::new);
        let cluster =
            |to: &str| line.contains(" cluster [").then(|| line.replace(" cluster [2, 2]", to));
        let all = [core, nothing, cluster(""), cluster(" cluster [2, 1]")];
        all.into_iter().flatten().collect()
    })
});
const SWIZZLES: Kind = ("swizzle otherwise", |text| {
    edited(text, |line| {
        let swizzled = line.contains("device.alloc swizzle [3, ");
        swizzled.then(|| line.replace("swizzle [3, ", "swizzle [2, ")).into_iter().collect()
    })
});

/// Moves by which lanes gather pieces of others: rows for columns.
const TURNS: Kind = ("gather the other way", |text| {
    edited(text, |line| {
        let plain =
            line.contains("@matrix_load ").then_some(("@matrix_load ", "@matrix_load_turned "));
        let turned = || ("@matrix_load_turned ", "@matrix_load ");
        let other = plain.or_else(|| line.contains("@matrix_load_turned ").then(turned));
        other.map(|(from, to)| line.replace(from, to)).into_iter().collect()
    })
});

/// A line whose first size of several is half as many.
fn halved(line: &str, word: &str) -> Option<String> {
    let moves = line.contains("device.transfer ");
    let (before, rest) = line.split_once(word).filter(|_| moves)?;
    let (sizes, after) = rest.split_once(']')?;
    let mut sizes: Vec<u64> = sizes.split(", ").filter_map(|size| size.parse().ok()).collect();
    let most = sizes.iter_mut().max()?;
    *most /= 2;
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    Some(format!("{before}{word}{}]{after}", sizes.join(", ")))
}

fn carried(text: &str) -> Vec<Mutant> {
    let mut around: Vec<Vec<String>> = Vec::new();
    let mut given = Vec::new();
    // What a loop carries, by the line that ends its round.
    for line in text.lines() {
        if line.contains("scf.for ") {
            let args = line.split_once("iter_args(").map_or("", |(_, rest)| rest);
            let args = args.split(')').next().unwrap_or("").split(", ");
            let name = |arg: &str| arg.split(" = ").next().unwrap_or("").to_owned();
            around.push(args.map(name).collect());
        }
        let yields = line.trim_start().starts_with("scf.yield") && line.contains("!device.token");
        given.push(if yields { around.pop().unwrap_or_default() } else { Vec::new() });
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut mutants = Vec::new();
    for (at, args) in given.iter().enumerate() {
        let Some((values, ty)) = lines[at].split_once(" : ").filter(|_| !args.is_empty()) else {
            continue;
        };
        let values = values.trim_start().trim_start_matches("scf.yield ");
        let mut values: Vec<&str> = values.split(", ").collect();
        let last = values.len() - 1;
        values[last] = &args[last];
        let changed = format!("scf.yield {} : {ty}", values.join(", "));
        let mut all = lines.clone();
        all[at] = &changed;
        mutants.push((format!("{at}: {}  ->  {changed}", lines[at].trim()), all.join("\n")));
    }
    mutants
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
    engine.programs(&[WAITS, TOKENS, BARRIERS, MOVES, SIZES, ROOMS, FEWER, TURNS]);
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
