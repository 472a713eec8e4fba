// A text with an `irdl.dialect` that is used in it does not parse as it is: the dialect
// has to be there before its operations are read. So the text is parsed once where
// unknown operations are welcome, and what it declares is registered before the text is
// parsed for good.
#include "vendor.h"
#include "dialects.h"
#include "shim.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/IRDL/IR/IRDL.h"
#include "mlir/Dialect/IRDL/IRDLLoading.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

static bool (*installedDepthCheck)(MlirStringRef, size_t *line) = nullptr;

void weftSetDepthCheck(bool (*check)(MlirStringRef, size_t *line)) {
  installedDepthCheck = check;
}

bool weft::nestsNotTooDeep(llvm::MemoryBufferRef text) {
  size_t line = 0;
  if (!installedDepthCheck || installedDepthCheck(wrap(text.getBuffer()), &line))
    return true;
  llvm::errs() << text.getBufferIdentifier() << ":" << line
               << ":1: error: brackets nest too deep\n";
  return false;
}

namespace {
/// One dialect of a text.
struct Declared {
  std::string name;
  // Alone in a module: as it is compared, and with places, as it is parsed.
  std::string text, placed;
};

/// What is wrong in the scratch context, to be said in another one.
struct Heard {
  DiagnosticSeverity severity;
  unsigned line = 0, column = 0;
  std::string message;
};

/// A context in which every operation may stand.
class Scratch {
public:
  Scratch() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<weft::graph::GraphDialect, weft::tile::TileDialect,
                    weft::task::TaskDialect, weft::device::DeviceDialect>();
    context.appendDialectRegistry(registry);
    context.allowUnregisteredDialects();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      hear(diagnostic);
      return success();
    });
  }

  /// The dialects that `text` declares; failure was heard.
  LogicalResult read(StringRef text, SmallVectorImpl<Declared> &declared) {
    // Not verified: that is for the second time, when all operations are known.
    ParserConfig config(&context, /*verifyAfterParse=*/false);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, config);
    if (!module)
      return failure();
    bool good = true;
    module->walk([&](irdl::DialectOp dialect) {
      good = good && succeeded(take(dialect, declared));
    });
    return success(good);
  }

  /// Says in `other` what was heard here.
  void tell(MLIRContext *other) {
    for (Heard &heard : heard) {
      Location place = heard.line ? Location(FileLineColLoc::get(other, "-", heard.line,
                                                                 heard.column))
                                  : UnknownLoc::get(other);
      if (heard.severity == DiagnosticSeverity::Error)
        emitError(place) << heard.message;
    }
  }

private:
  void hear(Diagnostic &diagnostic) {
    auto file = dyn_cast<FileLineColLoc>(LocationAttr(diagnostic.getLocation()));
    heard.push_back({diagnostic.getSeverity(), file ? file.getLine() : 0,
                     file ? file.getColumn() : 0, diagnostic.str()});
  }

  LogicalResult take(irdl::DialectOp dialect, SmallVectorImpl<Declared> &declared) {
    StringRef name = dialect.getSymName();
    if (context.getDialectRegistry().getDialectAllocator(name))
      return dialect.emitError() << "the dialect @" << name
                                 << " has the name of one that is there already; give "
                                    "yours another name";
    for (Declared &other : declared)
      if (other.name == name)
        return dialect.emitError() << "the dialect @" << name
                                   << " is declared twice; declare all its operations in one";
    if (failed(verify(dialect)))
      return failure();
    Declared one{name.str(), "", ""};
    print(dialect, OpPrintingFlags(), one.text);
    print(dialect, OpPrintingFlags().enableDebugInfo(), one.placed);
    declared.push_back(std::move(one));
    return success();
  }

  static void print(Operation *op, OpPrintingFlags flags, std::string &text) {
    llvm::raw_string_ostream out(text);
    op->print(out, flags.useLocalScope());
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::vector<Heard> heard;
};
} // namespace

/// Registers one dialect with a context that does not have it.
static LogicalResult load(MLIRContext *context, StringRef placed) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(placed, ParserConfig(context));
  return module ? irdl::loadDialects(*module) : failure();
}

bool weftLoadVendorDialects(MlirContext context, MlirStringRef text) {
  MLIRContext *target = unwrap(context);
  Scratch scratch;
  SmallVector<Declared> declared;
  if (failed(scratch.read(unwrap(text), declared))) {
    scratch.tell(target);
    return false;
  }
  auto &known = target->getOrLoadDialect<weft::device::DeviceDialect>()->vendorDialects;
  // Together, for one may use the types of another.
  std::string placed;
  for (Declared &one : declared) {
    auto [entry, isNew] = known.try_emplace(one.name, one.text);
    if (isNew) {
      placed += one.placed + "\n";
    } else if (entry->second != one.text) {
      emitError(UnknownLoc::get(target))
          << "the dialect @" << one.name << " was declared otherwise before";
      return false;
    }
  }
  return placed.empty() || succeeded(load(target, placed));
}

void weft::insertVendorDialects(DialectRegistry &registry, StringRef path) {
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (text && nestsNotTooDeep((*text)->getMemBufferRef()))
    insertVendorDialects(registry, (*text)->getMemBufferRef());
}

void weft::insertVendorDialects(DialectRegistry &registry, llvm::MemoryBufferRef text) {
  // Bytecode keeps names in pieces.
  if (!text.getBuffer().contains(isBytecode(text) ? "irdl" : "irdl.dialect"))
    return;
  Scratch scratch;
  SmallVector<Declared> declared;
  // What is wrong is said when the text is parsed for good.
  if (failed(scratch.read(text.getBuffer(), declared)))
    return;
  for (Declared &one : declared)
    registry.insert(TypeID::get<void>(), one.name,
                    DialectAllocatorFunction([one](MLIRContext *context) -> Dialect * {
                      if (failed(load(context, one.placed)))
                        return nullptr;
                      // So that a text that declares it again does not load it again.
                      auto *device = context->getOrLoadDialect<weft::device::DeviceDialect>();
                      device->vendorDialects[one.name] = one.text;
                      return context->getLoadedDialect(one.name);
                    }));
}
