#!/usr/bin/env python3
"""A whole generate loop in one artifact: a prompt, then token by token, with caches that grow in place.

    python bench/lengths/models.py -o DIR --only generate
    python bench/generate.py --models DIR [--prompt 64] [--tokens 256] [--rounds 5] [--out FILE.json]

Every round each engine reads the prompt in one run and makes `tokens` tokens, each the likeliest one behind
those before. weft's caches are tensors of the most rows that there may be, given as input and as output, of which
no row is copied; its peers are given what the step before gave, ONNX Runtime by its own values and OpenVINO by its
own tensors. All make the same tokens, or the run fails. `best_over_weft` is the median over the rounds of the faster
peer's time over weft's.
"""
import argparse
import ctypes
import json
import pathlib
import tempfile
import time

import numpy as np
import onnx

from compare import Weft, ratio
from shapes import compiled


class Generating(Weft):
    """weft, whose caches lie in one place."""

    def __init__(self, model, dims, threads, folder):
        ranges = {name: f"{least}..{most}" for name, (least, most) in dims.items()}
        artifact, self.compile_s = compiled(model, ranges, folder, "generate", "--alias", "caches")
        self.load(artifact, threads)
        inputs = self.ports("input")
        self.names = [port.name.decode() for port in inputs]
        self.shapes = [[port.shape[dim] for dim in range(port.rank)] for port in inputs]
        self.given = [np.zeros(port.bytes, np.uint8) for port in self.ports("output")]
        self.whole = self.caches()

    def begin(self):
        self.past = 0

    def step(self, tokens):
        """Logits of the last of these tokens."""
        lib, count = self.lib, len(self.names)
        shapes = [list(shape) for shape in self.shapes]
        for at in self.whole:
            shapes[at][2] = self.past
        token = self.names.index("token")
        shapes[token] = list(tokens.shape)
        arrays = [(ctypes.c_uint64 * len(shape))(*shape) for shape in shapes]
        self.check(lib.weft_model_bind(self.handle, (ctypes.c_void_p * count)(*[ctypes.addressof(a) for a in arrays])))
        inputs = [self.given[self.whole[at]] if at in self.whole else tokens for at in range(count)]
        pointers = [(ctypes.c_void_p * len(all_))(*[a.ctypes.data for a in all_]) for all_ in (inputs, self.given)]
        sizes = [(ctypes.c_size_t * len(all_))(*[a.nbytes for a in all_]) for all_ in (inputs, self.given)]
        self.check(lib.weft_model_run(self.handle, pointers[0], sizes[0], pointers[1], sizes[1]))
        self.past += tokens.shape[1]
        return self.given[0].view(np.float32)


class Ort:
    """ONNX Runtime: what a step gives is bound as what the next one reads."""

    def __init__(self, model, threads):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        self.ort, self.session = ort, ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.outputs = [port.name for port in self.session.get_outputs()]
        self.shape = {port.name: port.shape for port in self.session.get_inputs()}

    def begin(self):
        empty = {name: np.zeros([shape[0], shape[1], 0, shape[3]], np.float32)
                 for name, shape in self.shape.items() if name != "token"}
        self.values = {name: self.ort.OrtValue.ortvalue_from_numpy(array) for name, array in empty.items()}

    def step(self, tokens):
        binding = self.session.io_binding()
        binding.bind_cpu_input("token", tokens)
        for name, value in self.values.items():
            binding.bind_ortvalue_input(name, value)
        for name in self.outputs:
            binding.bind_output(name, "cpu")
        self.session.run_with_iobinding(binding)
        found = dict(zip(self.outputs, binding.get_outputs()))
        logits = found.pop("logits").numpy()
        self.values = {name.replace("present", "past"): value for name, value in found.items()}
        return logits


class OpenVino:
    """OpenVINO: two requests in turns, each reading the tensors that the other has given."""

    def __init__(self, model, threads):
        import openvino
        options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        self.ov, self.model = openvino, openvino.Core().compile_model(str(model), "CPU", options)
        self.requests = [self.model.create_infer_request() for _ in range(2)]
        self.inputs = {next(iter(port.get_names())): port for port in self.model.inputs}
        self.outputs = {next(iter(port.get_names())): port for port in self.model.outputs}

    def begin(self):
        self.turn = 0
        shape = {name: port.get_partial_shape() for name, port in self.inputs.items() if name != "token"}
        self.values = {name: self.ov.Tensor(np.zeros([1, own[1].get_length(), 0, own[3].get_length()], np.float32))
                       for name, own in shape.items()}

    def step(self, tokens):
        request = self.requests[self.turn]
        self.turn = 1 - self.turn
        request.set_tensor(self.inputs["token"], self.ov.Tensor(tokens))
        for name, value in self.values.items():
            request.set_tensor(self.inputs[name], value)
        request.infer()
        found = {name: request.get_tensor(port) for name, port in self.outputs.items()}
        self.values = {name.replace("present", "past"): value for name, value in found.items() if name != "logits"}
        return found["logits"].data


def generated(engine, prompt, count):
    """The tokens, the time of the prompt and that of the others, in seconds."""
    engine.begin()
    begin = time.perf_counter()
    tokens = [int(np.argmax(engine.step(prompt)))]
    read = time.perf_counter()
    for _ in range(count - 1):
        tokens.append(int(np.argmax(engine.step(np.array([[tokens[-1]]], np.int64)))))
    return tokens, read - begin, time.perf_counter() - read


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--model", default="generate")
    parser.add_argument("--prompt", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    path = args.models / f"{args.model}.onnx"
    dims = json.loads(path.with_suffix(".json").read_text())["dims"]
    words = onnx.load(path, load_external_data=False).graph.output[0].type.tensor_type.shape.dim[2].dim_value
    prompt = np.random.default_rng(0).integers(0, words, (1, args.prompt))
    with tempfile.TemporaryDirectory() as folder:
        engines = {"weft": Generating(path, dims, args.threads, folder), "ort": Ort(path, args.threads),
                   "openvino": OpenVino(path, args.threads)}
        times = {name: {"prompt": [], "tokens": []} for name in engines}
        for name, engine in engines.items():
            generated(engine, prompt, 8)
        for _ in range(args.rounds):
            found = {}
            for name, engine in engines.items():
                found[name], read, made = generated(engine, prompt, args.tokens)
                times[name]["prompt"].append(read * 1e3)
                times[name]["tokens"].append(made * 1e3)
            if any(tokens != found["weft"] for tokens in found.values()):
                raise RuntimeError(f"engines made other tokens: {found}")
    row = {"prompt": args.prompt, "tokens": args.tokens, "threads": args.threads,
           "ms": {name: {part: min(all_) for part, all_ in own.items()} for name, own in times.items()},
           "rounds_ms": times, "compile_s": engines["weft"].compile_s}
    for part in ("prompt", "tokens"):
        best = min(("ort", "openvino"), key=lambda name: row["ms"][name][part])
        row[f"best_{part}"], row[f"best_over_weft_{part}"] = best, ratio(times[best][part], times["weft"][part])
        print(f"{part:7s}" + "".join(f"  {name} {own[part]:9.2f} ms" for name, own in row["ms"].items())
              + f"  best/weft {row[f'best_over_weft_{part}']:.2f}")
    print(f"a token: weft {row['ms']['weft']['tokens'] / (args.tokens - 1):.3f} ms")
    if args.out:
        args.out.write_text(json.dumps(row, indent=1) + "\n")


if __name__ == "__main__":
    main()
