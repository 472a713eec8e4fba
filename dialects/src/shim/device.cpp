// Definitions of the device dialect.
#include "dialects.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

// `%a[%i, %j], %b[]`: views by their first element, one index per dimension.
static ParseResult
parseViews(OpAsmParser &parser,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &views,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &indices) {
  OpAsmParser::UnresolvedOperand view;
  OptionalParseResult first = parser.parseOptionalOperand(view);
  if (!first.has_value())
    return success();
  if (failed(*first))
    return failure();
  while (true) {
    views.push_back(view);
    if (parser.parseOperandList(indices, OpAsmParser::Delimiter::Square))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
    if (parser.parseOperand(view))
      return failure();
  }
}

static void printViews(OpAsmPrinter &printer, Operation *, OperandRange views,
                       OperandRange indices) {
  size_t next = 0;
  llvm::interleaveComma(views, printer, [&](Value view) {
    size_t rank = cast<MemRefType>(view.getType()).getRank();
    printer << view << '[';
    // The printer also shows broken programs: never read past the indices.
    for (size_t dim = 0; dim < rank && next < indices.size(); ++dim) {
      if (dim)
        printer << ", ";
      printer << indices[next++];
    }
    printer << ']';
  });
}

#include "DeviceDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "DeviceTypes.cpp.inc"
#define GET_OP_CLASSES
#include "DeviceOps.cpp.inc"

void weft::device::DeviceDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "DeviceTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "DeviceOps.cpp.inc"
      >();
}

#define WEFT_VERIFY(OP)                                                        \
  LogicalResult weft::device::OP::verify() {                                     \
    return weft::verifyInRust(getOperation());                                 \
  }
#include "DeviceVerifiers.inc"
