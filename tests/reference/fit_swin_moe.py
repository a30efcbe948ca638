#!/usr/bin/env python3
"""The routing calibration of preset:swinv2-moe-small-c*: fit_swin_moe.py [FIRST [PICTURES]].

Draws the preset's weights of seed 0 and pictures FIRST to FIRST + PICTURES - 1 of random:N as the program does (seeded.py), lets all
pictures through block by block, and gives each gate the biases by which each expert is chosen by an even share of the tokens. Prints the
rows of kGates in core/models/presets.cpp; to stderr how far shares are from even, in points: of the pictures fitted, and of the first
JUDGED, in batches of 8, which by default the fit does not see (expert_calibration_test.cpp takes the same).
"""
import sys

import numpy as np
import torch

from make_swin_moe import PAPER
from seeded import draw, picture
from swin_moe import SwinMoE

CONFIG = dict(PAPER, num_experts=16, gate_bias=True, position_width=512, num_labels=1, mean=[0.5] * 3, deviation=[0.29] * 3)
FIRST, PICTURES, JUDGED, BATCH = 32, 48, 32, 8
STEPS = 3000  # of the search for a gate's biases


def deviation_of(name, tensor):
    """As core/models/swin_moe.cpp says of each matrix."""
    added = (2 * sum(CONFIG["depths"])) ** -0.5  # what all blocks add is then as much as came
    if name.endswith(".position.0.weight"):
        return 1.0
    gain = 2 if name.endswith(".gate.weight") else 1.5 * added if name.endswith(".down.weight") else 1
    return (added if name.endswith(".attention.output.weight") else gain) / tensor.shape[1] ** 0.5


def seeded():
    model = SwinMoE(CONFIG).eval()
    for name, tensor in model.state_dict().items():
        if name.endswith(".bias"):
            tensor.zero_()
        elif tensor.dim() == 2:
            tensor.copy_(torch.from_numpy(draw(name, tensor.numel(), deviation_of(name, tensor))).reshape(tensor.shape))
    return model


def pixels_of(first, count):
    size = CONFIG["image_size"]
    return torch.cat([picture(i, size, size) for i in range(first, first + count)]).permute(0, 2, 3, 1)


def points_from_even(chosen):
    shares = chosen.bincount(minlength=CONFIG["num_experts"]) / len(chosen)
    return 100 * (shares - 1 / CONFIG["num_experts"]).abs().max().item()


def balanced(scores):
    """Biases of thousandths with which no expert is much more often the best than another."""
    experts = scores.shape[1]
    bias, best, least = torch.zeros(experts), None, float("inf")
    for step in range(STEPS):
        rounded = ((bias - bias.mean()) * 1000).round() / 1000
        chosen = (scores + rounded).argmax(1)
        if points_from_even(chosen) < least:
            best, least = rounded, points_from_even(chosen)
        bias = bias - 0.5 * 0.998 ** step * (chosen.bincount(minlength=experts) / len(chosen) * experts - 1)
    return best


def fit(router, inputs):
    router.gate.bias.copy_(balanced(inputs[0] @ router.gate.weight.T))


def rows(model):
    for name, router in model.routers().items():
        cells = ", ".join(f"{bias:.3f}".rstrip("0").rstrip(".") for bias in router.gate.bias.tolist())
        yield f'    {{"{name.removesuffix(".mlp")}",\n     {{{cells}}}}},'


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    first, count = (int(word) for word in (sys.argv[1:] + [FIRST, PICTURES][len(sys.argv) - 1:])[:2])
    with np.errstate(over="ignore"):
        model, pixels, judged = seeded(), pixels_of(first, count), pixels_of(0, JUDGED)
    hooks = [router.register_forward_pre_hook(fit) for router in model.routers().values()]
    model(pixels)
    print("\n".join(rows(model)))
    fitted = [points_from_even(router.decision[0].argmax(1)) for router in model.routers().values()]
    for hook in hooks:
        hook.remove()
    chosen = {name: [] for name in model.routers()}
    for batch in judged.split(BATCH):
        model(batch)
        for name, router in model.routers().items():
            chosen[name].append(router.decision[0].argmax(1))
    print(f"points from even: fitted {[round(x, 2) for x in fitted]}, "
          f"of the first {JUDGED} {[round(points_from_even(torch.cat(of)), 2) for of in chosen.values()]}", file=sys.stderr)


if __name__ == "__main__":
    main()
