"""Recurrent networks: cells written out, step by step, and ONNX's own operators."""
import numpy as np

from gen import Builder, blocks


def _weights(g, gates, inputs, hidden):
    scale = (inputs + hidden) ** -0.5
    w = g.weight((1, gates * hidden, inputs), scale)
    r = g.weight((1, gates * hidden, hidden), scale)
    return w, r, g.weight((1, 2 * gates * hidden), 0.1)


def operator(name, seed, kind, hidden, batch, steps):
    """One LSTM, GRU or RNN node, as DeepBench measures them."""
    g = Builder(name, seed)
    x = g.input("x", (steps, batch, hidden))
    h = g.input("h", (1, batch, hidden), 0.5)
    if kind == "lstm":
        c = g.input("c", (1, batch, hidden), 0.5)
        results = g.lstm(x, *_weights(g, 4, hidden, hidden), h, c)
    elif kind == "gru":
        results = g.gru(x, *_weights(g, 3, hidden, hidden), h)
    else:
        results = g.rnn(x, *_weights(g, 1, hidden, hidden), h)
    for value, what in zip(results, ("y", "last", "carry")):
        g.output(value, what)
    return g


def _lstm_cell(g, gates, c):
    i, o, f, n = g.split(gates, 4)
    c = g.add(g.mul(g.sigmoid(f), c), g.mul(g.sigmoid(i), g.tanh(n)))
    return g.mul(g.sigmoid(o), g.tanh(c)), c


def lstm_unrolled(name, seed, layers, steps, batch, hidden):
    """Cells over layers and steps; a diagonal of them is independent."""
    g = Builder(name, seed)
    x = g.input("x", (steps, batch, hidden))
    rows = [g.reshape(g.slice(x, 0, t, t + 1), batch, hidden) for t in range(steps)]
    for _ in range(layers):
        w = g.weight((hidden, 4 * hidden), (2 * hidden) ** -0.5)
        r = g.weight((hidden, 4 * hidden), (2 * hidden) ** -0.5)
        bias = g.weight((4 * hidden,), 0.1)
        h = c = g.constant(np.zeros((batch, hidden)))
        for t, row in enumerate(rows):
            gates = g.add(g.add(g.matmul(row, w), g.matmul(h, r)), bias)
            h, c = _lstm_cell(g, gates, c)
            rows[t] = h
    g.output(rows[-1])
    return g


def gru_unrolled(name, seed, layers, steps, batch, hidden):
    g = Builder(name, seed)
    x = g.input("x", (steps, batch, hidden))
    rows = [g.reshape(g.slice(x, 0, t, t + 1), batch, hidden) for t in range(steps)]
    for _ in range(layers):
        w = g.weight((hidden, 3 * hidden), (2 * hidden) ** -0.5)
        r = g.weight((hidden, 3 * hidden), (2 * hidden) ** -0.5)
        bias = g.weight((3 * hidden,), 0.1)
        h = g.constant(np.zeros((batch, hidden)))
        for t, row in enumerate(rows):
            zx, rx, nx = g.split(g.add(g.matmul(row, w), bias), 3)
            zh, rh, nh = g.split(g.matmul(h, r), 3)
            z, s = g.sigmoid(g.add(zx, zh)), g.sigmoid(g.add(rx, rh))
            n = g.tanh(g.add(nx, g.mul(s, nh)))
            h = g.add(g.mul(g.sub(1.0, z), n), g.mul(z, h))
            rows[t] = h
    g.output(rows[-1])
    return g


def speech(name, seed, batch, frames, bins, filters, layers, hidden, letters):
    """DeepSpeech2's shape: two convolutions over time, then LSTMs, then letters."""
    g = Builder(name, seed)
    x = g.input("x", (batch, 1, frames, bins))
    x = g.relu(blocks.conv(g, x, filters, (41, 11), (2, 2)))
    x = g.relu(blocks.conv(g, x, filters, (21, 11), (2, 1), gain=2.0))
    _, c, t, w = x.shape
    x = g.reshape(g.transpose(x, 2, 0, 1, 3), t, batch, c * w)
    for _ in range(layers):
        zero = g.constant(np.zeros((1, batch, hidden)))
        x, _, _ = g.lstm(x, *_weights(g, 4, x.shape[2], hidden), zero, zero)
        x = g.reshape(x, t, batch, hidden)
    g.output(blocks.linear(g, x, letters))
    return g
