"""The tiles of the surveillance video as dynamic-routing-street trains on and is judged by: pixels, who is a person, what is judged."""
import pathlib
import sys

import numpy
from PIL import Image, ImageFilter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "livesr-street"))
from frames import TRAINED_FRAMES, background_of, held_out  # noqa: E402,F401

TILE = 96
MOVING = 25          # of 255: a pixel differs from the median of the clip
NEIGHBOURHOOD = 16   # pixels around a moving one, along rows and columns, that are judged
CROWD, DENSITY = 11, 0.25  # a moving pixel belongs to somebody where so much of so large a square around it moves


def trained(paths):
    return paths[:TRAINED_FRAMES:3]


def mask_of(frame, background):
    """[height, width] u8, 1 where somebody is: what differs from the background, without specks, small holes closed."""
    away = numpy.abs(numpy.asarray(frame, dtype=numpy.int16) - background).max(-1)
    moves = Image.fromarray((away > MOVING).astype(numpy.uint8) * 255).filter(ImageFilter.MedianFilter(5))
    moves = moves.filter(ImageFilter.MaxFilter(5)).filter(ImageFilter.MinFilter(5))
    dense = numpy.asarray(moves.filter(ImageFilter.BoxBlur(CROWD // 2))) >= 255 * DENSITY
    return ((numpy.asarray(moves) > 0) & dense).astype(numpy.uint8)


def near(mask):
    """[height, width] u8, 1 where somebody is, or at most NEIGHBOURHOOD pixels beside."""
    return numpy.asarray(Image.fromarray(mask).filter(ImageFilter.MaxFilter(2 * NEIGHBOURHOOD + 1)))


def half_of(path, background, right):
    """One half of a frame [height, width, 3], u8, and its mask, which is made of the whole frame."""
    frame = Image.open(path)
    mask, middle = mask_of(frame, background), frame.width // 2
    columns = slice(middle, None) if right else slice(None, middle)
    return numpy.asarray(frame)[:, columns], mask[:, columns]


def tiled(picture):
    """[rows * columns, TILE, TILE, ...] of what is whole."""
    rows, columns = picture.shape[0] // TILE, picture.shape[1] // TILE
    cut = picture[:rows * TILE, :columns * TILE].reshape(rows, TILE, columns, TILE, *picture.shape[2:])
    return cut.swapaxes(1, 2).reshape(rows * columns, TILE, TILE, *picture.shape[2:])


def held_out_tiles(paths, background):
    """Of held-out right halves: pixels [N, 96, 96, 3], masks and what is near somebody [N, 96, 96], all u8; [N] whose frame."""
    halves = [half_of(path, background, right=True) for path in held_out(paths)]
    parts = [(tiled(pixels), tiled(mask), tiled(near(mask))) for pixels, mask in halves]
    frame = numpy.concatenate([numpy.full(len(part[0]), number) for number, part in enumerate(parts)])
    return (*(numpy.concatenate([part[i] for part in parts]) for i in range(3)), frame)
