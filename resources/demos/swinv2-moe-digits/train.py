#!/usr/bin/env python3
"""Trains demo:swinv2-moe-digits on the 5,000 handwritten digits of Debian's opencv-doc.

    train.py --digits digits.png --work FOLDER [--minutes 25]

Resumable: FOLDER holds a checkpoint of every epoch. At the end config.json, model.safetensors and expected.json stand beside this script.
Seed 0, one thread. Parts of the digits: ../digits.py.

The experts' places are drawn anew for each batch, from a quarter of an even share to half more than one, so that a gate learns which
tokens may go without an expert: the most confident are served first. The factor of config.json is chosen on digits that neither train nor
judge.
"""
import argparse
import json
import pathlib
import sys
import time

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "tests" / "reference")]
from digits import SIDE, moved, parts_of, read_digits  # noqa: E402
from swin_moe import SwinMoE  # noqa: E402

EPOCHS, BATCH, JUDGED = 40, 50, 1  # JUDGED: digits of a batch when it is judged, since places are counted over a batch
BALANCE, NOISE = 0.02, 0.125  # weight of the loss that spreads tokens over experts; deviation of the noise on the gates' scores
PLACES = (0.25, 1.5)
FACTORS = (0.25, 0.5, 0.75, 1.0, 1.25, 2.0)
CONFIG = dict(image_size=SIDE, num_channels=1, num_labels=10, patch_size=2, embed_dim=24, depths=[2, 2], num_heads=[3, 6],
              window_sizes=[5, 5], mlp_ratio=2, hidden_act="gelu", qkv_bias="query_value", mlp_bias="both", norm_place="before",
              attention="cosine", position_width=32, position_limit=16, position_bias="first", relative_place="query_minus_key",
              merge_order="columns", layer_norm_eps=1e-5, moe_blocks=[1, 3], num_experts=8, experts_per_token=1, capacity_factor=1.25,
              normalize_gate=False, gate_bias=False, expert_bias="both", mean=[0.15], deviation=[0.31])


def balance(router):
    """1 where all experts are chosen alike and likely alike, up to their number where one takes all (Switch Transformers, eq. 4)."""
    probabilities = router.decision[0]
    chosen = torch.nn.functional.one_hot(probabilities.argmax(-1), probabilities.shape[-1]).float().mean(0)
    return probabilities.shape[-1] * (chosen * probabilities.mean(0)).sum()


def train(model, pixels, labels, work, minutes):
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=EPOCHS * (len(pixels) // BATCH))
    checkpoint, first, routers = work / "checkpoint.pt", 0, list(model.routers().values())
    noise = lambda gate, _, scores: scores + NOISE * torch.randn(scores.shape, generator=generator) if gate.training else scores
    for router in routers:
        router.gate.register_forward_hook(noise)
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
            model.config["capacity_factor"] = PLACES[0] + (PLACES[1] - PLACES[0]) * torch.rand(1, generator=generator).item()
            logits = model(moved(pixels[batch], generator).permute(0, 2, 3, 1))
            loss = torch.nn.functional.cross_entropy(logits, labels[batch], label_smoothing=0.05)
            optimizer.zero_grad()
            (loss + BALANCE * sum(balance(router) for router in routers)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        torch.save(dict(model=model.state_dict(), optimizer=optimizer.state_dict(), schedule=schedule.state_dict(),
                        generator=generator.get_state(), epoch=epoch + 1), checkpoint)
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {total * BATCH / len(pixels):.4f}", flush=True)
        if time.time() > end and epoch + 1 < EPOCHS:
            sys.exit("time is up: run again to go on")


@torch.no_grad()
def judge(model, pixels, labels, factor, batch=JUDGED):
    """Right answers, the share of tokens that have a place at each router, and of each router the choices of each expert."""
    model.eval()
    model.config["capacity_factor"] = factor
    right, tokens, served, chosen = 0, {}, {}, {}
    for x, y in zip(pixels.permute(0, 2, 3, 1).split(batch), labels.split(batch)):
        right += (model(x).argmax(1) == y).sum().item()
        for name, router in model.routers().items():
            probabilities, branch = router.decision[:2]
            tokens[name] = tokens.get(name, 0) + branch.numel()
            served[name] = served.get(name, 0) + (branch >= 0).sum().item()
            chosen[name] = chosen.get(name, 0) + probabilities.argmax(-1).bincount(minlength=probabilities.shape[-1])
    return right, {name: served[name] / tokens[name] for name in tokens}, {name: count.tolist() for name, count in chosen.items()}


def choose_factor(model, pixels, labels):
    """The least factor with which no more of these digits go wrong than with the largest."""
    most = judge(model, pixels, labels, FACTORS[-1])[0]
    return next(factor for factor in FACTORS if judge(model, pixels, labels, factor)[0] >= most)


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
    model = SwinMoE(dict(CONFIG))
    for tensor in model.pixels.values():
        tensor.requires_grad_(False)
    print(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)
    train(model, pixels[trains], labels[trains], options.work, options.minutes)

    factor = choose_factor(model, pixels[chooses], labels[chooses])
    digits = pixels[held_out], labels[held_out]
    of_factor = {f: judge(model, *digits, f) for f in FACTORS}
    right, served, chosen = of_factor[factor]
    figures = dict(held_out=len(digits[1]), batch=JUDGED, capacity_factor=factor, right=right, served=served, chosen=chosen,
                   right_by_factor={f: of[0] for f, of in of_factor.items()},
                   served_by_factor={f: list(of[1].values()) for f, of in of_factor.items()},
                   right_by_batch={b: judge(model, *digits, factor, b)[0] for b in (8, 20, 100)})
    print(json.dumps(figures))
    ours = {k: v for k, v in CONFIG.items() if k not in ("mean", "deviation")}
    (HERE / "config.json").write_text(json.dumps(dict(dict(model_type="swinv2_moe", **ours), capacity_factor=factor), indent=2) + "\n")
    (HERE / "expected.json").write_text(json.dumps(figures, indent=2) + "\n")
    save_file({k: v.detach().float().contiguous().clone() for k, v in model.state_dict().items()}, HERE / "model.safetensors")


if __name__ == "__main__":
    main()
