#!/usr/bin/env python3
"""Writes what opening any file shows: sheets of eleven kinds of files, and pictures of the loop at two sizes.

    tests/bench/open_anything.py FOLDER [--bin build/bin] [--measure-seconds 0.5]

The folder gets sheets/NAME.txt and NAME.json (what `inspect` prints), pictures/STEP-WIDTHxHEIGHT.png (what the Studio
shows), recorders.txt and README.md with a table of each. Models are made here and are small; those of the demos come
with the programs. Pictures need no display. Without stormcell-studio in --bin there are no pictures, and the page says
so. The program ends with 1 if a command failed, and the page names it."""
import argparse
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

import sheet_bench

SIZES = ("1280x720", "1600x1000")
LAYERS, EXPERTS, HIDDEN, WIDTH = 8, 16, 256, 256


# The kinds of files ---------------------------------------------------------------------------------------------------
def make_huggingface(folder):
    folder.mkdir()
    return sheet_bench.make_folder(str(folder), LAYERS, EXPERTS, HIDDEN, WIDTH, 2)


def make_safetensors(folder):
    """The weights alone, as somebody sends them."""
    folder.mkdir()
    made = folder / "whole"
    made.mkdir()
    sheet_bench.make_folder(str(made), LAYERS, EXPERTS, HIDDEN, WIDTH, 1)
    alone = folder / "weights.safetensors"
    shutil.move(made / "model-00001-of-00001.safetensors", alone)
    shutil.rmtree(made)
    return alone


def gguf_tensors():
    tensors = [("token_embd.weight", (HIDDEN, 1000), sheet_bench.Q8_0)]
    for layer in range(LAYERS):
        tensors += sheet_bench.layer_of_gguf(layer, EXPERTS, HIDDEN, WIDTH)
    return tensors


def make_gguf(folder):
    folder.mkdir()
    sheet_bench.write_gguf(folder / "model.gguf", sheet_bench.keys_of(LAYERS, EXPERTS), gguf_tensors())
    return folder / "model.gguf"


def make_blob(folder):
    """As Ollama stores it: a name without a suffix."""
    folder.mkdir()
    blob = folder / ("sha256-" + "5e" * 32)
    sheet_bench.write_gguf(blob, sheet_bench.keys_of(LAYERS, EXPERTS), gguf_tensors())
    return blob


def make_gguf_parts(folder):
    folder.mkdir()
    for part in range(LAYERS):
        tensors = sheet_bench.layer_of_gguf(part, EXPERTS, HIDDEN, WIDTH)
        keys = (sheet_bench.keys_of(LAYERS, EXPERTS) if part == 0 else []) + [
            ("split.no", part), ("split.count", LAYERS), ("split.tensors.count", LAYERS * len(tensors))]
        sheet_bench.write_gguf(folder / f"model-{part + 1:05}-of-{LAYERS:05}.gguf", keys, tensors)
    return folder / f"model-00003-of-{LAYERS:05}.gguf"


def varint(value):
    text = b""
    while value > 0x7f:
        text, value = text + bytes([value & 0x7f | 0x80]), value >> 7
    return text + bytes([value])


def number_field(number, value):
    return varint(number << 3) + varint(value)


def bytes_field(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def make_onnx(folder):
    """Six products and their activations, as a trace of one path leaves them."""
    folder.mkdir()
    nodes = b"".join(bytes_field(1, bytes_field(4, op)) for op in ("MatMul", "Add", "Relu") * 6)
    weights = b"".join(
        bytes_field(5, number_field(1, 16) + number_field(1, 16) + number_field(2, 1) + bytes_field(8, f"w{i}")
                    + bytes_field(9, bytes(1024))) for i in range(6))
    model = number_field(1, 8) + bytes_field(2, "pytorch") + bytes_field(3, "2.8.0") + bytes_field(7, nodes + weights)
    (folder / "model.onnx").write_bytes(model + bytes_field(8, bytes_field(1, "") + number_field(2, 17)))
    return folder / "model.onnx"


def make_exported(folder):
    """An archive of torch.export."""
    folder.mkdir()
    program = {"graph_module": {"graph": {"nodes": [{"target": t} for t in ("torch.ops.aten.linear.default",
                                                                           "torch.ops.aten.topk.default")]}},
               "schema_version": {"major": 8, "minor": 5}, "torch_version": "2.8.0"}
    weights = {"config": {"gate.weight": {"path_name": "weight_0", "is_param": True, "tensor_meta": {
        "dtype": 7, "sizes": [{"as_int": 4}, {"as_int": 8}]}}}}
    with zipfile.ZipFile(folder / "model.pt2", "w", zipfile.ZIP_STORED) as file:
        for name, value in (("archive_format", "pt2"), ("models/model.json", json.dumps(program)),
                            ("data/weights/model_weights_config.json", json.dumps(weights)),
                            ("data/weights/weight_0", bytes(128))):
            file.writestr("made/" + name, value)
    return folder / "model.pt2"


def pickled(value):
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, tuple):
        return b"(" + b"".join(map(pickled, value)) + b"t"
    value = value.encode()
    return b"X" + struct.pack("<I", len(value)) + value


def make_state_dict(folder):
    """What torch.save(model.state_dict()) writes of a network with three exits."""
    folder.mkdir()
    items = b""
    for name, shape in (("blocks.0.conv.weight", (8, 3, 3, 3)), ("blocks.1.conv.weight", (8, 8, 3, 3)),
                        ("classifier.0.linear.weight", (10, 8)), ("classifier.1.linear.weight", (10, 8))):
        strides, elements = [], 1
        for extent in reversed(shape):
            strides, elements = [elements, *strides], elements * extent
        storage = (b"(" + pickled("storage") + b"ctorch\nFloatStorage\n" + pickled("0") + pickled("cpu")
                   + pickled(elements) + b"tQ")
        items += (pickled(name) + b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + pickled(0) + pickled(shape)
                  + pickled(tuple(strides)) + b"\x89ccollections\nOrderedDict\n)RtR")
    with zipfile.ZipFile(folder / "model.pth", "w", zipfile.ZIP_STORED) as file:
        file.writestr("made/data.pkl", b"\x80\x02}(" + items + b"u.")
        file.writestr("made/version", "3\n")
        file.writestr("made/data/0", bytes(4096))
    return folder / "model.pth"


def make_scored_trace(path):
    """A recording of two routers with scores, in the native format: two requests of 60 tokens."""
    tokens, branches, k = 120, 8, 2
    numbers, tensors = 1, {}

    def add(name, dtype, shape, values):
        kind = {"I32": "i", "F32": "f"}[dtype]
        tensors[name] = (dtype, shape, struct.pack(f"<{len(values)}{kind}", *values))
    add("cell.request", "I32", [tokens], [i // 60 for i in range(tokens)])
    add("cell.position", "I32", [tokens], [i % 60 for i in range(tokens)])
    add("cell.phase", "I32", [tokens], [0] * tokens)
    for layer in range(2):
        scores, indices, weights = [], [], []
        for _ in range(tokens):
            row = []
            for branch in range(branches):
                numbers = numbers * 1103515245 + 12345 & 0x7fffffff  # drawn, and the same each time
                row.append(numbers / 2**31 + 0.1 * (branch == 3))
            best = sorted(range(branches), key=lambda b: -row[b])[:k]
            scores, indices, weights = scores + row, indices + best, weights + [row[b] for b in best]
        add(f"layer.{layer}.indices", "I32", [tokens, k], indices)
        add(f"layer.{layer}.weights", "F32", [tokens, k], weights)
        add(f"layer.{layer}.scores", "F32", [tokens, branches], scores)
    header, at = {"__metadata__": {"model": "made", "layers": "2", "branches": str(branches), "k": str(k)}}, 0
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(values)]}
        at += len(values)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(values for _, _, values in tensors.values()))
    return path


# Commands -------------------------------------------------------------------------------------------------------------
class Programs:
    def __init__(self, folder, out):
        self.stormcell, self.studio = folder / "stormcell", folder / "stormcell-studio"
        self.out, self.failed = out, []

    def run(self, *words, program=None):
        """What it prints, and its seconds; a failure is noted."""
        begin = time.monotonic()
        done = subprocess.run([str(program or self.stormcell), *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            self.failed.append(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr.strip()}")
        return done.stdout, time.monotonic() - begin

    def picture(self, step, view, opened, *more):
        """A picture of each size; the names of their files."""
        names = []
        for size in SIZES:
            names.append(f"pictures/{step}-{size}.png")
            self.run("--export", view, "-o", self.out / names[-1], "--size", size, *more, opened, program=self.studio)
        return names


def write_sheets(programs, folder, session, trace):
    kinds = (("demo", "a model of this program's layout", "demo:switch-names"),
             ("huggingface", "a Hugging Face folder of a Qwen3-MoE", make_huggingface(folder / "huggingface")),
             ("safetensors", "weights alone", make_safetensors(folder / "safetensors")),
             ("gguf", "a GGUF", make_gguf(folder / "gguf")),
             ("blob", "a GGUF without a suffix", make_blob(folder / "blob")),
             ("gguf-parts", "one of eight parts of a GGUF", make_gguf_parts(folder / "gguf-parts")),
             ("onnx", "ONNX", make_onnx(folder / "onnx")),
             ("pt2", "an archive of torch.export", make_exported(folder / "pt2")),
             ("state-dict", "a PyTorch state dict", make_state_dict(folder / "state-dict")),
             ("trace", "a trace", trace),
             ("session", "a session", session))
    rows = []
    for name, what, path in kinds:
        text, seconds = programs.run("inspect", path)
        (programs.out / f"sheets/{name}.txt").write_text(text)
        programs.run("inspect", path, "--json", programs.out / f"sheets/{name}.json")
        first = text.split("\n", 1)[0]
        rows.append(f"| {what} | [{first}](sheets/{name}.txt) | {seconds:.2f} s |")
    return ["## Sheets", "", "| file | what `inspect` says first | time |", "|---|---|---|", *rows, ""]


def busiest_branch(programs, session):
    """ROUTER/BRANCH with most cells of the first router of a session."""
    analysis = json.loads(programs.run("analyze", f"{session}#1", "--json", "-")[0])
    router = analysis["routers"][0]
    return router["router"] + "/" + str(router["load"].index(max(router["load"])))


def record_loops(programs, folder, seconds):
    """Sessions of the two loops: an optimisation, then one change after another."""
    names, digits = folder / "names.storm", folder / "digits.storm"
    quick = ("--measure-seconds", seconds, "--verify-seconds", 0.5)
    programs.run("optimize", "demo:switch-names", "--data", "demo:switch-names-sample", "--record-inputs", *quick,
                 "-o", names)
    branch = busiest_branch(programs, names)
    same = ("demo:switch-names", "--data", "demo:switch-names-sample", "--record-inputs", *quick)
    programs.run("what-if", *same, "--off", branch, "-o", names)
    programs.run("run", *same, "--weight-budget", "1500000", "-o", names)
    programs.run("optimize", "demo:msdnet-digits", "--data", "demo:msdnet-digits-sample", *quick, "-o", digits)
    return names, digits


def write_pictures(programs, names, digits, recording):
    if not programs.studio.exists():
        return ["## Pictures", "", f"There are none: {programs.studio.name} is not in {programs.studio.parent}.", ""]
    optimized = f"{names}#2"  # behind its profile
    steps = [("a model is opened", programs.picture("1-model", "model", "demo:switch-names")),
             ("it has run", programs.picture("2-heatmap", "heatmap", optimized, "--window")),
             ("where one name went", programs.picture("3-cells", "cells", f"{names}#1", "--window", "--cell", "3:1"))]
    runs = json.loads(programs.run("inspect", names, "--json", "-")[0])["runs"]
    changed, halved = (run["run"] for run in runs[-2:])
    steps += [("a branch is off", programs.picture("4-branch-off", "heatmap", f"{names}#{changed}", "--window")),
              ("the budget is half", programs.picture("5-budget", "overview", f"{names}#{halved}", "--window")),
              ("two tries are compared", programs.picture("6-compare", "compare", f"{names}#{halved}", "--window",
                                                          "--compare-with", optimized)),
              ("time, with guards and the baseline", programs.picture("7-timeline", "timeline", optimized,
                                                                      "--window")),
              ("thresholds of exits", programs.picture("8-exits", "exits", digits, "--window")),
              ("a recording, whose choices are changed", programs.picture("9-recording", "heatmap", recording,
                                                                          "--window"))]
    lines = ["## Pictures", ""]
    for what, files in steps:
        lines += [f"### {what}", ""] + [f"![{what}]({file})" for file in files] + [""]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(sheet_bench.ROOT) / "build/bin")
    parser.add_argument("--measure-seconds", type=float, default=0.5)
    given = parser.parse_args()
    for part in ("sheets", "pictures"):
        (given.folder / part).mkdir(parents=True, exist_ok=True)
    programs = Programs(given.bin.resolve(), given.folder.resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        trace, recording = make_scored_trace(folder / "made.safetensors"), folder / "made.storm"
        programs.run("import", trace, "-o", recording)
        names, digits = record_loops(programs, folder, given.measure_seconds)
        recorders = programs.run("recorder")[0]
        (programs.out / "recorders.txt").write_text(recorders)
        page = ["# Open anything", "", programs.run("--version")[0].strip(), "",
                *write_sheets(programs, folder, names, trace), "## Recorders", "", "```", recorders.rstrip(), "```", "",
                *write_pictures(programs, names, digits, recording)]
    if programs.failed:
        page += ["## Failed", "", *(f"- {line}" for line in programs.failed), ""]
    (programs.out / "README.md").write_text("\n".join(page))
    print(f"{programs.out}/README.md: {len(list((programs.out / 'sheets').iterdir()))} sheets, "
          f"{len(list((programs.out / 'pictures').iterdir()))} pictures, {len(programs.failed)} failures")
    return 1 if programs.failed else 0


if __name__ == "__main__":
    sys.exit(main())
