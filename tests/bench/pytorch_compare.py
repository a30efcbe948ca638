#!/usr/bin/env python3
"""The six networks of Brainstorm's paper, each against the same network in PyTorch, alternated on one machine.

    pytorch_compare.py BUILD [--network NAME]... [--rounds 3] [--passes 3] [--seconds 4] [--variants eager,kept,onednn,compiled]
                       [--json F] [--weights FOLDER]

BUILD is the build folder, with bin/stormcell and bench/write_model; Python needs the environment of `./dev fixtures`. Weights are the
preset's own, written to a folder that both sides read (Switch's take 2.5 GB), inputs the same to the last bit. Each round runs Stormcell's
baseline, the optimised plan that `optimize` chose beforehand, and PyTorch once a variant (see pytorch_networks.py), each in a process of
its own with as many threads as there are cores; the first pass of a process warms up. Printed are means over all batches, medians over
rounds. The share of the limit is what `run` measured for Stormcell; PyTorch's is the same work in its own time.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Preset, what follows random:, batch: the paper's sizes; several items where they are routed unlike.
NETWORKS = {
    "switch": ("switch-base-8", "8x128", 8),
    "task-moe": ("task-moe", "32x64", 32),
    "swinv2-moe": ("swinv2-moe-small-c1.25", "8", 8),
    "livesr": ("livesr-k10-f8", "4", 1),
    "dynamic-routing": ("dynamic-routing-a", "2", 1),
    "msdnet": ("msdnet-e7", "16", 1),
}
# glibc's allocator gives large blocks back to the system at once, unless told otherwise: every map is then paged in anew.
KEEP = {"MALLOC_TRIM_THRESHOLD_": "-1", "MALLOC_MMAP_MAX_": "0", "MALLOC_TOP_PAD_": str(64 << 20)}


class Failed(Exception):
    pass


class Case:
    def __init__(self, build, name, folder, threads):
        self.preset, self.items, self.batch = NETWORKS[name]
        self.program, self.threads, self.folder = str(build / "bin/stormcell"), threads, folder / self.preset
        if not (self.folder / "config.json").exists():
            subprocess.run([str(build / "bench/write_model"), self.preset, str(self.folder)], check=True)

    def stormcell(self, verb, *more):
        with tempfile.TemporaryDirectory() as scratch:
            summary = pathlib.Path(scratch) / "summary.json"
            subprocess.run([self.program, verb, str(self.folder), "--data", f"random:{self.items}", "--batch", str(self.batch), "--threads",
                            str(self.threads), "--quiet", "--json", str(summary), *map(str, more)], check=True, stdout=subprocess.DEVNULL)
            return json.loads(summary.read_text())

    def optimize(self, seconds):
        """Writes the configuration of the optimised plan; the summary."""
        self.configuration = self.folder / "optimised.json"
        return self.stormcell("optimize", "--keep-all", "--measure-seconds", seconds, "--config-out", self.configuration)

    def run(self, seconds, optimised):
        more = ["--config", self.configuration] if optimised else []
        figures = self.stormcell("run", "--verify-seconds", 0, "--measure-seconds", seconds, *more)
        plan = figures["optimized" if optimised else "baseline"]
        return plan["latency_ms"]["mean"], plan["limit_share"]

    def pytorch(self, variant, passes):
        environment = os.environ | ({} if variant == "eager" else KEEP)
        # Variables that pin a BLAS to an old processor's kernels would slow PyTorch.
        for pinned in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
            environment.pop(pinned, None)
        ran = subprocess.run([sys.executable, str(HERE / "pytorch_networks.py"), str(self.folder), self.items, variant, str(passes),
                              str(self.threads)], env=environment, capture_output=True, text=True)
        if ran.returncode:
            raise Failed((ran.stderr.strip().splitlines() or ["no word"])[-1])
        result = json.loads(ran.stdout.splitlines()[-1])
        return statistics.mean(statistics.median(times) for times in zip(*result["ms"])), result


def measure(case, a):
    row = {"preset": case.preset, "data": f"random:{case.items}", "batch": case.batch, "failed": {}}
    chosen = case.optimize(2 * a.seconds)
    row["speedup"], row["speedup_ci95"], row["verified"] = chosen["speedup"], chosen["speedup_ci95"], chosen["verified"]["passed"]
    row["speedup_withheld"] = chosen["speedup_withheld"]
    times = {name: [] for name in ("baseline", "optimised", *a.variants.split(","))}
    shares = {"baseline": [], "optimised": []}
    for _ in range(a.rounds):
        for name in ("baseline", "optimised"):
            ms, share = case.run(a.seconds, name == "optimised")
            times[name].append(ms)
            shares[name].append(share)
        for variant in a.variants.split(","):
            if variant in row["failed"]:
                continue
            try:
                ms, result = case.pytorch(variant, a.passes)
            except Failed as failure:
                row["failed"][variant] = str(failure)
                continue
            times[variant].append(ms)
            row["pytorch_routing"], row.setdefault("largest", {})[variant] = result["routing"], result["largest"]
    row["ms"] = {name: statistics.median(values) for name, values in times.items() if values}
    row["limit_share"] = {name: statistics.median(values) for name, values in shares.items()}
    return row


def table(rows):
    print("| network | data | baseline ms | optimised ms | limit share, base / opt. | PyTorch eager ms | its best ms | best is | eager's share, best's | over eager | over best |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    over_eager, over_best = [], []
    for row in rows:
        ms = row["ms"]
        rivals = {name: value for name, value in ms.items() if name not in ("baseline", "optimised")}
        best = min(rivals, key=rivals.get)
        ours, share = min(ms["baseline"], ms["optimised"]), row["limit_share"]
        work = share["baseline"] * ms["baseline"]
        over_eager.append(rivals["eager"] / ours)
        over_best.append(rivals[best] / ours)
        print(f"| {row['preset']} | {row['data']} in {row['batch']} | {ms['baseline']:.1f} | {ms['optimised']:.1f} | {share['baseline']:.0%} / {share['optimised']:.0%} "
              f"| {rivals['eager']:.1f} | {rivals[best]:.1f} | {best} | {work / rivals['eager']:.0%}, {work / rivals[best]:.0%} | {over_eager[-1]:.2f} | {over_best[-1]:.2f} |")
        for variant, why in row["failed"].items():
            print(f"  {row['preset']}: {variant} failed: {why}", file=sys.stderr)
    print(f"Geometric means: {statistics.geometric_mean(over_eager):.2f} over eager, {statistics.geometric_mean(over_best):.2f} over the best.")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--network", action="append", choices=list(NETWORKS))
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--passes", type=int, default=3)
    p.add_argument("--seconds", type=float, default=4)
    p.add_argument("--variants", default="eager,kept,onednn,compiled")
    p.add_argument("--weights", type=pathlib.Path, help="folder for the models (default: BUILD/bench/models)")
    p.add_argument("--json", type=pathlib.Path)
    a = p.parse_args()
    folder = a.weights or a.build / "bench/models"
    threads = len(os.sched_getaffinity(0))
    rows = []
    for name in a.network or NETWORKS:
        rows.append(measure(Case(a.build, name, folder, threads), a))
        print(json.dumps(rows[-1]), file=sys.stderr)
        if a.json:
            a.json.write_text(json.dumps(rows, indent=1))
    table(rows)


main()
