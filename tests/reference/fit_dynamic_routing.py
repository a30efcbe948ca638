#!/usr/bin/env python3
"""The routing calibration of preset:dynamic-routing-{a,b,c,raw}: fit_dynamic_routing.py ARCH [PICTURES [HEIGHT WIDTH]].

Draws the preset's weights of seed 0 and the pictures of random:N as the program does (seeded.py), at the preset's
own size; then goes through the grid node by node. Of each way of a node, in the pictures that come there, the scores get a deviation of
SPREAD, by that of the weights that they are drawn with, and the bias that leaves the way open in a share
p of them; p is what is left to spend, of all pictures' stated multiplications, over what the nodes left
could cost. Prints the rows of core/models/dynamic_routing_gates.cpp, and to stderr what was spent.
"""
import math
import sys

import numpy as np
import torch
from torch.nn.functional import interpolate

from dynamic_routing import STEP, DynamicRouting
from seeded import draw, picture

STATED = {"a": 52.5e9, "b": 58.9e9, "c": 59.8e9, "raw": 114.9e9}  # by Brainstorm (OSDI'23), of its networks
SPREAD = 30.0  # of scores: gates that are open are nearly 1, so that the maps of all pictures stay of one size
WIDE = 20.0  # between the scores on both sides of a gate's bias: more brings nothing
EARLY, EARLY_SHARE = 4, 0.6  # until all levels are there, so that pictures reach them
STEM, LEVELS, LAYERS = 64, 4, 16


def deviation_of(name):
    """As core/models/dynamic_routing_plan.cpp says of each weight; None: it is no matrix or convolution."""
    parts = name.split(".")
    if not name.endswith(".weight") or name.endswith(".norm.weight"):
        return None
    if name.endswith(".depthwise.weight"):
        return math.sqrt(1 / 9)
    if name == "head.predictor.weight":
        return math.sqrt(1 / (9 * STEM))
    if parts[0] == "head":
        return math.sqrt(2 / (STEM << int(parts[1])))
    if parts[0] == "stem":
        return math.sqrt(2 / (27 if parts[1] == "0" else STEM))
    channels = STEM << int(parts[2])
    if name.endswith(".cell.1.pointwise.weight"):
        return math.sqrt(0.25 / channels)
    if ".gate." in name and not name.endswith(".convolution.weight"):
        return math.sqrt(4 / channels)
    if parts[3] in ("up", "down"):
        return math.sqrt(1 / channels)
    return math.sqrt(2 / channels)


def seeded(arch):
    model = DynamicRouting(dict(num_channels=3, num_labels=19, stem_channels=STEM, num_levels=LEVELS, num_layers=LAYERS,
                                gate="full" if arch == "raw" else "small", unreached="skip", threshold=1e-4, batch_norm_eps=1e-5,
                                mean=[0.5] * 3, deviation=[0.29] * 3)).eval()
    for stored, tensor in model.state_dict().items():
        name = stored.replace(".c.", ".")
        deviation = deviation_of(name)
        if deviation is not None:
            ours = torch.from_numpy(draw(name, tensor.numel(), deviation))
            convolution = tensor.dim() == 4
            ours = ours.reshape((tensor.permute(0, 2, 3, 1) if convolution else tensor).shape)
            tensor.copy_(ours.permute(0, 3, 1, 2) if convolution else ours)
        elif name.endswith(".bias"):
            tensor.zero_()
    return model.to(memory_format=torch.channels_last)


class Costs:
    """Multiplications of a picture."""

    def __init__(self, size, sizes, arch):
        self.pixels, self.small, self.sizes = [a * b for a, b in sizes], arch != "raw", sizes
        first = ((size[0] - 3) // 2 + 1) * ((size[1] - 3) // 2 + 1)
        self.fixed = (27 * STEM + 9 * STEM + STEM * STEM) * first + (9 * STEM + STEM * STEM + 9 * STEM * 19) * self.pixels[0]
        self.fixed += sum((STEM << i) * (STEM << max(0, i - 1)) * self.pixels[i] for i in range(LEVELS))

    def gate(self, level):
        height, width = (max(1, side // 4) if self.small else side for side in self.sizes[level])
        return (STEM << level) ** 2 // 2 * height * width

    def cell(self, level):
        channels = STEM << level
        return 2 * (channels * channels + 9 * channels) * self.pixels[level]

    def way(self, level, way):
        channels = STEM << level
        return {"keep": 0, "up": channels * channels // 2 * self.pixels[level],
                "down": 2 * channels * channels * self.pixels[min(level + 1, LEVELS - 1)]}[way]


def share_to_open(costs, rest, left, pictures):
    """The share p at which what is left to spend would be spent, were all gates apart."""
    least, most = 0.0, 1.0
    for _ in range(30):
        p = (least + most) / 2
        cost = sum(costs.gate(i) + costs.cell(i) * (1 - (1 - p) ** len(ways)) + p * sum(costs.way(i, w) for w in ways) for i, ways in rest)
        least, most = (p, most) if cost * pictures < left else (least, p)
    return min(0.95, max(0.05, p))


class Fit:
    def __init__(self, arch, pictures, size):
        self.model, self.stated = seeded(arch), STATED[arch] * size[0] * size[1] / (1024 * 2048)
        maps = [self.model.stem_map(picture(i, *size).contiguous(memory_format=torch.channels_last)) for i in range(pictures)]
        self.sizes = self.model.sizes(maps[0].shape[2:])
        self.costs = Costs(size, self.sizes, arch)
        self.spent = [self.costs.fixed] * pictures
        self.came = [dict(enumerate(maps))] + [{} for _ in range(LEVELS - 1)]
        self.rows, self.shares, self.carry = [], [], 0.0

    def way(self, name, features, linear, p):
        """Fits a way's bias and deviation; its gates."""
        base = deviation_of(name + ".weight")
        raw = features.double() @ linear.weight[0].double()
        deviation = float(f"{base * SPREAD / float(raw.std()):.4g}")
        scores = (raw * (deviation / base)).sort(descending=True).values
        count = len(scores)
        # Of three cuts the one whose neighbours lie farthest apart: their gates are fully open or closed, so that rounding does not show.
        wanted = min(count - 1, max(1, round(count * p + self.carry)))
        # Where more is to spend than one closed picture of each leaves, none is given away.
        least = count - 1 if count * p > count - 1 else max(1, wanted - 1)
        cuts = range(least, min(count - 1, wanted + 1) + 1)
        opened = max(cuts, key=lambda n: (min(float(scores[n - 1] - scores[n]), WIDE), -abs(n - wanted)))
        self.carry = max(-2.0, min(2.0, self.carry + count * p - opened))
        bias = float(f"{-float(scores[opened - 1] + scores[opened]) / 2:.6g}")
        self.rows.append((bias, deviation))
        self.shares.append(opened / count)
        return torch.relu(torch.tanh(features @ (linear.weight[0] * (deviation / base)) + bias))

    def features(self, gate, x):
        if gate.small:
            x = interpolate(x, size=[max(1, side // 4) for side in x.shape[2:]], mode="bilinear", align_corners=False)
        return torch.relu(gate.convolution(x)).mean((2, 3))

    def node(self, layer, level, rest, into):
        cell, came, name = self.model.cells[layer][level], self.came[level], f"cells.{layer}.{level}.gate."
        assert len(came) > 1, "a node that a picture alone reaches has nothing to fit"
        p = share_to_open(self.costs, rest, self.stated * len(self.spent) - sum(self.spent), self.reaching)
        if layer < EARLY:
            p = max(p, EARLY_SHARE)
        features = torch.cat([self.features(cell.gate, came[i]) for i in sorted(came)])
        gates = torch.stack([self.way(name + way, features, getattr(cell.gate, way), p) for way in cell.ways], 1)
        for i, g in zip(sorted(came), gates):
            x = came.pop(i)
            self.spent[i] += self.costs.gate(level)
            if g.sum() < 1e-4:
                into(level, i, x)
                continue
            self.spent[i] += self.costs.cell(level)
            y = cell.compute(x)
            for way, weight in zip(cell.ways, g):
                if len(cell.ways) == 1 or weight > 1e-4:
                    self.spent[i] += self.costs.way(level, way)
                    into(level + STEP[way], i, cell.move(y, way, self.sizes[level - 1]) * weight)
        of_maps = features.mean(1)
        print(f"{name} p {p:.3f}, came {len(gates)}, computed {int((gates.sum(1) >= 1e-4).sum())}, "
              f"features {float(of_maps.min()):.3g} to {float(of_maps.max()):.3g}",
              file=sys.stderr, flush=True)

    def run(self):
        nodes = [(layer, level) for layer, cells in enumerate(self.model.cells) for level in range(len(cells))]
        for layer, cells in enumerate(self.model.cells):
            following = [{} for _ in range(LEVELS)]

            def into(level, i, maps):
                following[level][i] = following[level][i] + maps if i in following[level] else maps

            self.reaching = sum(len(came) for came in self.came[:len(cells)]) / len(cells)
            for level in range(len(cells)):
                rest = [(j, self.model.cells[m][j].ways) for m, j in nodes if (m, j) >= (layer, level)]
                self.node(layer, level, rest, into)
            self.came = following


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    arch, pictures = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 12
    with np.errstate(over="ignore"):
        fit = Fit(arch, pictures, tuple(int(side) for side in sys.argv[3:5]) or (1024, 2048))
        fit.run()
    mean = sum(fit.spent) / len(fit.spent)
    print(f"{arch}: {mean / 1e9:.2f} of {fit.stated / 1e9:.2f} G multiplications ({100 * mean / fit.stated - 100:+.1f} %), "
          f"{min(fit.spent) / 1e9:.2f} to {max(fit.spent) / 1e9:.2f}; "
          f"open shares {min(fit.shares):.2f} to {max(fit.shares):.2f}; pictures {[round(x / 1e9, 3) for x in fit.spent]}",
          file=sys.stderr)
    cells = [f"{{{bias:.6g}, {deviation:.4g}}}" for bias, deviation in fit.rows]
    print(", ".join(cells))


if __name__ == "__main__":
    main()
