// Definitions of the tile dialect.
#include "dialects.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "TileDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "TileAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "TileOps.cpp.inc"

void weft::tile::TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "TileOps.cpp.inc"
      >();
}

#define WEFT_VERIFY(OP)                                                        \
  LogicalResult weft::tile::OP::verify() {                                     \
    return weft::verifyInRust(getOperation());                                 \
  }
#include "TileVerifiers.inc"
