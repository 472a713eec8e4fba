//! The host: a shipped machine with measured facts, or with those of a file.

use std::process::{Command, Output};

use super::{folder, model, succeeds, write};

fn with_facts(folder: &tempfile::TempDir, facts: &str, arguments: &[&str]) -> Output {
    let mut weft = Command::new(env!("CARGO_BIN_EXE_weft"));
    weft.args(arguments).current_dir(folder.path()).env("WEFT_HOST_FACTS", facts);
    weft.output().expect("weft starts")
}

fn said_by(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const FACTS: &str = "features = [\"avx2\", \"fma\", \"f16c\", \"bmi2\"]
cores = 7
l1d_bytes = 12288
l2_bytes = 98304
";

/// A file of facts is all that a compilation for the host depends on.
#[test]
fn facts_in_a_file_replace_what_is_measured() {
    let folder = folder();
    write(&folder, "relu.onnx", model("Relu"));
    write(&folder, "facts.toml", FACTS);
    let emit = ["compile", "relu.onnx", "--emit", "tile", "-o", "-"];
    let emitted = said_by(&with_facts(&folder, "facts.toml", &emit));
    let words = [
        "@x86_avx2",
        "@core count(7)",
        "@l1 scope(\"core\") capacity_bytes(12288)",
        "@l2 scope(\"core\") capacity_bytes(98304)",
        // What the file does not say is what the machine's file says.
        "@l3 scope(\"device\") capacity_bytes(33554432)",
    ];
    for word in words {
        assert!(emitted.contains(word), "{word} is not in\n{emitted}");
    }
    assert!(!emitted.contains("host("), "{emitted}");
    // A machine that is named is what its file says, whatever the host is.
    let named = [&emit[..], &["--device", "x86-avx512"]].concat();
    let named = said_by(&with_facts(&folder, "facts.toml", &named));
    assert!(named.contains("@core count(2)"), "{named}");
    assert!(named.contains("@l1 scope(\"core\") capacity_bytes(32768)"), "{named}");
    let listed = said_by(&with_facts(&folder, "facts.toml", &["devices"]));
    let host: Vec<_> = listed.lines().filter(|line| line.contains("<- the host")).collect();
    assert!(matches!(host[..], [line] if line.starts_with("x86-avx2 ")), "{listed}");
    let described = said_by(&with_facts(&folder, "facts.toml", &["devices", "host"]));
    assert!(described.contains("(the host's)"), "{described}");
}

/// What is written here can be read elsewhere, and changes nothing here.
#[test]
fn measured_facts_are_written_and_read() {
    let folder = folder();
    write(&folder, "relu.onnx", model("Relu"));
    let facts = succeeds(folder.path(), &["devices", "--host-facts"]);
    write(&folder, "facts.toml", &facts);
    let emit = ["compile", "relu.onnx", "--emit", "task", "-o", "-"];
    let own = succeeds(folder.path(), &emit);
    assert_eq!(own, said_by(&with_facts(&folder, "facts.toml", &emit)));
    let again = said_by(&with_facts(&folder, "facts.toml", &["devices", "--host-facts"]));
    assert_eq!(again, facts);
}

#[test]
fn files_that_hold_no_facts_are_refused() {
    let folder = folder();
    write(&folder, "relu.onnx", model("Relu"));
    let cases = [
        ("cores = 2", "features"),
        ("features = []\ncores = 0", "cores is 0"),
        ("features = []\ncores = 2\nl4_bytes = 1", "l4_bytes"),
        ("features = []\ncores = \"two\"", "cores"),
        ("features = [\"sse2\"]\ncores = 2", "no machine that weft ships matches this processor"),
    ];
    for (facts, word) in cases {
        write(&folder, "facts.toml", facts);
        let output = with_facts(&folder, "facts.toml", &["compile", "relu.onnx", "-o", "x.weft"]);
        let said = said_by(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(word), "{word} is not in\n{said}");
    }
    let said =
        said_by(&with_facts(&folder, "nowhere.toml", &["compile", "relu.onnx", "-o", "x.weft"]));
    assert!(said.contains("nowhere.toml"), "{said}");
}

/// A refusal for a type that a machine lacks says which machines have it.
#[test]
fn machines_with_the_missing_type_are_named() {
    let folder = folder();
    let toy = include_str!("../../../devices/toy.mlir").replace("f32, f16, bf16, i64", "f32, i64");
    write(&folder, "narrow.mlir", toy);
    let text = "func.func @main(%x: tensor<9xf16>) -> tensor<9xf16> {
  %y = math.exp %x : tensor<9xf16>
  return %y : tensor<9xf16>
}
";
    write(&folder, "half.mlir", text);
    let compile = ["compile", "half.mlir", "--device", "narrow.mlir", "-o", "x.weft"];
    let said = super::weft(folder.path(), &compile);
    assert_eq!(said.status.code(), Some(1));
    let said = said_by(&said);
    assert!(said.contains("have no f16; those of x86-avx512, x86-avx2, toy,"), "{said}");
}
