"""Configuration of LLVM's lit for the tests of this folder.

`weft-opt` and its siblings come from $WEFT_BIN, else from target/release, else
from target/debug; `FileCheck` and `not` from $LLVM_BIN, else from Debian's LLVM 22.
"""

import os

import lit.formats

config.name = "weft"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)

root = os.path.dirname(os.path.abspath(config.test_source_root))
target = os.environ.get("CARGO_TARGET_DIR", os.path.join(root, "target"))
config.test_exec_root = os.path.join(target, "lit")


def weft_bin():
    if "WEFT_BIN" in os.environ:
        return os.environ["WEFT_BIN"]
    for profile in ("release", "debug"):
        folder = os.path.join(target, profile)
        if os.path.exists(os.path.join(folder, "weft-opt")):
            return folder
    lit_config.fatal("no weft-opt: run `cargo build -p weft-tools`, or set WEFT_BIN")


llvm_bin = os.environ.get("LLVM_BIN", "/usr/lib/llvm-22/bin")
config.environment["PATH"] = os.pathsep.join(
    [weft_bin(), llvm_bin, os.environ.get("PATH", "")]
)
# Tests compile, and leave the user's cache alone.
config.environment["WEFT_CACHE_MIB"] = "0"
config.substitutions.append(("%devices", os.path.join(root, "devices")))
config.substitutions.append(("%examples", os.path.join(root, "examples")))
