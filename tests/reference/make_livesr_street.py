#!/usr/bin/env python3
"""livesr-street/street.safetensors: what PyTorch makes of the 3 pictures of resources/sample with the weights of demo:livesr-street.

`picture` f32 [items, height, width, channels], `network` i32 [patches of all items] that took each, `psnr` f32 [items] of the pixels that
are judged, cut to 0 to 1.
"""
import json
import sys

import torch
from safetensors.torch import load_file, save_file

from fixture import HERE, SMALLEST_MARGIN, clear
from livesr import LiveSR

DEMO, SAMPLE = HERE.parents[1] / "resources" / "demos" / "livesr-street", HERE.parents[1] / "resources" / "sample" / "street.safetensors"


def network():
    config = json.loads((DEMO / "config.json").read_text())
    model = LiveSR(dict(config, mean=[0.0] * config["num_channels"], deviation=[1.0] * config["num_channels"]))
    stored = load_file(DEMO / "model.safetensors")
    state = {name.replace(".c.", "."): name for name in model.state_dict()}
    loaded = {state[name]: t.permute(0, 3, 1, 2) if t.dim() == 4 else t for name, t in stored.items() if name in state}
    loaded.update(mean=stored["pixels.mean"], deviation=stored["pixels.deviation"],
                  clusters=torch.stack([stored[f"clusters.{k}"] for k in range(config["num_subnets"])]))
    missing, unknown = model.load_state_dict(loaded, strict=False)
    if unknown or any(not name.endswith("num_batches_tracked") for name in missing):
        sys.exit(f"not the demo's tensors: {missing} {unknown}")
    return model.eval()


@torch.no_grad()
def main():
    data = load_file(SAMPLE)
    picture, scores = network()(data["pixels"].permute(0, 3, 1, 2).float() / 255)
    best = scores.topk(2, dim=1).values
    if ((best[:, 0] - best[:, 1]) / best[:, 0]).min() < SMALLEST_MARGIN:
        sys.exit("a patch lies between two networks")
    chosen, picture = scores.argmax(1).int(), picture.permute(0, 2, 3, 1).contiguous()
    error = (picture.clamp(0, 1) - data["targets"].float() / 255).square().mean(-1)
    psnr = torch.stack([-10 * e[j > 0].mean().log10() for e, j in zip(error, data["judged"])])
    folder = clear("livesr-street")
    save_file(dict(picture=picture, network=chosen, psnr=psnr), folder / "street.safetensors")
    print(f"{psnr.mean():.3f} dB, patches of the networks {chosen.bincount().tolist()}")


if __name__ == "__main__":
    main()
