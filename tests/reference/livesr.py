"""LiveSR in PyTorch, from its definition: patches, a ResNet's features, the nearest cluster's network.

`export()` gives the layout of docs/models.md. make_livesr.py compares with it,
resources/demos/livesr-street/train.py trains it.
"""
import math

import torch
from torch import nn


class Norm(nn.Module):
    """A convolution with batch norm, named as in our layout."""

    def __init__(self, inputs, outputs, size, stride, eps):
        super().__init__()
        self.c = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs, eps=eps)

    def forward(self, x):
        return self.norm(self.c(x))


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride, eps):
        super().__init__()
        self.first = Norm(inputs, outputs, 3, stride, eps)
        self.second = Norm(outputs, outputs, 3, 1, eps)
        self.shortcut = Norm(inputs, outputs, 1, stride, eps) if stride != 1 or inputs != outputs else None

    def forward(self, x):
        y = self.second(torch.relu(self.first(x)))
        return torch.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Classifier(nn.Module):
    """A ResNet's features [N, channels] of patches."""

    def __init__(self, c):
        super().__init__()
        channels, eps = c["classifier_channels"], c["batch_norm_eps"]
        self.pooled = c["classifier_stem"] == "pooled"
        self.stem = Norm(c["num_channels"], channels[0], 7 if self.pooled else 3, 2 if self.pooled else 1, eps)
        self.layers, came = nn.ModuleList(), channels[0]
        for stage, (width, blocks) in enumerate(zip(channels, c["classifier_blocks"])):
            self.layers.append(nn.ModuleList())
            for i in range(blocks):
                self.layers[-1].append(BasicBlock(came, width, 2 if stage > 0 and i == 0 else 1, eps))
                came = width

    def forward(self, x):
        x = torch.relu(self.stem(x))
        if self.pooled:
            x = nn.functional.max_pool2d(x, 3, 2, 1)
        for stage in self.layers:
            for block in stage:
                x = block(x)
        return x.mean((2, 3))


def conv(inputs, outputs):
    return nn.Conv2d(inputs, outputs, 3, padding=1)


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first, self.second = conv(channels, channels), conv(channels, channels)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(x)))


class Subnet(nn.Module):
    """A patch [N, C, h, w] to [N, C, h upscale, w upscale]."""

    def __init__(self, colours, channels, blocks, upscale):
        super().__init__()
        self.head = conv(colours, channels)
        self.body = nn.Sequential(*[Block(channels) for _ in range(blocks)])
        self.end = conv(channels, channels)
        self.up = nn.ModuleList(conv(channels, 4 * channels) for _ in range(round(math.log2(upscale))))
        self.tail = conv(channels, colours)

    def forward(self, x):
        x = self.head(x)
        x = x + self.end(self.body(x))
        for up in self.up:
            x = nn.functional.pixel_shuffle(up(x), 2)
        return self.tail(x)


def places(extent, patch, stride, border):
    """First pixels of the patches along a side."""
    whole = list(range(0, extent - patch + 1, stride))
    return whole if border == "cut" or whole[-1] + patch == extent else whole + [extent - patch]


class LiveSR(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.config = c
        networks = c["num_subnets"]
        each = lambda key: c[key] if isinstance(c[key], list) else [c[key]] * networks
        self.register_buffer("mean", torch.tensor(c["mean"]))
        self.register_buffer("deviation", torch.tensor(c["deviation"]))
        self.classifier = Classifier(c)
        self.register_buffer("clusters", torch.zeros(networks, c["classifier_channels"][-1]))
        self.subnets = nn.ModuleList(Subnet(c["num_channels"], f, n, c["upscale"])
                                     for f, n in zip(each("subnet_channels"), each("subnet_blocks")))

    def patches(self, pixels):
        """Patches [N, rows x columns, C, h, w], row by row, and where they begin."""
        c, (height, width) = self.config, pixels.shape[2:]
        at = [(y, x) for y in places(height, c["patch_size"], c["patch_stride"], c["border"])
              for x in places(width, c["patch_size"], c["patch_stride"], c["border"])]
        return torch.stack([pixels[:, :, y:y + c["patch_size"], x:x + c["patch_size"]] for y, x in at], 1), at

    def features(self, patches):
        if self.config["normalization"] == "standardize":
            patches = (patches - self.mean[:, None, None]) / self.deviation[:, None, None]
        return self.classifier(patches)

    def scores(self, features):
        return 1 / (features[:, None] - self.clusters).square().sum(-1).clamp_min(1e-30)

    def forward(self, pixels):
        """pixels [N, C, H, W]; the enlarged pictures and the scores [patches, networks]."""
        c = self.config
        cells, at = self.patches(pixels)
        flat = cells.flatten(0, 1)
        scores = self.scores(self.features(flat))
        chosen, scale, size = scores.argmax(1), c["upscale"], c["patch_size"] * c["upscale"]
        results = torch.zeros(len(flat), c["num_channels"], size, size)
        for k, subnet in enumerate(self.subnets):
            if (chosen == k).any():
                results[chosen == k] = subnet(flat[chosen == k])
        results = results.reshape(*cells.shape[:2], *results.shape[1:])
        height, width = (max(p[i] for p in at) + c["patch_size"] for i in (0, 1))
        total = torch.zeros(len(pixels), c["num_channels"], height * scale, width * scale)
        times = torch.zeros_like(total)
        for i, (y, x) in enumerate(at):
            here = (..., slice(y * scale, y * scale + size), slice(x * scale, x * scale + size))
            total[here] += results[:, i]
            times[here] += 1
        return total / times, scores

    def export(self):
        """Our layout: weights of convolutions [outputs, height, width, inputs]."""
        tensors = {f"clusters.{k}": centre for k, centre in enumerate(self.clusters)}
        if self.config["normalization"] == "standardize":
            tensors.update({"pixels.mean": self.mean, "pixels.deviation": self.deviation})
        for name, tensor in self.state_dict().items():
            if name in ("mean", "deviation", "clusters") or name.endswith("num_batches_tracked"):
                continue
            name = name.replace(".c.", ".")
            tensors[name] = tensor.permute(0, 2, 3, 1).contiguous() if tensor.dim() == 4 else tensor
        return tensors


def counts(subnet, patch):
    """Convolutions, parameters and multiplications of one patch."""
    total = [0, 0]

    def count(module, arguments, y):
        total[0] += 1
        total[1] += module.weight[0].numel() * y[0].numel()

    hooks = [m.register_forward_hook(count) for m in subnet.modules() if isinstance(m, nn.Conv2d)]
    with torch.no_grad():
        subnet(torch.zeros(1, subnet.head.in_channels, patch, patch))
    for hook in hooks:
        hook.remove()
    return total[0], sum(p.numel() for p in subnet.parameters()), total[1]
