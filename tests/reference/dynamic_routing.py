"""DynamicRouting in PyTorch, from its definition: a grid of layers and scales whose gates open paths.

Every picture of a batch is computed by itself, along its own paths, as the definition has it.
`export()` gives the layout of docs/models.md. make_dynamic_routing.py compares with it,
resources/demos/dynamic-routing-street/train.py trains it.
"""
import torch
from torch import nn
from torch.nn.functional import interpolate

KEEP, UP, DOWN = "keep", "up", "down"
STEP = {KEEP: 0, UP: -1, DOWN: 1}


class Unit(nn.Module):
    """A convolution with batch norm, named as in our layout."""

    def __init__(self, inputs, outputs, eps, size=1, stride=1, padding=0):
        super().__init__()
        self.c = nn.Conv2d(inputs, outputs, size, stride, padding, bias=False)
        self.norm = nn.BatchNorm2d(outputs, eps=eps)

    def forward(self, x):
        return self.norm(self.c(x))


class Separable(nn.Module):
    def __init__(self, channels, eps, stride=1):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False)
        self.pointwise = Unit(channels, channels, eps)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Gate(nn.Module):
    def __init__(self, channels, ways, small, eps):
        super().__init__()
        self.ways, self.small = ways, small
        self.convolution = Unit(channels, channels // 2, eps)
        for way in ways:
            setattr(self, way, nn.Linear(channels // 2, 1))

    def forward(self, x):
        if self.small:
            x = interpolate(x, size=[max(1, side // 4) for side in x.shape[2:]], mode="bilinear", align_corners=False)
        y = torch.relu(self.convolution(x)).mean((2, 3))
        return torch.relu(torch.tanh(torch.cat([getattr(self, way)(y) for way in self.ways], 1)))


class Cell(nn.Module):
    """A node: its gate, what it computes, and its ways."""

    def __init__(self, c, layer, level):
        super().__init__()
        channels, eps, more = c["stem_channels"] << level, c["batch_norm_eps"], layer < c["num_layers"]
        self.ways = [KEEP] + [UP] * (more and level > 0) + [DOWN] * (more and level + 1 < c["num_levels"])
        self.gate = Gate(channels, self.ways, c["gate"] == "small", eps)
        self.cell = nn.ModuleList([Separable(channels, eps), Separable(channels, eps)])
        if UP in self.ways:
            self.up = Unit(channels, channels // 2, eps)
        if DOWN in self.ways:
            self.down = Unit(channels, 2 * channels, eps, stride=2)

    def compute(self, x):
        return torch.relu(x + self.cell[1](torch.relu(self.cell[0](x))))

    def move(self, y, way, finer):
        """Maps of this node at the level that `way` leads to; `finer`: extents of the level above."""
        if way == KEEP:
            return y
        if way == DOWN:
            return torch.relu(self.down(y))
        return interpolate(torch.relu(self.up(y)), size=finer, mode="bilinear", align_corners=False)


class DynamicRouting(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.config = c
        stem, levels, eps = c["stem_channels"], c["num_levels"], c["batch_norm_eps"]
        self.register_buffer("mean", torch.tensor(c["mean"]))
        self.register_buffer("deviation", torch.tensor(c["deviation"]))
        self.stem = nn.ModuleList([Unit(c["num_channels"], stem, eps, 3, 2), Separable(stem, eps), Separable(stem, eps, 2)])
        self.cells = nn.ModuleList(nn.ModuleList(Cell(c, layer, level) for level in range(min(layer + 1, levels)))
                                   for layer in range(c["num_layers"] + 1))
        self.head = nn.ModuleDict({str(i): Unit(stem << i, stem << max(0, i - 1), eps) for i in range(levels)})
        self.head["predictor"] = nn.Conv2d(stem, c["num_labels"], 3, padding=1)

    def stem_map(self, pixels):
        x = (pixels - self.mean[:, None, None]) / self.deviation[:, None, None]
        for unit in self.stem:
            x = torch.relu(unit(x))
        return x

    def sizes(self, finest):
        sizes = [tuple(finest)]
        for _ in range(1, self.config["num_levels"]):
            sizes.append(tuple((side + 1) // 2 for side in sizes[-1]))
        return sizes

    def node(self, cell, name, x, level, sizes, into, seen):
        """What one picture's maps x, or None where nothing came, do at a node: puts it into the next layer's lists."""
        if x is None:
            if self.config["unreached"] == "skip":
                return
            x = torch.zeros(1, self.config["stem_channels"] << level, *sizes[level])
        threshold, gates = self.config["threshold"], cell.gate(x)[0]
        total = gates.sum()
        seen(name + ".compute", [int(total >= threshold)], [1.0], (total - threshold).abs())
        if total < threshold:
            into[level].append((x, 1.0))
            return
        y = cell.compute(x)
        if len(cell.ways) == 1:
            into[level].append((y * gates[0], 1.0))
            return
        best = sorted((i for i in range(len(gates)) if gates[i] > threshold), key=lambda i: -float(gates[i]))
        pad = [-1] * (len(gates) - len(best))
        seen(name + ".ways", best + pad, [float(gates[i]) for i in best] + [0.0] * len(pad), (gates - threshold).abs().min())
        for i in sorted(best):
            way = cell.ways[i]
            maps = cell.move(y, way, sizes[level - 1]) * gates[i]
            into[level + STEP[way]].append((maps, float(gates[i])))

    def head_map(self, last, sizes):
        finer = None
        for level in reversed(range(self.config["num_levels"])):
            x = torch.zeros(1, self.config["stem_channels"] << level, *sizes[level])
            for maps, _ in last[level]:
                x = x + maps
            if finer is not None:
                x = x + interpolate(finer, size=sizes[level], mode="bilinear", align_corners=False)
            finer = torch.relu(self.head[str(level)](x))
        return self.head["predictor"](finer)

    def picture(self, pixels, seen):
        """pixels [1, C, H, W]; logits [1, labels, H, W]. seen(router, branches, weights, margin) is told each decision."""
        x, levels = self.stem_map(pixels), self.config["num_levels"]
        sizes = self.sizes(x.shape[2:])
        now = [[(x, 1.0)]]
        for layer, cells in enumerate(self.cells):
            into = [[] for _ in range(levels)]
            for level, cell in enumerate(cells):
                came, name = now[level], f"cells.{layer}.{level}"
                if layer > 0 and self.config["unreached"] == "skip":
                    weight = sum(w for _, w in came)
                    limit = self.config["threshold"] / 2
                    seen(name + ".reached", [0 if weight > limit else -1], [weight if came else 0.0], abs(weight - limit))
                self.node(cell, name, sum(maps for maps, _ in came) if came else None, level, sizes, into, seen)
            now = into
        return interpolate(self.head_map(now, sizes), size=pixels.shape[2:], mode="bilinear", align_corners=False)

    def export(self):
        """Our layout: weights of convolutions [outputs, height, width, inputs / groups]."""
        tensors = {"pixels.mean": self.mean, "pixels.deviation": self.deviation}
        for name, tensor in self.state_dict().items():
            if name in ("mean", "deviation") or name.endswith("num_batches_tracked"):
                continue
            name = name.replace(".c.", ".")
            tensors[name] = tensor.permute(0, 2, 3, 1).contiguous() if tensor.dim() == 4 else tensor
        return tensors


def routers(model):
    """Gates that compute or skip, and those that choose among ways."""
    cells = [cell for layer in model.cells for cell in layer]
    return len(cells) + sum(len(cell.ways) > 1 for cell in cells)


def multiplications(model, height, width):
    """Of one picture with every gate open: {"stem", "gates", "cells", "head"}."""
    counts = dict.fromkeys(("stem", "gates", "cells", "head"), 0)
    names = {module: name for name, module in model.named_modules()}

    def count(module, arguments, y):
        name = names[module]
        part = "gates" if ".gate." in name else name.split(".")[0]
        counts[part] += module.weight[0].numel() * y[0].numel()

    hooks = [m.register_forward_hook(count) for m in model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    x = model.stem_map(torch.zeros(1, model.config["num_channels"], height, width))
    sizes = model.sizes(x.shape[2:])
    maps = [torch.zeros(1, model.config["stem_channels"] << i, *size) for i, size in enumerate(sizes)]
    for layer in model.cells:
        for level, cell in enumerate(layer):
            cell.gate(maps[level])
            y = cell.compute(maps[level])
            for way in cell.ways:
                cell.move(y, way, sizes[level - 1])
    model.head_map([[(m, 1.0)] for m in maps], sizes)
    for hook in hooks:
        hook.remove()
    return counts, x.shape[1:]
