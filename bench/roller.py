#!/usr/bin/env python3
"""The tiles of Roller's 119 operators, on the machines with its published constants.

    python bench/roller.py [--devices v100,k80,mi50] [--only REGEX] [--out bench/results/roller.json]

Every operator goes through `weft kernel --candidates` as a tensor expression; the lists and the
time that construction took (without starting the process) go to the file. An index that goes
below zero is a border of zeros. Needs numpy and onnx, for the tables are those of models/suites.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "models"))
from suites import roller as suite  # noqa: E402

WEFT = ROOT / "target" / "release" / "weft"


def index(axis, tap, stride, border):
    moved = f"{stride}*{axis}" if stride > 1 else axis
    return f"{moved}+{tap}" + (f"-{border}" if border else "")


def window(size, kernel, stride, same):
    border = (kernel - 1) // 2 if same else 0
    return border, (size + 2 * border - kernel) // stride + 1


def shape(**extents):
    return ",".join(f"{axis}={extent}" for axis, extent in extents.items())


def conv(c, size, f, k, s, same):
    p, out = window(size, k, s, same)
    y, x = index("y", "r", s, p), index("x", "s", s, p)
    return (f"O[n,f,y,x] += I[n,c,{y},{x}] * W[f,c,r,s]",
            shape(n=suite.BATCH, f=f, y=out, x=out, c=c, r=k, s=k))


def depthwise(c, size, k, s):
    p, out = window(size, k, s, True)
    y, x = index("y", "r", s, p), index("x", "s", s, p)
    return (f"O[n,c,y,x] += I[n,c,{y},{x}] * W[c,r,s]",
            shape(n=suite.BATCH, c=c, y=out, x=out, r=k, s=k))


def pool(c, size, k, s, same):
    p, out = window(size, k, s, same)
    y, x = index("y", "r", s, p), index("x", "s", s, p)
    return f"O[n,c,y,x] += I[n,c,{y},{x}]", shape(n=suite.BATCH, c=c, y=out, x=out, r=k, s=k)


def relu(c, size):
    return "O[n,c,y,x] = relu(I[n,c,y,x])", shape(n=suite.BATCH, c=c, y=size, x=size)


def reduce(*dims):
    rows = 1
    for dim in dims[:-1]:
        rows *= dim
    return "O[m] += I[m,k]", shape(m=rows, k=dims[-1])


def matmul(m, n, k):
    return "O[m,n] += A[m,k] * B[k,n]", shape(m=m, n=n, k=k)


def operators():
    found = {}
    tables = [("C", suite._rows(suite.CONV), conv), ("D", suite._rows(suite.DEPTHWISE), depthwise),
              ("E", suite._rows(suite.RELU), relu), ("P", suite._rows(suite.POOL), pool),
              ("R", suite.REDUCE, reduce), ("M", suite.MATMUL, matmul)]
    for letter, rows, make in tables:
        for at, row in enumerate(rows):
            found[f"{letter}{at}"] = make(*row)
    return found


def candidates(expression, extents, device):
    command = [WEFT, "kernel", expression, "--shape", extents, "--candidates", "--timings",
               "--device", ROOT / "devices" / "golden" / f"{device}.mlir"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    took = re.search(r"construct ([\d.]+) ms", done.stderr)
    return json.loads(done.stdout), float(took.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="v100,k80,mi50")
    parser.add_argument("--only", default=".")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    kept = {}
    for device in options.devices.split(","):
        lists, total = {}, 0.0
        for name, (expression, extents) in operators().items():
            if not re.search(options.only, name):
                continue
            found, took = candidates(expression, extents, device)
            total += took
            lists[name] = {
                "extents": [axis["extent"] for axis in found["axes"]], "policy": found["policy"],
                "construct_ms": took,
                "candidates": [[c["shared"], c["register"], c["epsilon"], round(c["predicted_ms"], 4)]
                               for c in found["candidates"]]}
        kept[device] = {"construct_ms": round(total, 1), "operators": lists}
        print(f"{device}: {len(lists)} operators in {total:.0f} ms")
    if options.out:
        # A line for every operator.
        text = json.dumps(kept)
        text = re.sub(r'("[A-Z]\d+": )', r"\n\1", text)
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
