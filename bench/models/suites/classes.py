"""Kinds of work in which other engines are strong; several shapes of each, of one size at both scales.

`rows` are products of a few dozen rows by thousands of columns, with a weight and with two inputs;
`softmax` has rows of thousands; `upsample` doubles images; `narrow` are U-Nets of few channels at
high resolution; `square` are 3x3 convolutions of 64 channels and their neighbours.
"""
import functools

from gen import Builder
from nets import images

# (rows, depth, columns)
ROWS = [(16, 4096, 4096), (24, 1024, 4096), (32, 2048, 2048), (35, 2560, 3072), (48, 768, 3072),
        (64, 4096, 1024)]
# (shape of the tensor, its last axis is normalised)
SOFTMAX = [(16, 10000), (64, 2048), (12, 384, 1536), (256, 1000), (32, 4096), (7, 30011)]
# (channels, extent)
UPSAMPLE = [(16, 128), (64, 56), (128, 28), (256, 14), (3, 224)]
# (width, extent, depth)
NARROW = [(8, 192, 3), (12, 128, 2), (16, 160, 2)]
# (channels, extent, filters, stride)
SQUARE = [(64, 56, 64, 1), (64, 48, 64, 1), (64, 112, 64, 2), (64, 28, 128, 1), (48, 56, 64, 1),
          (128, 28, 128, 1)]


def _product(m, k, n, weight):
    def make(name, seed):
        g = Builder(name, seed)
        x = g.input("x", (m, k))
        w = g.weight((k, n), k ** -0.5) if weight else g.input("w", (k, n), k ** -0.5)
        g.output(g.matmul(x, w))
        return g
    return make


def _softmax(*shape):
    def make(name, seed):
        g = Builder(name, seed)
        g.output(g.softmax(g.input("x", shape)))
        return g
    return make


def _upsample(channels, size, mode):
    def make(name, seed):
        g = Builder(name, seed)
        g.output(g.upsample(g.input("x", (1, channels, size, size)), 2, mode))
        return g
    return make


def _conv(channels, size, filters, stride):
    def make(name, seed):
        g = Builder(name, seed)
        x = g.input("x", (1, channels, size, size))
        w = g.weight((filters, channels, 3, 3), (2 / (9 * channels)) ** 0.5)
        g.output(g.relu(g.conv(x, w, g.weight((filters,), 0.1), stride, 1)))
        return g
    return make


def cases(scale):
    found = {}
    for m, k, n in ROWS:
        found[f"rows_{m}x{k}x{n}"] = _product(m, k, n, True)
        found[f"rows_{m}x{k}x{n}_inputs"] = _product(m, k, n, False)
    for shape in SOFTMAX:
        found["softmax_" + "x".join(map(str, shape))] = _softmax(*shape)
    for channels, size in UPSAMPLE:
        for mode in ("nearest", "linear"):
            found[f"upsample_{mode}_{channels}x{size}"] = _upsample(channels, size, mode)
    for width, size, depth in NARROW:
        for up in ("transpose", "nearest", "linear"):
            found[f"narrow_{width}x{size}_{up}"] = functools.partial(
                images.unet, batch=1, size=size, width=width, depth=depth, classes=2, up=up)
    for channels, size, filters, stride in SQUARE:
        found[f"square_{channels}x{size}_{filters}s{stride}"] = _conv(channels, size, filters, stride)
    return list(found.items())
