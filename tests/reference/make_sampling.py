#!/usr/bin/env python3
"""Makes sampling/cases.json: tokens that docs/method/sampling.md draws, by the standard library alone.

Each case has logits by a rule (`logits_of`), a sampling rule, a sequence, a turn, and the token. A case is left out where
two tokens, or a token and the border of the candidates, are so close that the last bit of a logarithm decides.
"""
import json
import math
import pathlib
import random

MASK = (1 << 64) - 1
CLOSE = 1e-9


def mixed_bits(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def draw_key(seed, item, turn):
    return mixed_bits((mixed_bits((mixed_bits(seed) + item) & MASK) + turn) & MASK)


def gumbel(key, token):
    draw = ((mixed_bits((key + token) & MASK) >> 11) + 0.5) * 2.0**-53
    return -math.log(-math.log(draw))


def logits_of(salt, count, span):
    """Multiples of 1/64 from -span to span: exact in float32."""
    return [(mixed_bits(salt * 1000003 + i) % (128 * span + 1) - 64 * span) / 64 for i in range(count)]


def drawn(logits, rule, item, turn):
    """The token, and how close the choice was."""
    scores = [z / rule["temperature"] for z in logits]
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    if rule["top_k"]:
        order = order[:rule["top_k"]]
    close = math.inf
    if rule["top_p"] < 1:
        weights = [math.exp(scores[i] - scores[order[0]]) for i in order]
        total, before, kept = sum(weights), 0.0, 0
        while kept < len(order) and (kept == 0 or before < rule["top_p"]):
            before += weights[kept] / total
            close = min(close, abs(before - rule["top_p"]))
            kept += 1
        order = order[:kept]
    key = draw_key(rule["seed"], item, turn)
    sums = sorted(((scores[i] + gumbel(key, i), i) for i in order), reverse=True)
    if len(sums) > 1:
        close = min(close, sums[0][0] - sums[1][0])
    return sums[0][1], close


def main():
    chance = random.Random(40)
    cases = []
    while len(cases) < 400:
        rule = {
            "seed": chance.choice([0, 1, 7, MASK, chance.randrange(MASK)]),
            "temperature": chance.choice([1.0, 0.7, 0.1, 2.5]),
            "top_k": chance.choice([0, 0, 1, 5, 40]),
            "top_p": chance.choice([1.0, 1.0, 0.95, 0.5, 0.01]),
        }
        about = {"salt": chance.randrange(1000), "count": chance.choice([1, 2, 17, 300]), "span": chance.choice([1, 4, 12])}
        item, turn = chance.choice([0, 1, 5, 123456]), chance.choice([0, 1, 2, 31, 4095])
        token, close = drawn(logits_of(**about), rule, item, turn)
        if close > CLOSE:
            cases.append({**about, **rule, "item": item, "turn": turn, "token": token})
    numbers = [[k, t, gumbel(k, t)] for k, t in [(0, 0), (1, 2), (MASK, 31999), (draw_key(7, 3, 11), 5)]]
    folder = pathlib.Path(__file__).parent / "sampling"
    folder.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(c) for c in cases)
    (folder / "cases.json").write_text(f'{{"gumbel": {json.dumps(numbers)},\n"cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
