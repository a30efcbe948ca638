#!/usr/bin/env python3
"""Draws people.safetensors, 6 tiles of a street of our own, half of them without anybody: data for demo:dynamic-routing-street that come
with the program.

    draw_people.py people.safetensors

`pixels` u8 [6, 96, 96, 3], `targets` u8 [6, 96, 96]: 1 where somebody walks, 255 at the edge, where a pixel is in part somebody's. Streets
and walkers are those of draw_street.py. Seed 0; needs nothing but Python.
"""
import json
import random
import struct
import sys

from draw_street import COATS, in_bytes, walker, wall

TILES, SIDE, FINE = 6, 96, 3  # fine pixels along a side of each


def draw(number, random_):
    """Colours of the tile's pixels, and of each how many of its fine pixels are somebody's."""
    people = [((random_.uniform(.2, .8), random_.uniform(.85, .97)), random_.choice(COATS), random_.uniform(.5, .7),
               random_.uniform(.1, .5)) for _ in range(number % 2 * (1 + number // 4))]
    colours, shares = [], []
    for j in range(SIDE):
        for i in range(SIDE):
            block, covered = [], 0
            for k in range(FINE * FINE):
                x, y = (i + (k % FINE + .5) / FINE) / SIDE, (j + (k // FINE + .5) / FINE) / SIDE
                came = [c for c in (walker(x, y, *p) for p in people) if c]
                covered += bool(came)
                block.append(came[-1] if came else wall(x, y, number // 2))
            colours.append(tuple(sum(p[c] for p in block) / len(block) for c in range(3)))
            shares.append(covered)
    return colours, shares


def main():
    random_ = random.Random(0)
    pixels, targets = b"", b""
    for number in range(TILES):
        colours, shares = draw(number, random_)
        pixels += in_bytes(colours)
        targets += bytes(0 if s == 0 else 1 if s == FINE * FINE else 255 for s in shares)
    tensors, at = {}, 0
    for name, shape, content in (("pixels", [TILES, SIDE, SIDE, 3], pixels), ("targets", [TILES, SIDE, SIDE], targets)):
        tensors[name] = {"dtype": "U8", "shape": shape, "data_offsets": [at, at + len(content)]}
        at += len(content)
    header = json.dumps(tensors).encode()
    header += b" " * (-len(header) % 8)
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + pixels + targets)


if __name__ == "__main__":
    main()
