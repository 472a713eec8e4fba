"""Small graphs that show one way of joining operators each."""
import numpy as np

from gen import Builder, blocks


def perceptron(name, seed, rows, widths):
    """Dense layers over many rows, as in NeRF."""
    g = Builder(name, seed)
    x = g.input("x", (rows, widths[0]))
    for width in widths[1:-1]:
        w = g.weight((x.shape[1], width), (2 / x.shape[1]) ** 0.5)
        x = g.relu(g.gemm(x, w, g.weight((width,), 0.1)))
    g.output(blocks.linear(g, x, widths[-1]))
    return g


def conformer_block(name, seed, batch, frames, width, heads, inner, kernel):
    """Half a feed-forward, attention, a gated depthwise convolution, the other half."""
    g = Builder(name, seed)
    x = g.input("x", (batch, frames, width))

    def half(x):
        y = blocks.linear(g, blocks.norm(g, x), inner)
        y = blocks.linear(g, g.mul(y, g.sigmoid(y)), width)
        return g.add(x, g.mul(y, 0.5))

    x = half(x)
    x = g.add(x, blocks.self_attention(g, blocks.norm(g, x), heads))
    y, gate = g.split(blocks.linear(g, blocks.norm(g, x), 2 * width), 2)
    y = g.transpose(g.mul(y, g.sigmoid(gate)), 0, 2, 1)
    y = g.conv(y, g.weight((width, 1, kernel)), None, 1, kernel // 2, group=width)
    y = g.transpose(blocks.batch_norm(g, y), 0, 2, 1)
    y = blocks.linear(g, g.mul(y, g.sigmoid(y)), width)
    g.output(blocks.norm(g, half(g.add(x, y))))
    return g


def dlrm(name, seed, batch, dense, tables, rows, bottom, top):
    """Recommendation: dense features and embeddings, every two multiplied, and a perceptron."""
    g = Builder(name, seed)
    x = g.input("dense", (batch, dense))
    for width in bottom:
        x = g.relu(blocks.linear(g, x, width))
    width = bottom[-1]
    found = [x]
    for table in range(tables):
        found.append(g.gather(g.weight((rows, width), 1.0), g.tokens(f"ids_{table}", (batch,), rows)))
    stacked = g.concat([g.reshape(one, batch, 1, width) for one in found], 1)
    count = tables + 1
    products = g.matmul(stacked, g.transpose(stacked, 0, 2, 1))
    pairs = np.array([i * count + j for i in range(count) for j in range(i)], np.int64)
    products = g.gather(g.reshape(products, batch, count * count), g.constant(pairs), axis=1)
    x = g.concat([x, products], 1)
    for width in top[:-1]:
        x = g.relu(blocks.linear(g, x, width))
    g.output(g.sigmoid(blocks.linear(g, x, top[-1])))
    return g


def diamond(name, seed, rows, width):
    """A value with two readers that meet again."""
    g = Builder(name, seed)
    x = blocks.linear(g, g.input("x", (rows, width)), width)
    left, right = g.gelu(blocks.linear(g, x, width)), g.tanh(x)
    g.output(g.add(g.mul(left, right), x))
    return g


def contraction(name, seed, equation, shapes):
    """One Einsum."""
    g = Builder(name, seed)
    operands = [g.input(f"x{at}", shape) for at, shape in enumerate(shapes)]
    terms, kept = equation.split("->")
    scale = 1.0
    for letter, extent in dict(zip(terms.replace(",", ""), sum(shapes, ()))).items():
        if letter not in kept:
            scale *= extent ** -0.5
    g.output(g.mul(g.einsum(equation, *operands), scale))
    return g
