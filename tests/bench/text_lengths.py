#!/usr/bin/env python3
"""Data with the lengths of a real text, for models that have no tokenizer (presets): what padding costs them depends on lengths alone.

    text_lengths.py TEXT OUT.safetensors [--most 128] [--vocabulary 32128] [--batches 4 --batch 32]

Each sentence of TEXT becomes one sequence: as many tokens as it has words and signs, cut at --most; ids are drawn from a fixed seed, the
mask tells what pads. Sentences stay in the order of the text. Prints how long they are."""
import argparse
import json
import random
import re
import statistics
import struct


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("out")
    parser.add_argument("--most", type=int, default=128)
    parser.add_argument("--vocabulary", type=int, default=32128)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    given = parser.parse_args()
    with open(given.text, encoding="utf-8") as file:
        sentences = re.split(r"(?<=[.;:?!])\s+|\n\s*\n", file.read())
    lengths = [min(len(re.findall(r"\w+|[^\w\s]", s)), given.most) for s in sentences]
    lengths = [n for n in lengths if n > 0]
    wanted = given.batches * given.batch
    if len(lengths) < wanted:
        parser.error(f"{given.text} has {len(lengths)} sentences, {wanted} are needed")
    lengths = lengths[:wanted]
    longest = max(lengths)
    draw = random.Random(1)
    ids = [[draw.randrange(2, given.vocabulary) if i < n else 0 for i in range(longest)] for n in lengths]
    mask = [[int(i < n) for i in range(longest)] for n in lengths]
    size = 4 * wanted * longest
    header = {}
    for place, name in enumerate(("attention_mask", "input_ids")):
        header[name] = {"dtype": "I32", "shape": [wanted, longest], "data_offsets": [place * size, (place + 1) * size]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(given.out, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for rows in (mask, ids):
            for row in rows:
                out.write(struct.pack(f"<{longest}i", *row))
    real = sum(lengths)
    padded = sum(given.batch * max(lengths[i:i + given.batch]) for i in range(0, wanted, given.batch))
    print(f"{given.text}: {wanted} sentences of {min(lengths)} to {longest} tokens, median {statistics.median(lengths):.0f}; "
          f"in batches of {given.batch}, each padded to its longest: {real} of {padded} cells are real ({real / padded:.3f})")


if __name__ == "__main__":
    main()
