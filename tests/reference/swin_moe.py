"""SwinV2-MoE in PyTorch, from its definition: windows that attend, grids that merge, experts by priority.

`state_dict()` is the layout of docs/models.md. make_swin_moe.py compares with it, resources/demos/swinv2-moe-digits/train.py trains it.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

SMALLEST_LENGTH = 1e-12
LARGEST_SCALE = math.log(100)


class MLP(nn.Module):
    """Two layers; `biases`: which of them add one, none, first or both."""

    def __init__(self, width, hidden, biases, activation):
        super().__init__()
        self.up = nn.Linear(width, hidden, bias=biases != "none")
        self.down = nn.Linear(hidden, width, bias=biases == "both")
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.up(x)))


class Experts(nn.Module):
    """Tokens [cells, width] to the experts that a gate chooses; `decision` is what it decided last."""

    def __init__(self, c, width, activation):
        super().__init__()
        hidden = round(width * c["mlp_ratio"])
        self.config = c
        self.gate = nn.Linear(width, c["num_experts"], bias=c["gate_bias"])
        self.experts = nn.ModuleList(MLP(width, hidden, c["expert_bias"], activation) for _ in range(c["num_experts"]))
        self.decision = None

    def kept(self, probabilities, chosen):
        """Which choices [cells, k] have a place. Among all cells of the batch the most confident are served first."""
        c = self.config
        keep = torch.ones_like(chosen, dtype=torch.bool)
        if c["capacity_factor"] == 0:
            return keep, math.inf
        capacity = int(c["capacity_factor"] * math.ceil(len(chosen) / c["num_experts"]))
        confidence, margin = probabilities.max(-1).values, math.inf
        for e in range(c["num_experts"]):
            cells = (chosen[:, 0] == e).nonzero().flatten()
            served = cells[confidence[cells].sort(descending=True, stable=True).indices]
            keep[served[capacity:], 0] = False
            if 0 < capacity < len(cells):
                margin = min(margin, float(confidence[served[capacity - 1]] - confidence[served[capacity]]))
        return keep, margin

    def forward(self, x):
        probabilities = self.gate(x).softmax(-1)
        weights, chosen = probabilities.topk(self.config["experts_per_token"], dim=-1)
        if self.config["normalize_gate"]:
            weights = weights / weights.sum(-1, keepdim=True)
        keep, priority_margin = self.kept(probabilities, chosen)
        result = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            cells, slot = ((chosen == e) & keep).nonzero(as_tuple=True)
            result[cells] += weights[cells, slot, None] * expert(x[cells])
        self.decision = (probabilities, torch.where(keep, chosen, -1), weights, priority_margin)
        return result


def log_places(extent):
    """Of the differences 1 - extent to extent - 1: stretched to 8 at most, on a logarithmic scale."""
    distance = torch.arange(1 - extent, extent, dtype=torch.float32) / max(extent - 1, 1) * 8
    return distance.sign() * (distance.abs() + 1).log2() / math.log2(8)


class Attention(nn.Module):
    """Among the cells of windows [..., height x width, channels]."""

    def __init__(self, c, width, heads, window):
        super().__init__()
        self.config, self.heads, self.window = c, heads, window
        bias = c["qkv_bias"]
        self.query = nn.Linear(width, width, bias=bias != "none")
        self.key = nn.Linear(width, width, bias=bias == "all")
        self.value = nn.Linear(width, width, bias=bias != "none")
        self.position = nn.ModuleList([nn.Linear(2, c["position_width"], bias=c["position_bias"] != "none"),
                                       nn.Linear(c["position_width"], heads, bias=c["position_bias"] == "both")])
        if c["attention"] == "cosine":
            self.scales = nn.Parameter(torch.full((heads,), math.log(10.0)))
        self.output = nn.Linear(width, width)

    def bias(self):
        """[heads, cells, cells], of query and key."""
        height, width = self.window
        y, x = log_places(height), log_places(width)
        table = torch.stack(torch.meshgrid(y, x, indexing="ij"), -1)
        if self.config["relative_place"] == "key_minus_query":
            table = -table
        table = self.position[1](F.relu(self.position[0](table)))
        if self.config["position_limit"]:
            table = self.config["position_limit"] * table.sigmoid()
        rows, columns = (i.flatten() for i in torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij"))
        return table[rows[:, None] - rows + height - 1, columns[:, None] - columns + width - 1].permute(2, 0, 1)

    def forward(self, x, seen):
        """x [windows, cells, channels]; seen [windows, cells, cells]: which key a query may see."""
        parts = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k, v = parts(self.query(x)), parts(self.key(x)), parts(self.value(x))
        if self.config["attention"] == "cosine":
            q, k = F.normalize(q, dim=-1, eps=SMALLEST_LENGTH), F.normalize(k, dim=-1, eps=SMALLEST_LENGTH)
            scores = q @ k.transpose(-2, -1) * self.scales.clamp(max=LARGEST_SCALE).exp()[:, None, None]
        else:
            scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        scores = (scores + self.bias()).masked_fill(~seen[:, None], -math.inf)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, c, width, heads, grid, window, shift, sparse):
        super().__init__()
        self.config, self.grid, self.window, self.shift = c, grid, window, shift
        activation = F.gelu if c["hidden_act"] == "gelu" else F.relu
        self.attention_norm = nn.LayerNorm(width, eps=c["layer_norm_eps"])
        self.attention = Attention(c, width, heads, window)
        self.mlp_norm = nn.LayerNorm(width, eps=c["layer_norm_eps"])
        self.mlp = Experts(c, width, activation) if sparse else MLP(width, round(width * c["mlp_ratio"]), c["mlp_bias"], activation)

    def windows(self, x):
        """[N, rows, columns, ...] to [N x windows, cells, ...]."""
        (rows, columns), (height, width) = self.grid, self.window
        x = x.reshape(len(x), rows // height, height, columns // width, width, *x.shape[3:])
        return x.transpose(2, 3).reshape(-1, height * width, *x.shape[5:])

    def joined(self, x):
        (rows, columns), (height, width) = self.grid, self.window
        x = x.reshape(-1, rows // height, columns // width, height, width, x.shape[-1])
        return x.transpose(2, 3).reshape(len(x), rows, columns, x.shape[-1])

    def stripes(self):
        """A number for each cell of the rolled grid; cells of a window with unlike numbers are no neighbours."""
        sides = []
        for extent, window, shift in zip(self.grid, self.window, self.shift):
            place = torch.arange(extent)
            sides.append((place >= extent - window).long() + (place >= extent - shift).long() if shift else torch.zeros_like(place))
        return 3 * sides[0][:, None] + sides[1]

    def attended(self, x):
        rolled = x.roll((-self.shift[0], -self.shift[1]), (1, 2))
        stripes = self.windows(self.stripes()[None].expand(len(x), -1, -1))
        result = self.attention(self.windows(rolled), stripes[:, :, None] == stripes[:, None, :])
        return self.joined(result).roll(self.shift, (1, 2))

    def forward(self, x):
        mlp = lambda y: self.mlp(y.flatten(0, 2)).reshape(y.shape)
        for norm, work in ((self.attention_norm, self.attended), (self.mlp_norm, mlp)):
            x = x + (norm(work(x)) if self.config["norm_place"] == "after" else work(norm(x)))
        return x


class Merge(nn.Module):
    """Squares of two by two cells to one of twice the width."""

    def __init__(self, c, width):
        super().__init__()
        self.after, self.by_columns = c["norm_place"] == "after", c["merge_order"] == "columns"
        self.norm = nn.LayerNorm(2 * width if self.after else 4 * width, eps=c["layer_norm_eps"])
        self.reduction = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        order = ((0, 0), (1, 0), (0, 1), (1, 1)) if self.by_columns else ((0, 0), (0, 1), (1, 0), (1, 1))
        x = torch.cat([x[:, down::2, right::2] for down, right in order], -1)
        return self.norm(self.reduction(x)) if self.after else self.reduction(self.norm(x))


class Stage(nn.Module):
    def __init__(self, c, merge, blocks):
        super().__init__()
        if merge is not None:
            self.merge = merge
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        if hasattr(self, "merge"):
            x = self.merge(x)
        for block in self.blocks:
            x = block(x)
        return x


class SwinMoE(nn.Module):
    """Pixels [N, height, width, channels] to logits."""

    def __init__(self, c):
        super().__init__()
        self.config = c
        size = c["image_size"]
        patch, width = c["patch_size"], c["embed_dim"]
        grid = [side // patch for side in (size if isinstance(size, list) else [size] * 2)]
        self.pixels = nn.ParameterDict({"mean": torch.tensor(c["mean"]), "deviation": torch.tensor(c["deviation"])})
        self.patch = nn.ModuleDict({"projection": nn.Linear(patch * patch * c["num_channels"], width),
                                    "norm": nn.LayerNorm(width, eps=c["layer_norm_eps"])})
        self.stages, number = nn.ModuleList(), 0
        for stage, (depth, heads, window) in enumerate(zip(c["depths"], c["num_heads"], c["window_sizes"])):
            merge = Merge(c, width) if stage > 0 else None
            if stage > 0:
                width, grid = 2 * width, [side // 2 for side in grid]
            sides = [min(window, side) for side in grid]
            blocks = []
            for i in range(depth):
                shift = [window // 2 if i % 2 == 1 and side > window else 0 for side in grid]
                blocks.append(Block(c, width, heads, list(grid), sides, shift, number in c["moe_blocks"]))
                number += 1
            self.stages.append(Stage(c, merge, blocks))
        self.norm = nn.LayerNorm(width, eps=c["layer_norm_eps"])
        self.head = nn.Linear(width, c["num_labels"])

    def forward(self, pixels):
        patch = self.config["patch_size"]
        x = (pixels - self.pixels["mean"]) / self.pixels["deviation"]
        x = x.unflatten(2, (-1, patch)).unflatten(1, (-1, patch)).transpose(2, 3).flatten(3)
        x = self.patch["norm"](self.patch["projection"](x))
        for stage in self.stages:
            x = stage(x)
        return self.head(self.norm(x).mean((1, 2)))

    def routers(self):
        """Experts by the name of their router."""
        return {name: module for name, module in self.named_modules() if isinstance(module, Experts)}


def counts(c):
    """Windows of each stage, and the blocks with experts."""
    model = SwinMoE(c)
    windows = [len(stage.blocks[0].windows(torch.zeros(1, *stage.blocks[0].grid, 1))) for stage in model.stages]
    return windows, len(model.routers())
