#!/usr/bin/env python3
"""Trains dynamic-routing-street on the surveillance video of Debian's opencv-doc.

    ffmpeg -i vtest.avi FRAMES/%04d.ppm
    train.py --frames FRAMES --pictures usr/share/doc/opencv-doc/examples/data --work FOLDER [--minutes 25]

Resumable: FOLDER holds a checkpoint of every round. At the end config.json, model.safetensors and expected.json stand beside this script.
Seed 0, one thread.

Parts: tiles.py. Beside the left halves of the first 600 frames some tiles come from still pictures without people, of the same package:
what stands in the right half was never seen, and not all of it is a person.

Gates: all open at first; then each node's operations cost, those of a tile without people more. A closed gate has a gradient by what
the node would have brought (straight through). Batch norm stands still in the last rounds, when each tile goes its own way.
"""
import argparse
import json
import math
import pathlib
import sys
import time

import numpy
import torch
from PIL import Image
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy, interpolate

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tests" / "reference"))
from dynamic_routing import KEEP, STEP, DynamicRouting  # noqa: E402
from tiles import TILE, background_of, half_of, held_out_tiles, trained  # noqa: E402

CONFIG = dict(image_size=TILE, num_channels=3, num_labels=2, stem_channels=16, num_levels=3, num_layers=6, gate="full",
              unreached="skip", threshold=1e-4, batch_norm_eps=1e-5, mean=[0.45] * 3, deviation=[0.25] * 3)
CLASSES = {"0": "background", "1": "person"}
STILLS = ("aero1.jpg", "aloeL.jpg", "board.jpg", "box_in_scene.png", "building.jpg", "butterfly.jpg", "fruits.jpg", "graf1.png", "home.jpg",
          "leuvenA.jpg", "licenseplate_motion.jpg", "rubberwhale1.png", "squirrel_cls.jpg", "stuff.jpg")
ROUNDS, OPEN_ROUNDS, DEARER_ROUNDS, STILL_ROUNDS = 120, 16, 12, 30  # gates cost nothing, ever more; batch norm does not learn at the end
STEPS, BATCH = 25, 24
RATE = 2e-3
COST, COST_WITH_PEOPLE = 2.0, 0.03  # of all operations of the nodes, of a tile without people; of one with, as a share of that
BUDGET = 0.2                        # of those operations, costs nothing
GATES_FASTER = 4                    # than the rest, gates learn


class Street:
    """Left halves, where their people are, and still pictures."""

    def __init__(self, frames, pictures):
        background = background_of(frames)
        halves = [half_of(path, background, right=False) for path in trained(frames)]
        self.pixels, self.masks = [h[0] for h in halves], [h[1] for h in halves]
        self.people = [numpy.argwhere(m)[::16] for m in self.masks]
        self.stills = [numpy.asarray(Image.open(pictures / name).convert("RGB")) for name in STILLS]
        self.with_people = [i for i, p in enumerate(self.people) if len(p)]

    def tile(self, kind, random):
        """A tile of 64 to 128 pixels made 96, perhaps mirrored, its colours changed: near somebody, anywhere, of a still picture."""
        side = int(random.integers(64, 129))
        if kind == "still":
            pixels = self.stills[random.integers(len(self.stills))]
            mask = numpy.zeros(pixels.shape[:2], numpy.uint8)
        else:
            at = self.with_people[random.integers(len(self.with_people))] if kind == "people" else random.integers(len(self.pixels))
            pixels, mask = self.pixels[at], self.masks[at]
        height, width = mask.shape
        y, x = (int(random.integers(n - side + 1)) for n in (height, width))
        if kind == "people":
            middle = self.people[at][random.integers(len(self.people[at]))] - random.integers(0, side, 2)
            y, x = (int(min(max(0, m), n - side)) for m, n in zip(middle, (height, width)))
        box = slice(y, y + side), slice(x, x + side)
        pixels = torch.from_numpy(pixels[box].astype(numpy.float32) / 255).permute(2, 0, 1)[None]
        mask = torch.from_numpy(mask[box].astype(numpy.float32))[None, None]
        pixels, mask = (interpolate(t, size=(TILE, TILE), mode="bilinear", align_corners=False)[0] for t in (pixels, mask))
        if random.integers(2):
            pixels, mask = pixels.flip(2), mask.flip(2)
        gain = torch.tensor(random.uniform(0.8, 1.25) * random.uniform(0.93, 1.07, 3), dtype=torch.float32)[:, None, None]
        return (pixels * gain + float(random.uniform(-0.08, 0.08))).clamp(0, 1), (mask[0] > 0.5).long()

    def batch(self, random):
        kinds = ["people"] * (BATCH // 2) + ["any"] * (BATCH // 3) + ["still"] * (BATCH - BATCH // 2 - BATCH // 3)
        return (torch.stack(t) for t in zip(*(self.tile(kind, random) for kind in kinds)))


def straight_through(hard, soft):
    return hard + soft - soft.detach()


def operations(model):
    """Multiplications of one tile: {"fixed", "L.i": (gate, cell, {way: its convolution})}."""
    result, height, counts = {}, TILE, {}
    names = {module: name for name, module in model.named_modules()}

    def count(module, _, y):
        counts[names[module]] = module.weight[0].numel() * y[0].numel()

    hooks = [m.register_forward_hook(count) for m in model.modules() if isinstance(m, (torch.nn.Conv2d, torch.nn.Linear))]
    with torch.no_grad():
        x = model.stem_map(torch.zeros(1, 3, height, height))
        sizes = model.sizes(x.shape[2:])
        maps = [torch.zeros(1, CONFIG["stem_channels"] << i, *size) for i, size in enumerate(sizes)]
        for layer in model.cells:
            for level, cell in enumerate(layer):
                cell.gate(maps[level])
                y = cell.compute(maps[level])
                for way in cell.ways:
                    cell.move(y, way, sizes[level - 1])
        model.head_map([[(m, 1.0)] for m in maps], sizes)
    for hook in hooks:
        hook.remove()
    part = lambda begin: sum(n for name, n in counts.items() if name.startswith(begin))
    result["fixed"] = part("stem.") + part("head.")
    for layer, cells in enumerate(model.cells):
        for level, cell in enumerate(cells):
            name = f"cells.{layer}.{level}."
            result[f"{layer}.{level}"] = (part(name + "gate."), part(name + "cell."), {w: part(f"{name}{w}.") for w in cell.ways})
    return result


class Batched:
    """All tiles at once, as DynamicRouting.picture has them one by one; with gradients for gates."""

    def __init__(self, model):
        self.model, self.price = model, operations(model)
        self.nodes = sum(gate + cell + sum(ways.values()) for key, (gate, cell, ways) in
                         ((k, v) for k, v in self.price.items() if k != "fixed"))

    def __call__(self, pixels):
        """Logits, and of each tile the cost of its nodes as a share of all of them, open."""
        model, count = self.model, len(pixels)
        x = model.stem_map(pixels)
        sizes, cost = model.sizes(x.shape[2:]), torch.zeros(count)
        now = [(x, torch.ones(count, dtype=torch.bool))] + [None] * (CONFIG["num_levels"] - 1)
        for layer, cells in enumerate(model.cells):
            into = [None] * CONFIG["num_levels"]
            for level, cell in enumerate(cells):
                if now[level] is None or not now[level][1].any():
                    continue
                spent = self.node(cell, now[level], level, sizes, into, self.price[f"{layer}.{level}"])
                cost = cost.index_add(0, now[level][1].nonzero()[:, 0], spent)
            now = into
        last = [[(maps[0], 1.0)] if maps else [] for maps in now]
        return interpolate(model.head_map(last, sizes), size=pixels.shape[2:], mode="bilinear", align_corners=False), cost / self.nodes

    def node(self, cell, came, level, sizes, into, price):
        maps, reached = came
        index = reached.nonzero()[:, 0]
        x, gate = maps[index], cell.gate
        scores = torch.cat([getattr(gate, way)(torch.relu(gate.convolution(x)).mean((2, 3))) for way in cell.ways], 1)
        tanh = scores.tanh()
        g = straight_through(torch.relu(tanh).detach(), torch.where(tanh > 0, tanh, 0.1 * tanh))
        ways_open = straight_through((g > CONFIG["threshold"]).float().detach(), scores.sigmoid())
        computed = straight_through((g.sum(1) >= CONFIG["threshold"]).float().detach(), scores.amax(1).sigmoid())
        y = cell.compute(x)
        for i, way in enumerate(cell.ways):
            sent, open_ = cell.move(y, way, sizes[level - 1]) * g[:, i, None, None, None], g[:, i] > CONFIG["threshold"]
            if way == KEEP:
                h = computed[:, None, None, None]
                sent, open_ = h * sent + (1 - h) * x, open_ | (computed < 0.5)
            to = level + STEP[way]
            if into[to] is None:
                into[to] = (x.new_zeros(len(maps), *sent.shape[1:]), torch.zeros(len(maps), dtype=torch.bool))
            arrived = torch.zeros(len(maps), dtype=torch.bool)
            arrived[index] = open_
            into[to] = (into[to][0].index_add(0, index, sent), into[to][1] | arrived)
        return price[0] + computed * price[1] + sum(ways_open[:, i] * price[2][way] for i, way in enumerate(cell.ways))


def loss_of(logits, masks, cost, weight_of_cost):
    """Cross entropy, overlap of the people of the whole batch, and operations."""
    person = logits.softmax(1)[:, 1]
    both, either = (person * masks).sum(), (person + masks - person * masks).sum()
    empty = (masks.flatten(1).sum(1) == 0).float()
    price = (torch.relu(cost - BUDGET) * (empty + COST_WITH_PEOPLE * (1 - empty))).mean()
    return cross_entropy(logits, masks) + 0.5 * (1 - (both + 1) / (either + 1)) + weight_of_cost * price


def train(model, street, work, minutes):
    end, checkpoint, first = time.time() + 60 * minutes, work / "checkpoint.pt", 0
    parts = [[p for name, p in model.named_parameters() if (".gate." in name) == gates] for gates in (False, True)]
    optimizer = torch.optim.AdamW([dict(params=part) for part in parts], lr=RATE, weight_decay=1e-4)
    if checkpoint.exists():
        state = torch.load(checkpoint)
        model.load_state_dict(state["model"]), optimizer.load_state_dict(state["optimizer"])
        first = state["round"]
    batched = Batched(model)
    for number in range(first, ROUNDS):
        model.train(number < ROUNDS - STILL_ROUNDS)
        random = numpy.random.default_rng(number)
        cost_now = COST * min(1, max(0, number - OPEN_ROUNDS + 1) / DEARER_ROUNDS)
        total, spent, began = 0.0, numpy.zeros((2, 2)), time.time()
        for step in range(STEPS):
            for group, faster in zip(optimizer.param_groups, (1, GATES_FASTER)):
                group["lr"] = faster * RATE * 0.5 * (1 + math.cos(math.pi * (number + step / STEPS) / ROUNDS))
            pixels, masks = street.batch(random)
            logits, cost = batched(pixels)
            loss = loss_of(logits, masks, cost, cost_now)
            optimizer.zero_grad(), loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5), optimizer.step()
            total += loss.item() / STEPS
            for share, empty in zip(cost.tolist(), (masks.flatten(1).sum(1) == 0).tolist()):
                spent[int(empty)] += share, 1
        torch.save(dict(model=model.state_dict(), optimizer=optimizer.state_dict(), round=number + 1), checkpoint.with_suffix(".part"))
        checkpoint.with_suffix(".part").replace(checkpoint)
        print(f"round {number + 1} of {ROUNDS}: {total:.4f}; operations of nodes {spent[0, 0] / spent[0, 1]:.3f} with people, "
              f"{spent[1, 0] / spent[1, 1]:.3f} without; {time.time() - began:.0f} s", flush=True)
        if time.time() > end and number + 1 < ROUNDS:
            sys.exit("time is up: run again to go on")


class Spent:
    """Told of each decision of one tile, adds up its multiplications."""

    def __init__(self, model, price):
        self.model, self.price, self.total = model, price, price["fixed"]
        self.total += price["0.0"][0]

    def __call__(self, router, branches, weights, margin):
        _, layer, level, kind = router.split(".")
        gate, cell, ways = self.price[f"{layer}.{level}"]
        if kind == "reached":
            self.total += gate if branches[0] == 0 else 0
        elif kind == "compute":
            self.total += cell if branches[0] == 1 else 0
        else:
            names = self.model.cells[int(layer)][int(level)].ways
            self.total += sum(ways[names[b]] for b in branches if b >= 0)


def drawn(count, value, samples=2000):
    """95 % interval of value(indices) over samples of `count` things with replacement."""
    random = numpy.random.default_rng(0)
    values = sorted(value(random.integers(count, size=count)) for _ in range(samples))
    return [values[samples // 40], values[-1 - samples // 40]]


@torch.no_grad()
def judge(model, frames):
    """IoU of the held-out tiles and multiplications with people and without; intervals over the frames they are of."""
    model.eval()
    pixels, masks, around, frame = held_out_tiles(frames, background_of(frames))
    price, count = operations(model), int(frame.max()) + 1
    overlap = {"near": numpy.zeros((count, 2, 2)), "all": numpy.zeros((count, 2, 2))}  # frame, class, (both, either)
    spent = numpy.zeros((count, 2, 2))  # frame, with people, (multiplications, tiles)
    for tile, mask, judged, f in zip(pixels, masks, around, frame):
        told = Spent(model, price)
        logits = model.picture(torch.from_numpy(tile.astype(numpy.float32) / 255).permute(2, 0, 1)[None], told)
        answer = logits[0].argmax(0).numpy()
        for name, counts in (("near", judged > 0), ("all", numpy.ones_like(judged, bool))):
            for c in (0, 1):
                ours, theirs = (answer == c) & counts, (mask == c) & counts
                overlap[name][f, c] += (ours & theirs).sum(), (ours | theirs).sum()
        spent[f, int(mask.any())] += told.total, 1
    iou = lambda o: (lambda s: s[..., 0] / s[..., 1])(o.sum(0))
    saved = lambda s: (lambda m: 1 - m[0] / m[1])((lambda t: t[:, 0] / t[:, 1])(s.sum(0)))
    figures = dict(held_out_frames=count, held_out_tiles=len(pixels), tiles_with_people=int(spent[:, 1, 1].sum()))
    for name, o in overlap.items():
        figures[f"iou_person_{name}"] = float(iou(o)[1])
        figures[f"iou_person_{name}_interval"] = drawn(count, lambda i: float(iou(o[i])[1]))
        figures[f"iou_mean_{name}"] = float(iou(o).mean())
    means = spent.sum(0)[:, 0] / spent.sum(0)[:, 1]
    figures.update(multiplications_without_people=means[0], multiplications_with_people=means[1], multiplications_all_open=price["fixed"] +
                   Batched(model).nodes, saved_without_people=float(saved(spent)),
                   saved_without_people_interval=drawn(count, lambda i: float(saved(spent[i]))))
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", required=True, type=pathlib.Path)
    parser.add_argument("--pictures", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=25)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    frames = sorted(options.frames.glob("*.ppm"))
    model = DynamicRouting(CONFIG)
    for layer in model.cells:
        for cell in layer:
            for way in cell.ways:
                torch.nn.init.constant_(getattr(cell.gate, way).bias, 1.0)
    train(model, Street(frames, options.pictures), options.work, options.minutes)
    figures = judge(model, frames)
    print(json.dumps(figures, indent=2))
    ours = {k: v for k, v in CONFIG.items() if k not in ("mean", "deviation")}
    (HERE / "config.json").write_text(json.dumps(dict(model_type="dynamic_routing", **ours, id2label=CLASSES), indent=2) + "\n")
    (HERE / "expected.json").write_text(json.dumps(figures, indent=2) + "\n")
    save_file({k: v.detach().float().contiguous().clone() for k, v in model.export().items()}, HERE / "model.safetensors")


if __name__ == "__main__":
    main()
