#!/usr/bin/env python3
"""The held-out tiles of demo:dynamic-routing-street, from the frames of the video in Debian's opencv-doc.

    ffmpeg -i vtest.avi FRAMES/%04d.ppm
    prepare.py FRAMES test.safetensors

`pixels` u8 [N, 96, 96, 3], `targets` u8 [N, 96, 96]: 1 where somebody is, `judged` u8 [N, 96, 96]: 1 at what is within 16
pixels of somebody. Needs numpy and PIL.
"""
import json
import pathlib
import struct
import sys

from tiles import background_of, held_out, held_out_tiles


def main():
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*.ppm"))
    if not held_out(paths):
        sys.exit(f"{sys.argv[1]}: no frames of the video (768 x 576, 795 of them)")
    pixels, targets, judged, _ = held_out_tiles(paths, background_of(paths))
    tensors = {"judged": judged, "pixels": pixels, "targets": targets}
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
