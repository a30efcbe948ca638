#!/usr/bin/env python3
"""DynamicRouting: small models with random weights, their pixels, maps of logits and paths.

Routers of cells.LAYER.LEVEL: `reached` (with unreached = skip) tells whether anything came, `compute`
0 from 1, `ways` which ways are open. Each one's cells are the pictures that came to it.
"""
import torch

import fixture
from dynamic_routing import DynamicRouting, multiplications, routers

# The sizes of the network of Brainstorm (OSDI'23), for its counts; not a fixture.
PAPER = dict(num_channels=3, num_labels=19, stem_channels=64, num_levels=4, num_layers=16, gate="full", unreached="skip",
             threshold=1e-4, batch_norm_eps=1e-5, mean=[0.5] * 3, deviation=[0.29] * 3)
SMALL = dict(PAPER, num_labels=5, stem_channels=4, num_levels=3, num_layers=4, gate="small",
             mean=[0.4, 0.5, 0.6], deviation=[0.2, 0.25, 0.3])
CASES = {
    "three-levels": (dict(SMALL, image_size=[32, 48]), 5),
    "unreached-run-on-zeros": (dict(SMALL, image_size=[32, 48], unreached="zeros"), 5),
    "one-picture-odd-sides": (dict(SMALL, image_size=[37, 29], num_levels=4, num_layers=5), 1),
    "odd-sides-full-gates": (dict(SMALL, image_size=[27, 42], gate="full", unreached="zeros", threshold=0.02, batch_norm_eps=1e-3), 3),
    "two-levels-one-layer": (dict(SMALL, image_size=16, num_levels=2, num_layers=1, num_channels=1, mean=[0.1], deviation=[0.3]), 4),
    "one-level": (dict(SMALL, image_size=[16, 20], num_levels=1, num_layers=3), 4),
}
SMALLEST_MARGIN = 4e-5  # of sums of weights, which are exactly 0 or above the threshold


def draw(model, generator):
    """Not by fixture.draw_norms_and_biases: gates' biases are their own, and a number is drawn for each element of every tensor."""
    for name, tensor in model.state_dict().items():
        random = torch.randn(tensor.shape, generator=generator)
        if name.endswith("running_var"):
            tensor.copy_(0.5 + torch.rand(tensor.shape, generator=generator))
        elif name.endswith("norm.weight"):
            tensor.copy_(1 + 0.2 * random)
        elif ".gate." in name and name.endswith(".bias") and ".norm." not in name:
            tensor.copy_(0.6 * random)
        elif name.endswith(("bias", "running_mean")):
            tensor.copy_(0.2 * random)
        elif tensor.dim() == 2:
            tensor.copy_(random * (8 / tensor[0].numel()) ** 0.5)  # gates that differ
        elif tensor.dim() == 4:
            tensor.copy_(random * (2 / tensor[0].numel()) ** 0.5)


class Seen:
    """Decisions of all pictures by router, in their order."""

    def __init__(self, model):
        self.parts = {}
        for layer, cells in enumerate(model.cells):
            for level, cell in enumerate(cells):
                name = f"cells.{layer}.{level}"
                if layer > 0 and model.config["unreached"] == "skip":
                    self.parts[name + ".reached"] = (1, [])
                self.parts[name + ".compute"] = (1, [])
                if len(cell.ways) > 1:
                    self.parts[name + ".ways"] = (len(cell.ways), [])

    def __call__(self, router, branches, weights, margin):
        self.parts[router][1].append((branches, weights, float(margin)))

    def decisions(self):
        result = {}
        for router, (width, rows) in self.parts.items():
            fixture.require(all(margin > SMALLEST_MARGIN for *_, margin in rows))
            result[router] = {"branch": torch.tensor([r[0] for r in rows], dtype=torch.int32).reshape(-1, width),
                              "weight": torch.tensor([r[1] for r in rows]).reshape(-1, width),
                              "margin": torch.tensor([r[2] for r in rows])}
        return result

    def shares(self, kind):
        """Of the branch values of routers of a kind: {value: how often}."""
        all_of = [b for name, (_, rows) in self.parts.items() if name.endswith(kind) for r in rows for b in r[0]]
        return {value: all_of.count(value) for value in sorted(set(all_of))}


@torch.no_grad()
def make(config, pictures, folder, seed):
    generator = fixture.random_generator(seed)
    model = DynamicRouting(config).eval()
    draw(model, generator)
    # Pictures that differ as wholes, so that gates do.
    pixels = torch.rand(pictures, config["num_channels"], *fixture.sides_of(config), generator=generator)
    pixels = pixels * torch.rand(pictures, config["num_channels"], 1, 1, generator=generator)
    seen = Seen(model)
    result = torch.cat([model.picture(pixels[i:i + 1], seen) for i in range(pictures)])
    decisions = seen.decisions()
    computed, ways, reached = (seen.shares(kind) for kind in (".compute", ".ways", ".reached"))
    fixture.require(len(computed) == 2)
    if config["unreached"] == "skip" and config["num_levels"] > 1:
        fixture.require(len(reached) == 2)
    fixture.save_model(folder, "dynamic_routing", config, model.export())
    fixture.save_pixels(folder, pixels)
    fixture.save_expected(folder, {"logits": result.permute(0, 2, 3, 1)}, decisions)
    return f"computed {computed}, ways {ways}, reached {reached}"


@torch.no_grad()
def check_paper():
    """The counts of the network of Brainstorm (OSDI'23), which this definition must give."""
    model = DynamicRouting(PAPER).eval()
    cells = sum(len(layer) for layer in model.cells)
    parameters = sum(p.numel() for p in model.cells.parameters())
    counts, stem = multiplications(model, 256, 512)
    giga = {part: round(16 * n / 1e9, 2) for part, n in counts.items()}  # of sixteen times as many pixels, but for the border
    print(f"paper: {cells} cells, {routers(model)} routers, {parameters} parameters of cells, stem {list(stem)} of 256 x 512, GMAC {giga}")
    assert cells == 62 and routers(model) == 120 and parameters // 100_000 == 175 and giga["cells"] == 94.53 and giga["gates"] == 16.64
    assert tuple(model.stem[0](torch.zeros(1, 3, 1024, 2048)).shape[1:]) == (64, 511, 1023)
    assert tuple(model.stem_map(torch.zeros(1, 3, 1024, 2048)).shape[1:]) == (64, 256, 512)


def main():
    torch.set_num_threads(1)
    check_paper()
    folder = fixture.clear("dynamic-routing")
    for name, (config, pictures) in CASES.items():
        fixture.write_suitable(folder / name, lambda path, seed, c=config, n=pictures: make(c, n, path, seed))


if __name__ == "__main__":
    main()
