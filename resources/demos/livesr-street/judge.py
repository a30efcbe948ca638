#!/usr/bin/env python3
"""The quality of livesr-street's weights, a row each for routing, the bicubic filter and every network alone, as its card has them.

    judge.py test.safetensors

What prepare.py made. PSNR of the moving pixels, the mean over frames with its 95 % interval, and what routing wins over the bicubic filter;
as PyTorch has it. Needs torch, safetensors, numpy and PIL.
"""
import json
import math
import pathlib
import sys

import numpy
import torch
from PIL import Image
from safetensors.torch import load_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tests" / "reference"))
from frames import UPSCALE, resized  # noqa: E402
from livesr import LiveSR  # noqa: E402


def trained_model():
    config = json.loads((HERE / "config.json").read_text())
    model, tensors = LiveSR(config | dict(mean=[0.45] * 3, deviation=[0.25] * 3)), load_file(HERE / "model.safetensors")
    state = model.state_dict()
    for name in state:
        stored = tensors.get(name.replace(".c.", "."))
        if stored is not None:
            state[name] = stored.permute(0, 3, 1, 2) if stored.dim() == 4 else stored
    state["clusters"] = torch.stack([tensors[f"clusters.{k}"] for k in range(config["num_subnets"])])
    state["mean"], state["deviation"] = tensors["pixels.mean"], tensors["pixels.deviation"]
    model.load_state_dict(state)
    return model.eval()


def as_floats(pixels):
    return pixels.permute(2, 0, 1).float() / 255


@torch.no_grad()
def main():
    data, model = load_file(sys.argv[1]), trained_model()
    scores, networks = model.scores, len(model.subnets)
    rows = {name: [] for name in ("routing", "bicubic", *(f"network {k + 1}" for k in range(networks)))}
    for small, large, judged in zip(data["pixels"], data["targets"], data["judged"]):
        target, moving = as_floats(large), judged.bool()
        psnr = lambda picture: -10 * math.log10((picture.clamp(0, 1) - target).square().mean(0)[moving].mean().item())
        rows["routing"].append(psnr(model(as_floats(small)[None])[0][0]))
        enlarged = numpy.asarray(resized(Image.fromarray(small.numpy()), UPSCALE)).copy()
        rows["bicubic"].append(psnr(as_floats(torch.from_numpy(enlarged))))
        for k in range(networks):
            model.scores = lambda features, k=k: torch.nn.functional.one_hot(torch.full((len(features),), k), networks).float()
            rows[f"network {k + 1}"].append(psnr(model(as_floats(small)[None])[0][0]))
        model.scores = scores
    rows["routing - bicubic"] = [a - b for a, b in zip(rows["routing"], rows["bicubic"])]
    for name, values in rows.items():
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
        half = 1.96 * deviation / math.sqrt(len(values))
        print(f"{name:18} {mean:6.2f} dB [{mean - half:.2f}, {mean + half:.2f}] of {len(values)} frames")


if __name__ == "__main__":
    main()
