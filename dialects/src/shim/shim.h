// What the C API lacks, for Rust: our dialects, passes with options, the main
// functions of the tools, diagnostics with notes.
#pragma once

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

extern "C" {
typedef struct {
  const char *name;
  const char *description;
  const char *fallback;
} WeftOption;

typedef struct {
  const char *name;
  const char *description;
} WeftStatistic;

/// A pass as Rust describes it. `run` gets the module, the values of the
/// options in their order, a counter for each statistic, and answers whether it
/// went well; it never unwinds.
typedef struct {
  const char *argument;
  const char *description;
  const WeftOption *options;
  size_t optionCount;
  const WeftStatistic *statistics;
  size_t statisticCount;
  void *user;
  bool (*run)(void *user, MlirOperation module, const MlirStringRef *options,
              uint64_t *statistics);
} WeftPass;

void weftRegisterDialects(MlirDialectRegistry registry);
void weftRegisterPass(const WeftPass *pass);
void weftSetVerifier(bool (*verify)(MlirOperation));
/// Installs what says whether a text's brackets nest no deeper than can be parsed, and
/// on which line they do.
void weftSetDepthCheck(bool (*check)(MlirStringRef, size_t *line));
/// Registers the dialects that a text declares by `irdl.dialect`, so that it parses;
/// false where something is wrong with them, which was reported.
bool weftLoadVendorDialects(MlirContext context, MlirStringRef text);
/// Whether LLVM has a processor of this name for the target of an `LLVMTargetMachineRef`.
bool weftKnowsProcessor(const void *machine, MlirStringRef name);
/// Links ELF files as `ld.lld` does with these arguments; hands on what it says, and returns whether
/// all went well. One at a time, and while nothing makes code: it sets LLVM's options.
bool weftLink(size_t count, const char *const *arguments, MlirStringCallback report,
              void *user);
/// Sets LLVM's options, such as `-disable-lsr`; `anew` where the linker was called since, which forgets them.
void weftSetOptions(size_t count, const char *const *words, bool anew);
int weftOptMain(int argc, char **argv);
int weftLspServerMain(int argc, char **argv);
int weftReduceMain(int argc, char **argv);

/// Reports an error at `location`, with a note for each pair of place and text.
void weftEmitError(MlirLocation location, MlirStringRef message,
                   const MlirLocation *places, const MlirStringRef *notes,
                   size_t noteCount);
/// Reports a remark, where remarks are asked for (`--remarks`), as an MLIR diagnostic.
void weftEmitRemark(MlirLocation location, MlirStringRef message);

MlirAttribute weftRTileGet(MlirContext context, MlirStringRef memory,
                           intptr_t count, const int64_t *sizes);
bool weftAttributeIsRTile(MlirAttribute attribute);
MlirStringRef weftRTileMemory(MlirAttribute attribute);
intptr_t weftRTileRank(MlirAttribute attribute);
int64_t weftRTileSize(MlirAttribute attribute, intptr_t axis);

/// The fields of a `#tile.schedule`: null or the least number where one is left out.
typedef struct {
  MlirAttribute order, rows, slide, unroll, stream, border, phases, spread,
      interleave, operands, ahead, cluster, bands;
  int64_t grow, transpose, combineRows, stages, neighbours,
      turns, resident;
} WeftSchedule;
MlirAttribute weftScheduleGet(MlirContext context, const WeftSchedule *fields);
/// False where the attribute is none.
bool weftScheduleRead(MlirAttribute attribute, WeftSchedule *fields);
MlirType weftTaskTokenGet(MlirContext context);
MlirType weftDeviceTokenGet(MlirContext context);

/// How `linalg` walks along an axis; anything else is not parallel.
MlirAttribute weftIteratorTypeGet(MlirContext context, bool parallel);
bool weftIteratorTypeIsParallel(MlirAttribute attribute);

/// Line and column of a file location, zero where it is of another kind.
unsigned weftLocationLine(MlirLocation location);
unsigned weftLocationColumn(MlirLocation location);
}
