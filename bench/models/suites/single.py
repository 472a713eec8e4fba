"""One operator as a model; extents as published, or shrunk to what two cores do in a moment."""
from gen import Builder, keep_residue, same_pads

# What stays of a long axis at scale ci, and of the axis that is summed over.
ROWS, DEPTH = 512, 4096


def _rows(size, scale):
    return keep_residue(size, ROWS) if scale == "ci" else size


def _depth(size, scale):
    return keep_residue(size, DEPTH) if scale == "ci" else size


def _batch(batch, scale):
    return 1 if scale == "ci" else batch


def _pads(size, kernel, stride, same):
    before, after = same_pads(size, kernel, stride) if same else (0, 0)
    return [before, before, after, after]


def matmul(scale, m, n, k):
    """The right factor is a weight."""
    m, n, k = _rows(m, scale), keep_residue(n, 4096) if scale == "ci" else n, _depth(k, scale)

    def make(name, seed):
        g = Builder(name, seed)
        w = g.weight((k, n), k ** -0.5)
        g.output(g.matmul(g.input("x", (m, k)), w))
        return g
    return make


def conv(scale, batch, channels, size, filters, kernel, stride, same=True, group=1):
    def make(name, seed):
        g = Builder(name, seed)
        x = g.input("x", (_batch(batch, scale), channels, size, size))
        w = g.weight((filters, channels // group, kernel, kernel))
        g.output(g.conv(x, w, None, stride, _pads(size, kernel, stride, same), group=group))
        return g
    return make


def relu(scale, batch, channels, size):
    def make(name, seed):
        g = Builder(name, seed)
        g.output(g.relu(g.input("x", (_batch(batch, scale), channels, size, size))))
        return g
    return make


def average_pool(scale, batch, channels, size, kernel, stride, same):
    def make(name, seed):
        g = Builder(name, seed)
        x = g.input("x", (_batch(batch, scale), channels, size, size))
        g.output(g.average_pool(x, kernel, stride, _pads(size, kernel, stride, same)))
        return g
    return make


def reduce_sum(scale, shape):
    """Sums the last axis."""
    *lead, columns = shape
    if scale == "ci":
        lead = [1] * (len(lead) - 1) + [_rows(lead[-1], scale)]

    def make(name, seed):
        g = Builder(name, seed)
        g.output(g.reduce_sum(g.input("x", (*lead, columns)), [len(lead)], keep=False))
        return g
    return make
