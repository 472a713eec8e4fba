// What the four dialects share.
#ifndef WEFT_TD
#define WEFT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

// Constraints beyond the declarative ones are numbered in an operation's
// description and checked in Rust, one function each (`verify.rs` beside the
// dialect's views).
class Weft_Op<Dialect dialect, string mnemonic, list<Trait> traits = []>
    : Op<dialect, mnemonic, traits> {
  let hasVerifier = 1;
}

#endif
