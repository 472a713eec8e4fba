"""Forty operators that cover each rule of tiling once; more than one suite gave them."""
from . import deepbench, roller, single

FROM_ROLLER = ("M4 M3 M1 M2 M0 C0 C4 C23 C38 C1 C9 C10 C30 C17 C29 C35 C36 D0 D20 D5 D10 "
               "E4 E20 P2 P7 R0 R2 R3").split()

# (m, n, k): regular, tall or skinny, odd factors.
PRODUCTS = [(2048, 128, 2048), (4096, 7000, 4096), (5124, 700, 2048), (3072, 1, 1024),
            (35, 8457, 2560), (512, 8, 500000), (176, 1500, 1408), (4224, 1500, 176)]

# (channels, extent, filters, window, stride, same): AlexNet's first, and tiny ones of ResNeXt.
CONV = [(3, 227, 64, 11, 4, False), (4, 56, 4, 3, 1, True), (64, 16, 64, 3, 1, True),
        (32, 7, 32, 3, 1, True)]


def cases(scale):
    operators = roller.operators(scale)
    found = {f"core_{name}": operators[name] for name in FROM_ROLLER}
    for m, n, k in PRODUCTS:
        if scale == "ci":
            m, n = (single.keep_residue(size, single.ROWS) for size in (m, n))
            k = single.keep_residue(k, single.DEPTH)
        found[f"core_gemm_{m}x{n}x{k}"] = deepbench.product(m, n, k)
    for channels, size, filters, kernel, stride, same in CONV:
        name = f"core_conv_{channels}x{size}_{filters}x{kernel}s{stride}"
        found[name] = single.conv(scale, 1, channels, size, filters, kernel, stride, same)
    assert len(found) == 40
    return list(found.items())
