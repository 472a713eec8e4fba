#!/usr/bin/env python3
"""weft beside other engines, in turns, on the same inputs and buffers.

    python bench/compare.py --models DIR [DIR ...] [--only REGEX] [--threads 1,2]
        [--peers ort,openvino,iree,xla,tract] [--rounds 7] [--floors] [--before DIR] [--out FILE.json]

DIR holds NAME.onnx and NAME.inputs.npz. Every round runs a burst of each engine; the
latency of an engine is the least of its rounds' medians, a ratio the median over the rounds
of the best peer's median over weft's: above 1, weft is faster. weft runs through its
C library, the others as `peers.py` says; one whose results are not weft's is named and left out.
With --floors a round also measures the core's peak and bandwidth, and the share that weft
reached of what they allow is told (`floors.py`; one thread only). --before names the folder of
another build's `weft` and `libweft_runtime.so`, which runs beside the peers but is none: its time
over weft's, above 1 where weft became faster, has a summary of its own. --relaxed runs weft with
`--accuracy relaxed` beside them, too, with the best peer's time over that. Needs
`pip install numpy onnx` and what the peers are in (`peers.py`), and a C compiler for the floors.
"""
import argparse
import ctypes
import functools
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import numpy as np

import floors
from peers import PEERS

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "target" / "release"
# The names under which another build of weft runs, and this one where it may round otherwise.
BEFORE, RELAXED = "before", "relaxed"


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_uint64)), ("bytes", ctypes.c_size_t)]


class Weft:
    def __init__(self, model, feeds, threads, folder, artifact=None, build=BIN, more=()):
        begin = time.perf_counter()
        if artifact is None:
            artifact = os.path.join(folder, "model.weft")
            compile_ = [build / "weft", "compile", model, "-o", artifact, "--no-cache", *more]
            subprocess.run(compile_, check=True)
        self.compile_s = time.perf_counter() - begin
        self.load(artifact, threads, build)
        self.prepare(feeds)
        self.keep = []
        lib, names = self.lib, [port.name.decode() for port in self.ports("input")]
        self.inputs = self.buffers([np.ascontiguousarray(feeds[n]) for n in names])
        ports = self.ports("output")
        sizes = [port.bytes for port in ports]
        lib.weft_dtype_name.restype = ctypes.c_char_p
        self.types = [lib.weft_dtype_name(port.dtype).decode() for port in ports]
        # Where lines of a cache begin, as the other engines lay out theirs.
        self.shown = [floors.aligned(n) for n in sizes]
        self.outputs = self.buffers(self.shown)

    def load(self, artifact, threads, build=BIN):
        lib = ctypes.CDLL(str(build / "libweft_runtime.so"))
        lib.weft_last_error_message.restype = ctypes.c_char_p
        for count in (lib.weft_model_input_count, lib.weft_model_output_count):
            count.restype = ctypes.c_size_t
            count.argtypes = [ctypes.c_void_p]
        self.lib, self.handle = lib, ctypes.c_void_p()
        self.check(lib.weft_model_load(os.fsencode(artifact), ctypes.c_size_t(threads),
                                       ctypes.byref(self.handle)))

    def prepare(self, feeds):
        """What is to be said of a model before its ports are asked for."""

    def ports(self, kind):
        """Its inputs or its outputs."""
        get = getattr(self.lib, f"weft_model_{kind}")
        ports = [Port() for _ in range(getattr(self.lib, f"weft_model_{kind}_count")(self.handle))]
        for index, port in enumerate(ports):
            self.check(get(self.handle, ctypes.c_size_t(index), ctypes.byref(port)))
        return ports

    def caches(self):
        """For each input in whose memory an output lies, that output."""
        output, extents, found = ctypes.c_size_t(), ctypes.POINTER(ctypes.c_uint64)(), {}
        for at in range(self.lib.weft_model_input_count(self.handle)):
            self.check(self.lib.weft_model_alias(self.handle, ctypes.c_size_t(at), ctypes.byref(output),
                                                 ctypes.byref(extents)))
            if extents:
                found[at] = output.value
        return found

    def buffers(self, arrays):
        self.keep += arrays
        pointers = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
        sizes = (ctypes.c_size_t * len(arrays))(*[a.nbytes for a in arrays])
        return pointers, sizes

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.lib.weft_last_error_message().decode())

    def run(self):
        i, o = self.inputs, self.outputs
        self.check(self.lib.weft_model_run(self.handle, i[0], i[1], o[0], o[1]))

    def results(self):
        return [array.view(dtype).copy() for array, dtype in zip(self.shown, self.types)]

    def differs(self, results):
        """Whether other results are not those of the last run, by a hundredth of the largest."""
        for own, other in zip(self.shown, results, strict=True):
            own = own.view(other.dtype).reshape(other.shape)
            bound = 0.01 * np.abs(own).max(initial=0) + 1e-6
            if not np.allclose(own, other, rtol=0, atol=bound, equal_nan=True):
                return True
        return False

    def close(self):
        self.lib.weft_model_free(self.handle)


def burst(engine, seconds):
    """Times of single runs, in ms, for about `seconds`; at least three."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        engine.run()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def those_that_agree(weft, peers, model, feeds, threads, folder):
    """The peers whose results are those of weft's last run, by name, and why others are left out."""
    engines, refused = {}, {}
    for name, make in peers.items():
        try:
            engine = make(model, feeds, threads, folder)
            engine.run()
            if weft.differs(engine.results()):
                raise RuntimeError("its results are not weft's")
            engines[name] = engine
        except Exception as error:  # whatever type the peer has
            refused[name] = (str(error).splitlines() or [type(error).__name__])[0]
    return engines, refused


def measure(model, feeds, threads, peers, rounds, seconds, roofline):
    """Latencies and ratios of one model; a peer that refuses the model is left out by name.

    `peers` gives for each name what makes it."""
    with tempfile.TemporaryDirectory() as folder:
        weft = Weft(str(model), feeds, threads, folder)
        weft.run()
        engines, refused = those_that_agree(weft, peers, str(model), feeds, threads, folder)
        engines["weft"] = weft
        for engine in engines.values():
            burst(engine, seconds / 4)
        medians = {name: [] for name in engines}
        peaks, passes = [], []
        work = floors.work(model) if roofline else None
        for _ in range(rounds):
            if work:
                peaks.append(roofline.peak_gflops())
                passes.append(roofline.mix_ms(*work[1:]))
            for name, engine in engines.items():
                medians[name].append(burst(engine, seconds))
        weft.close()
    row = {"threads": threads, "ms": {name: min(times) for name, times in medians.items()},
           "rounds_ms": medians,
           "compile_s": {name: engine.compile_s for name, engine in engines.items()}}
    if refused:
        row["refused"] = refused
    if work:
        arithmetic = work[0] / max(peaks) * 1e-6
        row |= {"operations": work[0], "reads": work[1], "writes": work[2],
                "peak_gflops": max(peaks), "arithmetic_ms": arithmetic, "bytes_ms": min(passes)}
        row["share"] = max(arithmetic, min(passes)) / row["ms"]["weft"]
    running = [name for name in peers if name in engines]
    over = {name: ratio(medians[name], medians["weft"]) for name in running}
    running = [name for name in running if name not in (BEFORE, RELAXED)]
    if running:
        best = min(running, key=lambda name: row["ms"][name])
        row |= {"over_weft": over, "best_peer": best, "best_over_weft": over[best]}
        if RELAXED in over:
            row["best_over_relaxed"] = ratio(medians[best], medians[RELAXED])
    if BEFORE in over:
        row["before_over_weft"] = over[BEFORE]
    return row


def ratio(theirs, ours):
    return statistics.median(t / o for t, o in zip(theirs, ours))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", required=True, type=pathlib.Path, nargs="+")
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--peers", default="ort,openvino")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--floors", action="store_true")
    parser.add_argument("--before", type=pathlib.Path, help="the folder of another build of weft")
    parser.add_argument("--relaxed", action="store_true", help="weft with --accuracy relaxed, too")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    peers = {name: PEERS[name] for name in args.peers.split(",") if name}
    if args.before:
        peers[BEFORE] = functools.partial(Weft, build=args.before.resolve())
    if args.relaxed:
        peers[RELAXED] = functools.partial(Weft, more=["--accuracy", "relaxed"])
    folder = tempfile.TemporaryDirectory()
    roofline = floors.Roofline(folder.name) if args.floors else None
    models = [model for folder in args.models for model in sorted(folder.glob("*.onnx"))]
    rows = {}
    for model in models:
        if not re.search(args.only, model.stem):
            continue
        with np.load(model.with_suffix(".inputs.npz")) as npz:
            feeds = {name: np.ascontiguousarray(npz[name]) for name in npz.files}
        for threads in map(int, args.threads.split(",")):
            row = measure(model, feeds, threads, peers, args.rounds, args.seconds,
                          roofline if threads == 1 else None)
            rows.setdefault(model.stem, []).append(row)
            times = "  ".join(f"{name} {ms:9.4f}" for name, ms in row["ms"].items())
            print(f"{model.stem:32s} {threads} thread(s)  ms: {times}  "
                  f"ratio {row.get('best_over_weft', float('nan')):.2f}"
                  + (f"  before {row['before_over_weft']:.2f}" if BEFORE in row["ms"] else "")
                  + (f"  relaxed {row['best_over_relaxed']:.2f}" if "best_over_relaxed" in row else "")
                  + (f"  share {row['share']:.2f}" if "share" in row else "")
                  + "".join(f"  {name}: {why}" for name, why in row.get("refused", {}).items()),
                  flush=True)
    for key, what in (("best_over_weft", "best peer"), ("before_over_weft", BEFORE),
                      ("best_over_relaxed", "best peer, relaxed accuracy")):
        for threads in map(int, args.threads.split(",")):
            summary(what, threads, {name: row[key] for name, found in rows.items() for row in found
                                    if row["threads"] == threads and key in row})
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


def summary(what, threads, ratios):
    """The geometric mean over the models, and the worst ones."""
    if ratios:
        worst = sorted(ratios, key=ratios.get)[:5]
        print(f"{threads} thread(s), {len(ratios)} models: {what} over weft, geometric mean "
              f"{statistics.geometric_mean(ratios.values()):.3f}; least: "
              + ", ".join(f"{name} {ratios[name]:.2f}" for name in worst))


if __name__ == "__main__":
    main()
