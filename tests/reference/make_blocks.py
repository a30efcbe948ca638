"""Writes tests/reference/blocks/blocks.safetensors: random blocks of each type of GGUF that weights are computed with, and their
elements as the `gguf` package expands them.

The file holds the first blocks of each type, as `TYPE.blocks` (u8 [blocks, bytes]) and `TYPE.elements` (f32 [blocks, elements]), and in
its metadata, as TYPE, the digest of the elements of 100,000 blocks. The test draws the same blocks. Scales are finite: a scale in f16
that is not gets another exponent, and the byte 255 of MXFP4 becomes 254. `f8_e4m3.elements` and `f8_e5m2.elements` are the numbers of
all 256 bytes as the `ml_dtypes` package has them.

    pip install gguf==0.19.0 ml_dtypes==0.6.0
    python tests/reference/make_blocks.py
"""
import json
import pathlib
import struct

import ml_dtypes
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGML_QUANT_SIZES
from gguf.quants import dequantize

BLOCKS, PIECE = 100_000, 2_000
FACTOR = 0x9E3779B97F4A7C15

# name: (type, places of scales in f16, place of a power of two, blocks that are kept)
TYPES = {
    "q8_0": (Type.Q8_0, [0], None, 8),
    "q4_0": (Type.Q4_0, [0], None, 8),
    "q4_k": (Type.Q4_K, [0, 2], None, 2),
    "q5_k": (Type.Q5_K, [0, 2], None, 2),
    "q6_k": (Type.Q6_K, [208], None, 2),
    "mxfp4": (Type.MXFP4, [], 0, 8),
}


def drawn_words(seed, count):
    """splitmix64."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(FACTOR)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def drawn_blocks(seed, size, halves, power):
    words = drawn_words(seed, (BLOCKS * size + 7) // 8)
    blocks = words.astype("<u8").view(np.uint8)[:BLOCKS * size].reshape(BLOCKS, size).copy()
    for place in halves:
        high = blocks[:, place + 1]
        high[(high & 0x7C) == 0x7C] &= 0xBF
    if power is not None:
        blocks[blocks[:, power] == 255, power] = 254
    return blocks


def digest_of(blocks, kind):
    """The sum of word i times FACTOR to the power of (words - 1 - i), modulo 2^64: words are the elements' bits, 0 for -0."""
    digest = 0
    elements = GGML_QUANT_SIZES[kind][0]
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(PIECE * elements - 1, FACTOR, np.uint64), dtype=np.uint64)[::-1]
        powers = np.append(powers, np.uint64(1))
        whole = int(powers[0]) * FACTOR % 2**64
        for first in range(0, BLOCKS, PIECE):
            words = bits_of(expanded(blocks[first:first + PIECE], kind)).reshape(-1).astype(np.uint64)
            digest = (digest * whole + int((words * powers).sum(dtype=np.uint64))) % 2**64
    return f"{digest:016x}"


def expanded(blocks, kind):
    # Products of the largest powers of two are infinite, as they are in f32.
    with np.errstate(over="ignore"):
        return dequantize(blocks, kind).astype(np.float32) + np.float32(0)


def bits_of(values):
    return np.ascontiguousarray(values, dtype="<f4").view("<u4")


def write_safetensors(path, tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, values in sorted(tensors.items()):
        kind = {"uint8": "U8", "float32": "F32"}[str(values.dtype)]
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    tensors, digests = {}, {}
    for seed, (name, (kind, halves, power, kept)) in enumerate(TYPES.items()):
        blocks = drawn_blocks(seed + 1, GGML_QUANT_SIZES[kind][1], halves, power)
        tensors[f"{name}.blocks"] = blocks[:kept]
        tensors[f"{name}.elements"] = expanded(blocks[:kept], kind)
        digests[name] = digest_of(blocks, kind)
        print(name, digests[name])
    for name, kind in {"f8_e4m3": ml_dtypes.float8_e4m3fn, "f8_e5m2": ml_dtypes.float8_e5m2}.items():
        tensors[f"{name}.elements"] = np.arange(256, dtype=np.uint8).view(kind).astype(np.float32)
    path = pathlib.Path(__file__).parent / "blocks" / "blocks.safetensors"
    path.parent.mkdir(exist_ok=True)
    write_safetensors(path, tensors, digests)


if __name__ == "__main__":
    main()
