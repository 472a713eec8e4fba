#!/usr/bin/env python3
"""Writes ONNX models with seeded weights, inputs, and float64 references.

    python bench/models/generate.py --suite models --scale ci -o DIR

Gives NAME.onnx, NAME.inputs.npz and NAME.expect.npz for each, keyed by tensor names as
`weft run NAME.onnx --inputs NAME.inputs.npz --expect NAME.expect.npz` wants them. The same
suite, scale and seed give the same bytes. Needs numpy and onnx.
"""
import argparse
import pathlib
import re
import time

from suites import SUITES


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--suite", required=True, choices=[*SUITES, "all"])
    parser.add_argument("--scale", default="ci", choices=["ci", "full"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a regular expression for names")
    parser.add_argument("--list", action="store_true", help="print names and write nothing")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."))
    args = parser.parse_args()
    if not args.list:
        args.output.mkdir(parents=True, exist_ok=True)
    for suite in SUITES if args.suite == "all" else [args.suite]:
        for name, make in SUITES[suite](args.scale):
            if not re.search(args.only, name):
                continue
            if args.list:
                print(suite, name)
                continue
            begin = time.perf_counter()
            size = make(name, args.seed).save(args.output)
            seconds = time.perf_counter() - begin
            print(f"{suite:10} {name:32} {size / 1e6:9.2f} MB {seconds:7.1f} s", flush=True)


if __name__ == "__main__":
    main()
