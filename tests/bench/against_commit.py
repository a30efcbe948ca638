#!/usr/bin/env python3
"""Forward passes of this build against the program of an earlier commit, in alternated pairs of processes.

    against_commit.py COMMIT [--pairs 20] [--case NAME]...   builds COMMIT's program where it is not kept yet, then compares
    against_commit.py --kept FILE [...]                      compares with a program that is there already
    against_commit.py COMMIT --build-only                    only builds it

The kept program lies in build/kept/COMMIT and is built once, from `git archive`: the working tree is not touched. Both programs
read the same demo data. A pair is two processes, one of each program, the order mirrored from pair to pair; the first pair is run once
beforehand and not counted. Every process measures by itself: its latency is the median over its batches. For each case are printed the
median of the paired ratios present / kept with a distribution-free interval (order statistics: no assumption about the noise, and with
few pairs it is wide or lower than 95 %, which is said), and the ratio of peak memory by the summary and by the kernel's count.
Exit 0: every median within the bounds (--most-slower, --most-memory); 1: one is not; 2: usage, or a program cannot be built or run.
Nothing else should run meanwhile: the load of the machine is printed."""
import argparse
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Name: arguments of `run`. The two presets hold about 2 and 8 GiB of weights.
CASES = {
    "demo": ["demo:switch-names", "--data", "demo:switch-names", "--measure-seconds", "5"],
    "sample": ["demo:switch-names", "--data", "demo:switch-names-sample", "--measure-seconds", "2"],
    "switch-base-8": ["preset:switch-base-8", "--data", "random:16x128", "--batch", "8", "--measure-seconds", "10"],
    "switch-base-32": ["preset:switch-base-32", "--data", "random:16x128", "--batch", "8", "--measure-seconds", "10"],
}


def stop(text):
    print(f"against_commit: {text}", file=sys.stderr)
    sys.exit(2)


def build_kept(commit, folder):
    """The path of COMMIT's program; built where it is not there."""
    resolved = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", commit + "^{commit}"], capture_output=True, text=True)
    if resolved.returncode:
        stop(f"{commit}: no such commit here")
    commit = resolved.stdout.strip()
    tree = os.path.join(folder, commit[:12])
    program = os.path.join(tree, "build", "bin", "stormcell")
    if os.path.exists(program):
        return program
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(tree)
    log = os.path.join(tree, "build.log")
    print(f"against_commit: building {commit[:12]} (log: {log})", file=sys.stderr)
    with open(log, "w") as out:
        for command in (["cmake", "--preset", "release", "-DSTORMCELL_STUDIO=OFF", "-DSTORMCELL_TESTS=OFF"],
                        ["cmake", "--build", "build", "--target", "stormcell"]):
            if subprocess.run(command, cwd=tree, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode:
                stop(f"{commit[:12]} does not build: {log}")
    return program


def measure(program, arguments, threads):
    """{"latency": ms, "summary memory": bytes, "process memory": bytes} of one process."""
    environment = dict(os.environ)
    environment.setdefault("STORMCELL_DATA", os.path.join(ROOT, "build", "data"))
    with tempfile.TemporaryDirectory() as folder:
        summary = os.path.join(folder, "run.json")
        errors = os.path.join(folder, "errors")
        command = [program, "run", *arguments, "--threads", str(threads), "--verify-seconds", "0", "--quiet", "--json", summary]
        with open(errors, "w") as err:
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err, stdin=subprocess.DEVNULL, env=environment)
            _, status, usage = os.wait4(child.pid, 0)  # the usage of this process alone
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode or not os.path.exists(summary):
            with open(errors) as err:
                stop(f"{' '.join(command)}: exit {child.returncode}: {err.read().strip()[-400:]}")
        with open(summary) as file:
            figures = json.load(file)
    return {"latency": figures["baseline"]["latency_ms"]["median"], "summary memory": figures["peak_resident_bytes"],
            "process memory": usage.ru_maxrss * 1024}


def median_interval(ratios, wanted=0.95):
    """(low, high, coverage): the narrowest pair of order statistics that holds the median with probability `wanted`, or the whole range."""
    values, n = sorted(ratios), len(ratios)
    best = (values[0], values[-1], 1 - 2 * 0.5**n)
    for rank in range(n // 2):  # between the rank-th smallest and the rank-th largest
        coverage = 1 - 2 * sum(math.comb(n, i) for i in range(rank + 1)) / 2**n
        if coverage < wanted:
            break
        best = (values[rank], values[n - 1 - rank], coverage)
    return best


def compare(name, programs, pairs, threads):
    """One row a figure: (figure, kept, present, ratio, low, high, coverage)."""
    for program in programs:
        measure(program, CASES[name], threads)  # files into the page cache
    kept, present = [], []
    for pair in range(pairs):
        order = ((0, kept), (1, present)) if pair % 2 == 0 else ((1, present), (0, kept))
        for which, list_of in order:
            list_of.append(measure(programs[which], CASES[name], threads))
        print(f"against_commit: {name}: pair {pair + 1} of {pairs}: {present[-1]['latency'] / kept[-1]['latency']:.4f}", file=sys.stderr)
    rows = []
    for figure in kept[0]:
        ratios = [p[figure] / k[figure] for p, k in zip(present, kept)]
        rows.append((figure, statistics.median(k[figure] for k in kept), statistics.median(p[figure] for p in present),
                     statistics.median(ratios), *median_interval(ratios)))
    return rows


def shown(figure, value):
    return f"{value:.3f} ms" if figure == "latency" else f"{value / 2**20:.1f} MiB"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("commit", nargs="?", help="what git knows as a commit")
    p.add_argument("--kept", metavar="FILE", help="a program that is there already, instead of COMMIT")
    p.add_argument("--present", metavar="FILE", default=os.path.join(ROOT, "build", "bin", "stormcell"))
    p.add_argument("--folder", metavar="DIR", default=os.path.join(ROOT, "build", "kept"), help="where kept programs lie")
    p.add_argument("--pairs", type=int, default=20)
    p.add_argument("--case", action="append", choices=CASES, help="default: demo, switch-base-8, switch-base-32")
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--most-slower", type=float, default=0.03)
    p.add_argument("--most-memory", type=float, default=0.01)
    p.add_argument("--build-only", action="store_true")
    p.add_argument("--json", metavar="FILE", help="the rows, for a record")
    a = p.parse_args()
    if (a.commit is None) == (a.kept is None):
        p.error("give a commit, or --kept FILE")
    if a.pairs < 1:
        p.error("--pairs: at least 1")
    kept = a.kept or build_kept(a.commit, a.folder)
    if a.build_only:
        print(kept)
        return 0
    for program in (kept, a.present):
        if not os.access(program, os.X_OK):
            stop(f"{program} is missing (./dev build cli)")
    print(f"kept {kept}\npresent {a.present}\n{a.pairs} pairs, {a.threads} threads, load before {os.getloadavg()[0]:.2f}")
    print(f"{'case':16} {'figure':15} {'kept':>14} {'present':>14} {'ratio':>8}  interval")
    result, met = [], True
    for name in a.case or ["demo", "switch-base-8", "switch-base-32"]:
        for figure, before, now, ratio, low, high, coverage in compare(name, (kept, a.present), a.pairs, a.threads):
            bound = 1 + (a.most_slower if figure == "latency" else a.most_memory)
            met = met and ratio <= bound
            print(f"{name:16} {figure:15} {shown(figure, before):>14} {shown(figure, now):>14} {ratio:8.4f}  [{low:.4f}, {high:.4f}] "
                  f"{coverage:.1%}  {'within' if ratio <= bound else 'BEYOND'} {bound:.2f}", flush=True)
            result.append({"case": name, "figure": figure, "kept": before, "present": now, "ratio": ratio, "interval": [low, high],
                           "coverage": coverage, "bound": bound})
    print(f"load after {os.getloadavg()[0]:.2f}")
    if a.json:
        with open(a.json, "w") as file:
            json.dump({"kept": kept, "present": a.present, "pairs": a.pairs, "threads": a.threads, "rows": result}, file, indent=1)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
