"""What a model costs at least: its operations over the core's peak, its bytes over the bandwidth.

Both rates are measured, in the same rounds as the engines: multiply-adds by chains in
registers, bytes by one pass over buffers as large as the model's inputs, weights and outputs,
so they come from the memory that holds such a working set, in the same mix of reads and
writes. Intermediate tensors are not counted: for more than one operator the floor is low.
"""
import ctypes
import pathlib
import subprocess

import numpy as np
import onnx

HERE = pathlib.Path(__file__).resolve().parent
PASSES_SECONDS = 0.03


class Roofline:
    """The measuring functions of roofline.c, compiled for this machine into `folder`."""

    def __init__(self, folder):
        library = f"{folder}/roofline.so"
        subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", HERE / "roofline.c",
                        "-o", library], check=True)
        self.lib = ctypes.CDLL(library)
        self.lib.peak_gflops.restype = self.lib.mix_seconds.restype = ctypes.c_double

    def peak_gflops(self):
        return self.lib.peak_gflops(ctypes.c_long(1_000_000))

    def mix_ms(self, reads, writes):
        """One pass over `reads` and `writes` bytes: the least of several, both ways to store."""
        source, target = aligned(reads), aligned(writes)
        at = [ctypes.c_void_p(source.ctypes.data), ctypes.c_long(reads),
              ctypes.c_void_p(target.ctypes.data), ctypes.c_long(writes)]
        once = [self.lib.mix_seconds(*at, ctypes.c_int(way)) for way in (0, 1)]
        repeat = max(3, min(1000, int(PASSES_SECONDS / max(min(once), 1e-7))))
        return 1e3 * min(self.lib.mix_seconds(*at, ctypes.c_int(way))
                         for way in (0, 1) for _ in range(repeat))


def aligned(count):
    """`count` bytes of memory that was touched, and begins at a multiple of 64."""
    raw = np.ones(count + 64, np.uint8)
    begin = -raw.ctypes.data % 64
    return raw[begin:begin + count]


def work(path):
    """Multiply-adds counted as two operations, bytes read and bytes written of a model."""
    model = onnx.shape_inference.infer_shapes(onnx.load(path))
    graph = model.graph
    weights = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    shapes = dict(weights)
    for value in [*graph.input, *graph.value_info, *graph.output]:
        shapes[value.name] = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    operations = sum(2 * products(node, shapes) for node in graph.node)
    inputs = [value.name for value in graph.input if value.name not in weights]
    whole = {name: 4 * int(np.prod(shapes[name])) for name in [*inputs, *weights]}
    # Of a table only what is asked for is read.
    for node in graph.node:
        if node.op_type == "Gather" and node.output[0] in shapes:
            rows = 4 * int(np.prod(shapes[node.output[0]]))
            whole[node.input[0]] = min(whole.get(node.input[0], rows), rows)
    reads = sum(whole.values())
    writes = sum(4 * int(np.prod(shapes[value.name])) for value in graph.output)
    return operations, reads, writes


def products(node, shapes):
    """Multiply-adds of a node; only products of matrices and convolutions have them."""
    if not node.output or node.output[0] not in shapes:
        return 0
    out = int(np.prod(shapes[node.output[0]]))
    if node.op_type in ("MatMul", "Gemm"):
        first = shapes[node.input[0]]
        flipped = any(a.name == "transA" and a.i for a in node.attribute)
        return out * (first[-2] if flipped else first[-1])
    if node.op_type == "Conv":
        return out * int(np.prod(shapes[node.input[1]][1:]))
    return 0
