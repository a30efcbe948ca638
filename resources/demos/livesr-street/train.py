#!/usr/bin/env python3
"""Trains livesr-street on the surveillance video of Debian's opencv-doc.

    ffmpeg -i vtest.avi FRAMES/%04d.ppm
    train.py --frames FRAMES --work FOLDER [--minutes 25]

Resumable: FOLDER holds a checkpoint of every round. At the end config.json, model.safetensors and expected.json stand beside this script.
Seed 0, one thread.

Parts: every tenth of the first 600 frames trains, its left half alone; the right half of every third frame from 640 to the end is held out,
in time and in space, since who has seen the street needs only paste it. The low-resolution frames are half as large, by PIL's bicubic
filter. Moving pixels are those that differ from the median over the whole clip
by more than 20 of 255 in some channel.
"""
import argparse
import json
import math
import pathlib
import sys
import time

import numpy
import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tests" / "reference"))
from frames import LEAST_MOVING, UPSCALE, background_of, half_of, held_out, resized, trained  # noqa: E402
from livesr import LiveSR  # noqa: E402

PATCH, STRIDE, NETWORKS = 32, 28, 4
ROUNDS, STEPS, BATCH = 60, 40, 16
BILINEAR = torch.tensor([[0.25, 0.75, 0], [0, 0.75, 0.25]])  # of the two pixels that one becomes
CONFIG = dict(image_size=[288, 192], num_channels=3, patch_size=PATCH, patch_stride=STRIDE, border="shift", upscale=UPSCALE,
              num_subnets=NETWORKS, subnet_channels=[6, 8, 12, 16], subnet_blocks=[0, 2, 4, 6], normalization="standardize",
              classifier_stem="plain", classifier_channels=[8, 16, 24], classifier_blocks=[1, 1, 1], batch_norm_eps=1e-5,
              mean=[0.45] * 3, deviation=[0.25] * 3)


def as_floats(picture):
    return torch.from_numpy(numpy.asarray(picture, dtype=numpy.float32) / 255).permute(2, 0, 1)


class Half:
    """One half of some frames: large, small, enlarged by the bicubic filter, and which pixels move."""

    def __init__(self, paths, background, right):
        self.large, self.small, self.bicubic, self.moving = [], [], [], []
        for path in paths:
            half, small, moving = half_of(path, background, right)
            self.large.append(as_floats(half)), self.small.append(as_floats(small))
            self.bicubic.append(as_floats(resized(small, UPSCALE)))
            self.moving.append(torch.from_numpy(moving))


def random_patches(half, count, generator):
    """Small patches, large ones and the error of the bicubic filter, half of them where something moves."""
    small, large, error = [], [], []
    while len(small) < count:
        f = int(torch.randint(len(half.small), (1,), generator=generator))
        height, width = half.small[f].shape[1:]
        y, x = (int(torch.randint(n - PATCH + 1, (1,), generator=generator)) for n in (height, width))
        at = (slice(y * UPSCALE, (y + PATCH) * UPSCALE), slice(x * UPSCALE, (x + PATCH) * UPSCALE))
        if len(small) % 2 and half.moving[f][at].float().mean() < 0.1:
            continue
        small.append(half.small[f][:, y:y + PATCH, x:x + PATCH])
        large.append(half.large[f][(slice(None), *at)])
        error.append((half.bicubic[f][(slice(None), *at)] - large[-1]).square().mean().clamp_min(1e-6).log())
    return torch.stack(small), torch.stack(large), torch.stack(error)


def start_at_bilinear(subnet):
    """head, up and tail carry the picture through; the blocks add nothing yet: training begins at about what interpolation gives."""
    with torch.no_grad():
        for module in subnet.modules():
            if isinstance(module, torch.nn.Conv2d):
                module.weight.mul_(0.5), module.bias.zero_()
        for block in subnet.body:
            block.second.weight.mul_(0.1)
        subnet.end.weight.mul_(0.02)
        for c in range(3):
            subnet.head.weight[c] = 0
            subnet.head.weight[c, c, 1, 1] = 1
            subnet.tail.weight[c] = 0
            subnet.tail.weight[c, c, 1, 1] = 1
            for i in range(2):
                for j in range(2):
                    kernel = torch.outer(BILINEAR[i], BILINEAR[j])
                    subnet.up[0].weight[4 * c + 2 * i + j] = 0
                    subnet.up[0].weight[4 * c + 2 * i + j, c] = kernel


def train_classifier(model, half, generator, rounds=150):
    """Features that tell how large the bicubic filter's error is; centres by k-means, easy ones first."""
    head = torch.nn.Linear(CONFIG["classifier_channels"][-1], 1)
    optimizer = torch.optim.AdamW([*model.classifier.parameters(), *head.parameters()], lr=3e-3)
    model.train()
    for _ in range(rounds):
        small, _, error = random_patches(half, 32, generator)
        loss = torch.nn.functional.mse_loss(head(model.features(small)).squeeze(1), error + 7)
        optimizer.zero_grad(), loss.backward(), optimizer.step()
    model.eval()
    with torch.no_grad():
        small, _, error = random_patches(half, 2000, generator)
        features = model.features(small)
        order = error.argsort()
        centres = torch.stack([features[part].mean(0) for part in order.chunk(NETWORKS)])
        for _ in range(30):
            nearest = torch.cdist(features, centres).argmin(1)
            centres = torch.stack([features[nearest == k].mean(0) if (nearest == k).any() else centres[k] for k in range(NETWORKS)])
        hardness = [error[nearest == k].mean().item() if (nearest == k).any() else math.inf for k in range(NETWORKS)]
        model.clusters.copy_(centres[torch.tensor(hardness).argsort()])


def train_networks(model, half, work, minutes, generator):
    end, checkpoint, first = time.time() + 60 * minutes, work / "checkpoint.pt", 0
    optimizers = [torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0) for net in model.subnets]
    if checkpoint.exists():
        state = torch.load(checkpoint)
        model.load_state_dict(state["model"]), generator.set_state(state["generator"])
        for optimizer, saved in zip(optimizers, state["optimizers"]):
            optimizer.load_state_dict(saved)
        first = state["round"]
    for number in range(first, ROUNDS):
        total = [0.0] * NETWORKS
        for optimizer in optimizers:
            optimizer.param_groups[0]["lr"] = 2e-3 * 0.5 * (1 + math.cos(math.pi * number / ROUNDS))
        for _ in range(STEPS):
            small, large, _ = random_patches(half, BATCH * NETWORKS, generator)
            with torch.no_grad():
                chosen = model.scores(model.features(small)).argmax(1)
            for k, (net, optimizer) in enumerate(zip(model.subnets, optimizers)):
                if not (chosen == k).any():
                    continue
                loss = torch.nn.functional.l1_loss(net(small[chosen == k]), large[chosen == k])
                optimizer.zero_grad(), loss.backward(), optimizer.step()
                total[k] += loss.item() / STEPS
        torch.save(dict(model=model.state_dict(), optimizers=[o.state_dict() for o in optimizers], generator=generator.get_state(),
                        round=number + 1), checkpoint)
        print(f"round {number + 1} of {ROUNDS}: " + " ".join(f"{x:.4f}" for x in total), flush=True)
        if time.time() > end and number + 1 < ROUNDS:
            sys.exit("time is up: run again to go on")


def psnr(squares):
    return -10 * math.log10(squares)


@torch.no_grad()
def judge(model, half):
    """PSNR of the held-out frames where something moves, with the interval of their mean over frames; shares of the networks."""
    ours, theirs, loads = [], [], torch.zeros(NETWORKS)
    for small, large, bicubic, moving in zip(half.small, half.large, half.bicubic, half.moving):
        if moving.sum() < LEAST_MOVING:
            continue
        result, scores = model(small[None])
        loads += scores.argmax(1).bincount(minlength=NETWORKS)
        error = lambda picture: (picture.clamp(0, 1) - large).square().mean(0)[moving].mean().item()
        ours.append(psnr(error(result[0]))), theirs.append(psnr(error(bicubic)))
    gain = torch.tensor(ours) - torch.tensor(theirs)
    return dict(held_out_frames=len(ours), psnr_moving=sum(ours) / len(ours), psnr_moving_bicubic=sum(theirs) / len(theirs),
                gain=gain.mean().item(), gain_interval=1.96 * gain.std().item() / math.sqrt(len(ours)),
                shares=(loads / loads.sum()).tolist())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=25)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    paths = sorted(options.frames.glob("*.ppm"))
    background = background_of(paths)
    trains = Half(trained(paths), background, right=False)
    model = LiveSR(CONFIG)
    for net in model.subnets:
        start_at_bilinear(net)
    if not (options.work / "checkpoint.pt").exists():
        train_classifier(model, trains, generator)
    model.eval()
    train_networks(model, trains, options.work, options.minutes, generator)
    figures = judge(model, Half(held_out(paths), background, right=True))
    print(json.dumps(figures))
    ours = {k: v for k, v in CONFIG.items() if k not in ("mean", "deviation")}
    (HERE / "config.json").write_text(json.dumps(dict(model_type="livesr", **ours), indent=2) + "\n")
    (HERE / "expected.json").write_text(json.dumps(figures, indent=2) + "\n")
    save_file({k: v.detach().float().contiguous().clone() for k, v in model.export().items()}, HERE / "model.safetensors")


if __name__ == "__main__":
    main()
