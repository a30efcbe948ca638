#!/usr/bin/env python3
"""patterns/: recordings with planted routing, and the figures of stormcell patterns and saturation for them.

Every figure is counted here a second time, cell by cell in plain loops, from what the papers say; nothing of Stormcell is
used. What chance gives is drawn: even routers with as many cells. Needs numpy alone.

    python3 tests/reference/make_patterns.py
"""
import collections
import json
import math
import pathlib
import struct

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "patterns"
LAYERS, EXPERTS, K = 4, 8, 3
REQUESTS, TOKENS, VOCABULARY = 6, 50, 24
LABELS = ["code", "news", "talk"]  # request r has label r mod 3; the last request has none
FEWEST = 4  # cells of a token
LIMITS = [0.01, 0.03, 0.05, 0.1]
DRAWS = 4000


def save(path, tensors, about):
    """A safetensors file: the length of the header, the header, the numbers."""
    header, data = {"__metadata__": about}, b""
    for name, values in tensors.items():
        kind = {"i": "I32", "f": "F32"}[values.dtype.kind]
        begin = len(data)
        data += values.tobytes()
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def plant(seed, noise):
    """Scores of each cell: by token, by label and by the layer before; `noise` is what a checkpoint has not learned."""
    fixed = np.random.default_rng(38)
    of_token = fixed.normal(size=(LAYERS, VOCABULARY, EXPERTS))
    of_label = fixed.normal(size=(LAYERS, len(LABELS), EXPERTS))
    tokens = fixed.zipf(1.4, size=(REQUESTS, TOKENS)) % VOCABULARY
    drawn = np.random.default_rng(seed)
    cells = []
    for request in range(REQUESTS):
        for position in range(TOKENS):
            token = int(tokens[request, position])
            real = not (request == 2 and position >= TOKENS - 7)  # the end of one request is padding
            layers = []
            before = np.zeros(EXPERTS)
            for layer in range(LAYERS):
                logits = (of_token[layer, token] + 0.7 * of_label[layer, request % len(LABELS)] + 0.9 * before +
                          noise * drawn.normal(size=EXPERTS))
                scores = np.exp(logits - logits.max())
                scores = (scores / scores.sum()).astype(np.float32)
                order = np.argsort(-scores, kind="stable")
                chosen = [int(e) for e in order[:K]]
                weights = [float(scores[e]) for e in chosen]
                margin = float(scores[order[K - 1]]) - float(scores[order[K]])
                if (request + position) % 5 == 0:  # some recorders do not sort
                    chosen, weights = chosen[::-1], weights[::-1]
                layers.append({"chosen": chosen, "weights": weights, "margin": margin})
                before = np.zeros(EXPERTS)
                before[[(e + 1) % EXPERTS for e in chosen]] = 1
            if request == 4 and position == 9:  # a cell that one layer did not get
                layers[1] = None
            cells.append({"request": request, "position": position, "token": token, "real": real, "layers": layers})
    return cells


def write(name, cells):
    tensors = {
        "cell.request": np.array([c["request"] for c in cells], np.int32),
        "cell.position": np.array([c["position"] for c in cells], np.int32),
        "cell.phase": np.zeros(len(cells), np.int32),
        "cell.token": np.array([c["token"] for c in cells], np.int32),
        "cell.real": np.array([c["real"] for c in cells], np.int32),
    }
    about = {"model": "planted", "layers": str(LAYERS), "branches": str(EXPERTS), "k": str(K)}
    for layer in range(LAYERS):
        about[f"layer.{layer}.layer"] = str(2 * layer + 1)  # every second layer of the model has experts
        none = {"chosen": [-2] * K, "weights": [0.0] * K, "margin": math.nan}
        of = [c["layers"][layer] or none for c in cells]
        tensors[f"layer.{layer}.indices"] = np.array([c["chosen"] for c in of], np.int32)
        tensors[f"layer.{layer}.weights"] = np.array([c["weights"] for c in of], np.float32)
        tensors[f"layer.{layer}.margins"] = np.array([c["margin"] for c in of], np.float32)
    save(FOLDER / f"{name}.safetensors", tensors, about)


def ranked(of_layer):
    """Choices by weight, the heaviest first."""
    pairs = sorted(zip(of_layer["weights"], of_layer["chosen"]), key=lambda p: -p[0])
    return [e for _, e in pairs]


def real_cells(cells, layer):
    return [c for c in cells if c["real"] and c["layers"][layer]]


def gini(loads):
    return sum(abs(a - b) for a in loads for b in loads) / (2 * len(loads) * sum(loads))


def entropy(loads):
    return -sum(n / sum(loads) * math.log2(n / sum(loads)) for n in loads if n)


def pairs_of(counter):
    return [[a, b, n] for (a, b), n in sorted(counter.items())]


def loads_of(cells, layer):
    loads = [0] * EXPERTS
    for c in real_cells(cells, layer):
        for e in c["layers"][layer]["chosen"]:
            loads[e] += 1
    return loads


def router_figures(cells, layer):
    loads = loads_of(cells, layer)
    together, neighbours = collections.Counter(), collections.Counter()
    for c in real_cells(cells, layer):
        order = ranked(c["layers"][layer])
        for i in range(K):
            for j in range(i + 1, K):
                together[tuple(sorted((order[i], order[j])))] += 1
        for a, b in zip(order, order[1:]):
            neighbours[tuple(sorted((a, b)))] += 1
    cut = [np.float32(c["layers"][layer]["margin"]) for c in real_cells(cells, layer)]
    first = []
    for c in real_cells(cells, layer):
        heaviest = sorted((np.float32(w) for w in c["layers"][layer]["weights"]), reverse=True)
        first.append(heaviest[0] - heaviest[1])
    return {
        "cells": len(real_cells(cells, layer)),
        "load": loads,
        "imbalance": max(loads) / (sum(loads) / EXPERTS) - 1,
        "entropy_bits": entropy(loads),
        "gini": gini(loads),
        "together": pairs_of(together),
        "neighbours": pairs_of(neighbours),
        "below": {"cut": [sum(float(m) < limit for m in cut) for limit in LIMITS],
                  "first": [sum(float(m) < limit for m in first) for limit in LIMITS]},
        "median": {"cut": float(np.median(cut)), "first": float(np.median(first))},
    }


def two_sided(load, cells):
    """How often an even router gives a branch `load` of so many cells or one farther from the middle: twice the exact
    smaller tail."""
    share = K / EXPERTS
    of = [math.comb(cells, n) * share**n * (1 - share)**(cells - n) for n in range(cells + 1)]
    return min(1.0, 2 * min(sum(of[:load + 1]), sum(of[load:])))


def label_figures(cells, layer):
    table = {label: [0] * EXPERTS for label in LABELS}
    many = collections.Counter()
    for c in real_cells(cells, layer):
        if c["request"] == REQUESTS - 1:
            continue
        label = LABELS[c["request"] % len(LABELS)]
        many[label] += 1
        for e in c["layers"][layer]["chosen"]:
            table[label][e] += 1
    every = sum(map(sum, table.values()))
    bits = sum(n / every * math.log2(n * every / (sum(row) * sum(r[e] for r in table.values())))
               for row in table.values() for e, n in enumerate(row) if n)
    rare = {label: min(two_sided(load, many[label]) for load in table[label]) for label in table}
    return {"cells": many, "load": table, "bits": bits, "rarest": rare}


def vocabulary_figures(cells, layer, first):
    of_token, many = collections.defaultdict(collections.Counter), collections.Counter()
    for c in real_cells(cells, layer):
        many[c["token"]] += 1
        for e in ranked(c["layers"][layer])[:first]:
            of_token[c["token"]][e] += 1
    shares, by_expert = [], collections.defaultdict(list)
    for token, n in many.items():
        if n < FEWEST:
            continue
        most = max(of_token[token].values())
        expert = min(e for e, count in of_token[token].items() if count == most)
        shares.append(most / n)
        by_expert[expert].append((most / n, n, token))
    return {
        "tokens": len(shares),
        "left_out": sum(n < FEWEST for n in many.values()),
        "specialization": float(np.mean(shares)),
        "experts": {str(e): {"tokens": len(v), "specialization": float(np.mean([s for s, _, _ in v])),
                             "first": sorted(v, key=lambda x: (-x[0], -x[1], x[2]))[0][2]}
                    for e, v in sorted(by_expert.items())},
        "tokens_with": {str(n): c for n, c in
                        sorted(collections.Counter(n for n in many.values() if n >= FEWEST).items())},
    }


def gap_figures(cells, a, b):
    every, equal = collections.Counter(), collections.Counter()
    for c in cells:
        if not c["real"] or not c["layers"][a] or not c["layers"][b]:
            continue
        from_, to = ranked(c["layers"][a]), ranked(c["layers"][b])
        for x in from_:
            for y in to:
                every[x, y] += 1
        for x, y in zip(from_, to):
            equal[x, y] += 1
    return {"from": a, "to": b, "all": pairs_of(every), "equal": pairs_of(equal)}


def saturation_figures(early, last, layer):
    common = first = cells = 0
    for e, l in zip(early, last):
        if not l["real"] or not l["layers"][layer]:
            continue
        mine, theirs = ranked(l["layers"][layer]), ranked(e["layers"][layer])
        cells += 1
        common += len(set(mine) & set(theirs))
        first += mine[0] == theirs[0]
    by_load = sum(x * y for x, y in zip(loads_of(early, layer), loads_of(last, layer))) / cells / (cells * K)
    return {"cells": cells, "share": common / (cells * K), "first_share": first / cells, "by_load": by_load}


def even_choices(drawn, cells, k):
    """[cells, k] different experts of each cell, all sets equally likely."""
    return np.argsort(drawn.random((cells, EXPERTS)), axis=1)[:, :k]


def quantiles(values):
    return {"mean": float(np.mean(values)), "low": float(np.quantile(values, .025)),
            "high": float(np.quantile(values, .975))}


def chance_figures(expected):
    """Drawn even routers, for the sizes of layer 0."""
    drawn = np.random.default_rng(7)
    router, labels = expected["routers"][0], expected["labels"][0]
    n = router["cells"]
    agreement = []
    for _ in range(DRAWS):
        a, b = even_choices(drawn, n, K), even_choices(drawn, n, K)
        agreement.append((a[:, :, None] == b[:, None, :]).sum() / (n * K))
    of_label = labels["cells"]["code"]
    shares = [(even_choices(drawn, of_label, K) == 0).sum() / of_label for _ in range(DRAWS)]
    bits = []
    for _ in range(DRAWS):
        table = np.array([np.bincount(even_choices(drawn, labels["cells"][l], K).ravel(), minlength=EXPERTS)
                          for l in LABELS], float)
        every = table.sum()
        expect = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / every
        bits.append(float((table / every * np.log2(np.where(table > 0, table / expect, 1))).sum()))
    words = []
    for _ in range(DRAWS):
        share = []
        for many, tokens in expected["vocabulary"][0]["tokens_with"].items():
            for _ in range(tokens):
                counts = np.bincount(even_choices(drawn, int(many), K).ravel(), minlength=EXPERTS)
                share.append(counts.max() / int(many))
        words.append(np.mean(share))
    return {"agreement": quantiles(agreement), "branch_share": quantiles(shares), "label_bits": quantiles(bits),
            "vocabulary": quantiles(words)}


def main():
    FOLDER.mkdir(exist_ok=True)
    early, middle, last = plant(1, 4.0), plant(2, 1.5), plant(3, 0.6)
    for name, cells in (("early", early), ("middle", middle), ("last", last)):
        write(name, cells)
    (FOLDER / "labels.csv").write_text(
        "request,label\n" + "".join(f"{r},{LABELS[r % len(LABELS)]}\n" for r in range(REQUESTS - 1)))
    expected = {
        "cells": sum(c["real"] for c in last),
        "without_label": sum(c["real"] for c in last if c["request"] == REQUESTS - 1),
        "limits": LIMITS,
        "fewest": FEWEST,
        "routers": [router_figures(last, layer) for layer in range(LAYERS)],
        "labels": [label_figures(last, layer) for layer in range(LAYERS)],
        "vocabulary": [vocabulary_figures(last, layer, K) for layer in range(LAYERS)],
        "vocabulary_of_first": [vocabulary_figures(last, layer, 1) for layer in range(LAYERS)],
        "gaps": [gap_figures(last, a, b) for a, b in ((0, 1), (1, 2), (2, 3), (0, 3))],
        "saturation": [[saturation_figures(e, last, layer) for e in (early, middle)] for layer in range(LAYERS)],
    }
    expected["chance"] = chance_figures(expected)
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
