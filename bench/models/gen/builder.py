"""The graph under construction, its seeded tensors, and how it is written."""
import dataclasses
import pathlib
import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from .operators import Operators

OPSET, IR_VERSION = 20, 9


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor of the graph: its name and what it holds, in float64 or int64.

    `kind` is its element type where that is neither float nor int64.
    """
    name: str
    data: np.ndarray
    kind: int | None = None

    @property
    def shape(self):
        return self.data.shape


class Builder(Operators):
    """Every method of `Operators` appends nodes and computes their value.

    Random tensors are drawn in float32 and widened, so the graph and the reference start from
    the same numbers. Activations stay near 1 when weights are scaled by their fan-in.
    """

    def __init__(self, name, seed=0, narrow=None):
        self.name = name
        # What a linear layer does with its weights (`narrow.Weights`), where they are narrow.
        self.narrow = narrow
        self.opset, self.ir_version, self.domains = OPSET, IR_VERSION, set()
        self.random = np.random.default_rng([seed, zlib.crc32(name.encode())])
        self.nodes, self.weights = [], {}
        self.inputs, self.outputs = {}, {}
        self.count = 0

    def draw(self, shape, scale=1.0):
        """Uniform numbers of mean 0 and deviation `scale`, exact in float32."""
        unit = self.random.random(shape, dtype=np.float32) * 2 - 1
        return (unit * np.float32(scale * 3 ** 0.5)).astype(np.float64)

    def input(self, name, shape, scale=1.0):
        """A graph input of random numbers."""
        self.inputs[name] = Value(name, self.draw(shape, scale))
        return self.inputs[name]

    def input_of(self, name, data, kind=None):
        """A graph input of given numbers, of an element type that holds them."""
        self.inputs[name] = Value(name, np.asarray(data), kind)
        return self.inputs[name]

    def tokens(self, name, shape, below):
        """A graph input of random integers in [0, below)."""
        self.inputs[name] = Value(name, self.random.integers(0, below, shape, dtype=np.int64))
        return self.inputs[name]

    def weight(self, shape, scale=None, mean=0.0):
        """An initializer; its deviation is 1 / sqrt(fan-in) unless it is given."""
        shape = tuple(shape)
        if scale is None:
            scale = (np.prod(shape[1:]) or 1) ** -0.5
        data = (self.draw(shape, scale) + mean).astype(np.float32).astype(np.float64)
        return self.constant(data)

    def constant(self, data):
        """An initializer of given numbers: integers as int64, others rounded to float32."""
        data = np.asarray(data)
        if data.dtype.kind in "iu":
            data = data.astype(np.int64)
        else:
            data = data.astype(np.float32).astype(np.float64)
        value = Value(self.fresh("c"), data)
        self.weights[value.name] = value
        return value

    def typed(self, data, kind):
        """An initializer of given integers, of an element type that holds them."""
        value = Value(self.fresh("q"), np.asarray(data, np.int64), kind)
        self.weights[value.name] = value
        return value

    def fresh(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def node(self, kind, inputs, *results, **attributes):
        """Appends a node that makes `results`; gives their values."""
        outputs = [Value(self.fresh(kind.lower()), np.asarray(data)) for data in results]
        names = [value.name if value is not None else "" for value in inputs]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(
            kind, names, [value.name for value in outputs], outputs[0].name, **attributes))
        return outputs[0] if len(outputs) == 1 else outputs

    def output(self, value, name="y", kind=None):
        """Makes a value a result of the model, by this name."""
        self.nodes.append(helper.make_node("Identity", [value.name], [name], f"to_{name}"))
        self.outputs[name] = Value(name, value.data, kind)

    def model(self):
        """The ModelProto."""
        info = [[helper.make_tensor_value_info(v.name, kind_of(v), v.shape) for v in ports.values()]
                for ports in (self.inputs, self.outputs)]
        weights = [numpy_helper.from_array(stored(v), v.name) for v in self.weights.values()]
        graph = helper.make_graph(self.nodes, self.name, info[0], info[1], weights)
        opset = [helper.make_opsetid("", self.opset)]
        opset += [helper.make_opsetid(domain, 1) for domain in sorted(self.domains)]
        return helper.make_model(graph, opset_imports=opset, ir_version=self.ir_version)

    def save(self, folder):
        """Writes NAME.onnx, NAME.inputs.npz and NAME.expect.npz; gives the bytes of the model."""
        folder = pathlib.Path(folder)
        data = self.model().SerializeToString(deterministic=True)
        (folder / f"{self.name}.onnx").write_bytes(data)
        for ports, what in ((self.inputs, "inputs"), (self.outputs, "expect")):
            arrays = {value.name: stored(value) for value in ports.values()}
            np.savez(folder / f"{self.name}.{what}.npz", **arrays)
        return len(data)


def kind_of(value):
    if value.kind is not None:
        return value.kind
    return TensorProto.INT64 if value.data.dtype.kind in "iu" else TensorProto.FLOAT


def stored(value):
    """As it lies in a file: the reference is rounded to float32 here and nowhere before."""
    data = value.data
    if value.kind is not None:
        return np.ascontiguousarray(data.astype(helper.tensor_dtype_to_np_dtype(value.kind)))
    return np.ascontiguousarray(data if data.dtype.kind in "iu" else data.astype(np.float32))
