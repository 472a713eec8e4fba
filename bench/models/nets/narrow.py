"""Products of narrow numbers."""
import numpy as np
from onnx import TensorProto

from gen import Builder
from gen.narrow import Weights, quantised


def linear(name, seed, rows, depth, width, weights):
    """One linear layer whose weights are narrow."""
    g = Builder(name, seed)
    x = g.input("x", (rows, depth))
    y = weights(g, x, width) if weights else g.matmul(x, g.weight((depth, width), depth ** -0.5))
    g.output(g.add(y, g.weight((width,), 0.1)))
    return g


def integers(name, seed, rows, depth, width):
    """MatMulInteger of bytes, with a zero point on the left: exact."""
    g = Builder(name, seed)
    x = g.input_of("x", g.random.integers(0, 256, (rows, depth)), TensorProto.UINT8)
    w = g.typed(g.random.integers(-128, 128, (depth, width)), TensorProto.INT8)
    zero = g.typed(np.array(121), TensorProto.UINT8)
    y = (x.data - zero.data) @ w.data
    g.output(g.node("MatMulInteger", [x, w, zero], y), kind=TensorProto.INT32)
    return g


def dequantised(name, seed, rows, depth, width):
    """What quantisers write: both factors behind QuantizeLinear and DequantizeLinear.

    Activations lie on the grid, so that none is beside the border of two integers.
    """
    g = Builder(name, seed)
    g.opset, g.ir_version = 21, 10
    x = (g.random.integers(0, 256, (rows, depth)) - 121) / 128
    x = quantised(g, g.input_of("x", x), "uint8", 1 / 128, np.array(121))
    q = g.typed(g.random.integers(-127, 128, (depth, width)), TensorProto.INT8)
    scales = g.constant((g.random.random(width) + 0.5) / (73 * depth ** 0.5))
    w = g.node("DequantizeLinear", [q, scales], q.data * scales.data, axis=1)
    g.output(g.relu(g.add(g.matmul(x, w), g.weight((width,), 0.1))))
    return g


KINDS = {
    "f32": None,
    "int8_b32": Weights("int8", 32),
    "int4_b32": Weights("int4", 32),
    "uint4_b128z": Weights("uint4", 128, zeros=True),
    "nbits4_b32": Weights("uint4", 32, form="nbits"),
    "nbits4_b128z": Weights("uint4", 128, zeros=True, form="nbits"),
    "nbits8_b32": Weights("uint8", 32, form="nbits"),
}
