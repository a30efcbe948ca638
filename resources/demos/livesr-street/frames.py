"""The frames of the surveillance video as livesr-street trains on and is judged by: halves, small ones, and which pixels move."""
import numpy
from PIL import Image

UPSCALE = 2
TRAINED_FRAMES, HELD_OUT_FRAMES = 600, 640
MOVING, LEAST_MOVING = 20, 500  # of 255; pixels of a held-out half


def background_of(paths):
    """Median of about 60 frames of the whole clip."""
    chosen = paths[::max(1, len(paths) // 60)]
    return numpy.median(numpy.stack([numpy.asarray(Image.open(p)) for p in chosen]), 0).astype(numpy.int16)


def resized(picture, factor):
    return picture.resize((round(picture.width * factor), round(picture.height * factor)), Image.BICUBIC)


def half_of(path, background, right):
    """One half of a frame, the same half as small, and [height, width] which of its pixels move."""
    frame = Image.open(path)
    box = (frame.width // 2, 0, frame.width, frame.height) if right else (0, 0, frame.width // 2, frame.height)
    half = frame.crop(box)
    away = numpy.abs(numpy.asarray(half, dtype=numpy.int16) - background[box[1]:box[3], box[0]:box[2]]).max(-1)
    return half, resized(half, 1 / UPSCALE), away > MOVING


def trained(paths):
    return paths[:TRAINED_FRAMES:10]


def held_out(paths):
    return paths[HELD_OUT_FRAMES::3]
