#!/usr/bin/env python3
"""swinv2-moe-digits/digits.safetensors: what PyTorch answers for the 60 digits of resources/sample with the weights of
demo:swinv2-moe-digits, in batches of 12, over which experts' places are counted.

`b{i}.logits` f32 [12, 10], and of each router `b{i}.{router}.branch` i32 [cells, 1], -1 where a cell has no place, and `.weight` f32
[cells, 1]: as `stormcell run --outputs` names them.
"""
import json
import sys

import torch
from safetensors.torch import load_file, save_file

from fixture import HERE, SMALLEST_MARGIN, clear
from swin_moe import SwinMoE

DEMO, SAMPLE = HERE.parents[1] / "resources" / "demos" / "swinv2-moe-digits", HERE.parents[1] / "resources" / "sample" / "digits.safetensors"
BATCH = 12
SMALLEST_STEP = SMALLEST_MARGIN / 10  # among 7,500 cells no larger one is to be had; f32 rounds by a tenth of it


def network():
    config = json.loads((DEMO / "config.json").read_text())
    model = SwinMoE(dict(config, mean=[0.0] * config["num_channels"], deviation=[1.0] * config["num_channels"]))
    model.load_state_dict(load_file(DEMO / "model.safetensors"))
    return model.eval()


@torch.no_grad()
def main():
    model, data = network(), load_file(SAMPLE)
    tensors, right, dropped = {}, 0, 0
    for b, (pixels, labels) in enumerate(zip(data["pixels"].split(BATCH), data["labels"].split(BATCH))):
        logits = model(pixels.float() / 255)
        right += (logits.argmax(1) == labels).sum().item()
        tensors[f"b{b}.logits"] = logits
        for name, router in model.routers().items():
            probabilities, branch, weight, priority_margin = router.decision
            best = probabilities.topk(2).values
            step = min((best[:, 0] - best[:, 1]).min().item(), priority_margin)
            if step < SMALLEST_STEP:
                sys.exit(f"batch {b}, {name}: a cell lies between two experts, or two cells between a place and none: {step:.1e}")
            dropped += (branch < 0).sum().item()
            tensors[f"b{b}.{name}.branch"], tensors[f"b{b}.{name}.weight"] = branch.int(), weight
    folder = clear("swinv2-moe-digits")
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "digits.safetensors")
    print(f"{right} of {len(data['labels'])} right, {dropped} cells without a place")


if __name__ == "__main__":
    main()
