#!/usr/bin/env python3
"""Bytes that kernels take and give, joined and not, without the machine (Welder, OSDI'23, figure 12).

    python bench/joined_bytes.py --models DIR ... --devices v100,h200 --out bench/results/joined_bytes.json

For each model and machine `weft explain` compiles three times: each operator a kernel (`none`), with
elementwise kernels joined (`base`), and with what pays (`full`). Counted are kernels, the bytes of all
tensors that they take and give, each tensor whole and once for each kernel that touches it, and the
bytes between kernels. Exact: one run says all. Needs no packages.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

KEPT = ["kernels", "argument_bytes", "intermediate_bytes", "patterns", "joined_patterns"]


def one(tool, model, device):
    with tempfile.TemporaryDirectory() as place:
        page, report = pathlib.Path(place, "page.html"), pathlib.Path(place, "report.json")
        subprocess.run([tool, "explain", model, "--device", device, "-o", page, "--json", report],
                       check=True, capture_output=True)
        joinings = json.loads(report.read_text())["report"]["joinings"]
    return {joining["name"]: {what: joining[what] for what in KEPT} for joining in joinings}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft", default=ROOT / "target/release/weft")
    parser.add_argument("--models", nargs="+", required=True, type=pathlib.Path)
    parser.add_argument("--devices", default="v100,h200")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    result = {"command": "python bench/joined_bytes.py --models MODELS", "devices": {}}
    for device in options.devices.split(","):
        models = result["devices"][device] = {}
        for path in sorted(path for place in options.models for path in place.glob("*.onnx")):
            joinings = models[path.stem] = one(options.weft, path, device)
            none, base, full = (joinings[name]["argument_bytes"] for name in ("none", "base", "full"))
            print(f"{device:6} {path.stem:16} {none / 1e6:9.1f} MB  base {base / none:.2f}  "
                  f"full {full / none:.2f}", flush=True)
            options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
