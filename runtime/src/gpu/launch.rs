//! Launches of kernels: grid and block sizes, and the steps of a plan that are one launch.
//!
//! A plan gives each execution unit its ranges of rTasks. Where a launch of the plan is one kernel,
//! its blocks are those units. Elsewhere a device gives blocks to its units by itself, so
//! ranges that follow each other become one launch.

use std::collections::HashMap;

use crate::plan::{Plan, Step};

/// The section of a code object that says how its kernels are launched, in the lines that PTX
/// begins with.
pub const LAUNCHES: &str = ".weft.launches";

/// The launch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Threads of a block.
    pub threads: u32,
    /// Groups of threads in a block, each of which runs one rTask.
    pub groups: u32,
    /// Bytes of shared memory that a block asks for.
    pub shared_bytes: u32,
}

impl Launch {
    /// Blocks that run this many rTasks.
    pub fn blocks(self, tasks: u64) -> u64 {
        tasks.div_ceil(u64::from(self.groups.max(1)))
    }

    /// Reads the comments at the head of the code about each kernel: lines of the form
    /// `// launch SYMBOL threads N groups N`, and ` shared N` behind it where blocks ask for so many
    /// bytes of shared memory.
    pub fn read(code: &str) -> HashMap<&str, Launch> {
        head(code).filter_map(|line| one(line.strip_prefix("launch ")?)).collect()
    }
}

/// A kernel that runs all steps of a launch: block `n` is unit `n`, and blocks wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its symbol in the code.
    pub symbol: String,
    /// The first step.
    pub first: usize,
    /// One past the last step.
    pub last: usize,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks, all of which have to run at once.
    pub blocks: u32,
    /// Bytes of shared memory that a block asks for.
    pub shared_bytes: u32,
}

impl Program {
    /// Reads the comments at the head of the code about programs: lines of the form
    /// `// program SYMBOL steps FIRST LAST threads N blocks N`, and ` shared N` as above.
    pub fn read(code: &str) -> Vec<Program> {
        head(code).filter_map(|line| program(line.strip_prefix("program ")?)).collect()
    }
}

/// The comments that code begins with.
pub(super) fn head(code: &str) -> impl Iterator<Item = &str> {
    code.lines().map_while(|line| line.strip_prefix("// "))
}

fn one(line: &str) -> Option<(&str, Launch)> {
    let (words, shared_bytes) = words(line)?;
    let [symbol, "threads", threads, "groups", groups] = words[..] else { return None };
    let (threads, groups) = (threads.parse().ok()?, groups.parse().ok()?);
    Some((symbol, Launch { threads, groups, shared_bytes }))
}

fn program(line: &str) -> Option<Program> {
    let (words, shared_bytes) = words(line)?;
    let [symbol, "steps", first, last, "threads", threads, "blocks", blocks] = words[..] else {
        return None;
    };
    Some(Program {
        symbol: symbol.to_owned(),
        first: first.parse().ok()?,
        last: last.parse().ok()?,
        threads: threads.parse().ok()?,
        blocks: blocks.parse().ok()?,
        shared_bytes,
    })
}

/// The words of a line, and the bytes of shared memory at its end: 0 where there are none.
fn words(line: &str) -> Option<(Vec<&str>, u32)> {
    let (line, bytes) = match line.split_once(" shared ") {
        Some((line, bytes)) => (line, bytes.parse().ok()?),
        None => (line, 0),
    };
    Some((line.split(' ').collect(), bytes))
}

/// A launch of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A kernel.
    Call(Call),
    /// The program of that number.
    Program(usize),
}

/// Returns the launches for all steps of a plan in its order: programs where there are some, else
/// `calls`.
///
/// ```
/// # use weft_runtime::gpu::{Call, Program, Work, works};
/// let call = |first, last| Call { first, last, begin: 0, end: 1 };
/// let (symbol, shared_bytes) = ("p".to_owned(), 0);
/// let program = Program { symbol, first: 1, last: 3, threads: 32, blocks: 2, shared_bytes };
/// let works = works(&[call(0, 1), call(1, 2), call(2, 3), call(3, 4)], &[program]);
/// assert_eq!(works, [Work::Call(call(0, 1)), Work::Program(0), Work::Call(call(3, 4))]);
/// ```
pub fn works(calls: &[Call], programs: &[Program]) -> Vec<Work> {
    let mut works = Vec::new();
    for call in calls {
        let program = programs.iter().position(|own| (own.first..own.last).contains(&call.first));
        match program {
            Some(number) if programs[number].first == call.first => {
                works.push(Work::Program(number));
            }
            Some(_) => {}
            None => works.push(Work::Call(call.clone())),
        }
    }
    works
}

/// Steps `first..last` of the plan as one launch of `begin..end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The first step.
    pub first: usize,
    /// One past the last step.
    pub last: usize,
    /// The first rTask.
    pub begin: u64,
    /// One past the last rTask.
    pub end: u64,
}

/// The launches of a valid plan, in its order.
pub fn calls(plan: &Plan) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for (number, step) in plan.steps.iter().enumerate() {
        match calls.last_mut() {
            Some(last) if follows(plan, last, step) && !begins(plan, number) => {
                last.end = step.end;
                last.last = number + 1;
            }
            _ => calls.push(Call {
                first: number,
                last: number + 1,
                begin: step.begin,
                end: step.end,
            }),
        }
    }
    calls
}

/// Returns whether a launch of the plan begins with a step.
fn begins(plan: &Plan, step: usize) -> bool {
    plan.launches.binary_search(&(step as u32)).is_ok()
}

/// Returns whether a step goes on where a launch ends, and waits for nothing in it.
fn follows(plan: &Plan, call: &Call, step: &Step) -> bool {
    let before = &plan.steps[call.first];
    let waits = step.waits.iter().any(|&wait| wait as usize >= call.first);
    let same = before.kernel == step.kernel && before.buffers == step.buffers;
    same && before.op == step.op && call.end == step.begin && !waits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(kernel: u32, begin: u64, end: u64, waits: &[u32]) -> Step {
        Step { unit: 0, kernel, begin, end, buffers: vec![], waits: waits.to_vec(), op: 0 }
    }

    #[test]
    fn ranges_that_follow_each_other_are_one_launch() {
        let steps = vec![
            step(0, 0, 4, &[]),
            step(0, 4, 8, &[]),
            step(1, 0, 1, &[0, 1]),
            step(1, 1, 2, &[0]),
            // Waits for the launch before, so it is another one.
            step(1, 2, 3, &[2]),
            // Leaves something out.
            step(1, 4, 5, &[]),
        ];
        let plan = Plan { steps, ..Plan::default() };
        let found: Vec<_> =
            calls(&plan).iter().map(|call| (call.first..call.last, call.begin..call.end)).collect();
        assert_eq!(found, [(0..2, 0..8), (2..4, 0..2), (4..5, 2..3), (5..6, 4..5)]);
    }

    #[test]
    fn the_head_of_the_code_says_how_to_launch() {
        let code = "// launch mm threads 128 groups 4\n\
                    // launch sum threads 32 groups 1 shared 73728\n\
                    .version 8.0\n// launch not threads 1 groups 1\n";
        let found = Launch::read(code);
        assert_eq!(found["mm"], Launch { threads: 128, groups: 4, shared_bytes: 0 });
        assert_eq!(found["sum"], Launch { threads: 32, groups: 1, shared_bytes: 73728 });
        assert_eq!(found.len(), 2);
        assert!(Program::read(code).is_empty());
        assert_eq!(found["mm"].blocks(9), 3);
        assert_eq!(found["mm"].blocks(8), 2);
    }

    #[test]
    fn the_head_of_the_code_says_which_launches_are_one_kernel() {
        let code = "// launch mm threads 128 groups 4\n\
                    // program net$0 steps 0 7 threads 256 blocks 132\n\
                    // program net$2 steps 9 12 threads 128 blocks 3 shared 65536\n\
                    .version 8.0\n";
        let found = Program::read(code);
        assert_eq!(found.len(), 2);
        let Program { symbol, first, last, threads, blocks, shared_bytes } = &found[0];
        assert_eq!((symbol.as_str(), first, last, threads, blocks), ("net$0", &0, &7, &256, &132));
        assert_eq!((*shared_bytes, found[1].shared_bytes), (0, 65536));
        assert_eq!(found[1].first, 9);
        assert_eq!(Launch::read(code).len(), 1);
        assert!(Program::read("// program net$0 steps 0 threads 1 blocks 1\n").is_empty());
    }

    #[test]
    fn a_launch_of_the_plan_ends_a_launch_of_a_kernel() {
        let steps = vec![step(0, 0, 4, &[]), step(0, 4, 8, &[])];
        let plan = Plan { steps, launches: vec![1], ..Plan::default() };
        assert_eq!(calls(&plan).len(), 2);
    }
}
