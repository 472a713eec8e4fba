#!/usr/bin/env python3
"""One artifact for all lengths, beside one for each, and beside engines with named dimensions.

    python bench/lengths/models.py -o DIR
    python bench/shapes.py --models DIR [--only REGEX] [--threads 1] [--rounds 7] [--out FILE.json]

For each point of NAME.json every round runs a burst of weft's one artifact, of one that was compiled
for this point alone, and of each peer, which has the model with its named dimensions. A ratio is
the median over the rounds: `static_over_weft` above 1 where the one artifact is faster, `best_over_weft`
of the faster peer. `first_ms` is weft's first run at a length that it has not seen, `bind_us` what
saying other lengths takes, and `bind_again_us` the same ones.
"""
import argparse
import ctypes
import json
import math
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnx

import floors
from compare import BIN, Weft, burst, ratio, those_that_agree
from peers import PEERS


class Bound(Weft):
    """weft's artifact for all lengths, at those of the inputs."""

    def __init__(self, feeds, threads, folder, artifact):
        self.lies = []
        super().__init__(None, feeds, threads, folder, artifact=artifact)
        names = [port.name.decode() for port in self.ports("input")]
        for at, output in self.caches().items():
            part, port = feeds[names[at]], self.ports("output")[output]
            whole = floors.aligned(port.bytes)
            shape = [port.shape[dim] for dim in range(port.rank)]
            rows = whole.view(part.dtype).reshape(self.most[output])
            rows[tuple(map(slice, part.shape))] = part
            self.lies.append((output, rows[tuple(map(slice, shape))]))
            for pointers, sizes, place in ((*self.inputs, at), (*self.outputs, output)):
                pointers[place], sizes[place] = whole.ctypes.data, whole.nbytes

    def prepare(self, feeds):
        self.most = [[port.shape[dim] for dim in range(port.rank)] for port in self.ports("output")]
        self.bind(feeds)

    def dense(self):
        for output, rows in self.lies:
            self.shown[output] = np.ascontiguousarray(rows).view(np.uint8).reshape(-1)

    def results(self):
        self.dense()
        return super().results()

    def differs(self, results):
        self.dense()
        return super().differs(results)

    def bind(self, feeds):
        """Says lengths; gives the time that takes, in microseconds."""
        names = [port.name.decode() for port in self.ports("input")]
        shapes = [(ctypes.c_uint64 * feeds[name].ndim)(*feeds[name].shape) for name in names]
        pointers = (ctypes.c_void_p * len(names))(*[ctypes.addressof(shape) for shape in shapes])
        begin = time.perf_counter()
        status = self.lib.weft_model_bind(self.handle, pointers)
        taken = (time.perf_counter() - begin) * 1e6
        self.check(status)
        return taken


def inputs(model, point, seed):
    """Random inputs at a point."""
    random, feeds = np.random.default_rng(seed), {}
    for port in model.graph.input:
        dims = port.type.tensor_type.shape.dim
        shape = [point.get(dim.dim_param, dim.dim_value) for dim in dims]
        if port.type.tensor_type.elem_type == onnx.TensorProto.INT64:
            feeds[port.name] = np.ones(shape, np.int64) if port.name == "mask" else random.integers(0, 99, shape)
        else:
            feeds[port.name] = random.standard_normal(shape).astype(np.float32)
    return feeds


def compiled(path, dims, folder, name, *more):
    artifact = pathlib.Path(folder) / f"{name}.weft"
    said = [word for dim, value in dims.items() for word in ("--dim", f"{dim}={value}")]
    begin = time.perf_counter()
    subprocess.run([BIN / "weft", "compile", path, "-o", artifact, "--no-cache", *said, *more], check=True)
    return str(artifact), time.perf_counter() - begin


def measure(path, threads, rounds, seconds, peers):
    about, model = json.loads(path.with_suffix(".json").read_text()), onnx.load(path)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ranges = {dim: f"{least}..{most}" for dim, (least, most) in about["dims"].items()}
        # A cache that grows is given where it lies.
        one, one_s = compiled(path, ranges, folder, "all", *(["--alias", "caches"] if about["caches"] else []))
        for number, point in enumerate(about["points"]):
            feeds = inputs(model, point, number)
            own, own_s = compiled(path, point, folder, f"one{number}")
            weft = Bound(feeds, threads, folder, one)
            begin = time.perf_counter()
            weft.run()
            first = (time.perf_counter() - begin) * 1e3
            others, refused = those_that_agree(weft, {name: PEERS[name] for name in peers}, str(path), feeds,
                                               threads, folder)
            engines = {"weft": weft, "static": Weft(None, feeds, threads, folder, artifact=own), **others}
            engines["static"].run()
            if weft.differs([one.view(other.dtype) for one, other in zip(engines["static"].results(), weft.results())]):
                raise RuntimeError(f"{path.stem} {point}: one artifact and that of the point differ")
            times = {name: [] for name in engines}
            for engine in engines.values():
                burst(engine, seconds / 4)
            for _ in range(rounds):
                for name, engine in engines.items():
                    times[name].append(burst(engine, seconds))
            ends = [{dim: own[end] for dim, own in about["dims"].items()} for end in (0, 1)]
            other = inputs(model, next(end for end in ends if end != point), 0)
            fresh, again = [], []
            for _ in range(200):
                weft.bind(other)
                fresh.append(weft.bind(feeds))
                again.append(weft.bind(feeds))
            row = {"point": point, "threads": threads, "ms": {name: min(all_) for name, all_ in times.items()},
                   "rounds_ms": times, "first_ms": first, "bind_us": statistics.median(fresh),
                   "bind_again_us": statistics.median(again),
                   "compile_s": {"weft": one_s, "static": own_s},
                   "static_over_weft": ratio(times["static"], times["weft"])}
            best = min((name for name in peers if name in times), key=lambda name: row["ms"][name], default=None)
            if best:
                row |= {"best_peer": best, "best_over_weft": ratio(times[best], times["weft"])}
            if refused:
                row["refused"] = refused
            rows.append(row)
            print(f"{path.stem:12s} {str(point):16s} "
                  + "  ".join(f"{name} {ms:8.3f}" for name, ms in row["ms"].items())
                  + f"  static/weft {row['static_over_weft']:.3f}  best/weft {row.get('best_over_weft', math.nan):.2f}"
                  + f"  first {first:.2f}  bind {row['bind_us']:.1f} us (again {row['bind_again_us']:.1f})  compile {one_s:.1f} s ({own_s:.1f})"
                  + "".join(f"  {name}: {why}" for name, why in refused.items()), flush=True)
            weft.close()
            engines["static"].close()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", default="ort,openvino")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    peers = [name for name in args.peers.split(",") if name]
    rows = {}
    for path in sorted(args.models.glob("*.onnx")):
        if re.search(args.only, path.stem):
            rows[path.stem] = measure(path, args.threads, args.rounds, args.seconds, peers)
    for key in ("static_over_weft", "best_over_weft"):
        all_ = [row[key] for found in rows.values() for row in found if key in row]
        if all_:
            print(f"{key}: geometric mean {statistics.geometric_mean(all_):.3f} of {len(all_)}, least {min(all_):.3f}")
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
