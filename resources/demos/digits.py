"""The 5,000 handwritten digits of Debian's opencv-doc, as the training scripts of two demos see them.

The picture holds a row of 100 digits in each of five lines a class. Columns 80 to 99 are held out (1,000 digits), 70 to 79 choose what
training leaves open (500), the others train (3,500): no part touches another's writing but at one edge.
"""
import numpy
import torch
from PIL import Image

SIDE, CHOOSES, HELD_OUT = 20, 70, 80


def read_digits(path):
    """Pixels [5000, 1, 20, 20] from 0 to 1, labels, and the column of each digit in the picture."""
    picture = numpy.asarray(Image.open(path).convert("L"))
    cells = picture.reshape(50, SIDE, 100, SIDE).transpose(0, 2, 1, 3).reshape(5000, 1, SIDE, SIDE)
    labels = torch.arange(50).div(5, rounding_mode="floor").repeat_interleave(100)
    return torch.tensor(cells / 255.0, dtype=torch.float32), labels, torch.arange(100).repeat(50)


def parts_of(column):
    """Masks of the digits that are held out, that choose, and that train."""
    return column >= HELD_OUT, (column >= CHOOSES) & (column < HELD_OUT), column < CHOOSES


def moved(pixels, generator):
    """Each picture turned by up to 12 degrees, scaled by up to 10 %, sheared a little and moved by up to 2 pixels."""
    n = len(pixels)
    uniform = lambda most: (2 * torch.rand(n, generator=generator) - 1) * most
    angle, scale, shear = uniform(0.21), 1 + uniform(0.1), uniform(0.15)
    cos, sin = angle.cos() * scale, angle.sin() * scale
    theta = torch.stack([torch.stack([cos, -sin + shear, uniform(0.2)], 1), torch.stack([sin, cos, uniform(0.2)], 1)], 1)
    grid = torch.nn.functional.affine_grid(theta, pixels.shape, align_corners=False)
    return torch.nn.functional.grid_sample(pixels, grid, align_corners=False)
