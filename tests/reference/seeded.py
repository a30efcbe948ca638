"""What the program draws by seed, for scripts that fit a preset's calibration: weights and random pictures, to the last bit.

core/models/seeded_weights.cpp and core/data/random_source.cpp are what this repeats. Callers silence numpy's overflow:
with np.errstate(over="ignore").
"""
import math

import numpy as np
import torch

MASK, GOLDEN = (1 << 64) - 1, 0x9E3779B97F4A7C15
U = np.uint64


def mix(z):
    """splitmix64's mixer, of a Python integer or an array."""
    if isinstance(z, int):
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)
    z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
    return z ^ (z >> U(31))


def draw(name, count, deviation, seed=0):
    """Float32 [count]: the weight of this name, around 0."""
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = ((key ^ byte) * 0x100000001B3) & MASK
    key = mix((key + mix((seed + GOLDEN) & MASK)) & MASK)
    bits = mix(U(key) + np.arange(count, dtype=U) * U(GOLDEN))
    total = sum(((bits >> U(shift)) & U(0xFFFF)).astype(np.int64) for shift in (0, 16, 32, 48)) - 131070
    return np.float32(deviation / math.sqrt((4294967296.0 - 1) / 3)) * total.astype(np.float32)


def mixed(x):
    return mix((x + GOLDEN) & MASK) if isinstance(x, int) else mix(x + U(GOLDEN))


def picture(index, height, width, seed=0):
    """[1, 3, height, width] of random:N."""
    pixels = mixed(mixed(seed) ^ mixed(index))
    squares = mixed(~pixels & MASK)
    part = lambda stream, count: (mixed(U(stream) + np.arange(count, dtype=U)) >> U(40)).astype(np.float32) * np.float32(2.0 ** -24)
    across = width // 16 + 1
    y, x, c = np.ogrid[:height, :width, :3]
    of_squares = part(squares, (height // 16 + 1) * across * 3)[(y // 16 * across + x // 16) * 3 + c]
    both = (part(pixels, height * width * 3).reshape(height, width, 3) + of_squares) / np.float32(2)
    return torch.from_numpy(both.transpose(2, 0, 1)[None].copy())
