#!/usr/bin/env python3
"""weft beside ONNX Runtime, in turns, on the same inputs and buffers.

    python bench/compare.py --models DIR [--only REGEX] [--threads 1,2] [--rounds 7] --out FILE.json

DIR holds NAME.onnx and NAME.inputs.npz. Every round runs a burst of each engine; the
latency of an engine is the least of its rounds' medians, the ratio the median of the
rounds' ratios (ONNX Runtime over weft: above 1, weft is faster). weft runs through its
C library, ONNX Runtime with its outputs bound. Needs `pip install numpy onnxruntime`.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "target" / "release"


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_uint64)), ("bytes", ctypes.c_size_t)]


class Weft:
    def __init__(self, model, feeds, threads, folder):
        artifact = os.path.join(folder, "model.weft")
        begin = time.perf_counter()
        subprocess.run([BIN / "weft", "compile", model, "-o", artifact], check=True)
        self.compile_s = time.perf_counter() - begin
        lib = ctypes.CDLL(str(BIN / "libweft_runtime.so"))
        lib.weft_last_error_message.restype = ctypes.c_char_p
        for count in (lib.weft_model_input_count, lib.weft_model_output_count):
            count.restype = ctypes.c_size_t
            count.argtypes = [ctypes.c_void_p]
        self.lib, self.handle = lib, ctypes.c_void_p()
        self.check(lib.weft_model_load(artifact.encode(), ctypes.c_size_t(threads),
                                       ctypes.byref(self.handle)))
        self.keep = []
        names = [self.port(lib.weft_model_input, i).name.decode()
                 for i in range(lib.weft_model_input_count(self.handle))]
        self.inputs = self.buffers([np.ascontiguousarray(feeds[n]) for n in names])
        sizes = [self.port(lib.weft_model_output, i).bytes
                 for i in range(lib.weft_model_output_count(self.handle))]
        self.outputs = self.buffers([np.zeros(n, np.uint8) for n in sizes])

    def port(self, get, index):
        port = Port()
        self.check(get(self.handle, ctypes.c_size_t(index), ctypes.byref(port)))
        return port

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

    def close(self):
        self.lib.weft_model_free(self.handle)


class Ort:
    def __init__(self, model, feeds, threads, _folder):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        begin = time.perf_counter()
        self.session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.compile_s = time.perf_counter() - begin
        self.binding = self.session.io_binding()
        for name, array in feeds.items():
            self.binding.bind_cpu_input(name, array)
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name, "cpu")

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def close(self):
        pass


def burst(engine, seconds):
    """Times of single runs, in ms, for about `seconds`; at least three."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        engine.run()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def measure(model, feeds, threads, rounds, seconds):
    with tempfile.TemporaryDirectory() as folder:
        engines = {"ort": Ort, "weft": Weft}
        engines = {k: v(str(model), feeds, threads, folder) for k, v in engines.items()}
        for engine in engines.values():
            burst(engine, seconds / 4)
        medians = {k: [] for k in engines}
        for _ in range(rounds):
            for name, engine in engines.items():
                medians[name].append(burst(engine, seconds))
        for engine in engines.values():
            engine.close()
    ratios = [o / w for o, w in zip(medians["ort"], medians["weft"])]
    return {"threads": threads, "ort_ms": min(medians["ort"]), "weft_ms": min(medians["weft"]),
            "ort_over_weft": statistics.median(ratios), "rounds_ms": medians,
            "compile_s": {k: e.compile_s for k, e in engines.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    rows = {}
    for model in sorted(args.models.glob("*.onnx")):
        if not re.search(args.only, model.stem):
            continue
        with np.load(model.with_suffix(".inputs.npz")) as npz:
            feeds = {name: np.ascontiguousarray(npz[name]) for name in npz.files}
        for threads in map(int, args.threads.split(",")):
            row = measure(model, feeds, threads, args.rounds, args.seconds)
            rows.setdefault(model.stem, []).append(row)
            print(f"{model.stem:32s} {threads} thread(s)  ort {row['ort_ms']:9.3f} ms  "
                  f"weft {row['weft_ms']:9.3f} ms  ort/weft {row['ort_over_weft']:.2f}", flush=True)
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
