"""Cells with many branches: Inception and NASNet."""
from gen import Builder, blocks, same_pads


def inception(name, seed, batch, size, channels, one, three, five, pooled):
    """1 × 1, 3 × 3, 5 × 5 and a pool side by side; `three` and `five` are (reduced, filters)."""
    g = Builder(name, seed)
    x = g.input("x", (batch, channels, size, size))
    branches = [blocks.conv_bn_relu(g, x, one)]
    for kernel, (reduced, filters) in ((3, three), (5, five)):
        y = blocks.conv_bn_relu(g, x, reduced)
        branches.append(blocks.conv_bn_relu(g, y, filters, kernel))
    branches.append(blocks.conv_bn_relu(g, g.max_pool(x, 3, 1, 1), pooled))
    g.output(g.concat(branches, 1))
    return g


def inception_factored(name, seed, batch, size, channels, inner, filters):
    """7 × 7 windows as 1 × 7 and 7 × 1 ones."""
    g = Builder(name, seed)
    x = g.input("x", (batch, channels, size, size))
    row, column = (1, 7), (7, 1)
    branches = [blocks.conv_bn_relu(g, x, filters)]
    for kernels in ((row, column), (column, row, column, row)):
        y = blocks.conv_bn_relu(g, x, inner)
        for at, kernel in enumerate(kernels):
            last = at == len(kernels) - 1
            y = blocks.conv_bn_relu(g, y, filters if last else inner, kernel)
        branches.append(y)
    branches.append(blocks.conv_bn_relu(g, g.average_pool(x, 3, 1, 1), filters))
    g.output(g.concat(branches, 1))
    return g


def _separable(g, x, filters, kernel, stride):
    """Twice a rectifier, a window on each channel, and channels mixed."""
    for step in (stride, 1):
        before, after = same_pads(x.shape[2], kernel, step)
        pads = [before, before, after, after]
        x = blocks.conv(g, g.relu(x), x.shape[1], kernel, step, x.shape[1], pads, False, 2.0)
        x = blocks.conv_bn(g, x, filters)
    return x


def _pool(g, kind, x, stride):
    before, after = same_pads(x.shape[2], 3, stride)
    return kind(x, 3, stride, [before, before, after, after])


def nasnet_normal(name, seed, batch, size, channels, filters):
    """NASNet-A's normal cell of two inputs: five sums of two branches, joined."""
    g = Builder(name, seed)
    last, before = (g.input(n, (batch, channels, size, size)) for n in ("x", "before"))
    h, p = (blocks.conv_bn(g, g.relu(x), filters) for x in (last, before))
    sums = [
        g.add(_separable(g, h, filters, 3, 1), h),
        g.add(_separable(g, p, filters, 3, 1), _separable(g, h, filters, 5, 1)),
        g.add(_pool(g, g.average_pool, h, 1), p),
        g.add(_pool(g, g.average_pool, p, 1), _pool(g, g.average_pool, p, 1)),
        g.add(_separable(g, p, filters, 5, 1), _separable(g, p, filters, 3, 1)),
    ]
    g.output(g.concat([p, *sums], 1))
    return g


def nasnet_reduction(name, seed, batch, size, channels, filters):
    """NASNet-A's reduction cell: half the rows and columns, up to 7 × 7 windows."""
    g = Builder(name, seed)
    last, before = (g.input(n, (batch, channels, size, size)) for n in ("x", "before"))
    h, p = (blocks.conv_bn(g, g.relu(x), filters) for x in (last, before))
    first = g.add(_separable(g, h, filters, 5, 2), _separable(g, p, filters, 7, 2))
    second = g.add(_pool(g, g.max_pool, h, 2), _separable(g, p, filters, 7, 2))
    third = g.add(_pool(g, g.average_pool, h, 2), _separable(g, p, filters, 5, 2))
    fourth = g.add(_pool(g, g.max_pool, h, 2), _separable(g, first, filters, 3, 1))
    fifth = g.add(_pool(g, g.average_pool, first, 1), second)
    g.output(g.concat([second, third, fourth, fifth], 1))
    return g
