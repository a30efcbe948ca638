#!/usr/bin/env python3
"""Draws street.safetensors, 3 pictures of a street of our own with what they should become: data for demo:livesr-street that come with
the program.

    draw_street.py street.safetensors

`pixels` u8 [3, 48, 64, 3], `targets` u8 [3, 96, 128, 3], `judged` u8 [3, 96, 128]: 1 where somebody walks. Each pixel is the mean of the
finer ones below it. Seed 0; needs nothing but Python.
"""
import json
import math
import random
import struct
import sys

PICTURES, HEIGHT, WIDTH, FINE = 3, 48, 64, 4  # of the small pictures; fine pixels along a side of each
COATS = [(150, 40, 45), (40, 60, 120), (60, 90, 60), (200, 190, 170)]


def wall(x, y, number):
    """x and y within 0 to 1: the first picture's wall is plastered and has nothing on it, the second has windows, the third bricks too."""
    if number == 0:
        return (150 + 12 * x - 9 * y, 146 + 10 * x - 9 * y, 138 + 6 * x - 9 * y) if y < .8 else (118 + 20 * y,) * 3
    if y > .72:
        joint = abs((x + (y - .72) * .6) * 9 % 1 - .5) > .46 or abs((y - .72) * 14 % 1 - .5) > .47
        return (92, 90, 88) if joint else (134, 131, 126)
    for left in (.12, .6):
        u, v = (x - left) / .26, (y - .14) / .36
        if 0 <= u <= 1 and 0 <= v <= 1:
            frame = min(u, 1 - u, v, 1 - v) < .07 or abs(u - .5) < .04
            return (226, 222, 210) if frame else (40 + 50 * v, 52 + 60 * v, 70 + 70 * v)
    if number == 1:
        return (170 - 10 * y, 150 - 10 * y, 120 + 8 * y)
    row = math.floor(y * 26)
    mortar = y * 26 % 1 < .15 or (x * 16 + row % 2 * .5) % 1 < .08
    shade = 14 * math.sin(12.9 * row + 78.2 * math.floor(x * 16 + row % 2 * .5))
    return (188, 180, 170) if mortar else (158 + shade, 92 + shade * .6, 74 + shade * .5)


def walker(x, y, at, coat, size, step):
    """The colour of somebody whose feet stand at `at`; None beside him."""
    u, v = (x - at[0]) / size * WIDTH / HEIGHT, (at[1] - y) / size
    if (u / .11) ** 2 + ((v - .9) / .1) ** 2 < 1:
        return (205, 160, 130) if v < .92 else (50, 35, 28)
    if .4 < v < .82 and abs(u) < .2 - .12 * abs(v - .6):
        return coat
    for side in (-1, 1):
        if 0 <= v <= .42 and abs(u - side * step * (.45 - v)) < .06:
            return (38, 38, 46)
    return None


def draw(number, random_):
    people = [((random_.uniform(.1, .9), random_.uniform(.84, .97)), random_.choice(COATS), random_.uniform(.42, .62), random_.uniform(.1, .5))
              for _ in range(number + 1)]
    people.sort(key=lambda p: p[0][1])
    fine, moves = [], []
    for j in range(HEIGHT * FINE):
        y = (j + .5) / (HEIGHT * FINE)
        for i in range(WIDTH * FINE):
            x = (i + .5) / (WIDTH * FINE)
            came = [c for c in (walker(x, y, *p) for p in people) if c]
            fine.append(came[-1] if came else wall(x, y, number))
            moves.append(bool(came))
    return fine, moves


def shrunk(fine, by):
    """Means of by x by fine pixels."""
    rows = []
    for j in range(0, HEIGHT * FINE, by):
        for i in range(0, WIDTH * FINE, by):
            block = [fine[(j + dj) * WIDTH * FINE + i + di] for dj in range(by) for di in range(by)]
            rows.append(tuple(sum(p[c] for p in block) / len(block) for c in range(3)))
    return rows


def in_bytes(pixels):
    return bytes(min(255, max(0, round(value))) for pixel in pixels for value in pixel)


def main():
    random_ = random.Random(0)
    pixels, targets, judged = b"", b"", b""
    for number in range(PICTURES):
        fine, moves = draw(number, random_)
        pixels += in_bytes(shrunk(fine, FINE))
        targets += in_bytes(shrunk(fine, FINE // 2))
        judged += bytes(round(p[0]) for p in shrunk([(m, 0, 0) for m in moves], FINE // 2))
    tensors, at = {}, 0
    for name, shape, content in (("judged", [PICTURES, 2 * HEIGHT, 2 * WIDTH], judged), ("pixels", [PICTURES, HEIGHT, WIDTH, 3], pixels),
                                 ("targets", [PICTURES, 2 * HEIGHT, 2 * WIDTH, 3], targets)):
        tensors[name] = {"dtype": "U8", "shape": shape, "data_offsets": [at, at + len(content)]}
        at += len(content)
    header = json.dumps(tensors).encode()
    header += b" " * (-len(header) % 8)
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + judged + pixels + targets)


if __name__ == "__main__":
    main()
