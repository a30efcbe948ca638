#!/usr/bin/env python3
"""MSDNet: small models with random weights, their pixels, logits and exits.

`b0.logits` is of the exit that each picture took. A router's decisions are of the pictures that came
to it: 0 is its exit, 1 goes on; `b0.{router}.score` is the largest softmax.
"""
import torch

import fixture
from msdnet import MSDNet, multiplications

# The sizes of the network of Brainstorm (OSDI'23), for its counts; not a fixture.
PAPER = dict(image_size=224, num_channels=3, num_labels=1000, initial_channels=32, growth_rate=16,
             scale_factors=[1, 2, 4, 4], bottleneck_factors=[1, 2, 4, 4], bottleneck=True, block_layers=[4] * 5,
             prune="max", reduction=0.5, stem="pooled", classifier_channels=0, mean=[0.5] * 3, deviation=[0.29] * 3)
SMALL = dict(num_channels=3, num_labels=7, initial_channels=4, growth_rate=4, scale_factors=[1, 2, 2], bottleneck=True,
             block_layers=[2, 2, 2], prune="max", reduction=0.5, stem="plain", classifier_channels=6, batch_norm_eps=1e-5,
             mean=[0.4, 0.5, 0.6], deviation=[0.2, 0.25, 0.3])
CASES = {
    "pooled-stem-three-scales": (dict(SMALL, image_size=[40, 33], stem="pooled", classifier_channels=0), 6),
    "plain-stem-odd-sides": (dict(SMALL, image_size=[17, 13], bottleneck_factors=[1, 2, 4]), 5),
    "one-picture": (dict(SMALL, image_size=24), 1),
    "one-scale": (dict(SMALL, image_size=16, scale_factors=[2], block_layers=[1, 2]), 4),
    "not-pruned-no-bottleneck": (dict(SMALL, image_size=16, prune="none", bottleneck=False, block_layers=[1, 2, 3]), 6),
    "grey-four-scales-no-reduction": (dict(SMALL, image_size=32, num_channels=1, mean=[0.1], deviation=[0.3], reduction=1.0,
                                           initial_channels=2, growth_rate=2, scale_factors=[1, 2, 4, 4], block_layers=[3, 2, 4], batch_norm_eps=1e-3), 8),
}


def draw(model, generator):
    def draw_weight(_, tensor):
        gain = 8 if tensor.dim() == 2 else 2  # heads whose answers differ
        if tensor.dim() >= 2:
            fixture.normal_(tensor, (gain / tensor[0].numel()) ** 0.5, generator)

    fixture.draw_norms_and_biases(model, generator, draw_weight)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.eps = model.config["batch_norm_eps"]


def thresholds_of(logits, share):
    """For each exit but the last, between two pictures' scores: about `share` of those that come leave."""
    alive, thresholds = torch.ones(len(logits[0]), dtype=torch.bool), []
    for scores in [x.softmax(-1).max(-1).values for x in logits[:-1]]:
        came = scores[alive].sort(descending=True).values
        if len(came) < 2:
            thresholds.append(float(came[0]) - 0.01 if len(came) else 0.5)
        else:
            n = max(1, round(share * len(came)))
            thresholds.append(round(float(came[n - 1] + came[min(n, len(came) - 1)]) / 2, 6))
        alive &= scores < thresholds[-1]
    return thresholds


def decide(logits, thresholds):
    alive, result, decisions = torch.ones(len(logits[0]), dtype=torch.bool), logits[-1].clone(), {}
    for b, (x, threshold) in enumerate(zip(logits, thresholds)):
        score = x.softmax(-1).max(-1).values
        exits = alive & (score >= threshold)
        margin = (score - threshold).abs()[alive]
        fixture.require(not len(margin) or margin.min() > fixture.SMALLEST_MARGIN)
        result[exits] = x[exits]
        name = f"exits.{b}.router"
        decisions[name] = {"branch": (~exits[alive]).int().reshape(-1, 1), "weight": torch.ones(int(alive.sum()), 1), "margin": margin}
        alive &= ~exits
    return result, decisions


@torch.no_grad()
def make(config, pictures, folder, seed):
    generator = fixture.random_generator(seed)
    model = MSDNet(config).eval()
    draw(model, generator)
    pixels = torch.rand(pictures, config["num_channels"], *fixture.sides_of(config), generator=generator)
    logits = model(pixels)
    thresholds = thresholds_of(logits, 0.4)
    result, decisions = decide(logits, thresholds)
    fixture.require(pictures == 1 or all(0 < d["branch"].sum() < len(d["branch"]) for d in list(decisions.values())[:1]))
    fixture.save_model(folder, "msdnet", dict(exit_thresholds=thresholds, **config), model.export())
    fixture.save_pixels(folder, pixels)
    fixture.save_expected(folder, {"logits": result}, decisions)
    return f"{[len(d['branch']) for d in decisions.values()]} of {pictures} at the exits"


def check_paper():
    """The counts of the network of Brainstorm (OSDI'23), which this definition must give."""
    model = MSDNet(PAPER)
    convolutions = sum(isinstance(m, torch.nn.Conv2d) for m in model.modules())
    parameters = sum(p.numel() for p in model.parameters())
    giga = [round(n / 1e9, 3) for n in multiplications(model, 224)]
    print(f"paper: {convolutions} convolutions, {parameters} parameters, GMAC {giga}")
    assert convolutions == 186 and giga == [0.337, 0.682, 1.004, 1.250, 1.356] and parameters // 100_000 == 239


def main():
    torch.set_num_threads(1)
    check_paper()
    folder = fixture.clear("msdnet")
    for name, (config, pictures) in CASES.items():
        fixture.write_suitable(folder / name, lambda path, seed, c=config, n=pictures: make(c, n, path, seed))


if __name__ == "__main__":
    main()
