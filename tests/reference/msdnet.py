"""MSDNet in PyTorch, from its definition: multi-scale layers, exits by the largest softmax.

`state_dict()` renamed by `export()` is the layout of docs/models.md. make_msdnet.py compares with
it, resources/demos/msdnet-digits/train.py trains it.
"""
import math

import torch
from torch import nn


def conv(inputs, outputs, size=3, stride=1, bias=False):
    """A convolution with batch norm and ReLU; its parameters are named as in our layout."""
    return nn.ModuleDict({"c": nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=bias),
                          "norm": nn.BatchNorm2d(outputs)})


def run(unit, x):
    return torch.relu(unit["norm"](unit["c"](x)))


class Path(nn.Module):
    """To `outputs` channels, by way of fewer where there is a bottleneck."""

    def __init__(self, inputs, outputs, factor, stride, bottleneck):
        super().__init__()
        inner = min(inputs, factor * outputs) if bottleneck else inputs
        self.reduce = conv(inputs, inner, 1) if bottleneck else None
        self.convolution = conv(inner, outputs, 3, stride)

    def forward(self, x):
        return run(self.convolution, x if self.reduce is None else run(self.reduce, x))


class Step(nn.Module):
    """What one scale gets of a layer."""

    def __init__(self, c, width, scale, from_finer):
        super().__init__()
        factors, out = c["scale_factors"], c["growth_rate"] * c["scale_factors"][scale]
        bottlenecks = c.get("bottleneck_factors", factors)
        self.down = None
        if from_finer:
            out //= 2
            self.down = Path(width * factors[scale - 1], out, bottlenecks[scale - 1], 2, c["bottleneck"])
        self.normal = Path(width * factors[scale], out, bottlenecks[scale], 1, c["bottleneck"])
        self.transition = None

    def forward(self, finer, x):
        parts = [x] + ([self.down(finer)] if self.down else []) + [self.normal(x)]
        y = torch.cat(parts, 1)
        return y if self.transition is None else run(self.transition, y)


class MSDNet(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.config = c
        factors, layers = c["scale_factors"], sum(c["block_layers"])
        scales, width = len(factors), c["initial_channels"]
        self.register_buffer("mean", torch.tensor(c["mean"]))
        self.register_buffer("deviation", torch.tensor(c["deviation"]))
        pooled = c["stem"] == "pooled"
        self.stem = nn.ModuleList([conv(c["num_channels"], width * factors[0], 7 if pooled else 3, 2 if pooled else 1, bias=True)])
        self.stem.extend(conv(width * factors[s - 1], width * factors[s], 3, 2) for s in range(1, scales))
        interval = math.ceil(layers / scales)
        finest = lambda n: 0 if c["prune"] == "none" or n < 1 else (n - 1) // interval
        self.layers, self.first = nn.ModuleList(), []
        self.exits = nn.ModuleList()
        number = 0
        for block in c["block_layers"]:
            for _ in range(block):
                number += 1
                came, first = finest(number - 1), finest(number)
                begin = scales - 1 if number == layers else first
                steps = nn.ModuleDict({str(s): Step(c, width, s, s > first or came < first) for s in range(begin, scales)})
                width += c["growth_rate"]
                if came < first and c["reduction"] < 1:
                    fewer = math.floor(c["reduction"] * width)
                    for s in range(begin, scales):
                        steps[str(s)].transition = conv(width * factors[s], fewer * factors[s], 1)
                    width = fewer
                self.layers.append(steps)
            features = c["classifier_channels"] or width * factors[-1]
            self.exits.append(nn.ModuleDict({
                "convolutions": nn.ModuleList([conv(width * factors[-1], features, 3, 2), conv(features, features, 3, 2)]),
                "head": nn.Linear(features, c["num_labels"])}))

    def forward(self, pixels):
        """pixels [N, C, H, W] from 0 to 1; the logits of every exit, computed for all pictures."""
        x = (pixels - self.mean[:, None, None]) / self.deviation[:, None, None]
        maps = {}
        for s, unit in enumerate(self.stem):
            x = run(unit, x)
            if s == 0 and self.config["stem"] == "pooled":
                x = nn.functional.max_pool2d(x, 3, 2, 1)
            maps[s] = x
        logits, number = [], 0
        for block, end in zip(self.config["block_layers"], self.exits):
            for steps in self.layers[number:number + block]:
                maps = {int(s): step(maps.get(int(s) - 1), maps[int(s)]) for s, step in steps.items()}
            number += block
            y = maps[len(self.stem) - 1]
            for unit in end["convolutions"]:
                y = run(unit, y)
            logits.append(end["head"](y.mean((2, 3))))
        return logits

    def export(self):
        """Our layout: weights of convolutions [outputs, height, width, inputs]."""
        tensors = {"pixels.mean": self.mean, "pixels.deviation": self.deviation}
        for name, tensor in self.state_dict().items():
            if name in ("mean", "deviation") or name.endswith("num_batches_tracked"):
                continue
            name = name.replace(".c.", ".")
            tensors[name] = tensor.permute(0, 2, 3, 1).contiguous() if tensor.dim() == 4 else tensor
        return tensors


def multiplications(model, size):
    """Multiplications of one picture up to each exit, by counting what convolutions and heads do."""
    counts, total = [], [0]

    def count(module, arguments, y):
        per = module.weight[0].numel()
        total[0] += per * y[0].numel()

    hooks = [m.register_forward_hook(count) for m in model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    ends = [end["head"].register_forward_hook(lambda *_: counts.append(total[0])) for end in model.exits]
    model.eval()
    with torch.no_grad():
        model(torch.zeros(1, model.config["num_channels"], size, size))
    for hook in hooks + ends:
        hook.remove()
    return counts
