//! Tile registers of x86-64 (AMX): whether the processor has them, and the system lets this process use them.
//!
//! Linux keeps their 8 KiB for the threads of a process only after it has asked (`arch_prctl`, Linux 5.16; its
//! documentation, "Using XSTATE features in user space applications").

use std::sync::OnceLock;

/// LLVM's names of the features: registers, products of bytes, of bf16, of f16.
pub const NAMES: [&str; 4] = ["amx-tile", "amx-int8", "amx-bf16", "amx-fp16"];

/// Which of [`NAMES`] may be used. Asks the system the first time, for all threads of the process.
pub fn present() -> [bool; 4] {
    static PRESENT: OnceLock<[bool; 4]> = OnceLock::new();
    *PRESENT.get_or_init(|| {
        let features = features();
        if features[0] && is_permitted() { features } else { [false; 4] }
    })
}

/// Intel's manual, CPUID leaf 7: bits 24, 25 and 22 of EDX, bit 21 of EAX of subleaf 1.
#[cfg(target_arch = "x86_64")]
fn features() -> [bool; 4] {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    if __cpuid(0).eax < 7 {
        return [false; 4];
    }
    let first = __cpuid_count(7, 0);
    let second = if first.eax >= 1 { __cpuid_count(7, 1).eax } else { 0 };
    of_leaf(first.edx, second)
}

/// By EDX of CPUID's leaf 7 and EAX of its subleaf 1.
#[cfg(target_arch = "x86_64")]
fn of_leaf(edx: u32, eax: u32) -> [bool; 4] {
    let bit = |register: u32, bit: u32| register >> bit & 1 == 1;
    [bit(edx, 24), bit(edx, 25), bit(edx, 22), bit(eax, 21)]
}

#[cfg(not(target_arch = "x86_64"))]
fn features() -> [bool; 4] {
    [false; 4]
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn is_permitted() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const XFEATURE_XTILEDATA: libc::c_long = 18;
    // SAFETY: the call reads its numbers only, and changes nothing but what the process may use.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn is_permitted() -> bool {
    false
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn each_bit_is_one_feature() {
        assert_eq!(of_leaf(0, 0), [false; 4]);
        assert_eq!(of_leaf(1 << 24, 0), [true, false, false, false]);
        assert_eq!(of_leaf(1 << 25, 0), [false, true, false, false]);
        assert_eq!(of_leaf(1 << 22, 0), [false, false, true, false]);
        assert_eq!(of_leaf(0, 1 << 21), [false, false, false, true]);
    }
}
