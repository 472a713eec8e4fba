"""Networks from image to image: U-Net and NAFNet."""
from gen import Builder, blocks


def unet(name, seed, batch, size, width, depth, classes, up):
    """U-Net; `up` is "transpose", "nearest" or "linear"."""
    g = Builder(name, seed)
    x = g.input("image", (batch, 3, size, size))

    def double(x, filters):
        return blocks.conv_bn_relu(g, blocks.conv_bn_relu(g, x, filters, 3), filters, 3)

    skips = []
    for level in range(depth):
        x = double(x, width << level)
        skips.append(x)
        x = g.max_pool(x, 2, 2)
    x = double(x, width << depth)
    for level in reversed(range(depth)):
        filters = width << level
        if up == "transpose":
            w = g.weight((x.shape[1], filters, 2, 2), (2 / x.shape[1]) ** 0.5)
            x = g.conv_transpose(x, w, g.weight((filters,), 0.1), stride=2)
        else:
            x = blocks.conv(g, g.upsample(x, 2, up), filters, 1, gain=2.0)
        x = double(g.concat([skips[level], x], 1), filters)
    g.output(blocks.conv(g, x, classes))
    return g


def _channel_norm(g, x, epsilon=1e-6):
    """Layer normalisation over channels, written out."""
    off = g.sub(x, g.reduce_mean(x, [1]))
    variance = g.reduce_mean(g.mul(off, off), [1])
    y = g.div(off, g.sqrt(g.add(variance, epsilon)))
    shape = (1, x.shape[1], 1, 1)
    return g.add(g.mul(y, g.weight(shape, 0.1, mean=1.0)), g.weight(shape, 0.1))


def _gate(g, x):
    """One half of the channels times the other."""
    return g.mul(*g.split(x, 2, axis=1))


def _naf_block(g, x):
    c = x.shape[1]
    y = blocks.conv(g, _channel_norm(g, x), 2 * c)
    y = _gate(g, blocks.conv(g, y, 2 * c, 3, group=2 * c))
    y = g.mul(y, blocks.conv(g, g.global_average_pool(y), c))
    x = g.add(x, g.mul(blocks.conv(g, y, c), g.weight((1, c, 1, 1), 0.3)))
    y = _gate(g, blocks.conv(g, _channel_norm(g, x), 2 * c))
    return g.add(x, g.mul(blocks.conv(g, y, c), g.weight((1, c, 1, 1), 0.3)))


def nafnet(name, seed, batch, size, width, encoders, middle, decoders):
    g = Builder(name, seed)
    image = g.input("image", (batch, 3, size, size))
    x, skips = blocks.conv(g, image, width, 3), []
    for count in encoders:
        for _ in range(count):
            x = _naf_block(g, x)
        skips.append(x)
        x = blocks.conv(g, x, 2 * x.shape[1], 2, 2, pads=[0] * 4)
    for _ in range(middle):
        x = _naf_block(g, x)
    for count, skip in zip(decoders, reversed(skips)):
        x = g.depth_to_space(blocks.conv(g, x, 2 * x.shape[1], bias=False), 2)
        x = g.add(x, skip)
        for _ in range(count):
            x = _naf_block(g, x)
    g.output(g.add(image, blocks.conv(g, x, 3, 3)))
    return g
