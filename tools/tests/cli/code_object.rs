//! A model for an AMD GPU: its code object says how kernels are launched, as its text does.

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use weft_runtime::Artifact;
use weft_runtime::gpu::{LAUNCHES, Launch};

use super::{folder, weft};

#[test]
fn a_code_object_says_how_its_kernels_are_launched() {
    let folder = folder();
    let kernel = |more: &[&str]| {
        let product = ["kernel", "C[m,n] += A[m,k] * B[k,n]", "--shape", "m=64,n=64,k=32"];
        let arguments = [&product, &["--dtype", "f16", "--device", "mi300x"], more].concat();
        let output = weft(folder.path(), &arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    kernel(&["-o", "product.weft"]);
    let text = String::from_utf8(kernel(&["--emit", "amdgcn"])).expect("text");
    let expected = Launch::read(&text);
    assert!(!expected.is_empty(), "{text}");

    let artifact = Artifact::open(&folder.path().join("product.weft")).expect("sound");
    let file = object::File::parse(artifact.code()).expect("an ELF file");
    let section = file.section_by_name(LAUNCHES).expect("the section");
    let launches = std::str::from_utf8(section.data().expect("there")).expect("text");
    assert_eq!(Launch::read(launches), expected);
    assert_eq!(section.address(), 0, "it is not loaded");
    // The driver finds a kernel by its descriptor.
    let names: Vec<_> = file.dynamic_symbols().filter_map(|symbol| symbol.name().ok()).collect();
    let described = |symbol: &&str| names.contains(&format!("{symbol}.kd").as_str());
    assert!(expected.keys().all(described), "{expected:?}, {names:?}");
}
