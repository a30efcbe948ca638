#!/usr/bin/env python3
"""Draws digits.safetensors, 60 digits of our own that look handwritten: data for demo:msdnet-digits that come with the program.

    draw_digits.py digits.safetensors

Six of each digit: strokes through jittered points, slanted, scaled, moved, of unlike width; the last three of each are scribbled. Nobody
wrote them, and no picture of anybody is in them. Seed 0; needs nothing but Python.
"""
import json
import math
import random
import struct
import sys

SIDE, EACH, NEAT = 20, 6, 3
# Strokes as points that a curve goes through, x to the right and y down, within 0 to 1. A repeated point makes a corner.
STROKES = {
    0: [[(.55, .05), (.25, .25), (.18, .6), (.4, .94), (.7, .8), (.82, .4), (.6, .08), (.5, .06)]],
    1: [[(.5, .05), (.5, .5), (.5, .95)]],
    2: [[(.2, .25), (.45, .05), (.75, .22), (.6, .55), (.2, .93), (.2, .93), (.5, .88), (.85, .92)]],
    3: [[(.22, .15), (.5, .05), (.75, .2), (.42, .47), (.42, .47), (.78, .65), (.6, .92), (.18, .87)]],
    4: [[(.28, .08), (.2, .5), (.2, .5), (.5, .53), (.82, .5)], [(.7, .1), (.66, .5), (.62, .95)]],
    5: [[(.8, .08), (.35, .1), (.35, .1), (.27, .45), (.27, .45), (.62, .42), (.74, .7), (.5, .94), (.18, .87)]],
    6: [[(.68, .05), (.36, .35), (.22, .72), (.45, .95), (.72, .77), (.55, .55), (.26, .7)]],
    7: [[(.18, .1), (.5, .12), (.82, .1), (.82, .1), (.6, .5), (.45, .95)]],
    8: [[(.72, .14), (.45, .05), (.28, .22), (.5, .45), (.72, .7), (.5, .95), (.26, .75), (.5, .48), (.74, .25), (.7, .13)]],
    9: [[(.74, .2), (.5, .05), (.25, .25), (.42, .5), (.72, .3), (.74, .2), (.7, .55), (.58, .95)]],
}


def curve(points):
    """Many points on Catmull and Rom's curve through the given ones."""
    whole = [points[0], *points, points[-1]]
    for a, b, c, d in zip(whole, whole[1:], whole[2:], whole[3:]):
        for k in range(12):
            t = k / 12
            yield tuple(b[i] + .5 * t * (c[i] - a[i] + t * (2 * a[i] - 5 * b[i] + 4 * c[i] - d[i] + t * (3 * (b[i] - c[i]) + d[i] - a[i])))
                        for i in (0, 1))
    yield points[-1]


def drawn(strokes, dice, jitter):
    """Bytes of one digit: bright strokes on dark."""
    slant, turn = dice.uniform(-.05, .4), dice.uniform(-.12, .12)
    wide, high = dice.uniform(9, 12.5), dice.uniform(13, 16)
    middle = (9.5 + dice.uniform(-.8, .8), 9.5 + dice.uniform(-.8, .8))
    pen = dice.uniform(.75, 1.25)

    def placed(point):
        x, y = point[0] - .5 + dice.gauss(0, jitter), point[1] - .5 + dice.gauss(0, jitter)
        x, y = (x - slant * y) * wide, y * high
        return (middle[0] + x * math.cos(turn) - y * math.sin(turn), middle[1] + x * math.sin(turn) + y * math.cos(turn))

    marks = []
    for stroke in strokes:
        corner, points = None, []
        for point in stroke:  # a corner stays one
            points.append(points[-1] if point == corner else placed(point))
            corner = point
        marks.extend(curve(points))
    picture = bytearray()
    for y in range(SIDE):
        for x in range(SIDE):
            nearest = min((x - u) ** 2 + (y - v) ** 2 for u, v in marks) ** .5
            picture.append(round(255 * min(1, max(0, pen + .5 - nearest))))
    return picture


def main():
    dice, pixels, labels = random.Random(0), bytearray(), []
    for copy in range(EACH):
        for digit, strokes in STROKES.items():
            pixels += drawn(strokes, dice, .02 if copy < NEAT else .1)
            labels.append(digit)
    numbers = struct.pack(f"<{len(labels)}i", *labels)
    header = json.dumps({"labels": {"dtype": "I32", "shape": [len(labels)], "data_offsets": [0, len(numbers)]},
                         "pixels": {"dtype": "U8", "shape": [len(labels), SIDE, SIDE, 1],
                                    "data_offsets": [len(numbers), len(numbers) + len(pixels)]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + numbers + pixels)


if __name__ == "__main__":
    main()
