//! The compile cache: the same compile comes from it, another one does not, and what is wrong
//! with it costs time alone.

mod damage;
mod desk;
mod facts;
mod limits;

use desk::{Desk, Out};

#[test]
fn n_10_the_same_compile_comes_from_the_cache() {
    for device in ["host", "x86-avx2", "toy", "stcp920-like"] {
        let desk = Desk::digits();
        let device = if device == "host" { "" } else { &format!("--device {device}") };
        let first = desk.compile(device);
        let again = desk.compile(device);
        assert!(first.missed() && again.hit(), "{device}\n{}\n{}", first.said, again.said);
        assert_eq!(first.bytes, again.bytes, "{device}");
        assert_eq!(first.bytes, desk.uncached(device), "{device}");
    }
}

#[test]
fn nothing_is_said_without_being_asked() {
    let desk = Desk::digits();
    for _ in 0..2 {
        let output = desk.weft("compile digits.onnx -o out.weft --cache cache");
        assert!(output.status.success());
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn neither_jobs_nor_names_of_files_matter() {
    let desk = Desk::digits();
    desk.compile("--jobs 1");
    assert!(desk.compile("--jobs 2").hit());
    std::fs::rename(desk.path("digits.onnx"), desk.path("other.onnx")).expect("renamed");
    let moved = desk.out(&desk.weft("compile other.onnx -o out.weft --timings --cache cache"));
    assert!(moved.hit(), "{}", moved.said);
}

#[test]
fn a_model_that_says_the_same_in_other_bytes_hits() {
    let desk = Desk::digits();
    let first = desk.compile("");
    desk.change_model(|model| model.doc_string = Some("read me".to_owned()));
    let again = desk.compile("");
    assert!(again.hit(), "{}", again.said);
    assert_eq!(first.bytes, again.bytes);
}

#[test]
fn changed_weights_miss() {
    let desk = Desk::digits();
    let first = desk.compile("");
    desk.change_weight();
    let changed = desk.compile("");
    assert!(changed.missed(), "{}", changed.said);
    assert_ne!(first.bytes, changed.bytes);
    assert_eq!(changed.bytes, desk.uncached(""));
}

#[test]
fn a_changed_option_misses_and_is_named() {
    let desk = Desk::digits();
    desk.compile("--device toy");
    for (option, named) in [
        ("--units 1", "units changed"),
        ("--pass-option tile-connect-edges.joining=none", "tile-connect-edges.joining changed"),
    ] {
        let arguments = format!("--device toy {option}");
        let changed = desk.compile(&arguments);
        assert!(changed.missed() && changed.said.contains(named), "{option}\n{}", changed.said);
        assert_eq!(changed.bytes, desk.uncached(&arguments), "{option}");
        assert!(desk.compile(&arguments).hit(), "{option}");
    }
    assert!(desk.compile("--device toy").hit());
}

#[test]
fn running_takes_what_compiling_kept() {
    let desk = Desk::digits();
    desk.compile("");
    for command in ["run", "bench --repeat 1"] {
        let output = desk.weft(&format!("{command} digits.onnx --timings --cache cache"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("cache hit"), "{command}\n{said}");
    }
    let simulate = "simulate digits.onnx --device toy --json --timings --cache cache";
    let (first, again) = (desk.weft(simulate), desk.weft(simulate));
    assert!(String::from_utf8_lossy(&again.stderr).contains("cache hit"));
    assert_eq!(first.stdout, again.stdout);
    assert_eq!(desk.files("lent").len(), 0, "what was lent is given back");
}

#[test]
fn who_asks_what_passes_chose_is_told() {
    let desk = Desk::digits();
    desk.compile("");
    let quiet = "--pass-option tile-construct-rtiles.remarks=true";
    for asks in ["--remarks", "--print-ir-after-all", quiet] {
        let told = desk.compile(asks);
        assert!(!told.hit() && !told.missed(), "{asks}");
        assert!(told.said.lines().count() > 30, "{asks}\n{}", told.said);
    }
}

#[test]
fn an_output_may_be_overwritten() {
    let desk = Desk::digits();
    let Out { bytes, .. } = desk.compile("");
    desk.compile("");
    let mut changed = bytes.clone();
    changed[200] ^= 1;
    std::fs::write(desk.path("out.weft"), changed).expect("written in place");
    let again = desk.compile("");
    assert!(again.hit() && !again.said.contains("warning"), "{}", again.said);
    assert_eq!(again.bytes, bytes);
}
