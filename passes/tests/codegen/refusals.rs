//! What is refused, and how it is reported.

use super::*;

#[test]
fn refuses_what_has_no_code() {
    let strange =
        machine(32).replace("x86-64", "pdp-11") + "device.kernel @k tasks 1 {\n^bb0(%t: index):\n}";
    let error = compile(&strange, 1).expect_err("there is no such target").to_string();
    assert!(error.contains("pdp-11"), "{error}");
    let error = compile(
        &(machine(32)
            + &elementwise(
                "k",
                8,
                ["f32", "f32"],
                8,
                "%n = arith.constant 3 : i32\n%r = math.fpowi %a, %n : f32, i32",
            )),
        1,
    );
    let error = error.expect_err("no instruction and no expansion").to_string();
    assert!(
        error.contains("kernel k") && error.contains("math.fpowi has no expansion on f32"),
        "{error}"
    );
    // Registers lie on the stack; what else a kernel keeps is lent to it.
    let room = |memory: &str| {
        let many = machine(32).replace("capacity_bytes(1024)", "capacity_bytes(2097152)");
        let alloc = format!("%big = device.alloc : memref<32769x8xf32, \"{memory}\">");
        many + &format!("device.kernel @k tasks 1 {{\n^bb0(%t: index):\n  {alloc}\n}}")
    };
    let error = compile(&room("vreg"), 1).expect_err("the stack is smaller").to_string();
    assert!(error.contains("1048608 bytes"), "{error}");
    compile(&room("dram"), 1).expect("a worker lends it");
}

/// `y = body(x)` by an instruction of the machine, whatever its lowering needs.
pub fn instruction(bytes: usize, ty: &str, body: &str) -> String {
    let fact = format!(
        r#"
  device.instruction @strange on @core operands([@vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {{
  ^bb0(%x: tensor<{ty}>):
    device.yield %x : tensor<{ty}>
  }} lowering {{
  ^bb0(%x: vector<{ty}>):
    {body}
    device.yield %y : vector<{ty}>
  }}
}}
device.kernel @k tasks 1 {{
^bb0(%task: index, %x: memref<{ty}>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<{ty}, "vreg">
  device.copy @load %x[%c0] to %r[%c0] count {count} : memref<{ty}> to memref<{ty}, "vreg">
  device.invoke @strange(%r[%c0]) : memref<{ty}, "vreg">
  device.copy @store %r[%c0] to %x[%c0] count {count} : memref<{ty}, "vreg"> to memref<{ty}>
}}"#,
        count = ty.split('x').next().unwrap_or("1"),
    );
    machine(bytes).trim_end().trim_end_matches('}').to_owned() + &fact
}

#[test]
fn names_what_nothing_provides() {
    let objects = compile(&instruction(32, "8xf32", "%y = math.sin %x : vector<8xf32>"), 1);
    let error =
        link(&objects.expect("LLVM calls sinf")).expect_err("nothing provides it").to_string();
    assert!(error.contains("kernel k calls sinf"), "{error}");
    let error = link(&[Object { symbol: "k".into(), bytes: b"not an object".into() }]);
    assert!(error.expect_err("it is no ELF").to_string().contains("the code of k"));
}

/// LLVM ends the process here, so another one runs it.
#[test]
#[ignore = "run by the test after it"]
fn uses_an_instruction_that_is_not_there() {
    let body = "%b = vector.bitcast %x : vector<8xi32> to vector<32xi8>\n %y = llvm.call_intrinsic \"llvm.x86.avx512.vpdpbusd.256\"(%x, %b, %b) : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>";
    let objects = compile(&instruction(32, "8xi32", body), 1);
    unreachable!("{objects:?}");
}

#[test]
fn reports_what_llvm_cannot_do() {
    let test = std::process::Command::new(std::env::current_exe().expect("the test is a program"))
        .args(["--ignored", "--exact", "refusals::uses_an_instruction_that_is_not_there"])
        .output()
        .expect("the test starts again");
    let error = String::from_utf8_lossy(&test.stderr);
    assert_eq!(test.status.code(), Some(1), "{error}");
    assert!(error.contains("error: kernel k: LLVM failed"), "{error}");
}
