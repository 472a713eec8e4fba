//! Processor features by LLVM's names.

use super::{CpuError, tiles};

/// Refuses if this machine lacks one of the features.
///
/// # Errors
///
/// All that are missing, or the first that is not known.
pub fn check(required: &[String]) -> Result<(), CpuError> {
    let mut missing = Vec::new();
    for name in required {
        match detected(name) {
            Some(true) => {}
            Some(false) => missing.push(name.clone()),
            None => return Err(CpuError::UnknownFeature { name: name.clone() }),
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(CpuError::Features { missing }) }
}

/// The features of this processor that weft knows by name, by LLVM's names.
pub fn present() -> Vec<&'static str> {
    let own = table().into_iter().filter(|(.., has)| *has).map(|(_, llvm, _)| llvm);
    let tiles = tiles::NAMES.into_iter().zip(tiles::present());
    own.chain(tiles.filter(|(_, has)| *has).map(|(name, _)| name)).collect()
}

/// Returns whether the machine has a feature, or `None` for a name that is not known.
fn detected(name: &str) -> Option<bool> {
    // The system is asked for tile registers where code needs them only.
    if let Some(at) = tiles::NAMES.iter().position(|tiles| *tiles == name) {
        return Some(tiles::present()[at]);
    }
    let known = table().into_iter().find(|(rust, llvm, _)| [*rust, *llvm].contains(&name));
    known.map(|(.., has)| has)
}

/// Rust's name of each known feature, LLVM's, and whether this processor has it.
#[cfg(target_arch = "x86_64")]
fn table() -> Vec<(&'static str, &'static str, bool)> {
    macro_rules! llvm {
        ($rust:tt) => {
            $rust
        };
        ($rust:tt = $llvm:tt) => {
            $llvm
        };
    }
    macro_rules! table {
        ($($rust:tt $(= $llvm:tt)?),* $(,)?) => {
            vec![$((
                $rust,
                llvm!($rust $(= $llvm)?),
                std::arch::is_x86_feature_detected!($rust),
            )),*]
        };
    }
    table! {
        "adx", "aes", "avx", "avx2", "avx512bf16", "avx512bitalg", "avx512bw", "avx512cd",
        "avx512dq", "avx512f", "avx512fp16", "avx512ifma", "avx512vbmi", "avx512vbmi2",
        "avx512vl", "avx512vnni", "avx512vp2intersect", "avx512vpopcntdq", "avxifma",
        "avxneconvert", "avxvnni", "avxvnniint16", "avxvnniint8", "bmi1" = "bmi", "bmi2",
        "cmpxchg16b" = "cx16", "f16c", "fma", "fxsr", "gfni", "lzcnt", "movbe", "pclmulqdq" = "pclmul",
        "popcnt", "rdrand" = "rdrnd", "rdseed", "sha", "sse", "sse2", "sse3", "sse4.1", "sse4.2",
        "sse4a", "ssse3", "tbm", "vaes", "vpclmulqdq", "xsave", "xsavec", "xsaveopt", "xsaves",
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn table() -> Vec<(&'static str, &'static str, bool)> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_by_name() {
        assert!(check(&[]).is_ok());
        let unknown = check(&["flux-capacitor".to_owned()]).expect_err("unknown").to_string();
        assert!(unknown.contains("`flux-capacitor`"), "{unknown}");
        #[cfg(target_arch = "x86_64")]
        {
            assert!(check(&["sse2".to_owned()]).is_ok());
            assert!(present().contains(&"sse2") && !present().contains(&"tbm"));
            // AMD dropped `tbm` and Intel never had it.
            let missing =
                check(&["sse2".to_owned(), "tbm".to_owned()]).expect_err("missing").to_string();
            assert!(missing.ends_with("lacks: tbm"), "{missing}");
        }
    }
}
