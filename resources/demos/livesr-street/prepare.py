#!/usr/bin/env python3
"""The held-out frames of demo:livesr-street, from the frames of the video in Debian's opencv-doc.

    ffmpeg -i vtest.avi FRAMES/%04d.ppm
    prepare.py FRAMES test.safetensors

`pixels` u8 [N, 288, 192, 3], `targets` u8 [N, 576, 384, 3], `judged` u8 [N, 576, 384]: 1 where something moves. Needs numpy and PIL.
"""
import json
import pathlib
import struct
import sys

import numpy

from frames import LEAST_MOVING, background_of, half_of, held_out


def main():
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*.ppm"))
    background = background_of(paths)
    halves = [half_of(path, background, right=True) for path in held_out(paths)]
    halves = [half for half in halves if half[2].sum() >= LEAST_MOVING]
    if not halves:
        sys.exit(f"{sys.argv[1]}: no frames of the video (768 x 576, 795 of them)")
    tensors = {name: numpy.stack([numpy.asarray(half[i], dtype=numpy.uint8) for half in halves])
               for i, name in ((2, "judged"), (1, "pixels"), (0, "targets"))}
    header, at = {}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "U8", "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(sys.argv[2], "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.tobytes())


if __name__ == "__main__":
    main()
