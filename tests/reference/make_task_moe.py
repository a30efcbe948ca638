#!/usr/bin/env python3
"""TaskMoE: small models with random weights, their ids, tasks, logits and routing.

A router's cells are the sequences; `branch` has the two experts of each one's task, -1 where they are
one. No score decides: margins are infinite, weights 1.
"""
import math

import torch

import fixture
from task_moe import TaskMoE, hash_table

SMALL = dict(vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24, max_position_embeddings=32,
             layer_norm_eps=1e-12, hidden_act="gelu", mask="none", num_experts=4, hash_table="one", hash_seed=0)
CASES = {
    "one-table": (SMALL, 5, 7),
    "causal-table-per-layer": (dict(SMALL, mask="causal", hash_table="per_layer", hash_seed=3), 4, 9),
    "odd-experts-one-sequence": (dict(SMALL, num_experts=5, hash_seed=11, layer_norm_eps=1e-5), 1, 4),
    "sixteen-experts-padded": (dict(SMALL, num_experts=16, num_hidden_layers=3), 12, 6),
}


def draw(model, generator):
    fixture.draw_norms_and_biases(model, generator, lambda name, tensor: fixture.normal_(
        tensor, 1 if name.startswith("embeddings.") else tensor.shape[1] ** -0.5, generator))


@torch.no_grad()
def make(config, sequences, length, folder, seed):
    generator = fixture.random_generator(seed)
    model = TaskMoE(config).eval()
    draw(model, generator)
    ids = torch.randint(3, config["vocab_size"], (sequences, length), generator=generator)
    mask = torch.ones_like(ids)
    if "padded" in folder.name:
        real = torch.randint(1, length + 1, (sequences, 1), generator=generator)
        mask = (torch.arange(length) < real).long()
        ids = ids * mask
    task = torch.randint(0, 3 * config["num_experts"], (sequences,), generator=generator)
    hidden, logits = model(ids, mask, task)
    decisions = {}
    for i, layer in enumerate(model.layers):
        chosen = [layer["moe"].table[t % config["num_experts"]] for t in task.tolist()]
        branch = torch.tensor([(c + [fixture.NO_BRANCH])[:2] for c in chosen])
        decisions[f"layers.{i}.moe"] = {"branch": branch.int(), "weight": (branch >= 0).float(),
                                        "margin": torch.full((sequences,), math.inf)}
    fixture.save_model(folder, "task_moe", config, model.state_dict())
    fixture.save(folder / "input.safetensors", {"input_ids": ids, "attention_mask": mask, "task": task})
    fixture.save_expected(folder, {"decoder_hidden": hidden, "logits": logits}, decisions)
    return f"tasks {task.tolist()}"


def main():
    torch.set_num_threads(1)
    table = hash_table(16, 0)
    assert sorted(a for a, _ in table) == list(range(16)) and all(table[t] == table[15 - t][::-1] for t in range(16))
    folder = fixture.clear("task-moe")
    for name, (config, sequences, length) in CASES.items():
        fixture.write_suitable(folder / name, lambda path, seed, c=config, n=sequences, t=length: make(c, n, t, path, seed))


if __name__ == "__main__":
    main()
