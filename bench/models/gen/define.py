"""What operators compute, in float64 and by their definition; nothing here is fast."""
import itertools
import math

import numpy as np

_erf = np.frompyfunc(math.erf, 1, 1)


def erf(x):
    return _erf(x).astype(np.float64)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def pad(x, pads, value=0.0):
    """`pads` has the border before every axis of the window, then the one after."""
    rank = len(pads) // 2
    widths = [(0, 0)] * (x.ndim - rank) + list(zip(pads[:rank], pads[rank:]))
    return np.pad(x, widths, constant_values=value)


def windows(x, kernel, strides, dilations=None):
    """Windows over the last axes: [..., outputs, kernel]."""
    rank = len(kernel)
    dilations = dilations or [1] * rank
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    axes = tuple(range(x.ndim - rank, x.ndim))
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axis=axes)
    lead = (slice(None),) * (x.ndim - rank)
    outer = tuple(slice(None, None, s) for s in strides)
    inner = tuple(slice(None, None, d) for d in dilations)
    return view[lead + outer + inner]


def conv(x, w, bias, strides, pads, dilations, group):
    """[N, C, spatial] with [F, C / group, kernel]; images one by one, to spare memory."""
    filters, depth, kernel = w.shape[0], w.shape[1], w.shape[2:]
    weights = w.reshape(group, filters // group, -1)
    images = []
    for image in x:
        view = windows(pad(image, pads), kernel, strides, dilations)
        rank = len(kernel)
        out = view.shape[1:1 + rank]
        order = (0, *range(1 + rank, 1 + 2 * rank), *range(1, 1 + rank))
        columns = view.transpose(order).reshape(group, depth * math.prod(kernel), -1)
        images.append((weights @ columns).reshape(filters, *out))
    y = np.stack(images)
    return y if bias is None else y + bias.reshape(-1, *[1] * len(kernel))


def conv_transpose(x, w, bias, strides, pads, output_padding):
    """[N, C, spatial] with [C, F, kernel]: every element is spread over a window."""
    kernel, rank = w.shape[2:], w.ndim - 2
    full = [s * (n - 1) + k + more
            for s, n, k, more in zip(strides, x.shape[2:], kernel, output_padding)]
    y = np.zeros((x.shape[0], w.shape[1], *full))
    for at in itertools.product(*map(range, kernel)):
        place = tuple(slice(k, k + s * (n - 1) + 1, s)
                      for k, s, n in zip(at, strides, x.shape[2:]))
        y[(slice(None), slice(None), *place)] += np.einsum("nc...,cf->nf...", x, w[(..., *at)])
    cut = tuple(slice(p, n - q) for p, q, n in zip(pads[:rank], pads[rank:], full))
    y = y[(slice(None), slice(None), *cut)]
    return y if bias is None else y + bias.reshape(-1, *[1] * rank)


def max_pool(x, kernel, strides, pads):
    view = windows(pad(x, pads, -np.inf), kernel, strides)
    return view.max(axis=tuple(range(-len(kernel), 0)))


def average_pool(x, kernel, strides, pads):
    """The border does not count."""
    axes = tuple(range(-len(kernel), 0))
    total = windows(pad(x, pads), kernel, strides).sum(axis=axes)
    return total / windows(pad(np.ones_like(x), pads), kernel, strides).sum(axis=axes)


def normalize(x, axes, epsilon):
    mean = x.mean(axis=axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


def upsample(x, factors, mode):
    """Whole factors, half-pixel coordinates; `mode` nearest or linear."""
    for axis, factor in enumerate(factors):
        if factor == 1:
            continue
        size = x.shape[axis]
        at = (np.arange(size * factor) + 0.5) / factor - 0.5
        if mode == "nearest":
            x = np.take(x, np.arange(size * factor) // factor, axis=axis)
            continue
        low = np.floor(at).astype(int)
        share = (at - low).reshape(-1, *[1] * (x.ndim - axis - 1))
        first = np.take(x, low.clip(0, size - 1), axis=axis)
        second = np.take(x, (low + 1).clip(0, size - 1), axis=axis)
        x = first * (1 - share) + second * share
    return x


def depth_to_space(x, block, mode):
    n, c, h, w = x.shape
    if mode == "DCR":
        y = x.reshape(n, block, block, -1, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, -1, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return y.reshape(n, -1, h * block, w * block)


def space_to_depth(x, block):
    n, c, h, w = x.shape
    y = x.reshape(n, c, h // block, block, w // block, block)
    return y.transpose(0, 3, 5, 1, 2, 4).reshape(n, -1, h // block, w // block)


def lstm(x, w, r, b, h, c):
    """[steps, batch, inputs]; gates in the order input, output, forget, cell."""
    hidden = r.shape[1]
    bias, shown = b[:4 * hidden] + b[4 * hidden:], []
    for row in x:
        i, o, f, g = np.split(row @ w.T + h @ r.T + bias, 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        shown.append(h)
    return np.stack(shown), h, c


def gru(x, w, r, b, h, linear):
    """Gates in the order update, reset, hidden; `linear`: the reset follows the product."""
    n, shown = r.shape[1], []
    wb, rb = b[:3 * n], b[3 * n:]
    for row in x:
        p = row @ w.T + wb
        zr = sigmoid(p[:, :2 * n] + h @ r[:2 * n].T + rb[:2 * n])
        z, s = zr[:, :n], zr[:, n:]
        if linear:
            new = np.tanh(p[:, 2 * n:] + s * (h @ r[2 * n:].T + rb[2 * n:]))
        else:
            new = np.tanh(p[:, 2 * n:] + (s * h) @ r[2 * n:].T + rb[2 * n:])
        h = (1 - z) * new + z * h
        shown.append(h)
    return np.stack(shown), h


def rnn(x, w, r, b, h):
    n, shown = r.shape[1], []
    for row in x:
        h = np.tanh(row @ w.T + h @ r.T + b[:n] + b[n:])
        shown.append(h)
    return np.stack(shown), h
