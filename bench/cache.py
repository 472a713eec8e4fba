#!/usr/bin/env python3
"""What a second compile takes: the median of compiles from the cache, beside the first one.

    python bench/cache.py --models DIR ... --out bench/results/cache.json

For each model and machine: seconds of a compile into an empty cache, of one from it to a new file,
and of one from it to the file that the first wrote. Processes from start to end. Needs no packages.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - begin


def one(tool, model, device, rounds):
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "model.weft"
        where = [] if device == "host" else ["--device", device]
        command = [tool, "compile", model, *where, "-o", output, "--cache", folder + "/cache"]
        row, new, same = {"first": round(seconds(command), 3)}, [], []
        for _ in range(rounds):
            same.append(seconds(command))
            output.unlink()
            new.append(seconds(command))
        return row | {"new_file": round(statistics.median(new), 3),
                      "same_file": round(statistics.median(same), 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weft", default=str(ROOT / "target" / "release" / "weft"))
    parser.add_argument("--models", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--only", default="resnet50,bert_l1,mobilenetv2")
    parser.add_argument("--devices", default="host,stcp920-like")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    results = {}
    for path in sorted(path for folder in args.models for path in folder.glob("*.onnx")):
        if path.stem not in args.only.split(","):
            continue
        for device in args.devices.split(","):
            row = one(args.weft, path, device, args.rounds)
            results.setdefault(path.stem, {})[device] = row
            print(path.stem, device, row)
    if args.out:
        command = "python bench/cache.py --models MODELS --out bench/results/cache.json"
        args.out.write_text(json.dumps({"command": command, "rounds": args.rounds, "models": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
