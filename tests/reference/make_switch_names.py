#!/usr/bin/env python3
"""Makes switch-names/: what the reference implementation writes with the demo's committed weights.

    make_switch_names.py [TEST_JSONL]

TEST_JSONL is what `./dev data` makes. No text is stored, only token ids: first.safetensors for its
first 64 lines, spread.safetensors for 64 lines over all languages.
"""
import argparse
import json
import pathlib

import sentencepiece
import torch
from safetensors.torch import save_file
from transformers import SwitchTransformersForConditionalGeneration

import fixture

PROJECT = fixture.HERE.parent.parent
MODEL = PROJECT / "resources" / "demos" / "switch-names"
DATA = PROJECT / "build" / "data" / "switch-names" / "test.jsonl"
PAD, EOS = 0, 1
COUNT = 64
BATCH = 8
NEW_TOKENS = 64


def padded(rows, value):
    width = max(map(len, rows))
    return torch.tensor([row + [value] * (width - len(row)) for row in rows], dtype=torch.int32)


def write(model, ids, mask):
    """Greedy, in batches, each cut to its longest name as a reader of the file would."""
    rows = torch.full((len(ids), NEW_TOKENS), fixture.NO_TOKEN, dtype=torch.int32)
    for start in range(0, len(ids), BATCH):
        part = slice(start, start + BATCH)
        width = int(mask[part].sum(1).max())
        tokens = fixture.greedy(model, 1, NEW_TOKENS,
                                {"input_ids": ids[part, :width].long(),
                                 "attention_mask": mask[part, :width].long()})
        rows[part, :tokens.shape[1]] = tokens
    return rows[:, :int((rows != fixture.NO_TOKEN).sum(1).max())]


def make(path, model, tokenizer, names, lines):
    languages = sorted({name["language"] for name in names})
    chosen = [names[line] for line in lines]
    encode = lambda text: tokenizer.encode(text) + [EOS]
    ids = padded([encode(name["text"]) for name in chosen], PAD)
    mask = (ids != PAD).int()
    targets = padded([encode(name["target"]) for name in chosen], fixture.NO_TOKEN)
    generated = write(model, ids, mask).contiguous()
    tensors = {"line": torch.tensor(lines, dtype=torch.int32), "input_ids": ids,
               "attention_mask": mask, "target_ids": targets, "generated": generated,
               "language": torch.tensor([languages.index(name["language"]) for name in chosen],
                                        dtype=torch.int32)}
    save_file(tensors, path, metadata={"languages": " ".join(languages)})
    exact = sum(row[row >= 0].tolist() == target[target >= 0].tolist()
                for row, target in zip(generated, targets))
    print(f"switch-names/{path.name}: {exact} of {len(lines)} exact, {path.stat().st_size} bytes")


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("test_jsonl", type=pathlib.Path, nargs="?", default=DATA)
    arguments = parser.parse_args()
    if not arguments.test_jsonl.exists():
        raise SystemExit(f"{arguments.test_jsonl}: missing (run ./dev data)")
    with open(arguments.test_jsonl, encoding="utf-8") as lines:
        names = [json.loads(line) for line in lines]
    model = SwitchTransformersForConditionalGeneration.from_pretrained(MODEL, dtype=torch.float32)
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(MODEL / "spiece.model"))
    folder = fixture.clear("switch-names")
    make(folder / "first.safetensors", model.eval(), tokenizer, names, list(range(COUNT)))
    make(folder / "spread.safetensors", model, tokenizer, names,
         [index * len(names) // COUNT for index in range(COUNT)])


if __name__ == "__main__":
    main()
