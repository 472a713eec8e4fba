#!/usr/bin/env python3
"""How far the model that chooses tiles can be believed: predicted beside measured times.

    python bench/predict.py --models DIR [--only REGEX] [--ranks 10] [--apart 0] [--rounds 3] [--out FILE.json]

Each model is compiled once for each of the best `--ranks` choices of its largest kernel, as
`tile-construct-rtiles{rank=N}` ranks them, and all of them are measured in turns, on one thread.
With `--apart P` each is predicted to take at least P percent longer than the one before it.
Of every model: Spearman's rank correlation of the predicted with the measured times, and the
regret, by how much the best choice by the model is slower than the best by measurement. Ranks
that give the same code as a better one are left out. Needs `pip install numpy onnx`.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

import numpy as np

from compare import BIN, Weft, burst

PASS = "tile-construct-rtiles"
LINE = re.compile(r"remark: @(\S+): rank (\d+): (.*?): (\d+) cycles")


def compiled(model, artifact, rank):
    """`(rank, what, predicted cycles)` of all choices of the largest kernel; one is compiled."""
    said = subprocess.run(
        [BIN / "weft", "compile", model, "-o", artifact, "--remarks",
         "--pass-option", f"{PASS}.rank={rank}", "--pass-option", f"{PASS}.told=100000"],
        check=True, capture_output=True, text=True).stderr
    lines = [match.groups() for match in map(LINE.match, said.splitlines()) if match]
    best = {kernel: int(cycles) for kernel, at, _, cycles in lines if at == "0"}
    largest = max(best, key=best.get, default=None)
    return [(int(at), what, int(cycles)) for kernel, at, what, cycles in lines
            if kernel == largest]


def choices(model, folder, count, apart):
    """`(what, predicted cycles, artifact)` per distinct choice, the best by the model first."""
    found, seen, last = [], set(), 0
    artifact = pathlib.Path(folder) / f"{model.stem}.weft"
    for rank, what, cycles in compiled(model, artifact, 0):
        if len(found) == count:
            break
        if cycles < last * (1 + apart / 100):
            continue
        artifact = pathlib.Path(folder) / f"{model.stem}.{rank}.weft"
        compiled(model, artifact, rank)
        code = artifact.read_bytes()
        if code not in seen:
            seen.add(code)
            found.append((what, cycles, artifact))
            last = cycles
    return found


def ranks(values):
    """The rank of each value; equals share the mean of theirs."""
    order = sorted(values)
    return [statistics.mean(n for n, other in enumerate(order) if other == value)
            for value in values]


def spearman(one, other):
    a, b = np.array(ranks(one)), np.array(ranks(other))
    if a.std() == 0 or b.std() == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def measure(model, feeds, args, folder):
    found = choices(model, folder, args.ranks, args.apart)
    if len(found) < 2:
        return None
    engines = [Weft(None, feeds, 1, folder, artifact=artifact) for _, _, artifact in found]
    times = [[] for _ in engines]
    for _ in range(args.rounds):
        for engine, own in zip(engines, times):
            own.append(burst(engine, args.seconds))
    for engine in engines:
        engine.close()
    measured = [min(own) for own in times]
    predicted = [cycles for _, cycles, _ in found]
    return {"choices": [{"what": what, "cycles": cycles, "ms": ms}
                        for (what, cycles, _), ms in zip(found, measured)],
            "spearman": spearman(predicted, measured),
            "regret": measured[0] / min(measured) - 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", required=True, type=pathlib.Path, nargs="+")
    parser.add_argument("--only", default="")
    parser.add_argument("--ranks", type=int, default=10)
    parser.add_argument("--apart", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    rows = {}
    for model in [m for folder in args.models for m in sorted(folder.glob("*.onnx"))]:
        if not re.search(args.only, model.stem):
            continue
        with np.load(model.with_suffix(".inputs.npz")) as npz:
            feeds = {name: np.ascontiguousarray(npz[name]) for name in npz.files}
        with tempfile.TemporaryDirectory() as folder:
            row = measure(model, feeds, args, folder)
        if row is None:
            continue
        rows[model.stem] = row
        rank = "   -" if row["spearman"] is None else f"{row['spearman']:5.2f}"
        print(f"{model.stem:32s} {len(row['choices']):2d} choices  rank correlation {rank}  "
              f"regret {100 * row['regret']:5.1f} %", flush=True)
    known = [row["spearman"] for row in rows.values() if row["spearman"] is not None]
    if known:
        print(f"{len(rows)} models: median rank correlation {statistics.median(known):.2f}, "
              f"mean {statistics.mean(known):.2f}; regret, median "
              f"{100 * statistics.median(row['regret'] for row in rows.values()):.1f} %, mean "
              f"{100 * statistics.mean(row['regret'] for row in rows.values()):.1f} %")
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
