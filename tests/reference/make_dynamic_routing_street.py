#!/usr/bin/env python3
"""dynamic-routing-street/people.safetensors: what PyTorch makes of the 6 tiles of resources/sample with the weights of
demo:dynamic-routing-street.

`logits` f32 [items, height, width, classes]; `ROUTER.branch` i32 [pictures that came, ways] of each router; `overlap` i32 [classes, 2] of
all tiles: pixels that answer and target both have, that either has, among those that count.
"""
import json
import sys

import torch
from safetensors.torch import load_file, save_file

from dynamic_routing import DynamicRouting
from fixture import HERE, clear
from make_dynamic_routing import SMALLEST_MARGIN, Seen

DEMO, SAMPLE, VOID = HERE.parents[1] / "resources" / "demos" / "dynamic-routing-street", "people.safetensors", 255


def network():
    config, stored = json.loads((DEMO / "config.json").read_text()), load_file(DEMO / "model.safetensors")
    model = DynamicRouting(dict(config, mean=[0.0] * config["num_channels"], deviation=[1.0] * config["num_channels"]))
    state = {name.replace(".c.", "."): name for name in model.state_dict()}
    loaded = {state[name]: t.permute(0, 3, 1, 2) if t.dim() == 4 else t for name, t in stored.items() if name in state}
    loaded.update(mean=stored["pixels.mean"], deviation=stored["pixels.deviation"])
    missing, unknown = model.load_state_dict(loaded, strict=False)
    if unknown or any(not name.endswith("num_batches_tracked") for name in missing):
        sys.exit(f"not the demo's tensors: {missing} {unknown}")
    return model.eval()


@torch.no_grad()
def main():
    data, model = load_file(HERE.parents[1] / "resources" / "sample" / SAMPLE), network()
    pixels, seen = data["pixels"].permute(0, 3, 1, 2).float() / 255, Seen(model)
    logits = torch.cat([model.picture(one[None], seen) for one in pixels])
    tensors, answer = {"logits": logits.permute(0, 2, 3, 1).contiguous()}, logits.argmax(1)
    for router, (width, rows) in seen.parts.items():
        if any(float(margin) <= SMALLEST_MARGIN for *_, margin in rows):
            sys.exit(f"{router} lies at its threshold")
        tensors[router + ".branch"] = torch.tensor([r[0] for r in rows], dtype=torch.int32).reshape(-1, width)
    target = data["targets"].long()
    tensors["overlap"] = torch.tensor([[((answer == c) & (target == c)).sum(), (((answer == c) | (target == c)) & (target != VOID)).sum()]
                                       for c in range(logits.shape[1])], dtype=torch.int32)
    save_file(tensors, clear("dynamic-routing-street") / SAMPLE)
    print(f"overlap {tensors['overlap'].tolist()}, computed {seen.shares('.compute')}, ways {seen.shares('.ways')}")


if __name__ == "__main__":
    main()
