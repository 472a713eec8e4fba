"""Weights of few bits in blocks, and numbers behind a scale: appended and computed."""
import dataclasses

import numpy as np
from onnx import TensorProto

MICROSOFT = "com.microsoft"
INTEGERS = {
    "int8": (TensorProto.INT8, -128, 127), "uint8": (TensorProto.UINT8, 0, 255),
    "int4": (TensorProto.INT4, -8, 7), "uint4": (TensorProto.UINT4, 0, 15),
}


@dataclasses.dataclass(frozen=True)
class Weights:
    """How a linear layer keeps its weights: integers with a scale for each block along the sum.

    `form` is "standard" for DequantizeLinear and MatMul, "nbits" for MatMulNBits.
    """
    element: str
    block: int
    zeros: bool = False
    form: str = "standard"

    def __call__(self, g, x, width):
        """x · W over the last axis."""
        return (self.nbits if self.form == "nbits" else self.standard)(g, x, width)

    def draw(self, g, depth, width):
        """(integers, scales, zero points or None) of a weight [depth, width], and the weight."""
        _, least, most = INTEGERS[self.element]
        q = g.random.integers(least, most + 1, (depth, width))
        blocks = (depth // self.block, width)
        span = (most - least) / 12 ** 0.5
        scales = (g.random.random(blocks) + 0.5) / (span * depth ** 0.5)
        scales = scales.astype(np.float32).astype(np.float64)
        middle = np.full(blocks, 0 if least < 0 else (most + 1) // 2)
        zeros = g.random.integers(least, most + 1, blocks) if self.zeros else middle
        spread = [np.repeat(part, self.block, 0) for part in (scales, zeros)]
        return q, scales, zeros, (q - spread[1]) * spread[0]

    def standard(self, g, x, width):
        q, scales, zeros, weight = self.draw(g, x.shape[-1], width)
        kind = INTEGERS[self.element][0]
        operands = [g.typed(q, kind), g.constant(scales)]
        if self.zeros or INTEGERS[self.element][1] == 0:
            operands.append(g.typed(zeros, kind))
        g.opset, g.ir_version = 21, 10
        w = g.node("DequantizeLinear", operands, weight, axis=0, block_size=self.block)
        return g.matmul(x, w)

    def nbits(self, g, x, width):
        q, scales, zeros, weight = self.draw(g, x.shape[-1], width)
        bits = 8 if self.element == "uint8" else 4
        depth = x.shape[-1]
        parts = 8 // bits
        rows = q.T.reshape(width, depth // self.block, self.block // parts, parts)
        operands = [x, g.typed(packed(rows, bits), TensorProto.UINT8), g.constant(scales.T)]
        if self.zeros:
            points = zeros.T
            points = np.pad(points, ((0, 0), (0, -points.shape[1] % parts)))
            points = points.reshape(width, -1, parts)
            operands.append(g.typed(packed(points, bits), TensorProto.UINT8))
        g.domains.add(MICROSOFT)
        return g.node("MatMulNBits", operands, x.data @ weight, domain=MICROSOFT, K=depth,
                      N=width, bits=bits, block_size=self.block)


def packed(parts, bits):
    """The numbers of the last axis in a byte each, the first in the low bits."""
    shifts = np.arange(parts.shape[-1]) * bits
    return (parts.astype(np.int64) << shifts).sum(-1)


def quantised(g, x, element, scale, zero):
    """QuantizeLinear and DequantizeLinear of a tensor that lies on the grid already."""
    kind = INTEGERS[element][0]
    scale, zero = g.constant(scale), g.typed(zero, kind)
    q = np.rint(x.data / scale.data) + zero.data
    q = g.node("QuantizeLinear", [x, scale, zero], q)
    return g.node("DequantizeLinear", [q, scale, zero], (q.data - zero.data) * scale.data)
