"""DeepBench's matrix products: training, and inference on servers and devices."""
import itertools

from gen import Builder, keep_residue

LAYERS = [(7680, 2560), (6144, 2048), (4608, 1536), (8448, 2816), (3072, 1024)]
DEPTHS = (2816, 2048, 2560, 1536)


def _training():
    for size, n in itertools.product((1760, 2048, 2560, 4096), (16, 32, 64, 128, 7000)):
        yield size, n, size, False, False
        yield size, n, size, True, False
    for size in (1760, 2048, 2560, 4096):
        yield size, 7133, size, False, True
        yield 5124, 9124, size, False, False
        yield 35, 8457, size, False, False
    for n in (16, 32, 64, 128):
        yield 7680, n, 2560, False, False
        yield 3072, n, 1024, False, False
    yield 3072, 7435, 1024, False, True
    yield 7680, 5481, 2560, False, True
    for m, n in itertools.product((512, 1024), (8, 16)):
        yield m, n, 500000, False, False
    yield 1024, 700, 512, False, False
    for (m, k), n in itertools.product(LAYERS, (24000, 48000)):
        yield m, n, k, False, False
    for (m, k), n in itertools.product(LAYERS[1:4], (16, 32)):
        yield m, n, k, False, False
    for m, n, k in itertools.product((512, 1024), (24000, 48000), DEPTHS):
        yield m, n, k, False, False
    for m, n in itertools.product((512, 1024), (16, 32)):
        yield m, n, 512, False, False


def _server():
    for m, n, k in itertools.product((5124, 35), (700, 1500), (2048, 2560)):
        yield m, n, k, False, False
    for n in (1, 2, 4):
        yield 7680, n, 2560, False, False
        yield 3072, n, 1024, False, False
    for m, n in itertools.product((512, 1024), (1, 2, 4)):
        yield m, n, 500000, False, False
        yield m, n, 512, False, False
    for (m, k), n in itertools.product(LAYERS, (1500, 3000, 6000)):
        yield m, n, k, False, False
    for (m, k), n in itertools.product(LAYERS[1:4], (1, 2, 4)):
        yield m, n, k, False, False
    for m, n, k in itertools.product((512, 1024), (1500, 3000, 6000), DEPTHS):
        yield m, n, k, False, False


def _device():
    for m, n, k in [(5124, 700, 2048), (35, 700, 2048), (3072, 1, 1024), (64, 1, 1216),
                    (3072, 1500, 1024), (128, 1500, 1280), (3072, 1500, 128), (128, 1, 1024),
                    (3072, 1, 128), (176, 1500, 1408), (4224, 1500, 176), (128, 1, 1408),
                    (4224, 1, 128)]:
        yield m, n, k, False, False


def product(m, n, k, transpose_a=False, transpose_b=False):
    """Both factors are inputs: the largest do not fit into a model's file."""
    def make(name, seed):
        g = Builder(name, seed)
        a = g.input("a", (k, m) if transpose_a else (m, k), k ** -0.5)
        b = g.input("b", (n, k) if transpose_b else (k, n))
        g.output(g.gemm(a, b, None, transpose_a, transpose_b))
        return g
    return make


def cases(scale):
    """At scale ci several published sizes shrink to the same one, which is kept once."""
    found = {}
    for m, n, k, *turned in itertools.chain(_training(), _server(), _device()):
        if scale == "ci":
            m, n, k = keep_residue(m, 512), keep_residue(n, 512), keep_residue(k, 2048)
        name = f"gemm_{m}x{n}x{k}" + "".join(f"_t{w}" for w, t in zip("ab", turned) if t)
        found[name] = product(m, n, k, *turned)
    return list(found.items())
