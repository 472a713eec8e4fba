"""Narrow numbers: products of one row and of many, and steps of a language model."""
import functools

from nets import narrow, transformers

# (rows, depth, width) of products, and sizes of a decode step.
SIZES = {
    "ci": ([(1, 256, 193), (33, 256, 96)],
           dict(batch=1, past=63, width=128, heads=2, layers=2, words=211)),
    "full": ([(1, 2048, 5632), (128, 2048, 5632), (1024, 1024, 1024)],
             dict(batch=1, past=511, width=1024, heads=16, layers=8, words=32000)),
}


def cases(scale):
    products, step = SIZES[scale]
    found = []
    for sizes in products:
        shape = dict(zip(("rows", "depth", "width"), sizes))
        stem = "gemm_" + "x".join(map(str, sizes))
        found += [(f"{stem}_{kind}", functools.partial(narrow.linear, weights=weights, **shape))
                  for kind, weights in narrow.KINDS.items()]
        found.append((f"{stem}_mmi", functools.partial(narrow.integers, **shape)))
        found.append((f"{stem}_qdq", functools.partial(narrow.dequantised, **shape)))
    found += [(f"gpt2_decode_{kind}", functools.partial(transformers.gpt2_decode, narrow=weights, **step))
              for kind, weights in narrow.KINDS.items()]
    return found
