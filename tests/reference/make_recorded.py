#!/usr/bin/env python3
"""Makes recorded/: what the recorders of resources/recorders write of tiny random models, and expected.json, what an
import must find in it. That the recorders are right is tests/recorders/check.py's matter."""
import json
import pathlib
import sys

import numpy
import torch
import transformers

import fixture

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "recorders"))
from harness import Words, load, quietly, read  # noqa: E402
from pytorch_checks import Exits  # noqa: E402
from transformers_checks import NAME, batch_of, record_generate, tiny  # noqa: E402


def expected_of(path):
    tensors, about = read(path)
    layers = range(int(about["layers"]))
    loads = [[int((tensors[f"layer.{i}.indices"] == b).sum()) for b in range(int(about[f"layer.{i}.branches"]))]
             for i in layers]
    told = {"loads": loads, "layers": [int(about.get(f"layer.{i}.layer", -1)) for i in layers], "cut": about["cut"],
            "choices": int(sum((tensors[f"layer.{i}.indices"] >= 0).sum() for i in layers)),
            "requests": len(set(tensors["cell.request"].tolist()))}
    if "cell.token" in tensors:
        told["tokens"] = tensors["cell.token"].tolist()
    if "token.id" in tensors:
        ends, text = tensors["token.end"].tolist(), tensors["token.text"].tobytes()
        told["texts"] = [text[b:e].decode() for b, e in zip([0, *ends], ends)]
        told["ids"] = tensors["token.id"].tolist()
    if "layer.0.margins" in tensors:
        told["margins"] = [round(float(v), 5) for v in tensors["layer.0.margins"]]
    return told


def record_switch(module, path):
    model, (ids, _) = tiny("switch"), batch_of((12, 12), 3)
    decoder = torch.randint(3, 60, (2, 9), generator=torch.Generator().manual_seed(4))
    with module.Recorder(model, Words(), path), torch.no_grad():
        model(input_ids=ids, decoder_input_ids=decoder)


def record_exits(path):
    torch.manual_seed(9)
    model, x = Exits(), torch.randn(40, 12) * 3
    with load("exits").Recorder(model, None, path, threshold=0.6) as recorder, torch.no_grad():
        recorder.labels(torch.randint(0, 4, (40,)))
        model(x)


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    folder = fixture.clear("recorded")
    quietly(record_generate, load(NAME), tiny("olmoe"), folder / "olmoe.safetensors")
    quietly(record_generate, load(NAME), tiny("qwen2_moe"), folder / "every-second.safetensors", 2)
    quietly(record_switch, load(NAME), str(folder / "switch.safetensors"))
    quietly(record_exits, str(folder / "exits.safetensors"))
    expected = {path.stem: expected_of(path) for path in sorted(folder.glob("*.safetensors"))}
    numpy.testing.assert_equal(expected["olmoe"]["cut"], "")
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=None) + "\n")


main()
