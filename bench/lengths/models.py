"""Models with named dimensions, as PyTorch's exporter writes them, with seeded weights.

    python bench/lengths/models.py -o DIR [--only REGEX]

Gives NAME.onnx and NAME.json: the lengths that each dimension may have, those to measure, and whether the model has
caches that grow.
"""
import argparse
import json
import pathlib
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """A graph that grows node by node."""

    def __init__(self, seed=0):
        self.random, self.nodes, self.weights, self.ports = np.random.default_rng(seed), [], [], ([], [])

    def name(self):
        return f"v{len(self.nodes) + len(self.weights)}"

    def constant(self, array):
        name = self.name()
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def weight(self, *shape, scale=None):
        scale = shape[0] ** -0.5 if scale is None else scale
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def op(self, kind, *inputs, name=None, **attributes):
        name = name or self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def port(self, which, name, kind, shape):
        self.ports[which].append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def save(self, folder, stem, dims, points, caches=False):
        graph = helper.make_graph(self.nodes, stem, *self.ports, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        onnx.checker.check_model(model)
        onnx.save(model, folder / f"{stem}.onnx")
        points = [point for point in points if all(value <= dims[name][1] for name, value in point.items())]
        (folder / f"{stem}.json").write_text(json.dumps({"dims": dims, "points": points, "caches": caches}))

    def linear(self, x, width, to):
        return self.op("Add", self.op("MatMul", x, self.weight(width, to)), self.weight(to, scale=0.1))

    def norm(self, x, width):
        return self.op("LayerNormalization", x, self.weight(width, scale=1.0),
                       self.weight(width, scale=0.1), axis=-1)


def bert(folder, stem, layers, width=768, heads=12, words=30522, most=512):
    """An encoder over a sequence of any length."""
    net, head = Net(), width // heads
    ids = net.port(0, "ids", TensorProto.INT64, [1, "seq"])
    mask = net.port(0, "mask", TensorProto.INT64, [1, "seq"])
    shape = net.op("Shape", ids)
    size = [net.op("Unsqueeze", net.op("Gather", shape, net.constant(np.int64(at)), axis=0), net.ints(0))
            for at in range(2)]
    table = net.constant(net.random.standard_normal((1, most, width)).astype(np.float32))
    rows = net.op("Slice", table, net.ints(0), size[1], net.ints(1))
    x = net.op("Add", net.op("Gather", net.weight(words, width, scale=1.0), ids), rows)
    mask = net.op("Cast", net.op("Unsqueeze", mask, net.ints(1, 2)), to=TensorProto.FLOAT)
    mask = net.op("Mul", net.op("Sub", net.constant(np.float32(1)), mask), net.constant(np.float32(-1e4)))
    apart = net.op("Concat", *size, net.ints(heads), net.ints(head), axis=0)
    for _ in range(layers):
        q, k, v = (net.op("Transpose", net.op("Reshape", net.linear(x, width, width), apart), perm=perm)
                   for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = net.op("Div", net.op("MatMul", q, k), net.constant(np.float32(head ** 0.5)))
        scores = net.op("Softmax", net.op("Add", scores, mask), axis=-1)
        y = net.op("Transpose", net.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        y = net.linear(net.op("Reshape", y, net.ints(0, 0, width)), width, width)
        x = net.norm(net.op("Add", x, y), width)
        y = net.linear(net.op("Gelu", net.linear(x, width, 4 * width)), 4 * width, width)
        x = net.norm(net.op("Add", x, y), width)
    net.port(1, net.op("Identity", x, name="y"), TensorProto.FLOAT, [1, "seq", width])
    net.save(folder, stem, {"seq": [1, most]}, [{"seq": seq} for seq in (7, 64, 128, 500)])


def resnet(folder, stem, blocks, batches):
    """A residual network over any number of images."""
    net = Net()
    x = net.port(0, "image", TensorProto.FLOAT, ["batch", 3, 224, 224])

    def conv(x, inside, outside, size, stride=1):
        weight = net.weight(outside, inside, size, size, scale=(inside * size * size) ** -0.5)
        return net.op("Conv", x, weight, net.weight(outside, scale=0.1), kernel_shape=[size] * 2,
                      strides=[stride] * 2, pads=[size // 2] * 4)

    x = net.op("Relu", conv(x, 3, 64, 7, 2))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    inside = 64
    for stage, count in enumerate(blocks):
        for block in range(count):
            width, stride = 64 << stage, 2 if stage and not block else 1
            y = net.op("Relu", conv(x, inside, width, 1))
            y = net.op("Relu", conv(y, width, width, 3, stride))
            y = conv(y, width, 4 * width, 1)
            x = conv(x, inside, 4 * width, 1, stride) if not block else x
            x, inside = net.op("Relu", net.op("Add", x, y)), 4 * width
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    x = net.op("Add", net.op("MatMul", x, net.weight(inside, 1000)), net.weight(1000, scale=0.1))
    net.port(1, net.op("Identity", x, name="y"), TensorProto.FLOAT, ["batch", 1000])
    net.save(folder, stem, {"batch": [1, max(batches)]}, [{"batch": batch} for batch in batches])


def gpt2(folder, stem, layers, width=768, heads=12, words=50257, most=1024, new=1):
    """Tokens behind a cache of any length: one, or any number up to `new`."""
    net, head = Net(), width // heads
    several = new > 1
    token = net.port(0, "token", TensorProto.INT64, [1, "new" if several else 1])
    pasts = [[net.port(0, f"past_{what}_{layer}", TensorProto.FLOAT, [1, heads, "past", head])
              for what in "kv"] for layer in range(layers)]
    table = net.weight(words, width, scale=0.1)
    place = net.op("Gather", net.op("Shape", pasts[0][0]), net.constant(np.int64(2)), axis=0)
    if several:
        end = net.op("Add", place, net.op("Gather", net.op("Shape", token), net.constant(np.int64(1)), axis=0))
        one = net.constant(np.int64(1))
        places = net.op("Range", place, end, one)
        before = net.op("LessOrEqual", net.op("Unsqueeze", net.op("Range", net.constant(np.int64(0)), end, one), net.ints(0)),
                        net.op("Unsqueeze", places, net.ints(1)))
        hidden = net.op("Where", before, net.constant(np.float32(0)), net.constant(np.float32(-1e4)))
    else:
        places = net.op("Unsqueeze", place, net.ints(0))
    place = net.op("Gather", net.weight(most, width, scale=0.1), places)
    x = net.op("Add", net.op("Gather", table, token), place)
    for layer, past in enumerate(pasts):
        parts = net.linear(net.norm(x, width), width, 3 * width)
        q, k, v = (net.op("Transpose", net.op("Reshape", net.op(
            "Slice", parts, net.ints(at * width), net.ints((at + 1) * width), net.ints(2)),
            net.ints(0, 0, heads, head)), perm=[0, 2, 1, 3]) for at in range(3))
        k, v = (net.op("Concat", old, new, name=f"present_{what}_{layer}", axis=2)
                for old, new, what in zip(past, (k, v), "kv"))
        scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = net.op("Div", scores, net.constant(np.float32(head ** 0.5)))
        scores = net.op("Softmax", net.op("Add", scores, hidden) if several else scores, axis=-1)
        y = net.op("Transpose", net.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        y = net.linear(net.op("Reshape", y, net.ints(0, 0, width)), width, width)
        x = net.op("Add", x, y)
        y = net.op("Gelu", net.linear(net.norm(x, width), width, 4 * width), approximate="tanh")
        x = net.op("Add", x, net.linear(y, 4 * width, width))
    x = net.norm(x, width)
    if several:
        x = net.op("Gather", x, net.op("Sub", net.op("Gather", net.op("Shape", token), net.ints(1), axis=0), net.ints(1)), axis=1)
    logits = net.op("MatMul", x, net.op("Transpose", table, perm=[1, 0]), name="logits")
    net.port(1, logits, TensorProto.FLOAT, [1, 1, words])
    for layer in range(layers):
        for what in "kv":
            net.port(1, f"present_{what}_{layer}", TensorProto.FLOAT, [1, heads, "all", head])
    if several:
        net.save(folder, stem, {"past": [0, most - new], "new": [1, new]}, [], caches=True)
    else:
        net.save(folder, stem, {"past": [1, most - 1]}, [{"past": past} for past in (1, 7, 64, 128, 511)],
                 caches=True)


MODELS = {
    "bert": lambda folder: bert(folder, "bert", 4),
    "resnet50": lambda folder: resnet(folder, "resnet50", [3, 4, 6, 3], [1, 3, 8]),
    "gpt2": lambda folder: gpt2(folder, "gpt2", 4),
    "generate": lambda folder: gpt2(folder, "generate", 4, most=512, new=64),
    "bert_ci": lambda folder: bert(folder, "bert_ci", 2, 64, 4, 100, 64),
    "resnet_ci": lambda folder: resnet(folder, "resnet_ci", [1, 1], [1, 3]),
    "gpt2_ci": lambda folder: gpt2(folder, "gpt2_ci", 2, 64, 4, 100, 64),
    "generate_ci": lambda folder: gpt2(folder, "generate_ci", 2, 64, 4, 100, 64, new=8),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        if re.search(args.only, name):
            make(args.output)


if __name__ == "__main__":
    main()
