"""TaskMoE in PyTorch, from its definition: BERT's layers whose feed-forward part is two experts by the sequence's task.

`state_dict()` is the layout of docs/models.md. make_task_moe.py compares with it.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

WORD = (1 << 64) - 1


def hash_table(experts, seed):
    """The two experts of each task: a seeded permutation and its reversal; one where they meet. SplitMix64, Fisher-Yates."""
    table, state = list(range(experts)), seed
    for last in range(experts - 1, 0, -1):
        state = z = (state + 0x9E3779B97F4A7C15) & WORD
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        at = (z ^ (z >> 31)) % (last + 1)
        table[last], table[at] = table[at], table[last]
    return [[a, b] if a != b else [a] for a, b in zip(table, reversed(table))]


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        width = c["hidden_size"]
        self.heads, self.causal = c["num_attention_heads"], c["mask"] == "causal"
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.norm = nn.LayerNorm(width, eps=c["layer_norm_eps"])

    def forward(self, x, mask):
        parts = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k, v = parts(self.query(x)), parts(self.key(x)), parts(self.value(x))
        seen = mask[:, None, None].bool().expand(-1, 1, x.shape[1], -1)
        if self.causal:
            seen = seen & torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~seen, torch.finfo(torch.float32).min)
        return self.norm(self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2)) + x)


class Expert(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.up, self.down = nn.Linear(c["hidden_size"], c["intermediate_size"]), nn.Linear(c["intermediate_size"], c["hidden_size"])
        self.norm = nn.LayerNorm(c["hidden_size"], eps=c["layer_norm_eps"])

    def forward(self, x):
        return self.norm(self.down(F.gelu(self.up(x))) + x)


class Experts(nn.Module):
    def __init__(self, c, layer):
        super().__init__()
        self.table = hash_table(c["num_experts"], c["hash_seed"] + (layer if c["hash_table"] == "per_layer" else 0))
        self.experts = nn.ModuleList(Expert(c) for _ in range(c["num_experts"]))

    def forward(self, x, task):
        result = torch.zeros_like(x)
        for sequence, number in enumerate(task.tolist()):
            for expert in self.table[number % len(self.experts)]:
                result[sequence] += self.experts[expert](x[sequence])
        return result


class TaskMoE(nn.Module):
    """Ids and mask [N, T] and tasks [N] to hidden states and logits."""

    def __init__(self, c):
        super().__init__()
        width = c["hidden_size"]
        self.embeddings = nn.ModuleDict({"word": nn.Embedding(c["vocab_size"], width),
                                         "position": nn.Embedding(c["max_position_embeddings"], width),
                                         "norm": nn.LayerNorm(width, eps=c["layer_norm_eps"])})
        self.layers = nn.ModuleList(nn.ModuleDict({"attention": Attention(c), "moe": Experts(c, i)}) for i in range(c["num_hidden_layers"]))
        self.head = nn.Linear(width, c["vocab_size"])

    def forward(self, ids, mask, task):
        places = (mask.cumsum(1) - 1).masked_fill(mask == 0, 1)
        x = self.embeddings["norm"](self.embeddings["word"](ids) + self.embeddings["position"](places))
        for layer in self.layers:
            x = layer["moe"](layer["attention"](x, mask), task)
        return x, self.head(x)
