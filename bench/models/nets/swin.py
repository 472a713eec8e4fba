"""A Swin stage: attention in windows, shifted every other layer, then patches merged."""
import numpy as np

from gen import Builder, blocks


def _roll(g, x, shift):
    """Rows and columns, turned around by `shift`."""
    for axis in (1, 2):
        size = x.shape[axis]
        at = shift % size
        x = g.concat([g.slice(x, axis, at, size), g.slice(x, axis, 0, at)], axis)
    return x


def _windows(g, x, window):
    n, h, w, c = x.shape
    x = g.reshape(x, n, h // window, window, w // window, window, c)
    return g.reshape(g.transpose(x, 0, 1, 3, 2, 4, 5), -1, window * window, c)


def _image(g, x, window, n, h, w):
    x = g.reshape(x, n, h // window, w // window, window, window, x.shape[-1])
    return g.reshape(g.transpose(x, 0, 1, 3, 2, 4, 5), n, h, w, x.shape[-1])


def _mask(size, window, shift):
    """Hides what only met because rows were turned around: [windows, 1, tokens, tokens]."""
    part = np.zeros((size, size))
    edges = [slice(0, -window), slice(-window, -shift), slice(-shift, None)]
    for i, rows in enumerate(edges):
        for j, columns in enumerate(edges):
            part[rows, columns] = 3 * i + j
    count = size // window
    part = part.reshape(count, window, count, window).transpose(0, 2, 1, 3)
    part = part.reshape(count * count, 1, window * window)
    return np.where(part.transpose(0, 2, 1) == part, 0.0, -100.0)[:, None]


def _bias(g, window, heads):
    """A number for each head and each distance, looked up for every pair of a window."""
    side = 2 * window - 1
    place = np.stack(np.meshgrid(range(window), range(window), indexing="ij")).reshape(2, -1)
    away = place[:, :, None] - place[:, None, :] + window - 1
    table = g.weight((side * side, heads), 0.5)
    picked = g.gather(table, g.constant((away[0] * side + away[1]).astype(np.int64)))
    return g.transpose(picked, 2, 0, 1)


def swin_stage(name, seed, batch, size, width, heads, window, layers):
    g = Builder(name, seed)
    x = g.input("x", (batch, size, size, width))
    for layer in range(layers):
        shift = window // 2 if layer % 2 and size > window else 0
        y = blocks.norm(g, x)
        y = _roll(g, y, shift) if shift else y
        y = _windows(g, y, window)
        mask = _bias(g, window, heads)
        if shift:
            hidden = np.tile(_mask(size, window, shift), (batch, 1, 1, 1))
            mask = g.add(mask, g.constant(hidden))
        y = blocks.self_attention(g, y, heads, mask)
        y = _image(g, y, window, batch, size, size)
        x = g.add(x, _roll(g, y, -shift) if shift else y)
        inner = g.gelu(blocks.linear(g, blocks.norm(g, x), 4 * width))
        x = g.add(x, blocks.linear(g, inner, width))
    # Four neighbours side by side, then half of their channels.
    x = g.reshape(x, batch, size // 2, 2, size // 2, 2, width)
    x = g.reshape(g.transpose(x, 0, 1, 3, 4, 2, 5), batch, size // 2, size // 2, 4 * width)
    g.output(blocks.linear(g, blocks.norm(g, x), 2 * width, bias=False))
    return g
