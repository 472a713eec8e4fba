// The four dialects as C++ classes, from the ODS files in `include/`.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"

namespace weft {
/// Asks the verifier that was installed from Rust about one operation.
mlir::LogicalResult verifyInRust(mlir::Operation *op);
} // namespace weft

#include "GraphDialect.h.inc"
#include "TileDialect.h.inc"
#include "TaskDialect.h.inc"
#include "DeviceDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "TaskTypes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "DeviceTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "TileAttrs.h.inc"

#define GET_OP_CLASSES
#include "GraphOps.h.inc"
#define GET_OP_CLASSES
#include "TileOps.h.inc"
#define GET_OP_CLASSES
#include "TaskOps.h.inc"
#define GET_OP_CLASSES
#include "DeviceOps.h.inc"
