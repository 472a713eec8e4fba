"""Attention, an encoder's layer, a vision transformer, and a decoder with its cache."""
import numpy as np

from gen import Builder, blocks


def attention(name, seed, batch, heads, tokens, keys, width):
    """softmax(q · kᵀ / √width + mask) · v, every operand an input."""
    g = Builder(name, seed)
    q, k, v = (g.input(n, (batch, heads, t, width))
               for n, t in (("q", tokens), ("k", keys), ("v", keys)))
    hidden = g.random.random((batch, 1, 1, keys)) < 0.2
    mask = g.constant(np.where(hidden, -1e4, 0.0))
    g.output(blocks.attend(g, q, k, v, mask))
    return g


def encoder(name, seed, batch, tokens, width, heads, layers, masked=False):
    """BERT's body: layers over embedded tokens."""
    g = Builder(name, seed)
    x = g.input("x", (batch, tokens, width))
    mask = None
    if masked:
        mask = g.constant(np.triu(np.full((tokens, tokens), -1e4), 1))
    for _ in range(layers):
        x = blocks.encoder_layer(g, x, heads, mask=mask)
    g.output(blocks.norm(g, x))
    return g


def vit(name, seed, batch, image, patch, width, heads, layers, classes):
    """A vision transformer; its patches are a convolution without overlap."""
    g = Builder(name, seed)
    x = g.input("image", (batch, 3, image, image))
    x = blocks.conv(g, x, width, patch, patch, pads=[0] * 4)
    patches = (image // patch) ** 2
    x = g.transpose(g.reshape(x, batch, width, patches), 0, 2, 1)
    token = g.weight((1, 1, width), 1.0)
    if batch > 1:
        token = g.mul(token, g.constant(np.ones((batch, 1, 1))))
    x = g.concat([token, x], 1)
    x = g.add(x, g.weight((1, patches + 1, width), 0.1))
    for _ in range(layers):
        x = blocks.encoder_layer(g, x, heads)
    x = g.reshape(g.slice(blocks.norm(g, x), 1, 0, 1), batch, width)
    g.output(blocks.linear(g, x, classes))
    return g


def gpt2_decode(name, seed, batch, past, width, heads, layers, words, narrow=None):
    """One token against a cache of `past`; gives the logits and the longer cache."""
    g = Builder(name, seed, narrow)
    tokens = g.tokens("tokens", (batch, 1), words)
    table = g.weight((words, width), 1.0)
    x = g.add(g.gather(table, tokens), g.weight((1, 1, width), 0.1))
    caches = []
    for layer in range(layers):
        normed = blocks.norm(g, x)
        parts = g.split(blocks.linear(g, normed, 3 * width), 3)
        q, *new = (blocks.heads(g, part, heads) for part in parts)
        shape = (batch, heads, past, width // heads)
        old = [g.input(f"past_{what}_{layer}", shape) for what in "kv"]
        k, v = (g.concat(pair, 2) for pair in zip(old, new))
        caches += [(f"{what}_{layer}", value) for what, value in (("k", k), ("v", v))]
        x = g.add(x, blocks.linear(g, blocks.join(g, blocks.attend(g, q, k, v)), width))
        inner = g.gelu(blocks.linear(g, blocks.norm(g, x), 4 * width))
        x = g.add(x, blocks.linear(g, inner, width))
    # The logits read the table of the embedding again, turned.
    logits = g.matmul(blocks.norm(g, x), g.transpose(table, 1, 0))
    g.output(g.mul(logits, width ** -0.5), "logits")
    for what, value in caches:
        g.output(value, f"present_{what}")
    return g
