"""The operators: each method appends one node and computes it; composites are in `blocks`."""
import numpy as np

from . import define


def _pair(n):
    return [n, n] if isinstance(n, int) else list(n)


class Operators:
    """Mixed into the builder, which has `node`, `constant` and `weight`."""

    def _given(self, x):
        return self.constant(x) if isinstance(x, (int, float, np.ndarray)) else x

    def _two(self, kind, function, x, y):
        x, y = self._given(x), self._given(y)
        return self.node(kind, [x, y], function(x.data, y.data))

    def add(self, x, y):
        return self._two("Add", np.add, x, y)

    def sub(self, x, y):
        return self._two("Sub", np.subtract, x, y)

    def mul(self, x, y):
        return self._two("Mul", np.multiply, x, y)

    def div(self, x, y):
        return self._two("Div", np.divide, x, y)

    def matmul(self, x, y):
        return self._two("MatMul", np.matmul, x, y)

    def gemm(self, a, b, c=None, transpose_a=False, transpose_b=False):
        y = (a.data.T if transpose_a else a.data) @ (b.data.T if transpose_b else b.data)
        operands = [a, b] if c is None else [a, b, c]
        return self.node("Gemm", operands, y if c is None else y + c.data,
                         transA=int(transpose_a), transB=int(transpose_b))

    def einsum(self, equation, *operands):
        y = np.einsum(equation, *[x.data for x in operands], optimize=True)
        return self.node("Einsum", operands, y, equation=equation)

    def relu(self, x):
        return self.node("Relu", [x], np.maximum(x.data, 0))

    def clip(self, x, low, high):
        bounds = [self.constant(float(low)), self.constant(float(high))]
        return self.node("Clip", [x, *bounds], np.clip(x.data, low, high))

    def sigmoid(self, x):
        return self.node("Sigmoid", [x], define.sigmoid(x.data))

    def tanh(self, x):
        return self.node("Tanh", [x], np.tanh(x.data))

    def sqrt(self, x):
        return self.node("Sqrt", [x], np.sqrt(x.data))

    def gelu(self, x):
        return self.node("Gelu", [x], x.data * (1 + define.erf(x.data / 2 ** 0.5)) / 2)

    def softmax(self, x, axis=-1):
        return self.node("Softmax", [x], define.softmax(x.data, axis), axis=axis)

    def layer_norm(self, x, scale, bias, epsilon=1e-5):
        y = define.normalize(x.data, -1, epsilon) * scale.data + bias.data
        return self.node("LayerNormalization", [x, scale, bias], y, epsilon=epsilon)

    def instance_norm(self, x, scale, bias, epsilon=1e-5):
        axes = tuple(range(2, x.data.ndim))
        shape = (-1, *[1] * len(axes))
        y = define.normalize(x.data, axes, epsilon)
        y = y * scale.data.reshape(shape) + bias.data.reshape(shape)
        return self.node("InstanceNormalization", [x, scale, bias], y, epsilon=epsilon)

    def batch_norm(self, x, scale, bias, mean, variance, epsilon=1e-5):
        s, b, m, v = (p.data.reshape(-1, *[1] * (x.data.ndim - 2))
                      for p in (scale, bias, mean, variance))
        y = (x.data - m) / np.sqrt(v + epsilon) * s + b
        return self.node("BatchNormalization", [x, scale, bias, mean, variance], y,
                         epsilon=epsilon)

    def conv(self, x, w, bias=None, stride=1, pads=0, dilation=1, group=1):
        rank = w.data.ndim - 2
        strides, dilations = _pair(stride)[:rank], _pair(dilation)[:rank]
        pads = [pads] * (2 * rank) if isinstance(pads, int) else list(pads)
        y = define.conv(x.data, w.data, None if bias is None else bias.data, strides, pads,
                        dilations, group)
        operands = [x, w] if bias is None else [x, w, bias]
        return self.node("Conv", operands, y, strides=strides, pads=pads, dilations=dilations,
                         group=group, kernel_shape=list(w.shape[2:]))

    def conv_transpose(self, x, w, bias=None, stride=1, pads=0, output_padding=0):
        strides, more = _pair(stride), _pair(output_padding)
        pads = [pads] * 4 if isinstance(pads, int) else list(pads)
        y = define.conv_transpose(x.data, w.data, None if bias is None else bias.data, strides,
                                  pads, more)
        operands = [x, w] if bias is None else [x, w, bias]
        return self.node("ConvTranspose", operands, y, strides=strides, pads=pads,
                         output_padding=more, kernel_shape=list(w.shape[2:]))

    def _pool(self, kind, function, x, kernel, stride, pads):
        kernel, strides = _pair(kernel), _pair(stride)
        pads = [pads] * 4 if isinstance(pads, int) else list(pads)
        return self.node(kind, [x], function(x.data, kernel, strides, pads),
                         kernel_shape=kernel, strides=strides, pads=pads)

    def max_pool(self, x, kernel, stride=1, pads=0):
        return self._pool("MaxPool", define.max_pool, x, kernel, stride, pads)

    def average_pool(self, x, kernel, stride=1, pads=0):
        return self._pool("AveragePool", define.average_pool, x, kernel, stride, pads)

    def global_average_pool(self, x):
        y = x.data.mean(axis=tuple(range(2, x.data.ndim)), keepdims=True)
        return self.node("GlobalAveragePool", [x], y)

    def reduce_mean(self, x, axes, keep=True):
        y = x.data.mean(axis=tuple(axes), keepdims=keep)
        return self.node("ReduceMean", [x, self.constant(np.array(axes))], y, keepdims=int(keep))

    def reduce_sum(self, x, axes, keep=True):
        y = x.data.sum(axis=tuple(axes), keepdims=keep)
        return self.node("ReduceSum", [x, self.constant(np.array(axes))], y, keepdims=int(keep))

    def reshape(self, x, *shape):
        y = x.data.reshape(shape)
        return self.node("Reshape", [x, self.constant(np.array(shape))], y)

    def transpose(self, x, *order):
        return self.node("Transpose", [x], x.data.transpose(order), perm=list(order))

    def concat(self, values, axis):
        y = np.concatenate([value.data for value in values], axis=axis)
        return self.node("Concat", values, y, axis=axis)

    def slice(self, x, axis, start, end):
        bounds = [self.constant(np.array([n])) for n in (start, end, axis)]
        place = [slice(None)] * x.data.ndim
        place[axis] = slice(start, end)
        return self.node("Slice", [x, *bounds], x.data[tuple(place)])

    def split(self, x, parts, axis=-1):
        return self.node("Split", [x], *np.split(x.data, parts, axis=axis), axis=axis,
                         num_outputs=parts)

    def gather(self, table, indices, axis=0):
        y = np.take(table.data, indices.data, axis=axis)
        return self.node("Gather", [table, indices], y, axis=axis)

    def pad(self, x, pads):
        rank = x.data.ndim
        widths = list(zip(pads[:rank], pads[rank:]))
        return self.node("Pad", [x, self.constant(np.array(pads))], np.pad(x.data, widths))

    def upsample(self, x, factor, mode="nearest"):
        factors = [1, 1] + [factor] * (x.data.ndim - 2)
        scales = self.constant(np.array(factors, dtype=np.float64))
        return self.node("Resize", [x, None, scales], define.upsample(x.data, factors, mode),
                         mode=mode, coordinate_transformation_mode="half_pixel")

    def depth_to_space(self, x, block, mode="CRD"):
        y = define.depth_to_space(x.data, block, mode)
        return self.node("DepthToSpace", [x], y, blocksize=block, mode=mode)

    def space_to_depth(self, x, block):
        return self.node("SpaceToDepth", [x], define.space_to_depth(x.data, block),
                         blocksize=block)

    def lstm(self, x, w, r, b, h, c):
        """States are [1, batch, hidden]; gives every step's state, and the last ones."""
        y, h1, c1 = define.lstm(x.data, w.data[0], r.data[0], b.data[0], h.data[0], c.data[0])
        return self.node("LSTM", [x, w, r, b, None, h, c], y[:, None], h1[None], c1[None],
                         hidden_size=r.shape[2])

    def gru(self, x, w, r, b, h, linear=True):
        y, h1 = define.gru(x.data, w.data[0], r.data[0], b.data[0], h.data[0], linear)
        return self.node("GRU", [x, w, r, b, None, h], y[:, None], h1[None],
                         hidden_size=r.shape[2], linear_before_reset=int(linear))

    def rnn(self, x, w, r, b, h):
        y, h1 = define.rnn(x.data, w.data[0], r.data[0], b.data[0], h.data[0])
        return self.node("RNN", [x, w, r, b, None, h], y[:, None], h1[None],
                         hidden_size=r.shape[2])
