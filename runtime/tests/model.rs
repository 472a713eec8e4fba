//! Models on the processor: native kernels, threads, refusals.

mod common;

use weft_runtime::artifact::{Artifact, write_to};
use weft_runtime::cpu::CpuError;
use weft_runtime::plan::Plan;
use weft_runtime::{Model, ModelError};

/// The bytes of an artifact of this plan and code.
fn bytes(plan: &Plan, code: &[u8]) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    write_to(&mut file, plan, code, |out| {
        use std::io::Write;
        Ok(out.write_all(&common::constants())?)
    })
    .expect("written");
    file.into_inner()
}

fn run(model: &mut Model, seed: u32) {
    let (x, expected) = common::example(seed);
    let mut y = vec![0; 256];
    model.run(&[&x], &mut [&mut y]).expect("runs");
    assert_eq!(y, expected, "seed {seed}");
}

#[test]
fn every_number_of_threads_gives_the_same() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = common::artifact(dir.path(), 4);
    for threads in 1..=4 {
        let mut model = Model::load(&path, Some(threads)).expect("loads");
        assert_eq!(model.threads(), threads);
        (0..300).for_each(|seed| run(&mut model, seed));
        // Long enough for the workers to park.
        std::thread::sleep(std::time::Duration::from_millis(20));
        (0..3).for_each(|seed| run(&mut model, seed));
    }
    Model::load(&path, None).expect("loads by itself");
}

#[test]
fn any_alignment_will_do() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut model = Model::load(&common::artifact(dir.path(), 2), Some(1)).expect("loads");
    let (x, expected) = common::example(7);
    for shift in [0, 1, 4, 63] {
        let mut input = vec![0; shift];
        input.extend_from_slice(&x);
        let mut output = vec![0; shift + 256];
        model.run(&[&input[shift..]], &mut [&mut output[shift..]]).expect("runs");
        assert_eq!(output[shift..], expected);
    }
}

#[test]
fn two_models_keep_apart() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = common::artifact(dir.path(), 2);
    let other = common::KERNELS.replace("* c[0]", "* 0");
    let other = bytes(&common::plan(2), &common::compile(&other, dir.path()));
    let mut first = Model::load(&path, Some(2)).expect("loads");
    let mut second = Model::from_bytes(&other, Some(2)).expect("loads");
    run(&mut first, 1);
    let mut y = vec![0; 256];
    second.run(&[&common::example(1).0], &mut [&mut y]).expect("runs");
    assert_eq!(y, [16f32; 64].map(f32::to_le_bytes).concat());
    run(&mut first, 2);
    drop(first);
    second.run(&[&common::example(1).0], &mut [&mut y]).expect("runs");
}

#[test]
fn steps_are_timed_on_request() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut model = Model::load(&common::artifact(dir.path(), 2), Some(2)).expect("loads");
    run(&mut model, 0);
    assert!(model.step_times().iter().all(|t| t.end_ns == 0));
    model.set_profiling(true);
    run(&mut model, 0);
    let times = model.step_times();
    assert!(times.iter().all(|t| t.begin_ns <= t.end_ns && t.end_ns > 0));
    // Steps 2 and 3 wait for 0 and 1.
    assert!(times[2].begin_ns >= times[0].end_ns.max(times[1].end_ns));
    let (x, _) = common::example(0);
    let rows = weft_runtime::measure::profile_run(&mut model, &[&x], &mut [&mut vec![0; 256]])
        .expect("runs");
    let mut names: Vec<_> =
        rows.iter().map(|r| (r.op.as_str(), r.kernel.as_str(), r.steps)).collect();
    names.sort();
    assert_eq!(names, [("Mirror_1", "mirror", 2), ("Scale_0", "scale", 2)]);
}

#[test]
fn kernels_may_call_memory_functions() {
    let dir = tempfile::tempdir().expect("a folder");
    let source = r#"
        void *memcpy(void *, const void *, unsigned long);
        void *memset(void *, int, unsigned long);
        void scale(unsigned char *const *b, long begin, long end) { memset(b[2], 0, 4096); }
        void mirror(unsigned char *const *b, long begin, long end) { memcpy(b[1], b[0], (end - begin) * 4); }
    "#;
    let artifact = bytes(&common::plan(1), &common::compile(source, dir.path()));
    let mut y = vec![1; 256];
    let mut model = Model::from_bytes(&artifact, None).expect("loads");
    model.run(&[&common::example(0).0], &mut [&mut y]).expect("runs");
    assert_eq!(y, [0; 256]);
}

#[test]
fn refusals_say_what_disagrees() {
    let dir = tempfile::tempdir().expect("a folder");
    let code = common::compile(common::KERNELS, dir.path());
    let refusal = |plan: &Plan, code: &[u8], threads| -> ModelError {
        Model::from_bytes(&bytes(plan, code), threads).err().expect("refused")
    };
    let plan = common::plan(2);
    assert!(refusal(&plan, &code, Some(3)).to_string().contains("1 to 2 are accepted"));
    assert!(refusal(&plan, &code, Some(0)).to_string().contains("0 threads"));
    assert!(matches!(refusal(&plan, b"not an object", None), ModelError::Cpu(CpuError::Code(_))));
    let needs = common::compile("void unknown(void); void scale(void) { unknown(); }", dir.path());
    assert!(refusal(&plan, &needs, None).to_string().contains("unknown"));
    let mut missing = plan.clone();
    missing.kernels[1].symbol = "absent".into();
    assert!(refusal(&missing, &code, None).to_string().contains("no function `absent`"));
    let mut feature = plan.clone();
    feature.cpu_features = vec!["sse2".into(), "tbm".into()];
    assert!(refusal(&feature, &code, None).to_string().contains("lacks: tbm"));

    let mut model = Model::from_bytes(&bytes(&plan, &code), None).expect("loads");
    let (x, mut y) = (vec![0; 4096], vec![0; 256]);
    assert!(
        model
            .run(&[], &mut [&mut y])
            .expect_err("refused")
            .to_string()
            .contains("1 inputs and was given 0")
    );
    let size = model.run(&[&x[1..]], &mut [&mut y]).expect_err("refused").to_string();
    assert_eq!(size, "input `x` has 4096 bytes and was given 4095");
    assert!(model.run(&[&x], &mut [&mut y[1..]]).is_err());
    let artifact = Artifact::from_bytes(&bytes(&plan, &code)).expect("sound");
    assert_eq!(artifact.plan(), &plan);
}
