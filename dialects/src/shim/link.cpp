// LLVM's linker of ELF files as a function.
#include "shim.h"

#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"

LLD_HAS_DRIVER(elf)

bool weftLink(size_t count, const char *const *arguments, MlirStringCallback report,
              void *user) {
  llvm::SmallVector<const char *> all = {"ld.lld"};
  all.append(arguments, arguments + count);
  mlir::detail::CallbackOstream said(report, user);
  lld::Result result =
      lld::lldMain(all, said, said, {{lld::Gnu, &lld::elf::link}});
  return result.retCode == 0;
}

void weftSetOptions(size_t count, const char *const *words, bool anew) {
  // A word that is set may not be set again.
  if (anew)
    llvm::cl::ResetAllOptionOccurrences();
  llvm::SmallVector<const char *> all = {"weft"};
  all.append(words, words + count);
  llvm::cl::ParseCommandLineOptions(all.size(), all.data());
}
