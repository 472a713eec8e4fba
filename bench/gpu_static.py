"""What an analysis of assembly says of GPU kernels: weft's products, convolutions, attention and kernels that memory bounds, beside
products and attention of another compiler.

The analysis is a script that takes files of PTX or AMDGCN and `--json OUT`, and gives for each kernel the share of
the chip's peak that its main loop is bound to (`bound`) and that it reaches in a simulation of one part of a unit
(`sched`); where there are no matrix instructions, the share of the memory's rate for the bytes that the kernel itself moves. No GPU is needed; a figure is for order and for finding what limits, not a promise.

    python bench/gpu_static.py --analysis gpu_static.py --tools BIN [--volta BIN] [--beside DIR] \
        --out bench/results/gpu/static.json

BIN holds `ptxas`, `ptxas-blackwell` for Hopper if there is one, and `nvdisasm`; that of `--volta` reads sm_70. DIR holds
another compiler's kernels, `CHIP.gemm.TYPE.NAME.ptx` or `.amdgcn`, and `CHIP.attn64.` and `CHIP.attn128.` so, in several
sizes of tiles: the best of each type is kept.
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "models"))
from attention import attention  # noqa: E402
from norms import norm  # noqa: E402

PRODUCT = "C[m,n] += A[m,k] * B[k,n]"
SHAPES = [(4096, 4096, 4096), (1024, 4096, 1024), (8192, 8192, 512), (300, 1000, 700)]
# Channels and pixels of a side of the convolutions by 3 x 3 of ResNet-50, 32 images with a border around them.
PIXELS = "y[n,h,w,o] += x[n,h+r,w+s,c] * f[r,s,c,o]"
SIDES = [(64, 56), (128, 28), (256, 14), (512, 7)]
# Heads and rows of attention, and how wide heads are.
ATTENTION, WIDTHS = (48, 4096), [64, 128]
# What the memory's rate bounds: rows of norms, and elements.
NORMS = ["softmax", "layernorm"]
ELEMENTS = [("add", "h[i] = x[i] + y[i]"), ("copy", "h[i] = x[i]")]
CHIPS = ["h200", "a100", "v100", "mi300x", "mi250x"]
COMMAND = "python bench/gpu_static.py --analysis ANALYSIS --tools BIN --volta BIN --beside DIR --out bench/results/gpu/static.json"
KEPT = ["kernel", "of", "bound", "sched", "limit", "regs", "spills", "shared", "blocks_per_sm", "mix"]


def types(chip):
    return ["f16"] if chip == "v100" else ["f16", "bf16"]


def kernels():
    """The name, the expression and the shape of each kernel."""
    for shape in SHAPES:
        sizes = ",".join(f"{axis}={size}" for axis, size in zip("mnk", shape))
        yield "x".join(map(str, shape)), PRODUCT, sizes
    for channels, side in SIDES:
        sizes = f"n=32,h={side},w={side},o={channels},c={channels},r=3,s=3"
        yield f"conv3x3-{channels}x{side}", PIXELS, sizes


def by_memory():
    """The same of what the memory's rate bounds, without a shape where it is a model."""
    yield from ((name, None, None) for name in NORMS)
    yield from ((name, expression, f"i={1 << 26}") for name, expression in ELEMENTS)


def emit_by_memory(weft, chip, elem, kernel, folder):
    name, expression, _ = kernel
    if expression:
        return emit(weft, chip, elem, kernel, folder)
    model = folder / f"{name}.{elem}.mlir"
    model.write_text(norm(name, elem))
    return written([weft, "compile", model, "--no-cache"], chip, f"{chip}.{elem}.{name}", folder)


def emit(weft, chip, elem, kernel, folder):
    """The assembly of one kernel, and what a launch of it asks for."""
    name, expression, sizes = kernel
    return written([weft, "kernel", expression, "--shape", sizes, "--dtype", elem], chip, f"{chip}.{elem}.{name}", folder)


def emit_attention(weft, chip, elem, name, folder):
    """The same of attention, which is one kernel where it has instructions that keep its rows in registers."""
    model = folder / f"{name}.{elem}.mlir"
    model.write_text(attention(*ATTENTION, int(name.split("-")[1]), elem, name.endswith("causal")))
    return written([weft, "compile", model, "--no-cache"], chip, f"{chip}.{elem}.{name}", folder)


def written(command, chip, name, folder):
    form = "amdgcn" if chip.startswith("mi") else "ptx"
    path = folder / f"{name}.{form}"
    subprocess.run(command + ["--device", chip, "--emit", form, "-o", path], check=True, stderr=subprocess.DEVNULL)
    text = path.read_text()
    asked = re.search(r"// launch \S+ threads \d+ groups \d+ shared (\d+)", text)
    about = {"shared": int(asked[1])} if asked else {}
    if "// box " in text:
        # Bytes of boxes stand in no instruction: the tile says them.
        tiles = subprocess.run(command + ["--device", chip, "--emit", "tile", "-o", "-"], check=True, capture_output=True, text=True).stdout
        launched = re.findall(r"// launch (\S+)", text)
        about["note"], about["cast"] = tile(name, of_kernel(tiles, launched))
    if about:
        path.with_suffix(".json").write_text(json.dumps(about))
    return path


def of_kernel(text, launched):
    """Of the text of stage `tile` the kernel that is launched, or the first of those that are joined to it."""
    def name(part):
        return part.split(maxsplit=1)[0]
    parts = text.split("tile.kernel @")
    named = [part for part in parts for kernel in launched if (kernel + "_").startswith(name(part) + "_")]
    return max(named, key=lambda part: len(name(part)), default=text)


def tile(name, text):
    """What a block does in a step, by the text of stage `tile`: points along m, n and k, or rows, keys and the width of heads. And
    how many times the bytes of a step are those that are read for it: less where rTasks of a cluster bring a tile together."""
    found = re.search(r'tile\.compute .* tiles \[#tile\.rtile<"smem"\[([\d, ]+)\]>.* layouts .*?schedule <([^>]*)>', text)
    sizes = [int(size) for size in found[1].split(", ")]
    if "attention" in name:
        _, rows, keys, width = sizes
        return {"kind": "attn", "bm": rows, "bn": keys, "h": width}, 1
    # Of a convolution m is images, lines and pixels, k taps and channels.
    rows, columns = (1, 1) if len(sizes) == 3 else (3, 1)
    m, n, k = (math.prod(own) for own in (sizes[:rows], sizes[rows : rows + columns], sizes[rows + columns :]))
    cluster = re.search(r"cluster = \[([\d, ]+)\]", found[2])
    along = [int(count) for count in cluster[1].split(", ")] if cluster else []
    # Along rows the tile of columns is the same, and the other way round.
    read = m / math.prod(along[rows:]) + n / math.prod(along[:rows])
    return {"kind": "gemm", "bm": m, "bn": n, "bk": k}, (m + n) / read


def analysed(args, chip, files, kernel):
    """The rows of one chip's files."""
    tools, assembler = args.tools, "ptxas"
    if chip == "v100" and args.volta:
        tools = args.volta
    if chip == "h200" and (tools / "ptxas-blackwell").exists():
        assembler = "ptxas-blackwell"
    rows = []
    for factor in sorted({cast(path) for path in files}):
        own = [path for path in files if cast(path) == factor]
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            command = [sys.executable, args.analysis, "--ptxas", tools / assembler, "--nvdisasm", tools / "nvdisasm"]
            command += ["--chip", chip, "--kernel", kernel, "--json", out.name]
            command += ["--multicast", str(factor)] * (factor > 1) + own
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            rows += json.load(open(out.name))
    return sorted(rows, key=lambda row: [str(path.name) for path in files].index(pathlib.Path(row["file"]).name))


def cast(path):
    """What `tile` says of one of our files."""
    about = path.with_suffix(".json")
    return json.loads(about.read_text()).get("cast", 1) if about.exists() else 1


def by_matrix(rows):
    """Of the kernels of each file the one with most matrix instructions: another one adds the parts of its sums."""
    def count(row):
        return sum(number for name, number in row["mix"].items() if name.startswith("matrix:"))
    kept = {}
    for row in rows:
        kept[row["file"]] = max(kept.get(row["file"], row), row, key=count)
    return list(kept.values())


def best(rows):
    """Of another compiler's kernels the one of each type that reaches most, and of how many it is."""
    kept = []
    for elem in ["f16", "bf16"]:
        own = [row for row in rows if f".{elem}." in row["file"] and row.get("sched")]
        if own:
            kept.append(max(own, key=lambda row: row["sched"]) | {"of": len(own)})
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analysis", type=pathlib.Path, required=True)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--volta", type=pathlib.Path)
    parser.add_argument("--beside", type=pathlib.Path)
    parser.add_argument("--weft", default="target/release/weft")
    parser.add_argument("--only", default="", help="a regular expression in the names of kernels, such as attention; softmax, layernorm, add and copy only so")
    parser.add_argument("--chips", nargs="*", default=CHIPS)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for chip in args.chips:
            wanted = [kernel for kernel in kernels() if re.search(args.only, kernel[0])]
            # On V100 attention is several kernels.
            names = [f"attention-{width}{form}" for form in ("", "-causal") for width in WIDTHS if chip != "v100"]
            names = [name for name in names if re.search(args.only, name)]
            own = []
            if wanted:
                files = [emit(args.weft, chip, elem, kernel, pathlib.Path(folder)) for elem in types(chip) for kernel in wanted]
                own += [row | {"by": "weft"} for row in by_matrix(analysed(args, chip, files, "expression_0(_1)?(_parts)?$"))]
            if names:
                files = [emit_attention(args.weft, chip, elem, name, pathlib.Path(folder)) for elem in types(chip) for name in names]
                own += [row | {"by": "weft"} for row in analysed(args, chip, files, "")]
            bound = [kernel for kernel in by_memory() if args.only and re.search(args.only, kernel[0])]
            if bound:
                files = [emit_by_memory(args.weft, chip, elem, kernel, pathlib.Path(folder)) for elem in ["f32", "f16"] for kernel in bound]
                own += [row | {"by": "weft"} for row in analysed(args, chip, files, "")]
            beside = []
            for kind in ["gemm"] * bool(wanted) + [f"attn{width}" for width in WIDTHS if f"attention-{width}" in names]:
                others = sorted(args.beside.glob(f"{chip}.{kind}.*.[pa]*")) if args.beside else []
                beside += [row | {"by": "beside"} for row in (best(analysed(args, chip, others, "")) if others else [])]
            for row in own + beside:
                rows.append({"chip": chip, "by": row["by"], "file": row["file"]} | {key: row.get(key) for key in KEPT})
                print(f"{row['by']:7} {row['file']:44} bound {row.get('bound') or 0:.3f} sched {row.get('sched') or 0:.3f}")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    command = COMMAND.replace("--out", f"--only {args.only} --out") if args.only else COMMAND
    command = command.replace("static.json", args.out.name)
    text = json.dumps({"command": command, "rows": rows}, indent=1)
    args.out.with_suffix(".part").write_text(text + "\n")
    os.replace(args.out.with_suffix(".part"), args.out)


if __name__ == "__main__":
    main()
