#!/usr/bin/env python3
"""Whether `compare` calls chance a difference, and finds one that is there.

    tests/bench/spread_between_runs.py [--pairs 20] [--only quiet,load,planted] [--percent 15] [--keep FOLDER] [--run ARGUMENTS]

quiet    pairs of runs of one command, one after the other, with nothing else on the machine.
load     the same beside a process that computes on one core all the time.
planted  the runs `a` of the pairs above it beside runs of build/bench/stormcell_delayed, whose plans take a fixed time longer than
         they do: --percent of the plan's own time, of a run of the command beforehand. Where `quiet` is left out, runs of their own.

For each pair the two speed-ups with their intervals are printed and what `compare` says of them; then the counts. A pair of which a
run states no speed-up, or does not know the spread between runs, calls nothing different, and nothing is found in it: it is counted apart.
Bars: at most 2 of the 40 identical pairs of quiet and load together differ; 18 of 20 planted differences are found. Exit 1: a bar
is missed. The order of the two programs alternates, so that what drifts favours neither. Build `stormcell` and `stormcell_delayed`
first; the load of the machine is printed.

--run is what is run, in quotes; by default the demo with all its passes kept, so that no chance decides which plan is stated.
"""
import argparse
import json
import multiprocessing
import os
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = "optimize demo:switch-names --data demo:switch-names --keep-all --verify-seconds 1"
MOST_CALLED, LEAST_FOUND = 2 / 40, 18 / 20


def stop(text):
    print(f"spread_between_runs: {text}", file=sys.stderr)
    sys.exit(2)


def compute():
    while True:
        pass


class Bench:
    def __init__(self, arguments, folder):
        self.program, self.delayed = arguments.stormcell, arguments.delayed
        self.command, self.folder, self.runs = shlex.split(arguments.run), folder, 0

    def run(self, program=None, delay_ms=0.0):
        """The file with its figures."""
        self.runs += 1
        path = os.path.join(self.folder, f"run-{self.runs}.json")
        environment = dict(os.environ, STORMCELL_DELAY_MS=repr(delay_ms))
        begin = time.monotonic()
        ended = subprocess.run([program or self.program, *self.command, "--quiet", "--json", path], env=environment, capture_output=True, text=True)
        if ended.returncode:
            stop(f"the run ended with {ended.returncode}: {ended.stderr.strip()}")
        self.seconds = time.monotonic() - begin
        return path

    def compare(self, a, b):
        """True: different; False: not; None: nothing can be said."""
        ended = subprocess.run([self.program, "compare", a, b, "--quiet", "--json", "-"], capture_output=True, text=True)
        if ended.returncode:
            stop(f"compare ended with {ended.returncode}: {ended.stderr.strip()}")
        rows = {row["figure"]: row for row in json.loads(ended.stdout)["rows"]}
        return rows.get("speedup", {}).get("significant")


def speed(path):
    with open(path) as file:
        figures = json.load(file)
    ends = figures["speedup_ci95"]
    if figures["speedup"] is None:
        return f"none stated ({figures.get('speedup_withheld') or 'see its warnings'})"
    return (f"{figures['speedup']:.3f} [{ends[0]:.3f}, {ends[1]:.3f}] of {len(figures['measurings'])}, "
            + (f"spread {100 * figures['between_spread']:.1f} %" if figures["between_spread"] is not None else figures["measured_once"] or "once"))


def pairs(bench, name, count, first, second):
    called, unknown, files = 0, 0, []
    for i in range(count):
        order = [("a", first), ("b", second)]
        made = {key: make(i) for key, make in (order if i % 2 == 0 else reversed(order))}
        verdict = bench.compare(made["a"], made["b"])
        called += verdict is True
        unknown += verdict is None
        word = {True: "different", False: "not different", None: "nothing can be said"}[verdict]
        print(f"{name} {i + 1}: {speed(made['a'])} | {speed(made['b'])} | {word}", flush=True)
        files.append(made["a"])
    print(f"{name}: {called} of {count} pairs differ, of {unknown} nothing can be said; a run takes {bench.seconds:.1f} s", flush=True)
    return called, unknown, files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", default="quiet,load,planted")
    parser.add_argument("--percent", type=float, default=15)
    parser.add_argument("--run", default=COMMAND)
    parser.add_argument("--keep", metavar="FOLDER", help="where the figures of all runs stay")
    parser.add_argument("--stormcell", default=os.path.join(ROOT, "build", "bin", "stormcell"))
    parser.add_argument("--delayed", default=os.path.join(ROOT, "build", "bench", "stormcell_delayed"))
    arguments = parser.parse_args()
    wanted = arguments.only.split(",")
    for program in [arguments.stormcell] + ([arguments.delayed] if "planted" in wanted else []):
        if not os.access(program, os.X_OK):
            stop(f"{program}: is not there (ninja -C build stormcell stormcell_delayed)")
    if set(wanted) - {"quiet", "load", "planted"}:
        stop("--only takes quiet, load and planted")
    print("load of the machine before: " + " ".join(f"{x:.2f}" for x in os.getloadavg()))
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.keep:
            os.makedirs(arguments.keep, exist_ok=True)
        bench = Bench(arguments, arguments.keep or scratch)
        plain = lambda i: bench.run()
        identical, called, quiet = 0, 0, []
        if "quiet" in wanted:
            differ, _, quiet = pairs(bench, "quiet", arguments.pairs, plain, plain)
            identical, called = identical + arguments.pairs, called + differ
        if "planted" in wanted:
            with open(bench.run()) as file:
                delay = arguments.percent / 100 * json.load(file)["optimized"]["latency_ms"]["mean"]
            print(f"planted: {delay:.4f} ms in each execution of the plan")
            found, _, _ = pairs(bench, "planted", arguments.pairs, (lambda i: quiet[i]) if quiet else plain,
                                lambda i: bench.run(arguments.delayed, delay))
            failed |= found < LEAST_FOUND * arguments.pairs
        if "load" in wanted:
            neighbour = multiprocessing.Process(target=compute, daemon=True)
            neighbour.start()
            differ, _, _ = pairs(bench, "load", arguments.pairs, plain, plain)
            neighbour.terminate()
            identical, called = identical + arguments.pairs, called + differ
        if identical:
            print(f"identical: {called} of {identical} pairs differ")
            failed |= called > MOST_CALLED * identical
    print("a bar is missed" if failed else "the bars are met")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
