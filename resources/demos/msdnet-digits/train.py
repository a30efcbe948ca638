#!/usr/bin/env python3
"""Trains demo:msdnet-digits on the 5,000 handwritten digits of Debian's opencv-doc.

    train.py --digits digits.png --work FOLDER [--minutes 25]

Resumable: FOLDER holds a checkpoint of every epoch. At the end config.json and model.safetensors stand beside this script, and
test.safetensors (pixels, labels: what `./dev data msdnet-digits` makes too) in FOLDER. Seed 0, one thread.

Parts of the digits, and how they are moved: ../digits.py.
"""
import argparse
import json
import pathlib
import sys
import time

import numpy
import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "tests" / "reference")]
from digits import SIDE, moved, parts_of, read_digits  # noqa: E402
from msdnet import MSDNet, multiplications  # noqa: E402

EPOCHS, BATCH = 30, 100
CONFIG = dict(image_size=SIDE, num_channels=1, num_labels=10, initial_channels=8, growth_rate=4, scale_factors=[1, 2, 4],
              bottleneck_factors=[1, 2, 2], bottleneck=True, block_layers=[2, 2, 2], prune="max", reduction=0.5, stem="plain",
              classifier_channels=24, batch_norm_eps=1e-5, mean=[0.15], deviation=[0.31])


def all_logits(model, pixels):
    model.eval()
    with torch.no_grad():
        parts = [model(p) for p in pixels.split(250)]
    return [torch.cat(exits) for exits in zip(*parts)]


def replay(logits, labels, thresholds, costs):
    """Accuracy, mean multiplications and pictures at each exit, with these thresholds."""
    answer, cost = logits[-1].argmax(1), torch.full((len(labels),), float(costs[-1]))
    exit_of = torch.full((len(labels),), len(logits) - 1)
    alive = torch.ones(len(labels), dtype=torch.bool)
    for b, threshold in enumerate(thresholds):
        leaves = alive & (logits[b].softmax(1).max(1).values >= threshold)
        answer[leaves], cost[leaves], exit_of[leaves] = logits[b][leaves].argmax(1), float(costs[b]), b
        alive &= ~leaves
    return (answer == labels).float().mean().item(), cost.mean().item(), exit_of.bincount(minlength=len(logits)).tolist()


def choose_thresholds(logits, labels, costs):
    """The most careful of one threshold for all exits that takes at most half of the multiplications of these digits."""
    for threshold in numpy.arange(0.995, 0.5, -0.005):
        thresholds = [round(float(threshold), 3)] * (len(logits) - 1)
        if replay(logits, labels, thresholds, costs)[1] <= costs[-1] / 2:
            return thresholds
    return [0.5] * (len(logits) - 1)


def train(model, pixels, labels, work, minutes):
    generator = torch.Generator().manual_seed(0)
    steps = EPOCHS * (len(pixels) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps)
    checkpoint, first = work / "checkpoint.pt", 0
    if checkpoint.exists():
        state = torch.load(checkpoint)
        model.load_state_dict(state["model"]), optimizer.load_state_dict(state["optimizer"]), schedule.load_state_dict(state["schedule"])
        generator.set_state(state["generator"])
        first = state["epoch"]
    end = time.time() + 60 * minutes
    for epoch in range(first, EPOCHS):
        model.train()
        total = 0.0
        for batch in torch.randperm(len(pixels), generator=generator).split(BATCH):
            logits = model(moved(pixels[batch], generator))
            loss = sum(torch.nn.functional.cross_entropy(x, labels[batch], label_smoothing=0.05) for x in logits) / len(logits)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        torch.save(dict(model=model.state_dict(), optimizer=optimizer.state_dict(), schedule=schedule.state_dict(),
                        generator=generator.get_state(), epoch=epoch + 1), checkpoint)
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {total * BATCH / len(pixels):.4f}", flush=True)
        if time.time() > end and epoch + 1 < EPOCHS:
            sys.exit("time is up: run again to go on")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--digits", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=25)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    pixels, labels, column = read_digits(options.digits)
    held_out, chooses, trains = parts_of(column)
    model = MSDNet(CONFIG)
    costs = multiplications(model, SIDE)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, multiplications to each exit {costs}", flush=True)
    train(model, pixels[trains], labels[trains], options.work, options.minutes)

    thresholds = choose_thresholds(all_logits(model, pixels[chooses]), labels[chooses], costs)
    logits, truth = all_logits(model, pixels[held_out]), labels[held_out]
    accuracy, cost, exits = replay(logits, truth, thresholds, costs)
    whole = replay(logits, truth, [2.0] * len(thresholds), costs)[0]
    figures = dict(held_out=len(truth), accuracy=accuracy, accuracy_full_depth=whole, multiplications=cost / costs[-1], exits=exits,
                   accuracy_of_exits=[(x.argmax(1) == truth).float().mean().item() for x in logits], thresholds=thresholds, costs=costs)
    print(json.dumps(figures))
    ours = {k: v for k, v in CONFIG.items() if k not in ("mean", "deviation")}
    (HERE / "config.json").write_text(json.dumps(dict(model_type="msdnet", exit_thresholds=thresholds, **ours), indent=2) + "\n")
    (HERE / "expected.json").write_text(json.dumps(figures, indent=2) + "\n")
    save_file({k: v.detach().float().contiguous().clone() for k, v in model.export().items()}, HERE / "model.safetensors")
    bytes_of = (pixels[held_out] * 255).round().to(torch.uint8).permute(0, 2, 3, 1).contiguous()
    save_file({"pixels": bytes_of, "labels": truth.int()}, options.work / "test.safetensors")


if __name__ == "__main__":
    main()
