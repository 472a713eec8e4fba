// Definitions of the task dialect.
#include "dialects.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "TaskDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "TaskTypes.cpp.inc"
#define GET_OP_CLASSES
#include "TaskOps.cpp.inc"

void weft::task::TaskDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "TaskTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "TaskOps.cpp.inc"
      >();
}

#define WEFT_VERIFY(OP)                                                        \
  LogicalResult weft::task::OP::verify() {                                     \
    return weft::verifyInRust(getOperation());                                 \
  }
#include "TaskVerifiers.inc"
