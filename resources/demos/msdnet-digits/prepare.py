#!/usr/bin/env python3
"""The held-out digits of demo:msdnet-digits and demo:swinv2-moe-digits, from the picture in Debian's opencv-doc.

    prepare.py digits.png test.safetensors

Reads the picture itself, so that nothing but Python is needed: 8-bit grey, not interlaced.
"""
import json
import struct
import sys
import zlib

SIDE, COLUMNS, HELD_OUT, LINES_OF_A_CLASS = 20, 100, 80, 5


def unfiltered(lines, width):
    """The rows of a picture of one byte a pixel: each line begins with the filter it was written by."""
    rows, above = [], bytearray(width)
    for start in range(0, len(lines), width + 1):
        kind, row = lines[start], bytearray(lines[start + 1:start + 1 + width])
        for i in range(width):
            left, up, corner = row[i - 1] if i else 0, above[i], above[i - 1] if i else 0
            nearest = min((left, up, corner), key=lambda x: abs(left + up - corner - x))
            row[i] = row[i] + (0, left, up, (left + up) // 2, nearest)[kind] & 255
        rows.append(row)
        above = row
    return rows


def read_grey(path):
    data = open(path, "rb").read()
    at, packed, header = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", content)
        elif kind == b"IDAT":
            packed += content
        at += size + 12
    if data[:8] != b"\x89PNG\r\n\x1a\n" or header != (COLUMNS * SIDE, 50 * SIDE, 8, 0, 0, 0, 0):
        sys.exit(f"{path}: not the picture of 5,000 digits (2000 x 1000, 8-bit grey)")
    return unfiltered(zlib.decompress(packed), header[0])


def main():
    rows, pixels, labels = read_grey(sys.argv[1]), bytearray(), []
    for line in range(50):
        for column in range(HELD_OUT, COLUMNS):
            for y in range(line * SIDE, (line + 1) * SIDE):
                pixels += rows[y][column * SIDE:(column + 1) * SIDE]
            labels.append(line // LINES_OF_A_CLASS)
    numbers = struct.pack(f"<{len(labels)}i", *labels)
    header = json.dumps({"labels": {"dtype": "I32", "shape": [len(labels)], "data_offsets": [0, len(numbers)]},
                         "pixels": {"dtype": "U8", "shape": [len(labels), SIDE, SIDE, 1],
                                    "data_offsets": [len(numbers), len(numbers) + len(pixels)]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(sys.argv[2], "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + numbers + pixels)


if __name__ == "__main__":
    main()
