#!/usr/bin/env python3
"""Times `stormcell inspect` on models that are larger than memory: a folder of 70 GB, a GGUF of 20 GB, one of 1,000 parts.

    tests/bench/sheet_bench.py [--stormcell build/bin/stormcell] [--rounds 5] [--folder DIR]

The files are sparse: their headers are written, their data are holes, and they take some 20 MB of the disk. Cold: the
pages of every file are dropped from memory first by posix_fadvise(DONTNEED). The limits are 1 s warm, 3 s cold and
200 MB; the program ends with 1 if the median of a row is beyond one."""
import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

WARM_S, COLD_S, MOST_MB = 1.0, 3.0, 200.0
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
Q8_0, Q4_K, F32 = 8, 12, 0
BLOCKS = {Q8_0: (32, 34), Q4_K: (256, 144), F32: (1, 4)}  # elements and bytes of a block


def write_sparse(path, header, data_bytes):
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(len(header) + data_bytes)


# GGUF -----------------------------------------------------------------------------------------------------------------
def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def pair(key, value):
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, list):
        return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    return text(key) + struct.pack("<II", 4, value)


def write_gguf(path, pairs, tensors):
    """tensors: (name, extents, type)."""
    at, described = 0, b""
    for name, extents, kind in tensors:
        elements = 1
        for extent in extents:
            elements *= extent
        described += text(name) + struct.pack(f"<I{len(extents)}QIQ", len(extents), *extents, kind, at)
        at += -(-elements * BLOCKS[kind][1] // BLOCKS[kind][0] // 32) * 32
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pair(*p) for p in pairs) + described
    write_sparse(path, header.ljust(-(-len(header) // 32) * 32, b"\0"), at)


def keys_of(layers, experts):
    return [("general.architecture", "qwen3moe"), ("qwen3moe.block_count", layers), ("qwen3moe.expert_count", experts),
            ("qwen3moe.expert_used_count", 8), ("tokenizer.ggml.model", "gpt2")]


def layer_of_gguf(layer, experts, hidden, width):
    name = f"blk.{layer}."
    return ([(name + "attn_norm.weight", (hidden,), F32), (name + "ffn_gate_inp.weight", (hidden, experts), F32)]
            + [(f"{name}attn_{n}.weight", (hidden, hidden), Q8_0) for n in ("q", "k", "v", "output")]
            + [(f"{name}ffn_{n}_exps.weight", (hidden, width, experts), Q4_K) for n in ("gate", "up", "down")])


def make_gguf(folder):
    """48 layers of 128 experts, with a vocabulary of 150,000 words in the header."""
    path = os.path.join(folder, "model.gguf")
    words = [f"token{i}" for i in range(150_000)]
    tensors = [("token_embd.weight", (2048, 150_016), Q8_0)]
    for layer in range(48):
        tensors += layer_of_gguf(layer, 128, 2048, 992)
    write_gguf(path, keys_of(48, 128) + [("tokenizer.ggml.tokens", words)], tensors)
    return path


def make_parts(folder):
    parts = 1000
    for part in range(parts):
        tensors = layer_of_gguf(part, 64, 512, 512)
        keys = (keys_of(parts, 64) if part == 0 else []) + [("split.no", part), ("split.count", parts),
                                                           ("split.tensors.count", parts * len(tensors))]
        write_gguf(os.path.join(folder, f"model-{part + 1:05}-of-{parts:05}.gguf"), keys, tensors)
    return os.path.join(folder, "model-00001-of-01000.gguf")


# The Hugging Face layout ----------------------------------------------------------------------------------------------
def make_folder(folder, layers=48, experts=128, hidden=2560, width=768, shards=16):
    index = {}
    for shard in range(shards):
        name, header, at = f"model-{shard + 1:05}-of-{shards:05}.safetensors", {}, 0
        for layer in range(layers * shard // shards, layers * (shard + 1) // shards):
            of = f"model.layers.{layer}."
            shapes = {f"{of}self_attn.{n}_proj.weight": [hidden, hidden] for n in "qkvo"}
            shapes[of + "mlp.gate.weight"] = [experts, hidden]
            for expert in range(experts):
                for n in ("gate", "up", "down"):
                    shapes[f"{of}mlp.experts.{expert}.{n}_proj.weight"] = [width, hidden]
            for tensor, shape in shapes.items():
                end = at + 2 * shape[0] * shape[1]
                header[tensor] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, end]}
                index[tensor], at = name, end
        described = json.dumps(header).encode()
        write_sparse(os.path.join(folder, name), struct.pack("<Q", len(described)) + described, at)
    for name, value in (("model.safetensors.index.json", {"metadata": {}, "weight_map": index}),
                        ("config.json", {"model_type": "qwen3_moe", "num_hidden_layers": layers,
                                         "num_experts": experts, "num_experts_per_tok": 8, "norm_topk_prob": True,
                                         "decoder_sparse_step": 1, "mlp_only_layers": []})):
        with open(os.path.join(folder, name), "w") as file:
            json.dump(value, file)
    return folder


# Times ----------------------------------------------------------------------------------------------------------------
def files_of(path):
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    return [os.path.join(folder, name) for name in os.listdir(folder)]


def drop(path):
    for name in files_of(path):
        with open(name, "rb") as file:
            os.fsync(file.fileno())  # a page that was not written yet stays
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def inspect(stormcell, path):
    """Seconds, MB of memory, the JSON."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.execv(stormcell, [stormcell, "inspect", path, "--json", "-"])
        _, status, usage = os.wait4(child, 0)
        seconds = time.monotonic() - begin
        if status != 0:
            sys.exit(f"{path}: inspect ended with {os.waitstatus_to_exitcode(status)}")
        out.seek(0)
        return seconds, usage.ru_maxrss * 1024 / 1e6, json.load(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stormcell", default=os.path.join(ROOT, "build/bin/stormcell"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the temporary folder is made")
    options = parser.parse_args()
    beyond = []
    print(f"{'model':24} {'files':>6} {'GB':>7} {'warm, s':>16} {'cold, s':>16} {'MB':>6}    median (slowest)")
    for name, make in (("folder of safetensors", make_folder), ("one GGUF", make_gguf), ("GGUF of 1,000 parts", make_parts)):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = make(folder)
            inspect(options.stormcell, path)
            warm = [inspect(options.stormcell, path) for _ in range(options.rounds)]
            cold = []
            for _ in range(options.rounds):
                drop(path)
                cold.append(inspect(options.stormcell, path))
            sheet = warm[0][2].get("sheet") or warm[0][2]
            figures = {"warm": [w[0] for w in warm], "cold": [c[0] for c in cold]}
            memory = max(run[1] for run in warm + cold)
            told = [f"{statistics.median(f):.2f} ({max(f):.2f})" for f in figures.values()]
            print(f"{name:24} {sheet['files']:>6,} {sheet['bytes'] / 1e9:7.1f} {told[0]:>16} {told[1]:>16} {memory:6.0f}",
                  flush=True)
            if (statistics.median(figures["warm"]) > WARM_S or statistics.median(figures["cold"]) > COLD_S
                    or memory > MOST_MB):
                beyond.append(name)
    if beyond:
        sys.exit("beyond a limit: " + ", ".join(beyond))


if __name__ == "__main__":
    main()
