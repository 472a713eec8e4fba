// Dialects that a text declares for itself, with `irdl.dialect`.
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace weft {
/// Lets every later context of `registry` know the dialects that `text` declares.
///
/// A text that does not parse, or declares nothing, changes nothing: whoever parses it
/// next reports what is wrong with it.
void insertVendorDialects(mlir::DialectRegistry &registry, llvm::MemoryBufferRef text);

/// The same for the file at `path`, where it can be read.
void insertVendorDialects(mlir::DialectRegistry &registry, llvm::StringRef path);

/// Whether brackets nest no deeper than MLIR's parser can take; says where they do.
bool nestsNotTooDeep(llvm::MemoryBufferRef text);
} // namespace weft
