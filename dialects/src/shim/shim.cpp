#include "shim.h"
#include "dialects.h"
#include "vendor.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Target/TargetMachine.h"

#include <cstring>
#include <list>

using namespace mlir;

static bool (*installedVerifier)(MlirOperation) = nullptr;

LogicalResult weft::verifyInRust(Operation *op) {
  if (!installedVerifier)
    return success();
  return success(installedVerifier(wrap(op)));
}

void weftSetVerifier(bool (*verify)(MlirOperation)) { installedVerifier = verify; }

static void registerWeftDialects(DialectRegistry &registry) {
  registry.insert<weft::graph::GraphDialect, weft::tile::TileDialect,
                  weft::task::TaskDialect, weft::device::DeviceDialect>();
}

void weftRegisterDialects(MlirDialectRegistry registry) {
  registerWeftDialects(*unwrap(registry));
}

namespace {
/// A pass on modules that is written in Rust. Options are strings here; Rust
/// reads them.
class RustPass : public PassWrapper<RustPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RustPass)

  explicit RustPass(const WeftPass *pass) : pass(pass) { declare(); }
  RustPass(const RustPass &other) : PassWrapper(other), pass(other.pass) {
    declare();
    copyOptionValuesFrom(&other);
  }

  StringRef getArgument() const override { return pass->argument; }
  StringRef getDescription() const override { return pass->description; }
  StringRef getName() const override { return pass->argument; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registerAllDialects(registry);
    registerWeftDialects(registry);
    // No dialect is loaded while passes run: those of a file that this one reads
    // are known before.
    size_t next = 0;
    for (auto &value : optionValues)
      if (StringRef(pass->options[next++].name) == "file")
        weft::insertVendorDialects(registry, StringRef(value.getValue()));
  }

  void runOnOperation() override {
    SmallVector<MlirStringRef> values;
    for (auto &value : optionValues)
      values.push_back(wrap(StringRef(value.getValue())));
    SmallVector<uint64_t> counts(statisticValues.size(), 0);
    if (!pass->run(pass->user, wrap(getOperation().getOperation()), values.data(),
                   counts.data()))
      signalPassFailure();
    size_t next = 0;
    for (auto &statistic : statisticValues)
      statistic += counts[next++];
  }

private:
  void declare() {
    for (size_t i = 0; i < pass->optionCount; ++i)
      optionValues.emplace_back(*this, StringRef(pass->options[i].name),
                                llvm::cl::desc(pass->options[i].description),
                                llvm::cl::init(std::string(pass->options[i].fallback)));
    for (size_t i = 0; i < pass->statisticCount; ++i)
      statisticValues.emplace_back(this, pass->statistics[i].name,
                                   pass->statistics[i].description);
  }

  const WeftPass *pass;
  // Lists, for neither options nor statistics can move.
  std::list<Option<std::string>> optionValues;
  std::list<Statistic> statisticValues;
};
} // namespace

void weftRegisterPass(const WeftPass *pass) {
  registerPass([pass]() -> std::unique_ptr<Pass> { return std::make_unique<RustPass>(pass); });
}

static void registerEverything(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerWeftDialects(registry);
}

// As upstream's main function, with the dialects that the input declares.
bool weftKnowsProcessor(const void *machine, MlirStringRef name) {
  auto *target = static_cast<const llvm::TargetMachine *>(machine);
  return target->getMCSubtargetInfo()->isCPUStringValid(unwrap(name));
}

int weftOptMain(int argc, char **argv) {
  registerAllPasses();
  DialectRegistry registry;
  registerEverything(registry);
  auto [input, output] =
      registerAndParseCLIOptions(argc, argv, "weft's optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  std::string wrong;
  auto text = openInputFile(input, &wrong);
  auto out = text ? openOutputFile(output, &wrong) : nullptr;
  if (!out) {
    llvm::errs() << wrong << "\n";
    return EXIT_FAILURE;
  }
  if (!weft::nestsNotTooDeep(text->getMemBufferRef()))
    return EXIT_FAILURE;
  weft::insertVendorDialects(registry, text->getMemBufferRef());
  LogicalResult done = MlirOptMain(out->os(), std::move(text), registry, config);
  if (succeeded(done))
    out->keep();
  return asMainReturnCode(done);
}

int weftLspServerMain(int argc, char **argv) {
  // One registry per document: two may declare a dialect differently. What is asked
  // is the file, so a new operation is known once it is saved.
  std::list<DialectRegistry> registries;
  auto registryOf = [&](const llvm::lsp::URIForFile &uri) -> DialectRegistry & {
    DialectRegistry &registry = registries.emplace_back();
    registerEverything(registry);
    weft::insertVendorDialects(registry, uri.file());
    return registry;
  };
  return asMainReturnCode(MlirLspServerMain(argc, argv, registryOf));
}

int weftReduceMain(int argc, char **argv) {
  registerAllPasses();
  DialectRegistry registry;
  registerEverything(registry);
  // Upstream reads its options by itself: every argument may be the input.
  for (int i = 1; i < argc; ++i)
    if (StringRef(argv[i]).ends_with(".mlir"))
      weft::insertVendorDialects(registry, argv[i]);
  MLIRContext context(registry);
  return asMainReturnCode(mlirReduceMain(argc, argv, context));
}

void weftEmitError(MlirLocation location, MlirStringRef message,
                   const MlirLocation *places, const MlirStringRef *notes,
                   size_t noteCount) {
  InFlightDiagnostic diagnostic = emitError(unwrap(location), unwrap(message));
  for (size_t i = 0; i < noteCount; ++i)
    diagnostic.attachNote(unwrap(places[i])) << unwrap(notes[i]);
}

void weftEmitRemark(MlirLocation location, MlirStringRef message) {
  emitRemark(unwrap(location), unwrap(message));
}

MlirAttribute weftRTileGet(MlirContext context, MlirStringRef memory,
                           intptr_t count, const int64_t *sizes) {
  return wrap(weft::tile::RTileAttr::get(unwrap(context), unwrap(memory),
                                         ArrayRef<int64_t>(sizes, count)));
}
bool weftAttributeIsRTile(MlirAttribute attribute) {
  return isa<weft::tile::RTileAttr>(unwrap(attribute));
}
MlirStringRef weftRTileMemory(MlirAttribute attribute) {
  return wrap(cast<weft::tile::RTileAttr>(unwrap(attribute)).getMemory());
}
intptr_t weftRTileRank(MlirAttribute attribute) {
  return cast<weft::tile::RTileAttr>(unwrap(attribute)).getSizes().size();
}
int64_t weftRTileSize(MlirAttribute attribute, intptr_t axis) {
  return cast<weft::tile::RTileAttr>(unwrap(attribute)).getSizes()[axis];
}

MlirAttribute weftScheduleGet(MlirContext context, const WeftSchedule *fields) {
  auto list = [](MlirAttribute attribute) {
    return cast_or_null<DenseI64ArrayAttr>(unwrap(attribute));
  };
  auto symbol = [](MlirAttribute attribute) {
    return cast_or_null<FlatSymbolRefAttr>(unwrap(attribute));
  };
  auto axis = [](int64_t axis) {
    return axis == INT64_MIN ? std::optional<int64_t>() : axis;
  };
  return wrap(weft::tile::ScheduleAttr::get(
      unwrap(context), list(fields->order), axis(fields->grow),
      list(fields->rows),
      list(fields->slide), list(fields->unroll), axis(fields->transpose),
      axis(fields->combineRows), symbol(fields->stream),
      symbol(fields->border), list(fields->phases), list(fields->spread),
      list(fields->interleave), list(fields->operands), symbol(fields->ahead),
      list(fields->cluster), list(fields->bands), fields->stages,
      fields->neighbours,
      fields->turns, fields->resident));
}
bool weftScheduleRead(MlirAttribute attribute, WeftSchedule *fields) {
  auto schedule = dyn_cast<weft::tile::ScheduleAttr>(unwrap(attribute));
  if (!schedule)
    return false;
  *fields = {wrap(Attribute(schedule.getOrder())),
             wrap(Attribute(schedule.getRows())),
             wrap(Attribute(schedule.getSlide())),
             wrap(Attribute(schedule.getUnroll())),
             wrap(Attribute(schedule.getStream())),
             wrap(Attribute(schedule.getBorder())),
             wrap(Attribute(schedule.getPhases())),
             wrap(Attribute(schedule.getSpread())),
             wrap(Attribute(schedule.getInterleave())),
             wrap(Attribute(schedule.getOperands())),
             wrap(Attribute(schedule.getAhead())),
             wrap(Attribute(schedule.getCluster())),
             wrap(Attribute(schedule.getBands())),
             schedule.getGrow().value_or(INT64_MIN),
             schedule.getTranspose().value_or(INT64_MIN),
             schedule.getCombineRows().value_or(INT64_MIN),
             schedule.getStages(),
             schedule.getNeighbours(),
             schedule.getTurns(),
             schedule.getResident()};
  return true;
}
MlirType weftTaskTokenGet(MlirContext context) {
  return wrap(weft::task::TokenType::get(unwrap(context)));
}
MlirType weftDeviceTokenGet(MlirContext context) {
  return wrap(weft::device::TokenType::get(unwrap(context)));
}

MlirAttribute weftIteratorTypeGet(MlirContext context, bool parallel) {
  return wrap(linalg::IteratorTypeAttr::get(
      unwrap(context), parallel ? utils::IteratorType::parallel
                                : utils::IteratorType::reduction));
}
bool weftIteratorTypeIsParallel(MlirAttribute attribute) {
  auto iterator = dyn_cast<linalg::IteratorTypeAttr>(unwrap(attribute));
  return iterator && iterator.getValue() == utils::IteratorType::parallel;
}

unsigned weftLocationLine(MlirLocation location) {
  auto file = dyn_cast<FileLineColLoc>(LocationAttr(unwrap(location)));
  return file ? file.getLine() : 0;
}
unsigned weftLocationColumn(MlirLocation location) {
  auto file = dyn_cast<FileLineColLoc>(LocationAttr(unwrap(location)));
  return file ? file.getColumn() : 0;
}
