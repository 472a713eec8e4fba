//! What policies decide, on operators that are only numbers.

use proptest::prelude::*;
use weft_passes::task::schedule::critical::critical;
use weft_passes::task::schedule::depth;
use weft_passes::task::schedule::fill::Program;
use weft_passes::task::schedule::lanes::Placement;
use weft_passes::task::schedule::operators::{Operator, RKernel, Target};
use weft_passes::task::schedule::wavefront::wavefront;

fn kernel(tasks: u64, task_cycles: u64) -> RKernel {
    RKernel { tasks, cycles: tasks * task_cycles, groups: 1 }
}

fn operator(kernels: &[RKernel], after: &[u32]) -> Operator {
    Operator { kernels: kernels.to_vec(), after: after.to_vec() }
}

fn target(units: u64, wait: u64, launch: Option<u64>) -> Target {
    Target { units, capacity: units, wait_cycles: wait, launch_cycles: launch, split_cycles: 0 }
}

fn starts(program: &Program) -> Vec<(usize, u64, Vec<usize>)> {
    let own = program.operators.iter();
    own.map(|one| (one.operator, one.start, one.units.clone())).collect()
}

/// The worked example: A of 3 blocks of 2, B of 2 blocks of 5, C of 4 blocks behind both.
#[test]
fn rm_3_the_wavefront_policy_gives_the_worked_example() {
    let operators = [
        operator(&[kernel(3, 2)], &[]),
        operator(&[kernel(2, 5)], &[]),
        operator(&[kernel(4, 3)], &[0, 1]),
    ];
    let (programs, _) = wavefront(&operators, &target(4, 1, None), Placement::Lanes);
    let [program] = &programs[..] else { panic!("one program: {programs:?}") };
    // Unit 3 idles: B needs two that start together.
    let expected = [(0, 0, vec![0, 1, 2]), (1, 2, vec![0, 1]), (2, 8, vec![0, 1, 2, 3])];
    assert_eq!(starts(program), expected);
    assert_eq!(program.cycles, 8 + 3);
    // Neighbours only: units 2 and 3 are free as late as 0 and 1 are.
    let (programs, _) = wavefront(&operators, &target(4, 1, None), Placement::Ranges);
    assert_eq!(starts(&programs[0]), expected);
}

/// One operator of every unit, then a chain of small ones: whether a wave goes behind what is
/// there depends on what a launch costs beside a wait.
#[test]
fn rm_4_a_wave_joins_where_a_launch_costs_more_than_a_wait() {
    let operators = [
        operator(&[kernel(4, 10)], &[]),
        operator(&[kernel(4, 10)], &[0]),
        operator(&[kernel(4, 10)], &[1]),
    ];
    let launches = |wait, launch| {
        let (programs, decisions) =
            wavefront(&operators, &target(4, wait, Some(launch)), Placement::Lanes);
        let of = |program: &Program| -> Vec<usize> {
            program.operators.iter().map(|one| one.operator).collect()
        };
        let compared: Vec<_> = decisions.iter().map(|wave| wave.compared).collect();
        (programs.iter().map(of).collect::<Vec<_>>(), compared)
    };
    // P1 = 5 + 10 + 2 + 10, cur + P2 = (5 + 10) + (5 + 10): joined.
    let (programs, compared) = launches(2, 5);
    assert_eq!(programs, [vec![0, 1, 2]]);
    assert_eq!(compared, [None, Some([15, 27, 15]), Some([27, 39, 15])]);
    // P1 = 1 + 10 + 2 + 10, cur + P2 = 11 + 11: launched alone.
    let (programs, compared) = launches(2, 1);
    assert_eq!(programs, [vec![0], vec![1], vec![2]]);
    assert_eq!(compared, [None, Some([11, 23, 11]), Some([11, 23, 11])]);
    // As long either way: joined.
    assert_eq!(launches(2, 2).0, [vec![0, 1, 2]]);
}

/// Two independent operators, each fastest on all four units. Together they are more than the
/// machine runs at once: both take the kernel of the smallest time · resource.
#[test]
fn rm_5_a_wave_above_the_capacity_takes_efficient_kernels() {
    // Alone 10 cycles on four units; 18 on one: 10 * 4 > 18 * 1.
    let ways = [kernel(4, 10), kernel(1, 18)];
    let one = operator(&ways, &[]);
    let two = [one.clone(), one.clone()];
    let target = target(4, 1, None);

    let (programs, decisions) = wavefront(&[one], &target, Placement::Lanes);
    assert_eq!((decisions[0].fastest, decisions[0].efficient), (4, false));
    assert_eq!((programs[0].operators[0].kernel, programs[0].cycles), (0, 10));

    let (programs, decisions) = wavefront(&two, &target, Placement::Lanes);
    assert_eq!((decisions[0].fastest, decisions[0].efficient), (8, true));
    let chosen: Vec<_> = programs[0].operators.iter().map(|one| one.kernel).collect();
    assert_eq!((chosen, programs[0].cycles), (vec![1, 1], 18), "20 with the fastest ones");
    // A machine that runs twice as much at once: as alone.
    let wide = Target { capacity: 8, ..target };
    let (programs, decisions) = wavefront(&two, &wide, Placement::Lanes);
    assert!(!decisions[0].efficient);
    assert_eq!(programs[0].operators[0].kernel, 0);
}

/// Operators after random earlier ones.
fn operators() -> impl Strategy<Value = Vec<Operator>> {
    let one = (1u64..9, 1u64..30, prop::collection::vec(any::<prop::sample::Index>(), 0..3));
    prop::collection::vec(one, 1..40).prop_map(|raw| {
        let with_numbers = raw.into_iter().enumerate();
        let made = with_numbers.map(|(number, (tasks, cycles, before))| {
            let mut after: Vec<u32> = match number {
                0 => Vec::new(),
                _ => before.iter().map(|index| index.index(number) as u32).collect(),
            };
            after.sort_unstable();
            after.dedup();
            operator(&[kernel(tasks, cycles), kernel(1, cycles * (tasks + 1) / 2)], &after)
        });
        made.collect()
    })
}

proptest! {
    /// Every operator once, after those before it, on units that do one thing at a time.
    #[test]
    fn waves_keep_every_order(
        operators in operators(),
        units in 1u64..6,
        wait in 0u64..9,
        launch in prop::option::of(0u64..40),
        ranges in any::<bool>(),
    ) {
        let placement = if ranges { Placement::Ranges } else { Placement::Lanes };
        let target = target(units, wait, launch);
        let (programs, _) = wavefront(&operators, &target, placement);
        let mut done: Vec<Option<(usize, u64, Vec<usize>)>> = vec![None; operators.len()];
        for (number, program) in programs.iter().enumerate() {
            let mut free = vec![0; units as usize];
            let mut last = 0;
            for one in &program.operators {
                let facts = &operators[one.operator];
                let time = facts.kernels[one.kernel].time(&target);
                for &unit in &one.units {
                    prop_assert!(free[unit] <= one.start, "one thing at a time");
                    free[unit] = one.start + time;
                }
                for &before in &facts.after {
                    let (program, end, on) = done[before as usize].clone().expect("it is done");
                    let near = on.len() == 1 && one.units == on;
                    let wait = if near { 0 } else { wait };
                    prop_assert!(program < number || end + wait <= one.start);
                }
                last = last.max(one.start + time);
                let once = done[one.operator].replace((number, one.start + time, one.units.clone()));
                prop_assert_eq!(once, None);
            }
            prop_assert_eq!(program.cycles, last);
        }
        prop_assert!(done.iter().all(Option::is_some));
        prop_assert!(launch.is_some() || programs.len() == 1);
    }

    /// Every operator once, after those before it; never shorter than the longest way, nor than
    /// the work of all units.
    #[test]
    fn critical_paths_keep_every_order(operators in operators(), units in 1u64..6, wait in 0u64..9) {
        let target = target(units, wait, None);
        let program = critical(&operators, &target);
        let length = program.cycles;
        let order: Vec<_> = program.operators.iter().map(|one| one.operator).collect();
        let mut seen = vec![false; operators.len()];
        let (mut way, mut work) = (vec![0; operators.len()], 0);
        for &number in &order {
            prop_assert!(!seen[number]);
            seen[number] = true;
            let kernel = operators[number].kernels[0];
            let before = operators[number].after.iter().map(|&before| before as usize);
            for before in before.clone() {
                prop_assert!(seen[before], "{before} before {number}");
            }
            way[number] = before.map(|before| way[before]).max().unwrap_or(0) + kernel.time(&target);
            work += kernel.cycles;
        }
        prop_assert_eq!(order.len(), operators.len());
        let longest = way.iter().copied().max().unwrap_or(0);
        prop_assert!(length >= longest && length >= work.div_ceil(units));
        prop_assert!(units > 1 || length == work);
    }
}

/// The most results that are alive at once: while one is made, and between two.
fn alive(operators: &[Operator], order: &[usize]) -> [usize; 2] {
    let mut left = vec![0; operators.len()];
    for operator in operators {
        operator.after.iter().for_each(|&before| left[before as usize] += 1);
    }
    let (mut now, mut most) = (0usize, [0, 0]);
    for &number in order {
        now += 1;
        most[0] = most[0].max(now);
        for &before in &operators[number].after {
            left[before as usize] -= 1;
            now -= usize::from(left[before as usize] == 0);
        }
        most[1] = most[1].max(now);
    }
    most
}

/// The pyramid of the paper: eight pieces, four of two each, two, one.
#[test]
fn gt_3_the_depth_policy_gives_the_order_of_the_paper() {
    let mut operators: Vec<Operator> = (0..8).map(|_| operator(&[kernel(1, 1)], &[])).collect();
    for first in [0, 2, 4, 6, 8, 10, 12] {
        operators.push(operator(&[kernel(1, 1)], &[first, first + 1]));
    }
    let name = |number: usize| match number {
        0..8 => format!("a{}", number + 1),
        8..12 => format!("b{}", number - 7),
        12..14 => format!("c{}", number - 11),
        _ => format!("d{}", number - 13),
    };
    let order = depth::order(&operators);
    let names: Vec<_> = order.iter().map(|&number| name(number)).collect();
    assert_eq!(names.join(" "), "a8 a7 b4 a6 a5 b3 c2 a4 a3 b2 a2 a1 b1 c1 d1");
    assert_eq!(alive(&operators, &order), [5, 4]);
    let by_stage: Vec<usize> = (0..operators.len()).collect();
    assert_eq!(alive(&operators, &by_stage), [9, 8]);
    let program = depth::depth(&operators, &target(1, 0, None));
    let placed: Vec<_> = program.operators.iter().map(|one| one.operator).collect();
    assert_eq!((placed, program.cycles), (order, 15));
}

/// Sub-graphs of instances as those of ResNet-50's stages: fewer and fewer, each of which reads the
/// neighbours of its own place, halos included.
#[test]
fn gt_3_less_is_alive_than_stage_by_stage() {
    let stages = [28usize, 28, 28, 14, 14, 7, 7, 4, 4, 1];
    let mut operators: Vec<Operator> = Vec::new();
    let mut before: Option<(u32, usize)> = None;
    for count in stages {
        let first = operators.len() as u32;
        for piece in 0..count {
            let reads = before.map_or(Vec::new(), |(begin, pieces)| {
                let at = |piece: usize| (piece * pieces).div_ceil(count);
                let (low, high) = (at(piece).saturating_sub(1), (at(piece + 1) + 1).min(pieces));
                (low..high).map(|own| begin + own as u32).collect()
            });
            operators.push(operator(&[kernel(1, 1)], &reads));
        }
        before = Some((first, count));
    }
    let by_stage: Vec<usize> = (0..operators.len()).collect();
    let [depth, breadth] =
        [depth::order(&operators), by_stage].map(|order| alive(&operators, &order)[0]);
    assert!(depth < breadth, "{depth} and {breadth} alive");
}
