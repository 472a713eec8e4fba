//! Artifacts: the same bytes every time, and never undefined behaviour on wrong ones.

mod common;

use std::io::{Cursor, Write};

use proptest::prelude::*;
use weft_runtime::artifact::{Artifact, ArtifactError, Constants, write, write_to};

fn sample() -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let out = |out: &mut Constants<'_>| Ok(out.write_all(&common::constants())?);
    write_to(&mut file, &common::plan(3), &[0x7f; 1000], out).expect("written");
    file.into_inner()
}

#[test]
fn what_is_written_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.weft");
    let constants = |out: &mut Constants<'_>| {
        // In pieces, with a gap.
        out.write_all(&common::constants()[..3])?;
        out.write_all(&common::constants()[3..8])?;
        out.pad_to(64)?;
        assert_eq!(out.position(), 64);
        assert!(out.pad_to(8).is_err());
        Ok(())
    };
    write(&path, &common::plan(3), &[0x7f; 1000], constants).expect("written");
    let artifact = Artifact::open(&path).expect("sound");
    assert_eq!(artifact.plan(), &common::plan(3));
    assert_eq!(artifact.code(), [0x7f; 1000]);
    assert_eq!(artifact.constants(), common::constants());
    assert_eq!(artifact.constants().as_ptr() as usize % 4096, 0);
    artifact.verify_constants().expect("undamaged");
    assert_eq!(std::fs::read(&path).expect("readable"), sample());
    assert_eq!(
        std::fs::read_dir(dir.path()).expect("readable").count(),
        1,
        "no temporary file stays"
    );
}

#[test]
fn failures_leave_the_old_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.weft");
    std::fs::write(&path, "old").expect("writable");
    let attempt = |bytes: usize| {
        write(&path, &common::plan(1), &[], |out| Ok(out.write_all(&vec![0; bytes])?))
    };
    assert!(matches!(
        attempt(63),
        Err(ArtifactError::ConstantBytes { announced: 64, written: 63 })
    ));
    assert!(matches!(attempt(65), Err(ArtifactError::Constants(_))));
    let failed = write(&path, &common::plan(1), &[], |_| Err("no weights".into()));
    assert!(matches!(failed, Err(ArtifactError::Constants(_))));
    let mut wrong = common::plan(1);
    wrong.units = 0;
    assert!(matches!(write(&path, &wrong, &[], |_| Ok(())), Err(ArtifactError::Plan(_))));
    assert_eq!(std::fs::read(&path).expect("readable"), b"old");
    assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), 1);
}

#[test]
fn every_cut_and_every_flipped_bit_is_seen() {
    let file = sample();
    for length in 0..file.len() {
        assert!(Artifact::from_bytes(&file[..length]).is_err(), "cut at {length}");
    }
    let mut longer = file.clone();
    longer.push(0);
    assert!(matches!(Artifact::from_bytes(&longer), Err(ArtifactError::Length { .. })));
    // The gaps between sections are the only bytes nothing looks at.
    let artifact = Artifact::from_bytes(&file).expect("sound");
    let constants = file.len() - artifact.constants().len();
    drop(artifact);
    let mut unseen = 0;
    for at in 0..constants {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        unseen += Artifact::from_bytes(&damaged).is_ok() as usize;
    }
    let gaps = constants - 128 - 1000;
    assert!(unseen < gaps, "{unseen} of {constants}");
    let mut damaged = file;
    damaged[constants] ^= 1;
    let artifact = Artifact::from_bytes(&damaged).expect("constants are checked on request");
    assert!(matches!(
        artifact.verify_constants(),
        Err(ArtifactError::Checksum { section: "constants" })
    ));
}

#[test]
fn other_files_are_told_apart() {
    assert!(matches!(Artifact::from_bytes(b""), Err(ArtifactError::Magic)));
    assert!(matches!(Artifact::from_bytes(b"\x7fELF"), Err(ArtifactError::Magic)));
    assert!(matches!(Artifact::open("/".as_ref()), Err(ArtifactError::Magic)));
    assert!(matches!(Artifact::open("/no/such/file".as_ref()), Err(ArtifactError::Io { .. })));
    let mut newer = sample();
    newer[8] = 99;
    let error = Artifact::from_bytes(&newer).expect_err("refused").to_string();
    assert!(error.contains("version 99"), "{error}");
}

/// Puts right checksums over wrong contents: what is left to find is their meaning.
fn resealed(mut file: Vec<u8>) -> Vec<u8> {
    use xxhash_rust::xxh3::xxh3_64;
    let number = |file: &[u8], at: usize| u64::from_le_bytes(std::array::from_fn(|i| file[at + i]));
    for entry in [32, 64] {
        let (offset, bytes) =
            (number(&file, entry + 8) as usize, number(&file, entry + 16) as usize);
        if let Some(section) = offset.checked_add(bytes).and_then(|end| file.get(offset..end)) {
            let sum = xxh3_64(section);
            file[entry + 24..entry + 32].copy_from_slice(&sum.to_le_bytes());
        }
    }
    let head: Vec<u8> = file[..24].iter().chain(&file[32..128]).copied().collect();
    let sum = xxh3_64(&head);
    file[24..32].copy_from_slice(&sum.to_le_bytes());
    file
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_refused(bytes: Vec<u8>) {
        prop_assert!(Artifact::from_bytes(&bytes).is_err());
        let mut marked = weft_runtime::artifact::MAGIC.to_vec();
        marked.extend([1, 0, 0, 0, 3, 0, 0, 0]);
        marked.extend(bytes);
        prop_assert!(Artifact::from_bytes(&marked).is_err());
    }

    #[test]
    fn resealed_corruptions_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        in_head: bool,
    ) {
        let mut file = sample();
        let end = if in_head { 128 } else { file.len() - 64 };
        for (at, to) in changes {
            let at = at.index(end);
            file[at] = to;
        }
        if let Ok(artifact) = Artifact::from_bytes(&resealed(file)) {
            prop_assert_eq!(artifact.plan().validate(), Ok(()));
            let _ = (artifact.code().len(), artifact.constants().len());
        }
    }
}
