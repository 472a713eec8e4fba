"""What networks are made of: layers with their own weights."""


def linear(g, x, width, bias=True):
    """x · W + b over the last axis."""
    if g.narrow is not None:
        y = g.narrow(g, x, width)
    else:
        y = g.matmul(x, g.weight((x.shape[-1], width), x.shape[-1] ** -0.5))
    return g.add(y, g.weight((width,), 0.1)) if bias else y


def norm(g, x):
    """Layer normalisation over the last axis."""
    width = x.shape[-1]
    return g.layer_norm(x, g.weight((width,), 0.1, mean=1.0), g.weight((width,), 0.1))


def conv(g, x, filters, kernel=1, stride=1, group=1, pads=None, bias=True, gain=1.0):
    """A convolution; `kernel` an extent or two, the border of half a window unless given."""
    sizes = (kernel, kernel) if isinstance(kernel, int) else tuple(kernel)
    pads = [k // 2 for k in sizes] * 2 if pads is None else pads
    depth = x.shape[1] // group
    w = g.weight((filters, depth, *sizes), (gain / (depth * sizes[0] * sizes[1])) ** 0.5)
    return g.conv(x, w, g.weight((filters,), 0.1) if bias else None, stride, pads, group=group)


def batch_norm(g, x):
    """With statistics near those of a normalised input."""
    shape = (x.shape[1],)
    scale, bias = g.weight(shape, 0.1, mean=1.0), g.weight(shape, 0.1)
    return g.batch_norm(x, scale, bias, g.weight(shape, 0.1), g.weight(shape, 0.1, mean=1.0))


def conv_bn(g, x, filters, kernel=1, stride=1, group=1, pads=None, gain=2.0):
    """A gain of 2 makes up for the half that a rectifier before it took away.

    What ends a residual branch wants less, or deep networks grow with every block.
    """
    return batch_norm(g, conv(g, x, filters, kernel, stride, group, pads, bias=False, gain=gain))


def conv_bn_relu(g, x, filters, kernel=1, stride=1, group=1, pads=None):
    return g.relu(conv_bn(g, x, filters, kernel, stride, group, pads))


def heads(g, x, count):
    """[batch, tokens, width] as [batch, heads, tokens, width / heads]."""
    n, t, width = x.shape
    return g.transpose(g.reshape(x, n, t, count, width // count), 0, 2, 1, 3)


def attend(g, q, k, v, mask=None):
    """softmax(q · kᵀ / √width + mask) · v over [batch, heads, tokens, width]."""
    scores = g.matmul(q, g.transpose(k, 0, 1, 3, 2))
    scores = g.mul(scores, q.shape[-1] ** -0.5)
    if mask is not None:
        scores = g.add(scores, mask)
    return g.matmul(g.softmax(scores), v)


def join(g, x):
    """The heads side by side again."""
    n, count, t, width = x.shape
    return g.reshape(g.transpose(x, 0, 2, 1, 3), n, t, count * width)


def self_attention(g, x, count, mask=None):
    q, k, v = (heads(g, part, count) for part in g.split(linear(g, x, 3 * x.shape[-1]), 3))
    return linear(g, join(g, attend(g, q, k, v, mask)), x.shape[-1])


def encoder_layer(g, x, count, ratio=4, mask=None):
    """A transformer's layer, normalised before each half."""
    width = x.shape[-1]
    x = g.add(x, self_attention(g, norm(g, x), count, mask))
    return g.add(x, linear(g, g.gelu(linear(g, norm(g, x), ratio * width)), width))
