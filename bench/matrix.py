"""Which part of a model's operations is by matrix instructions on each GPU, and why the rest is not.

Every model is compiled for every machine by `weft explain`; a kernel counts where one of its computes is by an
instruction that sums along an axis of its own. Nothing is run.

    python bench/models/generate.py --suite models --scale full --only '^(bert|mobilenet_v2|nafnet)$' -o DIR
    python bench/matrix.py --models DIR --half --out bench/results/gpu/matrix.json

DIR holds `NAME.onnx`. With `--half` models become f16 first, weights and all, for most matrix instructions take no f32.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

CHIPS = ["h200", "a100", "v100", "mi300x", "mi250x", "mi50"]
# Kernels of fewer operations of the model than this are not listed.
LISTED = 0.001


def in_half(source, target):
    """Writes a model with f16 in the place of f32."""
    import onnx
    from onnx import TensorProto, numpy_helper

    model = onnx.load(source)

    def tensor(own):
        if own.data_type == TensorProto.FLOAT:
            own.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(own).astype("float16"), own.name))

    for own in model.graph.initializer:
        tensor(own)
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                tensor(attribute.t)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    onnx.save(model, target)


def matrix_instructions(chip):
    """The instructions of a machine whose meaning has an axis that it sums along."""
    text = pathlib.Path(__file__).parents[1].joinpath("devices", f"{chip}.mlir").read_text()
    named = re.split(r"(?m)^  device\.instruction @", text)[1:]
    return {re.match(r"\w+", own)[0] for own in named if re.search(r"iterator_types = \[[^\]]*reduction", own)}


def why_not(report, kernel, instructions):
    """What the passes said of a kernel that has no matrix instruction: what it is instead and what came next, and the
    rules by which instructions whose body is the kernel's were refused."""
    said = [report["remarks"][number] for number in kernel["remarks"]]
    said = [own["message"] for own in said if own["pass"] == "tile-construct-rtiles"]
    chosen = [own for own in said if " cycles predicted" in own]
    names = [f"@{name}" for name in instructions]
    refused = [own for own in said if any(name in own for name in names) and ": dropped," not in own]
    alike = [own for own in refused if "means another body" not in own and own not in chosen]
    return (chosen + alike) or refused


def explained(weft, chip, model):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "report.json"
        page = out.with_suffix(".html")
        subprocess.run([weft, "explain", model, "--device", chip, "-o", page, "--json", out], check=True, capture_output=True)
        return json.loads(out.read_text())["report"]


def row(weft, chip, name, model):
    report, instructions = explained(weft, chip, model), matrix_instructions(chip)
    whole = sum(kernel["operations"] for kernel in report["kernels"])
    by_matrix, left = 0, {}
    for kernel in report["kernels"]:
        computes = kernel["computes"]
        if any(own["instruction"] in instructions for own in computes):
            by_matrix += kernel["operations"]
        elif any(axis["reduces"] for own in computes for axis in own["axes"]):
            known = left.setdefault(kernel["kernel"], {"operations": 0, "why": why_not(report, kernel, instructions)})
            known["operations"] += kernel["operations"]
    left = {own: kernel for own, kernel in left.items() if kernel["operations"] > LISTED * whole}
    return {
        "model": name,
        "chip": chip,
        "matrix_instructions": len(instructions),
        "operations": whole,
        "by_matrix_instructions": round(by_matrix / max(whole, 1), 4),
        "folds_without": left,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="a regular expression in the names of models")
    parser.add_argument("--half", action="store_true", help="in f16")
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--weft", default="target/release/weft")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model in sorted(args.models.glob("*.onnx")):
            if not re.search(args.only, model.stem):
                continue
            if args.half:
                half = pathlib.Path(folder) / model.name
                in_half(model, half)
            for chip in args.chips:
                rows.append(row(args.weft, chip, model.stem, half if args.half else model))
                own = rows[-1]
                print(f"{own['model']:16} {chip:8} {own['by_matrix_instructions']:.4f} of {own['operations'] / 1e9:.2f} G", flush=True)
    chosen = (f" --only '{args.only}'" if args.only else "") + (" --half" if args.half else "")
    command = f"python bench/matrix.py --models DIR{chosen} --out {args.out}"
    text = json.dumps({"command": command, "rows": rows}, indent=1)
    part = args.out.with_suffix(".part")
    part.write_text(text + "\n")
    os.replace(part, args.out)


if __name__ == "__main__":
    main()
