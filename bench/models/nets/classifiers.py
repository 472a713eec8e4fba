"""Networks from image to classes: SE-ResNeXt, DenseNet, MobileNet-v2, AlexNet."""
from gen import Builder, blocks


def _classify(g, x, classes):
    x = g.reshape(g.global_average_pool(x), x.shape[0], x.shape[1])
    g.output(blocks.linear(g, x, classes))
    return g


def _stem(g, batch, size, width):
    x = g.input("image", (batch, 3, size, size))
    return g.max_pool(blocks.conv_bn_relu(g, x, width, 7, 2), 3, 2, 1)


def _squeeze(g, x, ratio):
    """Every channel scaled by what all of them have on average."""
    c = x.shape[1]
    s = g.relu(blocks.conv(g, g.global_average_pool(x), c // ratio))
    return g.mul(x, g.sigmoid(blocks.conv(g, s, c)))


def _se_block(g, x, inner, outer, group, stride, ratio):
    y = blocks.conv_bn_relu(g, x, inner)
    y = blocks.conv_bn_relu(g, y, inner, 3, stride, group)
    y = _squeeze(g, blocks.conv_bn(g, y, outer, gain=0.5), ratio)
    if stride != 1 or x.shape[1] != outer:
        x = blocks.conv_bn(g, x, outer, 1, stride, pads=[0] * 4)
    return g.relu(g.add(x, y))


def se_resnext(name, seed, batch, size, width, group, counts, classes, ratio=16):
    g = Builder(name, seed)
    x = _stem(g, batch, size, width)
    for level, count in enumerate(counts):
        inner = 2 * width << level
        for at in range(count):
            stride = 2 if at == 0 and level > 0 else 1
            x = _se_block(g, x, inner, 2 * inner, group, stride, ratio)
    return _classify(g, x, classes)


def densenet(name, seed, batch, size, growth, counts, classes):
    """Every layer reads all layers before it in its block."""
    g = Builder(name, seed)
    x = _stem(g, batch, size, 2 * growth)
    for level, count in enumerate(counts):
        if level:
            x = blocks.conv(g, g.relu(blocks.batch_norm(g, x)), x.shape[1] // 2, bias=False)
            x = g.average_pool(x, 2, 2)
        for _ in range(count):
            y = g.relu(blocks.batch_norm(g, x))
            y = blocks.conv_bn_relu(g, y, 4 * growth)
            x = g.concat([x, blocks.conv(g, y, growth, 3, bias=False, gain=2.0)], 1)
    return _classify(g, g.relu(blocks.batch_norm(g, x)), classes)


def mobilenet_v2(name, seed, batch, size, stages, classes):
    """`stages` has (expansion, channels, count, stride) for each."""
    g = Builder(name, seed)
    x = g.input("image", (batch, 3, size, size))

    def relu6(x):
        return g.clip(x, 0, 6)

    x = relu6(blocks.conv_bn(g, x, stages[0][1] * 2, 3, 2))
    for expansion, channels, count, first in stages:
        for at in range(count):
            stride = first if at == 0 else 1
            wide = x.shape[1] * expansion
            y = relu6(blocks.conv_bn(g, x, wide)) if expansion > 1 else x
            y = relu6(blocks.conv_bn(g, y, wide, 3, stride, group=wide))
            y = blocks.conv_bn(g, y, channels, gain=0.5)
            x = g.add(x, y) if x.shape == y.shape else y
    return _classify(g, relu6(blocks.conv_bn(g, x, 4 * x.shape[1])), classes)


def alexnet(name, seed, batch, size, widths, hidden, classes):
    """Five convolutions from 11 × 11 down, three dense layers."""
    g = Builder(name, seed)
    x = g.input("image", (batch, 3, size, size))
    first, *rest = widths
    x = g.max_pool(g.relu(blocks.conv(g, x, first, 11, 4, pads=[0] * 4)), 3, 2)
    for at, width in enumerate(rest):
        x = g.relu(blocks.conv(g, x, width, 5 if at == 0 else 3, gain=2.0))
        if at in (0, 3):
            x = g.max_pool(x, 3, 2)
    x = g.reshape(x, batch, -1)
    for _ in range(2):
        x = g.relu(blocks.linear(g, x, hidden))
    g.output(blocks.linear(g, x, classes))
    return g
