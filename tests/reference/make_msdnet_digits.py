#!/usr/bin/env python3
"""msdnet-digits/digits.safetensors: what PyTorch answers for the 60 digits of resources/sample with the weights of demo:msdnet-digits.

`logits` f32 [items, 10] of the exit that each took, `exit` i32 [items], `exits.{b}.logits` f32 [items, 10] of every exit, `exits.{b}.margin`
f32 [items]: how far the largest softmax of exit b lies from its threshold.
"""
import json
import sys

import torch
from safetensors.torch import load_file, save_file

from fixture import HERE, SMALLEST_MARGIN, clear
from msdnet import MSDNet

DEMO, SAMPLE = HERE.parents[1] / "resources" / "demos" / "msdnet-digits", HERE.parents[1] / "resources" / "sample" / "digits.safetensors"


def network():
    config = json.loads((DEMO / "config.json").read_text())
    model = MSDNet(dict(config, mean=[0.0] * config["num_channels"], deviation=[1.0] * config["num_channels"]))
    stored = load_file(DEMO / "model.safetensors")
    names = {name.replace(".c.", "."): name for name in model.state_dict()} | {"pixels.mean": "mean", "pixels.deviation": "deviation"}
    state = {names[name]: t.permute(0, 3, 1, 2) if t.dim() == 4 else t for name, t in stored.items()}
    missing, unknown = model.load_state_dict(state, strict=False)
    if unknown or any(not name.endswith("num_batches_tracked") for name in missing):
        sys.exit(f"not the demo's tensors: {missing} {unknown}")
    return model.eval(), config["exit_thresholds"]


def main():
    model, thresholds = network()
    data = load_file(SAMPLE)
    with torch.no_grad():
        logits = model(data["pixels"].permute(0, 3, 1, 2).float() / 255)
    answer = logits[-1].clone()
    exit_of = torch.full((len(answer),), len(logits) - 1, dtype=torch.int32)
    tensors = {f"exits.{b}.logits": x.contiguous() for b, x in enumerate(logits)}
    for b in reversed(range(len(thresholds))):
        margin = logits[b].softmax(1).max(1).values - thresholds[b]
        if margin.abs().min() < SMALLEST_MARGIN:
            sys.exit(f"a digit lies on the threshold of exit {b}")
        leaves = margin >= 0
        answer[leaves], exit_of[leaves] = logits[b][leaves], b
        tensors[f"exits.{b}.margin"] = margin
    folder = clear("msdnet-digits")
    save_file(dict(tensors, logits=answer.contiguous(), exit=exit_of), folder / "digits.safetensors")
    right = (answer.argmax(1) == data["labels"]).sum().item()
    print(f"{right} of {len(answer)} right, exits {exit_of.bincount().tolist()}, at each exit "
          f"{[(x.argmax(1) == data['labels']).sum().item() for x in logits]}")


if __name__ == "__main__":
    main()
