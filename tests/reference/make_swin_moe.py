#!/usr/bin/env python3
"""SwinV2-MoE: small models with random weights, their pixels, logits and routing.

A router's cells are the cells of its stage's grid, picture by picture and row by row; `margin` is the
step among the largest probabilities. The dense parts are held to transformers' swinv2.
"""
import math

import torch

import fixture
from swin_moe import SwinMoE, counts

PIXELS = dict(mean=[0.4, 0.5, 0.6], deviation=[0.2, 0.25, 0.3])
SMALL = dict(image_size=[16, 24], num_channels=3, num_labels=7, patch_size=2, embed_dim=8, depths=[2, 2], num_heads=[2, 4],
             window_sizes=[4, 2], mlp_ratio=2, hidden_act="gelu", qkv_bias="all", mlp_bias="first", norm_place="before",
             attention="scaled", position_width=6, position_limit=0, position_bias="first", relative_place="query_minus_key",
             merge_order="columns", layer_norm_eps=1e-6, moe_blocks=[1, 3], num_experts=4, experts_per_token=1, capacity_factor=1.25,
             normalize_gate=False, gate_bias=False, expert_bias="first", **PIXELS)
PUBLISHED = dict(norm_place="after", attention="cosine", position_limit=16, qkv_bias="query_value", mlp_bias="both", layer_norm_eps=1e-5)
CASES = {
    "two-stages": (SMALL, 3),
    "cosine-norms-after": (dict(SMALL, **PUBLISHED, expert_bias="both"), 2),
    "other-readings": (dict(SMALL, merge_order="rows", relative_place="key_minus_query", position_bias="both", gate_bias=True,
                            expert_bias="both", qkv_bias="none"), 2),
    "two-experts-a-token": (dict(SMALL, experts_per_token=2, capacity_factor=0, normalize_gate=True, position_bias="none",
                                 mlp_bias="none", expert_bias="none", moe_blocks=[0, 3]), 2),
    "capacity-drops-tokens": (dict(SMALL, capacity_factor=0.75, num_experts=3), 3),
    "one-picture-whole-windows": (dict(SMALL, image_size=16, patch_size=4, num_channels=1, window_sizes=[12, 12], mean=[0.1],
                                       deviation=[0.3], hidden_act="relu"), 1),
    "three-stages-odd-windows": (dict(SMALL, image_size=[24, 48], patch_size=2, depths=[2, 1, 2], num_heads=[1, 2, 2],
                                      window_sizes=[3, 3, 3], embed_dim=6, moe_blocks=[2, 4], num_experts=5), 2),
    "one-window-of-400-cells": (dict(SMALL, image_size=40, depths=[2], num_heads=[2], window_sizes=[20], moe_blocks=[1], mlp_ratio=1.5,
                                     attention="cosine"), 1),
}
# The sizes of the network of Brainstorm (OSDI'23); not a fixture.
PAPER = dict(SMALL, image_size=192, patch_size=4, embed_dim=96, depths=[2, 2, 18, 2], num_heads=[3, 6, 12, 24],
             window_sizes=[12, 12, 12, 6], mlp_ratio=4, moe_blocks=[5, 7, 9, 11, 13, 15, 17, 19, 21, 23], num_experts=1)


def draw(model, generator):
    """Norms near 1, layers that keep second moments, gates that tell tokens apart."""
    def draw_weight(name, tensor):
        if name.endswith("scales"):
            fixture.normal_(tensor, 1.0, generator, math.log(20))
        elif not name.startswith("pixels."):
            gain = 3 if ".gate." in name else 2 if ".position." in name else 1
            fixture.normal_(tensor, gain / tensor.shape[1] ** 0.5, generator)

    fixture.draw_norms_and_biases(model, generator, draw_weight)


@torch.no_grad()
def make(config, pictures, folder, seed):
    generator = fixture.random_generator(seed)
    model = SwinMoE(config).eval()
    draw(model, generator)
    pixels = torch.rand(pictures, *fixture.sides_of(config), config["num_channels"], generator=generator)
    logits, decisions, loads = model(pixels), {}, []
    for name, router in model.routers().items():
        probabilities, branch, weight, priority_margin = router.decision
        fixture.require(priority_margin > fixture.SMALLEST_MARGIN)
        decisions[name] = fixture.decisions_of(probabilities, branch, weight)
        loads.append([int((branch == e).sum()) for e in range(config["num_experts"])])
        fixture.require(len(branch) < 16 or all(loads[-1]))
    fixture.require("capacity" not in folder.name or all((d["branch"] == fixture.NO_BRANCH).any() for d in decisions.values()))
    fixture.save_model(folder, "swinv2_moe", config, model.state_dict())
    fixture.save(folder / "input.safetensors", {"pixels": pixels})
    fixture.save_expected(folder, {"logits": logits}, decisions)
    return f"loads {loads}"


def check_paper():
    """The counts of the network of Brainstorm (OSDI'23), which this definition must give."""
    windows, layers = counts(PAPER)
    capacities = [[int(factor * math.ceil(tokens / 16)) for factor in (1.25, 2, 3, 4)] for tokens in (18432, 4608)]
    print(f"paper: windows {windows}, {layers} layers with experts, capacities {capacities}")
    assert windows == [16, 4, 1, 1] and layers == 10
    assert capacities == [[1440, 2304, 3456, 4608], [360, 576, 864, 1152]]


@torch.no_grad()
def check_published():
    """Blocks, windows, masks, position biases and merges against transformers' swinv2, which has no experts."""
    from transformers import Swinv2Config, Swinv2Model
    config = dict(SMALL, **PUBLISHED, image_size=32, window_sizes=[4, 4], moe_blocks=[], position_width=512)
    model = SwinMoE(config).eval()
    draw(model, fixture.random_generator(0))
    for name, tensor in model.named_parameters():
        if name.endswith("scales"):
            tensor.clamp_(max=math.log(20))  # theirs hides cells by -100, which larger scores see through
    theirs = Swinv2Model(Swinv2Config(image_size=32, patch_size=2, num_channels=3, embed_dim=8, depths=[2, 2], num_heads=[2, 4],
                                      window_size=4, mlp_ratio=2.0, layer_norm_eps=1e-5)).eval()
    state = {"embeddings.patch_embeddings.projection.weight": model.patch["projection"].weight.unflatten(1, (2, 2, 3)).permute(0, 3, 1, 2),
             "embeddings.patch_embeddings.projection.bias": model.patch["projection"].bias}
    words = {"patch.norm": "embeddings.norm", "attention_norm": "layernorm_before", "mlp_norm": "layernorm_after",
             "attention.query": "attention.self.query", "attention.key": "attention.self.key", "attention.value": "attention.self.value",
             "attention.output": "attention.output.dense", "attention.position.0": "attention.self.continuous_position_bias_mlp.0",
             "attention.position.1": "attention.self.continuous_position_bias_mlp.2", "attention.scales": "attention.self.logit_scale",
             "mlp.up": "intermediate.dense", "mlp.down": "output.dense"}
    for name, tensor in model.state_dict().items():
        if name.startswith(("pixels.", "head.", "patch.projection")):
            continue
        if name.startswith("stages.1.merge."):
            state[name.replace("stages.1.merge", "encoder.layers.0.downsample")] = tensor
            continue
        for ours, word in words.items():
            name = name.replace(ours, word)
        if name.startswith("norm."):
            name = "layer" + name
        name = name.replace("stages.", "encoder.layers.")
        state[name] = tensor.reshape(-1, 1, 1) if name.endswith("logit_scale") else tensor
    missing, unknown = theirs.load_state_dict(state, strict=False)
    assert not unknown and all("relative" in m for m in missing), (missing, unknown)
    pixels = torch.rand(2, 32, 32, 3, generator=fixture.random_generator(1))
    seen = ((pixels - model.pixels["mean"]) / model.pixels["deviation"]).permute(0, 3, 1, 2)
    expected = model.head(theirs(seen).pooler_output)
    difference = float((model(pixels) - expected).abs().max() / expected.abs().max())
    print(f"published: swinv2 of transformers, {difference:.1e} of the largest logit")
    assert difference < 1e-5


def main():
    torch.set_num_threads(1)
    check_paper()
    check_published()
    folder = fixture.clear("swin-moe")
    for name, (config, pictures) in CASES.items():
        fixture.write_suitable(folder / name, lambda path, seed, c=config, n=pictures: make(c, n, path, seed))


if __name__ == "__main__":
    main()
