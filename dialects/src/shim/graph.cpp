// Definitions of the graph dialect.
#include "dialects.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "GraphDialect.cpp.inc"

#define GET_OP_CLASSES
#include "GraphOps.cpp.inc"

void weft::graph::GraphDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "GraphOps.cpp.inc"
      >();
}

#define WEFT_VERIFY(OP)                                                        \
  LogicalResult weft::graph::OP::verify() {                                     \
    return weft::verifyInRust(getOperation());                                 \
  }
#include "GraphVerifiers.inc"
