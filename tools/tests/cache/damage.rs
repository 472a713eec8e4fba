//! A cache that was damaged is said once, and costs time alone.

use super::desk::{Desk, Out};

/// Damages every file of a folder, compiles, and compiles again.
fn survives(folder: &str, damage: impl Fn(Vec<u8>) -> Vec<u8>) -> Out {
    let desk = Desk::digits();
    let Out { bytes, .. } = desk.compile("");
    let files = desk.files(folder);
    assert!(!files.is_empty(), "{folder}");
    for file in files {
        let content = damage(std::fs::read(&file).expect("a file"));
        std::fs::write(file, content).expect("written");
    }
    let repaired = desk.compile("");
    assert_eq!(repaired.bytes, bytes, "{folder}");
    assert_eq!(repaired.said.matches("warning: ").count(), 1, "{folder}\n{}", repaired.said);
    assert!(repaired.said.contains("was damaged"), "{}", repaired.said);
    let after = desk.compile("");
    assert!(after.hit() && !after.said.contains("warning"), "{folder}\n{}", after.said);
    assert_eq!(after.bytes, bytes, "{folder}");
    repaired
}

fn cut(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() / 2);
    bytes
}

/// Behind the head, where nothing but a checksum can tell.
fn flipped(mut bytes: Vec<u8>) -> Vec<u8> {
    let at = bytes.len() - 7;
    bytes[at] ^= 16;
    bytes
}

fn garbage(_: Vec<u8>) -> Vec<u8> {
    b"\xff\xfe garbage".repeat(40)
}

#[test]
fn a_damaged_artifact_is_made_again() {
    for damage in [cut, flipped, garbage, |_| Vec::new()] {
        let repaired = survives("artifacts", damage);
        assert!(repaired.missed(), "{}", repaired.said);
    }
}

#[test]
fn a_damaged_index_is_written_again() {
    for damage in [cut, flipped, garbage, |_| Vec::new()] {
        // The recipe is still there.
        assert!(survives("seen", damage).hit());
        assert!(survives("", damage).missed());
    }
}

#[test]
fn a_damaged_artifact_is_not_run() {
    let desk = Desk::digits();
    let run = |arguments: &str| {
        let output = desk.weft(&format!("run digits.onnx --outputs out.npz {arguments}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        (std::fs::read(desk.path("out.npz")).expect("outputs"), said)
    };
    let (expected, _) = run("--no-cache");
    run("--cache cache");
    for file in desk.files("artifacts") {
        let content = flipped(std::fs::read(&file).expect("a file"));
        std::fs::write(file, content).expect("written");
    }
    let (outputs, said) = run("--cache cache");
    assert_eq!(outputs, expected);
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
}

#[test]
fn what_is_missing_is_no_damage() {
    for folder in ["artifacts", "seen", "recipes"] {
        let desk = Desk::digits();
        let Out { bytes, .. } = desk.compile("");
        std::fs::remove_dir_all(desk.path("cache/v1").join(folder)).expect("removed");
        let again = desk.compile("");
        assert!(!again.said.contains("warning"), "{folder}\n{}", again.said);
        assert_eq!(again.bytes, bytes, "{folder}");
    }
}
