#!/usr/bin/env python3
"""GraphTurbo's ablation on the simulator: step by step from operators to instances.

    python bench/graphturbo.py --models DIR ... --out bench/results/graphturbo.json

For each model on a machine whose cores have local buffers: cycles, bytes of the memory that all
cores share, ranges that ran, and how busy matrix units and lanes were in the mean over all cores;
layer by layer, with what the cores of a cluster share in the memory that they share, with tensors
handed over in local buffers where that pays, in instances where those pay, in the order of the
policy that is predicted to be the shortest (GraphTurbo's among them), and with instructions in an
order in which few wait and transfers of later layers beside earlier ones. Cycles are exact: one run
says all. Needs no packages.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
AS_WRITTEN = ["device-order-instructions.order=text", "device-overlap-layers.transfers=text"]
WHOLE, IN_TURN = "tile-split-instances.instances=none", "tile-to-task.policy=text"
OWN = ["tile-split-instances.near=none", "tile-to-task.near=none"]
APART = "tile-connect-edges.joining=none"
STEPS = {
    "layers": [APART, WHOLE, IN_TURN, *AS_WRITTEN, *OWN],
    "clusters": [APART, WHOLE, IN_TURN, *AS_WRITTEN],
    "buffers": [WHOLE, IN_TURN, *AS_WRITTEN],
    "instances": [IN_TURN, *AS_WRITTEN],
    "order": AS_WRITTEN,
    "instructions": [],
}
# Speedup over layer-by-layer compilation by TVM, as published for the STCP920, read off bars.
PUBLISHED = {"resnet50": 8.0, "bert": 7.9, "mobilenet": 8.3, "vit": 25.0, "densenet": 18.2,
             "conformer": 4.0, "dlrm": 3.7}


def weft(tool, *arguments):
    return subprocess.run([tool, *arguments], check=True, capture_output=True, text=True).stdout


def one(tool, model, device, step):
    options = [word for option in STEPS[step] for word in ("--pass-option", option)]
    where = [model, "--device", device, *options]
    report = json.loads(weft(tool, "simulate", *where, "--timing-only", "--json"))
    task = weft(tool, "compile", *where, "--emit", "task", "-o", "-")
    cores = int(re.search(r"task\.program .* units (\d+)", task).group(1))
    busy = {"lanes": sum(unit["busy_cycles"] for unit in report["units"])}
    for unit in report["units"]:
        for engine in unit["engines"]:
            busy[engine["name"]] = busy.get(engine["name"], 0) + engine["busy_cycles"]
    shared = report["memories"][0]
    return {
        "cycles": report["cycles"],
        "shared_bytes": shared["read_bytes"] + shared["written_bytes"],
        "ranges": task.count("= task.range "),
        "busy": {name: round(cycles / cores / report["cycles"], 4) for name, cycles in busy.items()},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weft", default=str(ROOT / "target" / "release" / "weft"))
    parser.add_argument("--models", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--only", default="resnet50,bert,mobilenet,vit,densenet,conformer,dlrm")
    parser.add_argument("--device", default="stcp920-like")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    wanted = args.only.split(",")
    found = sorted(path for folder in args.models for path in folder.glob("*.onnx")
                   if any(path.stem.startswith(word) for word in wanted))
    results = json.loads(args.out.read_text())["models"] if args.out and args.out.exists() else {}
    for path in found:
        row = {"published": next((own for word, own in PUBLISHED.items() if path.stem.startswith(word)), None)}
        for step in STEPS:
            try:
                row[step] = one(args.weft, str(path), args.device, step)
            except subprocess.CalledProcessError as error:
                row[step] = {"refused": error.stderr.strip().splitlines()[0][:200]}
                print(f"{path.stem} {step}: {row[step]['refused']}", file=sys.stderr)
        results[path.stem] = row
        if "refused" not in row["layers"]:
            layers = row["layers"]["cycles"]
            steps = [f"{layers / row[step]['cycles']:.2f}" if "cycles" in row[step] else "-" for step in STEPS]
            print(f"{path.stem:16} {layers:12.0f} cycles, times {' '.join(steps)}", file=sys.stderr)
        if args.out:
            command = "python bench/graphturbo.py --models MODELS --out bench/results/graphturbo.json"
            args.out.write_text(json.dumps({"command": command, "device": args.device, "models": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
