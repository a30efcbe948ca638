#!/usr/bin/env python3
"""A model in a folder under budgets for its weights of branches: time, bytes read, waiting, memory; the outputs against those without one.

    budget_table.py [--model FOLDER] [--shares 1 0.75 0.5 0.25] [--rounds 3]   prints a table in Markdown

Without --model, switch-base-32 is drawn once into build/bench/models/switch-base-32 (7.9 GB) by build/bench/write_model. Budgets are shares
of the bytes of all branches as they are laid out. Each round runs every budget once, the order mirrored from round to round; times are medians
of the rounds' medians, `held` the largest of the rounds: what the system counts for the process after an execution, before the verification.
Planned is dense weights + room for branches + arena (activations, states, inputs, records). Outputs are compared byte by byte in a run of their own; decoding by
its choices and by the verification. Files are read once beforehand, so that they lie in the page cache as far as it reaches. Exit 1 where outputs differ, 2 for usage."""
import argparse
import filecmp
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "build", "bin", "stormcell")


def stop(text):
    print(f"budget_table: {text}", file=sys.stderr)
    sys.exit(2)


def drawn_model():
    folder = os.path.join(ROOT, "build", "bench", "models", "switch-base-32")
    if not os.path.exists(os.path.join(folder, "model.safetensors")):
        if subprocess.run([os.path.join(ROOT, "build", "bench", "write_model"), "switch-base-32", folder]).returncode:
            stop("no model: ./dev bench builds write_model")
    return folder


def stormcell(verb, model, *arguments):
    """The summary that the program writes."""
    with tempfile.TemporaryDirectory() as folder:
        summary = os.path.join(folder, "summary.json")
        done = subprocess.run([PROGRAM, verb, model, *arguments, "--quiet", "--json", summary], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            stop(f"{verb} {' '.join(arguments)}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
        with open(summary) as file:
            return json.load(file)


def under(budget):
    return [] if budget is None else ["--weight-budget", str(budget)]


def row_of(runs):
    last = runs[-1]
    budget = last["weight_budget"]
    row = {"ms": statistics.median(r["baseline"]["latency_ms"]["median"] for r in runs), "resident": max(r["peak_resident_bytes"] for r in runs)}
    if budget:
        read = [r["baseline"]["weights_read"] for r in runs]
        row |= {"read": statistics.mean(r["bytes_read"] for r in read), "share": statistics.median(r["stall_share"] for r in read),
                "planned": budget["dense_bytes"] + budget["slot_bytes"] + budget["pinned_bytes"] + budget["arena_bytes"],
                "held": max(r["weight_budget"]["held_bytes"] for r in runs), "counted": budget["held_counted"]}
    return row


def gigabytes(number):
    return f"{number / 1e9:.2f}"


def print_rows(budgets, rows):
    print("| budget, GB | ms a batch | against none | GB read a batch | waited, share | planned, GB | held, GB | held / planned |")
    print("|---|---|---|---|---|---|---|---|")
    for budget, row in zip(budgets, rows):
        ratio = f"{row['ms'] / rows[0]['ms']:.2f}"
        if budget is None:
            print(f"| none | {row['ms']:.0f} | 1 | | | | {gigabytes(row['resident'])} (peak) | |")
        else:
            print(f"| {gigabytes(budget)} | {row['ms']:.0f} | {ratio} | {gigabytes(row['read'])} | {row['share']:.2f} | {gigabytes(row['planned'])} | "
                  f"{gigabytes(row['held'])} | {row['held'] / row['planned']:.3f} |")


def same_outputs(model, data, budget, threads):
    with tempfile.TemporaryDirectory(dir=os.path.join(ROOT, "build")) as folder:
        files = [os.path.join(folder, name) for name in ("whole", "under")]
        for file, b in zip(files, (None, budget)):
            stormcell("run", model, "--data", data, "--threads", threads, "--measure-seconds", "0", "--verify-seconds", "0", "--outputs", file, *under(b))
        return filecmp.cmp(*files, shallow=False)


def decoded(model, budget, threads):
    """Summaries of decoding without and with the budget: prompts are drawn from the same seed, tokens compared with the oracle's."""
    arguments = ["--data", "random:8x32", "--max-new-tokens", "16", "--threads", threads]
    return [stormcell("generate", model, *arguments, *under(b)) for b in (None, budget)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", help="a folder with config.json and safetensors; default: switch-base-32, drawn")
    p.add_argument("--shares", type=float, nargs="+", default=[1, 0.75, 0.5, 0.25])
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--data", default="random:16x128", help="of the timed runs, in batches of 8")
    p.add_argument("--measure-seconds", default="20")
    p.add_argument("--threads", default=str(len(os.sched_getaffinity(0))))
    a = p.parse_args()
    model = a.model or drawn_model()
    bytes_of_branches = stormcell("inspect", model)["expert_bytes"]
    budgets = [None] + [int(bytes_of_branches * s) for s in a.shares]
    for name in os.listdir(model):
        with open(os.path.join(model, name), "rb") as file:
            while file.read(1 << 24):
                pass
    runs = [[] for _ in budgets]
    print(f"{os.path.basename(model)}, {a.data} in batches of 8, {a.threads} threads, {a.rounds} rounds; load before {os.getloadavg()[0]:.2f}\n")
    for round_ in range(a.rounds):
        for i in range(len(budgets)) if round_ % 2 == 0 else reversed(range(len(budgets))):
            print(f"budget_table: round {round_ + 1}, budget {budgets[i]}", file=sys.stderr)
            runs[i].append(stormcell("run", model, "--data", a.data, "--batch", "8", "--threads", a.threads, "--measure-seconds", a.measure_seconds,
                                     "--verify-seconds", "0", *under(budgets[i])))
    print_rows(budgets, [row_of(r) for r in runs])
    half = int(bytes_of_branches * 0.5)
    same = same_outputs(model, "random:8x128", half, a.threads)
    print(f"\nOutputs of 8x128 with half of the bytes: {'byte for byte those without a budget' if same else 'NOT those without a budget'}.")
    whole, part = decoded(model, half, a.threads)
    same_tokens = whole["routing"] == part["routing"] and whole["verified"]["passed"] and part["verified"]["passed"]
    budget = part["weight_budget"]
    planned = budget["dense_bytes"] + budget["slot_bytes"] + budget["pinned_bytes"] + budget["arena_bytes"]
    print(f"Decoding of 8 prompts by 16 tokens with half of the bytes: {'the same choices, tokens as the oracle says' if same_tokens else 'OTHER tokens'}; "
          f"{part['latency_ms']['median']:.0f} ms beside {whole['latency_ms']['median']:.0f}; held {gigabytes(budget['held_bytes'])} of "
          f"{gigabytes(planned)} GB planned ({budget['held_bytes'] / planned:.3f}).")
    print(f"\nLoad after {os.getloadavg()[0]:.2f}.")
    return 0 if same and same_tokens else 1


if __name__ == "__main__":
    sys.exit(main())
