#!/usr/bin/env python3
"""Rammer's own comparison: the same kernels, launched operator by operator and as one program.

    python bench/rammer.py --models DIR --out bench/results/rammer.json

For each model with recurrent steps or many branches: launches and time with a launch before every
operator, then with one program by each policy. On simulated machines times are cycles; on the
processor that runs this, the least of interleaved rounds at two threads, where a launch is a
barrier of all workers. What FILE holds of other models and places is kept. Beside them stand the times that Rammer published for a V100 (artifact of
OSDI'20, batch 1), one kernel at a time and as a program. Needs no packages.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAYS = {"each": "launches=each", "text": "policy=text", "critical": "policy=critical",
        "wavefront": "policy=wavefront", "auto": "policy=auto"}
# Milliseconds: RammerBase, which launches one kernel after the other, and Rammer.
PUBLISHED = {"lstm": [29.7, 4.73], "nasnet": [2.97, 1.74], "deepspeech2": [7.89, 4.69],
             "resnext": [10.94, 4.63]}


def weft(tool, *arguments):
    return subprocess.run([tool, *arguments], check=True, capture_output=True, text=True).stdout


def option(way):
    return ["--pass-option", f"tile-to-task.{WAYS[way]}"]


def launches(tool, model, device, way):
    text = weft(tool, "compile", model, "--emit", "task", "-o", "-", *device, *option(way))
    return 1 + text.count("task.launch")


def simulated(tool, model, machine):
    device = ["--device", machine]
    rows = {}
    for way in WAYS:
        report = json.loads(weft(tool, "simulate", model, *device, "--timing-only", "--json", *option(way)))
        rows[way] = {"launches": launches(tool, model, device, way), "cycles": report["cycles"]}
    return rows


def measured(tool, model, folder, rounds):
    rows = {way: {"launches": launches(tool, model, [], way), "ms": []} for way in WAYS}
    for way in WAYS:
        weft(tool, "compile", model, "-o", str(folder / f"{way}.weft"), *option(way))
    for _ in range(rounds):
        for way in WAYS:
            told = json.loads(weft(tool, "bench", str(folder / f"{way}.weft"), "--threads", "2",
                                   "--repeat", "500", "--json"))
            rows[way]["ms"].append(told["median_ms"])
    for row in rows.values():
        row["least_ms"] = min(row["ms"])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weft", default=str(ROOT / "target" / "release" / "weft"))
    parser.add_argument("--models", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--only", default="lstm,gru,nasnet,deepspeech2,resnext,gpt2_decode")
    parser.add_argument("--places", default="cpu,v100,ipu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    wanted = args.only.split(",")
    found = sorted(path for folder in args.models for path in folder.glob("*.onnx")
                   if any(word in path.stem for word in wanted))
    results = json.loads(args.out.read_text())["models"] if args.out and args.out.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for path in found:
            row = results.get(path.stem, {})
            row["published_ms"] = next((ms for word, ms in PUBLISHED.items() if word in path.stem), None)
            places = args.places.split(",")
            for place in places:
                try:
                    row[place] = (measured(args.weft, str(path), pathlib.Path(folder), args.rounds)
                                  if place == "cpu" else simulated(args.weft, str(path), place))
                except subprocess.CalledProcessError as error:
                    row[place] = {"refused": error.stderr.strip().splitlines()[0][:200]}
            results[path.stem] = row
            for place in places:
                ways = row[place]
                if "refused" in ways:
                    continue
                time = "least_ms" if place == "cpu" else "cycles"
                each, best = ways["each"][time], ways["auto"][time]
                print(f"{path.stem:24} {place:6} {ways['each']['launches']:6} -> "
                      f"{ways['auto']['launches']:4} launches, {each:.6g} -> {best:.6g}, "
                      f"{each / best:.2f} times", file=sys.stderr)
            keep(args.out, results)


def keep(out, results):
    """After every model: a run may be cut short."""
    if out:
        command = "python bench/rammer.py --models MODELS --out bench/results/rammer.json"
        out.write_text(json.dumps({"command": command, "models": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
