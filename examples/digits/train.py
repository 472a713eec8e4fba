"""Train a small convolutional network on scikit-learn's digits and write it as an ONNX file.

    pip install jax numpy onnx scikit-learn && python train.py

Writes, beside this file: digits.onnx, images/CLASS-LETTER.png, digits.inputs.npz and digits.ref.npz.
"""
import pathlib
import struct
import zlib

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = pathlib.Path(__file__).parent
SEED, EPOCHS, BATCH, RATE, EPS = 7, 40, 64, 2e-3, 1e-5  # the seed decides split, initial weights and batch order
SAVED, TESTED = ["0-a", "2-a", "3-a", "3-b", "7-a", "8-a"], "3-a"  # held-out images; the one of the npz files
jax.config.update("jax_enable_x64", True)  # for the reference; training is in float32


def initial_parameters(rng):
    """He-normal weights, zero biases; the batch normalization starts as the identity."""
    he = lambda *shape: rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
    p = dict(conv1_w=he(16, 1, 3, 3), bn_scale=np.ones(16), bn_bias=np.zeros(16),
             conv2_w=he(32, 16, 3, 3), conv2_b=np.zeros(32), fc_w=he(10, 512), fc_b=np.zeros(10))
    return {name: jnp.asarray(value, jnp.float32) for name, value in p.items()}


conv = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1)))
channel = lambda v: v.reshape(1, -1, 1, 1)


def statistics(p, x):
    y = conv(x, p["conv1_w"])  # mean and variance of each channel after the first convolution
    return y.mean((0, 2, 3)), y.var((0, 2, 3))


def logits(p, x, mean, var):
    """Images [N,1,8,8] to logits [N,10], in the type of the parameters and the images."""
    y = conv(x, p["conv1_w"])
    y = (y - channel(mean)) * channel(p["bn_scale"] / jnp.sqrt(var + EPS)) + channel(p["bn_bias"])
    y = jnp.maximum(y, 0).reshape(-1, 16, 4, 2, 4, 2).max((3, 5))  # 2x2 max pooling
    y = jnp.maximum(conv(y, p["conv2_w"]) + channel(p["conv2_b"]), 0)
    return y.reshape(len(x), -1) @ p["fc_w"].T + p["fc_b"]


@jax.jit
def step(p, m, v, t, x, label):
    """One step of Adam on the cross entropy, with the batch's own statistics."""
    loss = lambda p: -jax.nn.log_softmax(logits(p, x, *statistics(p, x)))[jnp.arange(len(x)), label].mean()
    g = jax.grad(loss)(p)
    m = {k: 0.9 * m[k] + 0.1 * g[k] for k in p}
    v = {k: 0.999 * v[k] + 0.001 * g[k] ** 2 for k in p}
    rate = jnp.float32(RATE * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t))
    return {k: p[k] - rate * m[k] / (jnp.sqrt(v[k]) + 1e-8) for k in p}, m, v


def to_onnx(p, mean, var):
    """The inference graph; BatchNormalization stays a node of its own."""
    node, pads = helper.make_node, dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    nodes = [node("Conv", ["image", "conv1_w"], ["c1"], **pads),
             node("BatchNormalization", ["c1", "bn_scale", "bn_bias", "bn_mean", "bn_var"], ["n1"], epsilon=EPS),
             node("Relu", ["n1"], ["r1"]),
             node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", ["p1", "conv2_w", "conv2_b"], ["c2"], **pads),
             node("Relu", ["c2"], ["r2"]),
             node("Flatten", ["r2"], ["f"], axis=1),
             node("Gemm", ["f", "fc_w", "fc_b"], ["logits"], transB=1),
             node("Softmax", ["logits"], ["probabilities"], axis=1)]
    weights = [numpy_helper.from_array(np.asarray(a), n) for n, a in dict(p, bn_mean=mean, bn_var=var).items()]
    value = lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "digits", [value("image", 1, 1, 8, 8)], [value("probabilities", 1, 10)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def write_png(path, pixels):
    """An 8-bit grey PNG file from an array of uint8 [height, width]."""
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", *pixels.shape[::-1], 8, 0, 0, 0, 0)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)


def main():
    rng = np.random.default_rng(SEED)
    images, classes = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    x, test_x, label, test_label = train_test_split(images, classes, test_size=0.2, random_state=SEED, stratify=classes)
    p, t = initial_parameters(rng), 0
    m = v = {k: jnp.zeros_like(a) for k, a in p.items()}
    for _ in range(EPOCHS):
        for batch in rng.permutation(len(x))[: len(x) // BATCH * BATCH].reshape(-1, BATCH):
            p, m, v = step(p, m, v, t := t + 1, x[batch], label[batch])
    mean, var = statistics(p, x)  # over all training images, for inference
    hits = np.argmax(logits(p, test_x, mean, var), 1) == test_label
    print(f"test accuracy {hits.mean():.4f} ({hits.sum()} of {len(hits)} held-out images)")
    onnx.save(to_onnx(p, mean, var), HERE / "digits.onnx")
    (HERE / "images").mkdir(exist_ok=True)
    p, mean, var = jax.tree.map(lambda a: a.astype(jnp.float64), (p, mean, var))  # the reference is in float64
    for name in SAVED:  # "3-b": the second held-out image of class 3
        digit = test_x[test_label == int(name[0])]["abc".index(name[2]), 0]
        pixels = np.rint(255 * digit).astype(np.uint8)
        write_png(HERE / "images" / f"{name}.png", pixels)
        image = (pixels[None, None] / 255).astype(np.float32)
        probabilities = np.asarray(jax.nn.softmax(logits(p, image.astype(np.float64), mean, var)))
        print(f"{name}: class {probabilities.argmax()}, probability {probabilities.max():.4f}")
        if name == TESTED:
            np.savez(HERE / "digits.inputs.npz", image=image)
            np.savez(HERE / "digits.ref.npz", probabilities=probabilities.astype(np.float32))


if __name__ == "__main__":
    main()
