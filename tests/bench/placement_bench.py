#!/usr/bin/env python3
"""Times what issues of size ask of placements and of the simulator, on made-up traces of 61 layers of 256 experts, 8 of a token.

    tests/bench/placement_bench.py [--stormcell build/bin/stormcell] [--folder DIR] [--only counts,simulate,planted] [--limits 15,60]

counts    SGLang's logical_count: `import`. Of 128 steps, 2 million counts that sum to 16 million choices (32,768 tokens), which the bar of a
          second is of; and of 1,024 steps, 16 million counts that sum to as many choices. Beside the time of the whole program its own,
          without its start, and that of the processors; how long it takes to start is told first.
simulate  1,000 steps, 8,192 tokens in all, 64 to 1,024 GPUs in nodes of 8: `simulate`.
planted   1,024 tokens in 128 steps, each at home on two neighbouring GPUs of a hidden layout of 64, an eighth of its choices at random:
          `place` from the contiguous layout for --limits seconds each, by steps' cost and by traffic; the share of what the hidden layout saves
          over the EPLB rule's, of what it was fitted to and held out. The hidden layout is judged by `place --solver keep --from`.
"""
import argparse
import array
import json
import os
import random
import resource
import struct
import subprocess
import tempfile
import time

LAYERS, EXPERTS, K = 61, 256, 8
SIZES = ["--hidden", "7168", "--ffn", "2048", "--dtype", "f8"]


def write_trace(path, tokens, steps):
    """The native form: tokens is a list of [layer][k], steps the step of each."""
    tensors = {"cell.request": ("I32", array.array("i", range(len(tokens)))), "cell.position": ("I32", array.array("i", [0] * len(tokens))),
               "cell.phase": ("I32", array.array("i", [1] * len(tokens))), "cell.step": ("I64", array.array("q", steps)),
               "cell.batch": ("I32", array.array("i", steps))}
    for layer in range(LAYERS):
        tensors[f"layer.{layer}.indices"] = ("I32", array.array("i", [e for token in tokens for e in token[layer]]))
    header, at = {"__metadata__": {"model": "made up", "layers": str(LAYERS), "branches": str(EXPERTS), "k": str(K)}}, 0
    for name, (dtype, values) in tensors.items():
        size = len(values) * values.itemsize
        header[name] = {"dtype": dtype, "shape": [len(tokens), K] if "indices" in name else [len(tokens)], "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for _, values in tensors.values():
            out.write(values.tobytes())


def write_cluster(path, gpus):
    path.write_text(json.dumps({
        "schema": "stormcell.cluster/1", "name": f"{gpus} H100", "nodes": gpus // 8, "gpus_per_node": 8,
        "gpu": {"name": "H100 SXM5 80GB", "memory_bytes": 85899345920, "memory_bytes_per_s": 3350000000000, "flops_per_s": 9.89e14},
        "fabric": {"name": "NVLink 4", "bytes_per_s": 450000000000}, "network": {"name": "NDR", "bytes_per_s": 50000000000},
        "sources": ["resources/clusters/4x8-h100.json"]}))
    return str(path)


class Bench:
    def __init__(self, stormcell, folder):
        self.stormcell, self.folder = stormcell, folder

    def run(self, *arguments):
        begin = time.monotonic()
        told = subprocess.run([self.stormcell, *map(str, arguments), "--json", "-", "--quiet"], stdout=subprocess.PIPE)
        if told.returncode:
            raise SystemExit(told.returncode)
        return json.loads(told.stdout), time.monotonic() - begin

    def counts(self):
        def processors():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime

        for _ in range(2):  # once so that the program and its libraries are in memory
            begin = time.monotonic()
            subprocess.run([self.stormcell, "--version"], stdout=subprocess.DEVNULL, check=True)
        print(f"counts: the program starts and ends in {time.monotonic() - begin:.2f} s", flush=True)
        draw, path = random.Random(1), self.folder / "counts.json"
        for what, most, times in (("16 million choices", 17, 1), ("16 million counts", 3, 8)):
            # A step that comes again costs as much as another.
            steps = [[[draw.randrange(most) for _ in range(EXPERTS)] for _ in range(LAYERS)] for _ in range(128)]
            path.write_text('{"logical_count": [' + ", ".join([json.dumps(step) for step in steps] * times) + "]}")
            total, counts = times * sum(n for step in steps for layer in step for n in layer), times * 128 * LAYERS * EXPERTS
            used = processors()
            told, seconds = self.run("import", path, "-o", self.folder / f"counts{times}.storm")
            print(f"counts, {what}: {total / 1e6:.1f} million choices as {counts / 1e6:.1f} million counts of {128 * times} steps, "
                  f"{path.stat().st_size / 2**20:.1f} MiB, imported in {seconds:.2f} s ({told['seconds']:.2f} s by itself, "
                  f"{processors() - used:.2f} s of processors)", flush=True)

    def simulate(self):
        draw, session = random.Random(2), self.folder / "steps.storm"
        tokens = [[draw.sample(range(EXPERTS), K) for _ in range(LAYERS)] for _ in range(8192)]
        write_trace(self.folder / "steps.safetensors", tokens, [t * 1000 // 8192 for t in range(8192)])
        self.run("import", self.folder / "steps.safetensors", "-o", session)
        for gpus in (64, 128, 256, 512, 1024):
            cluster = write_cluster(self.folder / f"{gpus}.json", gpus)
            layout = []
            if gpus > EXPERTS:  # a slot a GPU, every expert as often as the others; the form of vLLM
                path = self.folder / f"layout{gpus}.json"
                path.write_text(json.dumps([[slot % EXPERTS for slot in range(gpus)]] * LAYERS))
                layout = ["--placement", path]
            figures, seconds = self.run("simulate", session, "--cluster", cluster, *SIZES, *layout)
            print(f"simulate: {gpus} GPUs, {figures['steps']['count']} steps: {seconds:.2f} s", flush=True)

    def planted(self, limits):
        draw, gpus, each = random.Random(3), 64, EXPERTS // 64
        hidden = [draw.sample(range(EXPERTS), EXPERTS) for _ in range(LAYERS)]

        def token():
            first, chosen = draw.randrange(gpus) * each, []
            for layer in hidden:
                taken = []
                for slot in range(first, first + K):
                    expert = layer[slot % EXPERTS] if draw.randrange(8) else draw.randrange(EXPERTS)
                    while expert in taken:
                        expert = draw.randrange(EXPERTS)
                    taken.append(expert)
                chosen.append(taken)
            return chosen

        tokens, session = [token() for _ in range(1024)], self.folder / "planted.storm"
        write_trace(self.folder / "planted.safetensors", tokens, [t // 8 for t in range(1024)])
        layout = self.folder / "hidden.json"
        layout.write_text(json.dumps(hidden))  # the form of vLLM, which counts layers with experts
        self.run("import", self.folder / "planted.safetensors", "-o", session)
        cluster = write_cluster(self.folder / "64.json", gpus)
        common = ["place", session, "--cluster", cluster, *SIZES, "--tokens-per-step", "128"]

        def judged(*arguments):
            figures, seconds = self.run(*common, *arguments)
            return {line["name"]: line for line in figures["layouts"]}, seconds

        best, _ = judged("--solver", "keep", "--from", layout)
        kept = best["result"]
        for aim in ("cost", "traffic"):
            for limit in limits:
                lines, seconds = judged("--solver", "joint", "--aim", aim, "--time-limit", limit)
                eplb, found = lines["eplb"], lines["result"]
                print(f"planted, --aim {aim} --time-limit {limit}: {seconds:.1f} s", flush=True)
                for part in ("fit", "held_out"):
                    for key in ("objective", "cross_pairs", "ranks_per_token"):
                        before, after, at_best = eplb[part][key], found[part][key], kept[part][key]
                        print(f"  {part} {key}: EPLB {before:.4g}, found {after:.4g}, hidden {at_best:.4g}: {(before - after) / (before - at_best):.0%} of it")


def main():
    import pathlib
    root = pathlib.Path(__file__).resolve().parents[2]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--stormcell", default=str(root / "build/bin/stormcell"))
    p.add_argument("--folder", help="where the temporary folder is made")
    p.add_argument("--only", default="counts,simulate,planted")
    p.add_argument("--limits", default="15,60", help="seconds of a search")
    a = p.parse_args()
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        bench = Bench(a.stormcell, pathlib.Path(folder))
        for name in a.only.split(","):
            getattr(bench, name)(*([a.limits.split(",")] if name == "planted" else []))


main()
