#!/usr/bin/env python3
"""Runs every model of a folder and holds it against its reference.

    python bench/models/check.py --weft target/release/weft DIR [--only REGEX] [-- ARGUMENTS]

DIR is what generate.py wrote; ARGUMENTS go to `weft run`, such as `--device FILE`. Prints a
table and exits with 1 if a model is refused or wrong.

The tolerance is float32 against float64: a unit in the last place is 6e-8 of a value near 1,
a sum of 4096 such products in any order is off by some 1e-6, and a dozen layers add up to
1e-5. What is wrong by an element, a border or a sign is off by 0.1 and more. In between,
1e-4 for both the absolute and the relative part leaves room on either side.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

TOLERANCE = 1e-4


def worst(outputs, expected):
    """The greatest difference, as a share of 1 + |expected|."""
    found = 0.0
    with np.load(outputs) as ours, np.load(expected) as theirs:
        for name in theirs.files:
            want = theirs[name].astype(np.float64)
            off = np.abs(ours[name] - want) / (1 + np.abs(want))
            found = max(found, float(off.max(initial=0.0)))
    return found


def run(weft, model, more, limit):
    """(verdict, worst difference, seconds, what was said)."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = pathlib.Path(folder) / "outputs.npz"
        expected = model.with_suffix(".expect.npz")
        command = [weft, "run", model, "--inputs", model.with_suffix(".inputs.npz"),
                   "--outputs", outputs, "--expect", expected,
                   "--rtol", str(TOLERANCE), "--atol", str(TOLERANCE), *more]
        begin = time.perf_counter()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return "too slow", None, limit, f"more than {limit} s"
        seconds = time.perf_counter() - begin
        off = worst(outputs, expected) if outputs.exists() else None
        if done.returncode == 0:
            return "right", off, seconds, ""
        verdict = "wrong" if off is not None or "differ" in done.stderr else "refused"
        return verdict, off, seconds, done.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weft", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="a regular expression for names")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one model")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("more", nargs="*", help="arguments of `weft run`, after --")
    args = parser.parse_args()
    models = [m for m in sorted(args.folder.glob("*.onnx")) if re.search(args.only, m.stem)]
    if not models:
        parser.error(f"no model in {args.folder}")
    said, counts = {}, {}
    for model in models:
        verdict, off, seconds, text = run(args.weft, model, args.more, args.limit)
        counts[verdict] = counts.get(verdict, 0) + 1
        if verdict != "right":
            said[model.stem] = text
        shown = "-" if off is None else f"{off:.1e}"
        print(f"{model.stem:32} {verdict:8} {shown:>8} {seconds:7.1f} s", flush=True)
    for name, text in said.items():
        print(f"\n{name}\n{text}")
    print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    sys.exit(1 if said else 0)


if __name__ == "__main__":
    main()
