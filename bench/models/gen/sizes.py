"""Shapes: what shrinking keeps, and the borders of windows."""


def keep_residue(size, most, modulus=32):
    """The greatest size up to `most` that leaves `size`'s rest modulo 4, 8, 16 and 32.

    Alignment and padding depend on these rests, so a shrunk operator has the same corners.
    """
    if size <= most:
        return size
    assert most >= modulus, "a whole period fits"
    return most - (most - size) % modulus


def same_pads(size, kernel, stride):
    """The border (before, after) with which ceil(size / stride) windows fit."""
    windows = -(-size // stride)
    border = max((windows - 1) * stride + kernel - size, 0)
    return border // 2, border - border // 2
