//! The C++ side (`src/shim/shim.h`), declared for Rust.

use mlir_sys::*;
use std::ffi::{c_char, c_int, c_uint, c_void};

#[repr(C)]
pub struct WeftOption {
    pub name: *const c_char,
    pub description: *const c_char,
    pub fallback: *const c_char,
}

#[repr(C)]
pub struct WeftStatistic {
    pub name: *const c_char,
    pub description: *const c_char,
}

/// The fields of a `#tile.schedule`: null or the least number where one is left out.
#[repr(C)]
pub struct WeftSchedule {
    pub order: MlirAttribute,
    pub rows: MlirAttribute,
    pub slide: MlirAttribute,
    pub unroll: MlirAttribute,
    pub stream: MlirAttribute,
    pub border: MlirAttribute,
    pub phases: MlirAttribute,
    pub spread: MlirAttribute,
    pub interleave: MlirAttribute,
    pub operands: MlirAttribute,
    pub ahead: MlirAttribute,
    pub cluster: MlirAttribute,
    pub bands: MlirAttribute,
    pub grow: i64,
    pub transpose: i64,
    pub combine_rows: i64,
    pub stages: i64,
    pub neighbours: i64,
    pub turns: i64,
    pub resident: i64,
}

pub type RunPass = unsafe extern "C" fn(
    user: *mut c_void,
    module: MlirOperation,
    options: *const MlirStringRef,
    statistics: *mut u64,
) -> bool;

#[repr(C)]
pub struct WeftPass {
    pub argument: *const c_char,
    pub description: *const c_char,
    pub options: *const WeftOption,
    pub option_count: usize,
    pub statistics: *const WeftStatistic,
    pub statistic_count: usize,
    pub user: *mut c_void,
    pub run: RunPass,
}

unsafe extern "C" {
    pub fn weftRegisterDialects(registry: MlirDialectRegistry);
    pub fn weftRegisterPass(pass: *const WeftPass);
    pub fn weftSetVerifier(verify: unsafe extern "C" fn(MlirOperation) -> bool);
    pub fn weftSetDepthCheck(check: unsafe extern "C" fn(MlirStringRef, *mut usize) -> bool);
    pub fn weftLoadVendorDialects(context: MlirContext, text: MlirStringRef) -> bool;
    pub fn weftLink(
        count: usize,
        arguments: *const *const c_char,
        report: MlirStringCallback,
        user: *mut c_void,
    ) -> bool;
    pub fn weftSetOptions(count: usize, words: *const *const c_char, anew: bool);
    pub fn weftOptMain(argc: c_int, argv: *mut *mut c_char) -> c_int;
    pub fn weftLspServerMain(argc: c_int, argv: *mut *mut c_char) -> c_int;
    pub fn weftReduceMain(argc: c_int, argv: *mut *mut c_char) -> c_int;
    pub fn weftKnowsProcessor(machine: *const c_void, name: MlirStringRef) -> bool;
    pub fn weftEmitError(
        location: MlirLocation,
        message: MlirStringRef,
        places: *const MlirLocation,
        notes: *const MlirStringRef,
        note_count: usize,
    );
    pub fn weftEmitRemark(location: MlirLocation, message: MlirStringRef);
    pub fn weftRTileGet(
        context: MlirContext,
        memory: MlirStringRef,
        count: isize,
        sizes: *const i64,
    ) -> MlirAttribute;
    pub fn weftAttributeIsRTile(attribute: MlirAttribute) -> bool;
    pub fn weftRTileMemory(attribute: MlirAttribute) -> MlirStringRef;
    pub fn weftRTileRank(attribute: MlirAttribute) -> isize;
    pub fn weftRTileSize(attribute: MlirAttribute, axis: isize) -> i64;
    pub fn weftScheduleGet(context: MlirContext, fields: *const WeftSchedule) -> MlirAttribute;
    pub fn weftScheduleRead(attribute: MlirAttribute, fields: *mut WeftSchedule) -> bool;
    pub fn weftTaskTokenGet(context: MlirContext) -> MlirType;
    pub fn weftDeviceTokenGet(context: MlirContext) -> MlirType;
    pub fn weftIteratorTypeGet(context: MlirContext, parallel: bool) -> MlirAttribute;
    pub fn weftIteratorTypeIsParallel(attribute: MlirAttribute) -> bool;
    pub fn weftLocationLine(location: MlirLocation) -> c_uint;
    pub fn weftLocationColumn(location: MlirLocation) -> c_uint;
}
