"""The 119 operators that Roller (OSDI 2022) was measured with, batch 128."""
from .single import average_pool, conv, matmul, reduce_sum, relu

BATCH = 128

# (channels, extent, filters, window, stride, border): S same, V valid.
CONV = """
128,28,128,3,1,S  128,58,128,3,2,V  256,30,256,3,2,V  168,42,168,1,1,V  512,7,512,3,1,S
256,14,1024,1,1,V  1024,14,256,1,1,V  1024,14,512,1,1,V  1008,21,168,1,1,V  42,83,42,1,1,V
4032,11,672,1,1,V  512,16,512,3,2,V  96,83,42,1,1,V  96,165,42,1,1,V  168,83,84,1,1,V
336,21,336,1,1,V  512,28,1024,1,2,V  64,56,256,1,1,V  256,56,64,1,1,V  128,28,512,1,1,V
512,28,128,1,1,V  168,42,84,1,1,V  512,28,256,1,1,V  64,56,64,3,1,S  2016,21,672,1,1,V
512,7,2048,1,1,V  2048,7,512,1,1,V  84,42,84,1,1,V  336,42,168,1,1,V  672,11,672,1,1,V
1024,14,2048,1,2,V  2016,11,336,1,1,V  2016,21,336,1,1,V  1008,42,336,1,1,V  64,56,64,1,1,V
3,230,64,7,2,V  3,331,96,3,2,V  256,56,128,1,1,V  256,14,256,3,1,S  2688,11,672,1,1,V
1008,42,168,1,1,V  96,83,42,1,1,V  256,56,512,1,2,V  1344,21,336,1,1,V
"""

# (channels, extent, window, stride), border same.
DEPTHWISE = """
84,83,5,2  42,83,5,1  336,21,5,1  42,165,5,2  84,83,7,2  672,11,3,1  168,42,5,1  672,21,5,2
336,21,3,1  672,21,7,2  42,83,7,1  84,42,7,1  84,42,5,1  168,42,3,1  672,11,7,1  336,42,5,2
96,165,5,2  336,21,7,1  336,42,7,2  42,83,3,1  96,165,7,2  84,42,3,1  672,11,5,1
"""

# (channels, extent).
RELU = """
1008,42  256,14  1024,14  512,14  96,165  1344,21  2688,11  64,112  256,56  128,28  512,28
256,28  2016,21  672,11  168,83  64,56  168,42  336,21  4032,11  512,7  2048,7  84,83  336,42
42,165  672,21  84,42  42,83  128,56
"""

# (channels, extent, window, stride, border).
POOL = """
168,83,1,2,V  672,21,3,2,S  42,83,3,1,S  1008,42,1,2,V  336,42,3,2,S  84,83,3,2,S  672,11,3,1,S
96,165,1,2,V  2016,21,1,2,V  42,165,3,2,S  84,42,3,1,S  336,21,3,1,S  168,42,3,1,S
"""

REDUCE = [(128, 512, 1024), (65536, 1024), (516096, 121), (262144, 49)]

# (m, n, k).
MATMUL = [(65536, 1024, 2), (128, 1000, 4032), (128, 1000, 2048), (65536, 4096, 1024),
          (65536, 1024, 1024), (65536, 1024, 4096), (65536, 1024, 30522)]


def _rows(table):
    for row in table.split():
        yield [n == "S" if n in "SV" else int(n) for n in row.split(",")]


def operators(scale):
    """Every operator by its published id: C0, D0, E0, P0, R0, M0 and on."""
    found = {}
    for at, (channels, size, filters, kernel, stride, same) in enumerate(_rows(CONV)):
        found[f"C{at}"] = conv(scale, BATCH, channels, size, filters, kernel, stride, same)
    for at, (channels, size, kernel, stride) in enumerate(_rows(DEPTHWISE)):
        found[f"D{at}"] = conv(scale, BATCH, channels, size, channels, kernel, stride, True,
                               channels)
    for at, (channels, size) in enumerate(_rows(RELU)):
        found[f"E{at}"] = relu(scale, BATCH, channels, size)
    for at, (channels, size, kernel, stride, same) in enumerate(_rows(POOL)):
        found[f"P{at}"] = average_pool(scale, BATCH, channels, size, kernel, stride, same)
    for at, shape in enumerate(REDUCE):
        found[f"R{at}"] = reduce_sum(scale, shape)
    for at, shape in enumerate(MATMUL):
        found[f"M{at}"] = matmul(scale, *shape)
    return found


def cases(scale):
    return [(f"roller_{name}", make) for name, make in operators(scale).items()]
