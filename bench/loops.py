#!/usr/bin/env python3
"""Loops that a run repeats, beside the same written out and beside other engines.

    python bench/loops.py [--only REGEX] [--threads 1] [--rounds 5] [--out FILE.json]

Models are made here: recurrent nodes of many steps, a recurrence over the rows of a tensor as a Loop, Newton's
method until a condition ends it, and boxes that are suppressed. Each round runs a burst of weft, of weft with all loops
written out where they can be, and of each peer. Ratios are medians over the rounds, above 1 where weft is faster.
"""
import argparse
import json
import math
import pathlib
import re
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from compare import Weft, burst, ratio, those_that_agree
from peers import PEERS

RANDOM = np.random.default_rng(7)


def floats(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def port(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, constants):
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "loops", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def recurrent(operator, steps, batch, hidden):
    gates = {"LSTM": 4, "GRU": 3}[operator]
    weights = {name: floats(1, gates * hidden, hidden, scale=hidden ** -0.5) for name in ("W", "R")}
    node = helper.make_node(operator, ["X", "W", "R"], ["Y", "Y_h"], hidden_size=hidden)
    shapes = [steps, 1, batch, hidden], [1, batch, hidden]
    outputs = [port(name, shape) for name, shape in zip(("Y", "Y_h"), shapes)]
    return model([node], [port("X", [steps, batch, hidden])], outputs, weights), {"X": floats(steps, batch, hidden)}


def body(nodes, carried, collected=()):
    inputs = [port("i", [], TensorProto.INT64), port("open", [], TensorProto.BOOL), *carried.values()]
    outputs = [port("more", [], TensorProto.BOOL), *(port(name, None) for name in [*carried, *collected])]
    return helper.make_graph(nodes, "body", inputs, outputs)


def rows(count, width):
    """h = tanh(h W + x[i]), with all of them collected."""
    inner = body([
        helper.make_node("MatMul", ["h", "W"], ["a"]), helper.make_node("Gather", ["X", "i"], ["row"]),
        helper.make_node("Add", ["a", "row"], ["b"]), helper.make_node("Tanh", ["b"], ["next"]),
        helper.make_node("Identity", ["open"], ["more"]), helper.make_node("Identity", ["next"], ["all"])],
        {"next": port("h", [1, width])}, ["all"])
    node = helper.make_node("Loop", ["count", "", "start"], ["last", "rows"], body=inner)
    constants = {"W": floats(width, width, scale=width ** -0.5), "count": np.int64(count)}
    inputs = [port("X", [count, 1, width]), port("start", [1, width])]
    outputs = [port("last", [1, width]), port("rows", [count, 1, width])]
    return (model([node], inputs, outputs, constants),
            {"X": floats(count, 1, width), "start": floats(1, width)})


def root(width):
    """Newton's method for square roots, until all of them are near; 64 rounds at most."""
    inner = body([
        helper.make_node("Div", ["X", "r"], ["q"]), helper.make_node("Add", ["q", "r"], ["s"]),
        helper.make_node("Mul", ["s", "half"], ["next"]), helper.make_node("Mul", ["next", "next"], ["square"]),
        helper.make_node("Sub", ["square", "X"], ["off"]), helper.make_node("Abs", ["off"], ["size"]),
        helper.make_node("ReduceMax", ["size"], ["most"], keepdims=0),
        helper.make_node("Greater", ["most", "bound"], ["more"])], {"next": port("r", [width])})
    node = helper.make_node("Loop", ["count", "", "X"], ["last"], body=inner)
    constants = {"half": np.float32(0.5), "bound": np.float32(0.01), "count": np.int64(64)}
    return model([node], [port("X", [width])], [port("last", [width])], constants), {"X": np.abs(floats(width)) + 1}


def boxes(count, most):
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["taken"])
    constants = {"most": np.array([most]), "overlap": np.array([0.5], np.float32), "least": np.array([0.3], np.float32)}
    inputs = [port("boxes", [1, count, 4]), port("scores", [1, 1, count])]
    corner = RANDOM.random((1, count, 2)) * 20
    feeds = {"boxes": np.concatenate([corner, corner + RANDOM.random((1, count, 2)) * 6 + 0.1], 2).astype(np.float32),
             "scores": RANDOM.random((1, 1, count)).astype(np.float32)}
    return model([node], inputs, [port("taken", None, TensorProto.INT64)], constants), feeds


MODELS = {
    "lstm_50_64": lambda: recurrent("LSTM", 50, 1, 64),
    "lstm_200_256": lambda: recurrent("LSTM", 200, 1, 256),
    "lstm_50_256_batch16": lambda: recurrent("LSTM", 50, 16, 256),
    "gru_200_256": lambda: recurrent("GRU", 200, 1, 256),
    "rows_200_256": lambda: rows(200, 256),
    "root_4096": lambda: root(4096),
    "boxes_500_200": lambda: boxes(500, 200),
}


class Written(Weft):
    """weft with loops written out."""

    def __init__(self, *args):
        super().__init__(*args, more=("--unroll",))


class Found(Weft):
    """weft's results where data may decide how long they are."""

    def differs(self, results):
        cut = [np.asarray(other).reshape(-1) for other in results]
        shown, self.shown = self.shown, [own[: other.nbytes] for own, other in zip(self.shown, cut)]
        differ = super().differs(cut)
        self.shown = shown
        return differ


def measure(name, threads, rounds, seconds, peers):
    made, feeds = MODELS[name]()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        path = str(pathlib.Path(folder) / "model.onnx")
        onnx.save(made, path)
        weft = Found(path, feeds, threads, folder)
        weft.run()
        makers = {"unrolled": lambda model, feeds, threads, _: Written(model, feeds, threads, other)}
        makers |= {peer: PEERS[peer] for peer in peers}
        engines, refused = those_that_agree(weft, makers, path, feeds, threads, folder)
        engines["weft"] = weft
        for engine in engines.values():
            burst(engine, seconds / 4)
        times = {engine: [] for engine in engines}
        for _ in range(rounds):
            for engine in engines:
                times[engine].append(burst(engines[engine], seconds))
    row = {"threads": threads, "ms": {engine: min(all_) for engine, all_ in times.items()}, "rounds_ms": times,
           "compile_s": {engine: own.compile_s for engine, own in engines.items()}}
    if "unrolled" in times:
        row["unrolled_over_weft"] = ratio(times["unrolled"], times["weft"])
    best = min((peer for peer in peers if peer in times), key=lambda peer: row["ms"][peer], default=None)
    if best:
        row |= {"best_peer": best, "best_over_weft": ratio(times[best], times["weft"])}
    if refused:
        row["refused"] = refused
    print(f"{name:20s} " + "  ".join(f"{engine} {ms:8.3f}" for engine, ms in sorted(row["ms"].items()))
          + f"  unrolled/weft {row.get('unrolled_over_weft', math.nan):.2f}  best/weft {row.get('best_over_weft', math.nan):.2f}"
          + f"  compile {row['compile_s']['weft']:.2f} s ({row['compile_s'].get('unrolled', math.nan):.2f})"
          + "".join(f"  {engine}: {why}" for engine, why in refused.items()), flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", default="ort,openvino")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    peers = [name for name in args.peers.split(",") if name]
    found = {name: measure(name, args.threads, args.rounds, args.seconds, peers)
             for name in MODELS if re.search(args.only, name)}
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
