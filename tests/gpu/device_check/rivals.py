#!/usr/bin/env python3
"""Rivals that need Python: PyTorch's grouped product, and a Triton kernel of the persistent grouped design, written here and autotuned.

Called by device_check with its own records so far; writes records of the same form and, at the end, who was ahead where.
  rivals.py --records OUT.jsonl --mine IN.jsonl [--seconds N]
"""
import argparse
import json
import math
import statistics
import time

try:
    import triton
    import triton.language as tl  # a kernel's names are looked up in its module
except ImportError:
    triton = None

BEGIN = time.monotonic()
SHAPES = {  # name: rows a token, then (n, k) of both products; as in layer_case.cpp
    "768/3072 relu top-1": (1, ((3072, 768), (768, 3072))),
    "2048/768 gated top-8": (8, ((1536, 2048), (2048, 768))),
}
# As in bench_family.cpp: what matters most comes first.
POINTS = [(None, 8, "uniform")] + [(t, e, load) for t in (64, 4096, 512, 8, 1) for e in (128, 8, 64, 256) for load in ("uniform", "zipf")]
ROTATION = 512 << 20
VARIANTS, MOST_VARIANTS = 8, 128
REPLAY, MOST_ROUNDS = 1e-3, 64
SHORT, SUSTAINED, COMPUTE_ROWS = 0.04, 0.3, 512  # seconds; from so many rows an expert on the clock that a card holds counts
# BLOCK_M, BLOCK_N, BLOCK_K, warps, stages
CONFIGS = [(16, 64, 128, 4, 5), (16, 128, 128, 4, 4), (32, 128, 64, 4, 5), (64, 128, 64, 4, 5), (64, 256, 64, 8, 4), (128, 128, 64, 8, 4), (128, 256, 64, 8, 3)]


class Report:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")

    def add(self, name, result, value="", number=0.0, note=""):
        record = {"family": "rivals", "case": name, "result": result, "value": value, "number": number, "share": 0, "note": note}
        self.file.write(json.dumps(record) + "\n")
        self.file.flush()

    def measured(self, name, seconds, note):
        self.add(name, "measured", f"{seconds * 1e6:.4g} us", seconds * 1e6, note)


def make_loads(torch, tokens, k, experts, load):
    """Rows of each expert: k experts a token without repetition, alike or by Zipf's law, as make_scores() in data.cpp."""
    share = torch.zeros(experts)
    if load == "zipf":
        share = -torch.log(1.0 + torch.arange(experts).float())[torch.randperm(experts)]
    noise = -torch.log(-torch.log(torch.rand(tokens, experts).clamp(1e-6, 1 - 1e-6)))
    chosen = (share + noise).topk(min(k, experts), dim=1).indices.flatten()
    return torch.bincount(chosen, minlength=experts)


def rotating_loads(torch, tokens, k, experts, load, expert_bytes):
    """Loads of so many calls that the weights which all of them touch are beyond the caches; as rotating_calls() in bench_family.cpp."""
    loads = []
    touched = 0
    while len(loads) < VARIANTS or (touched * expert_bytes < ROTATION and len(loads) < MOST_VARIANTS):
        loads.append(make_loads(torch, tokens, k, experts, load).tolist())
        touched += sum(rows > 0 for rows in loads[-1])
    return loads


def median_of(torch, run, window):
    """Median seconds of run() over so many."""
    for _ in range(2):
        run()
    torch.cuda.synchronize()
    times = []
    until = time.monotonic() + window
    while len(times) < 5 or (time.monotonic() < until and len(times) < 2000):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(times)


def seconds_of(torch, calls, window):
    """Median seconds of one of the calls, all of them in a graph, over again until a replay takes a millisecond, and whether they could be; as
    time_calls() in card.cpp."""
    for call in calls:
        call()
    torch.cuda.synchronize()
    rounds = 1
    while True:
        run = lambda: [call() for _ in range(rounds) for call in calls]
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                run()
            graph.replay()
        except Exception:  # what waits for the host cannot be captured
            torch.cuda.synchronize()
            return median_of(torch, run, window) / len(calls) / rounds, "without a graph"
        once = median_of(torch, graph.replay, 0)
        if once >= REPLAY or rounds == MOST_ROUNDS:
            return median_of(torch, graph.replay, window) / len(calls) / rounds, "in graph replay"
        rounds = min(MOST_ROUNDS, rounds * math.ceil(REPLAY / once) + 1)


if triton is not None:

    @triton.jit
    def product(x, w, y, tile_expert, tile_first, tile_rows, tiles, n: tl.constexpr, k: tl.constexpr, programs: tl.constexpr,
                block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr):
        # A program takes tiles until there are none; the tile map (expert, first row, rows of each row block) lies on the card.
        columns: tl.constexpr = (n + block_n - 1) // block_n
        total = tl.load(tiles) * columns
        for t in range(tl.program_id(0), total, programs):
            block = t // columns
            expert = tl.load(tile_expert + block).to(tl.int64)
            first = tl.load(tile_first + block).to(tl.int64)
            rows = tl.load(tile_rows + block)
            row = tl.arange(0, block_m)
            column = (t % columns) * block_n + tl.arange(0, block_n)
            depth = tl.arange(0, block_k)
            xs = x + (first + row[:, None]) * k + depth[None, :]
            ws = w + (expert * n + column[None, :]) * k + depth[:, None]
            total_sum = tl.zeros((block_m, block_n), dtype=tl.float32)
            for at in range(0, k, block_k):
                inside = at + depth < k
                a = tl.load(xs + at, mask=(row[:, None] < rows) & inside[None, :], other=0.0)
                b = tl.load(ws + at, mask=(column[None, :] < n) & inside[:, None], other=0.0)
                total_sum = tl.dot(a, b, total_sum)
            tl.store(y + (first + row[:, None]) * n + column[None, :], total_sum.to(tl.bfloat16), mask=(row[:, None] < rows) & (column[None, :] < n))


def tile_map(torch, loads, block_m):
    expert, first, rows = [], [], []
    order = sorted(range(len(loads)), key=lambda e: -loads[e])
    offsets = [0]
    for load in loads:
        offsets.append(offsets[-1] + load)
    for e in order:
        for at in range(0, loads[e], block_m):
            expert.append(e), first.append(offsets[e] + at), rows.append(min(block_m, loads[e] - at))
    card = lambda v: torch.tensor(v, dtype=torch.int32, device="cuda")
    return card(expert), card(first), card(rows), card([len(expert)])


def measure_point(torch, report, kernel, grouped_mm, point, shape, which, weights):
    tokens, experts, load = point
    k_rows, products = SHAPES[shape]
    n, k = products[which]
    tokens = tokens or 16384 // k_rows
    name = f"{shape}, {tokens} x {experts}, {load}, product {which + 1}"
    sets = max(1, weights.shape[0] // experts)
    loads = rotating_loads(torch, tokens, k_rows, experts, load, n * k * 2)
    variants = range(len(loads))
    rows = sum(loads[0])
    window = SUSTAINED if rows // experts >= COMPUTE_ROWS else SHORT
    x = torch.randn(rows, k, device="cuda", dtype=torch.bfloat16)
    part = lambda v: weights[(v % sets) * experts:(v % sets + 1) * experts]
    # One variant against PyTorch's own product in float, so that no rival is fast by being wrong.
    expected = torch.cat([x[sum(loads[0][:e]):sum(loads[0][:e + 1])].float() @ part(0)[e].float().T for e in range(experts) if loads[0][e]])

    def check(got):
        error = (got.float() - expected).abs().max().item() / expected.abs().max().item()
        if not error < 2e-2:
            raise RuntimeError(f"wrong by {error:.2e}")

    if grouped_mm is None:
        report.add(f"{name}, PyTorch grouped_mm", "absent", note="this PyTorch has none")
    else:
        try:
            ends = [torch.tensor(l, device="cuda").cumsum(0).to(torch.int32) for l in loads]
            check(grouped_mm(x, part(0).transpose(-2, -1), offs=ends[0]))
            calls = [lambda v=v: grouped_mm(x, part(v).transpose(-2, -1), offs=ends[v]) for v in variants]
            seconds, how = seconds_of(torch, calls, window)
            report.measured(f"{name}, PyTorch grouped_mm", seconds, "rival, " + how)
        except Exception as error:  # a rival that cannot is named
            report.add(f"{name}, PyTorch grouped_mm", "absent", note=str(error).splitlines()[0][:120])

    if kernel is None:
        return
    y = torch.empty(rows, n, device="cuda", dtype=torch.bfloat16)
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    best, why = None, ""
    largest = max(max(l) for l in loads)
    fitting = [c for c in CONFIGS if c[0] <= max(16, 2 * largest)] if largest < 64 else CONFIGS[3:]
    for config in fitting:
        block_m, block_n, block_k, warps, stages = config
        try:
            maps = [tile_map(torch, l, block_m) for l in loads]

            def call(v):
                expert, first, rows_of, count = maps[v]
                kernel[(programs,)](x, part(v), y, expert, first, rows_of, count, n, k, programs, block_m, block_n, block_k, num_warps=warps, num_stages=stages)

            y.fill_(math.nan)
            call(0)
            check(y)
            seconds, how = seconds_of(torch, [lambda v=v: call(v) for v in variants], window)
            if best is None or seconds < best[0]:
                best = (seconds, config, how)
        except Exception as error:
            why = str(error).splitlines()[0][:120]
    if best:
        report.measured(f"{name}, Triton", best[0], f"rival, {best[2]}, best of its configurations: " + "x".join(map(str, best[1])))
    else:
        report.add(f"{name}, Triton", "absent", note=why)


def compare(report, paths):
    """Against the best rival at each product and point: the targets are 0.95 everywhere and ahead at four fifths."""
    mine, rivals = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                if record["result"] != "measured" or ", product " not in record["case"]:
                    continue
                name, _, rival = record["case"].partition(", product ")
                number, _, rival = rival.partition(", ")
                key = f"{name}, product {number}"
                if rival:
                    rivals.setdefault(key, {})[rival] = record["number"]
                else:
                    mine[key] = record["number"]
    ratios = {key: min(rivals[key].values()) / mine[key] for key in mine if rivals.get(key)}
    if not ratios:
        return
    for key, ratio in sorted(ratios.items(), key=lambda item: item[1])[:5]:
        best = min(rivals[key], key=rivals[key].get)
        report.add(f"{key}: against {best}", "measured", f"{ratio:.2f} times as fast", ratio, "one of the five weakest points")
    fair = sum(r >= 0.95 for r in ratios.values())
    ahead = sum(r > 1 for r in ratios.values())
    report.add("all products and points", "measured", f"{ahead} of {len(ratios)} ahead", ahead / len(ratios), f"at least 0.95 of the best rival at {fair}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", required=True)
    parser.add_argument("--mine", required=True)
    parser.add_argument("--seconds", type=float, default=140)
    options = parser.parse_args()
    report = Report(options.records)
    try:
        import torch
    except ImportError as error:
        report.add("PyTorch, Triton", "absent", note=str(error))
        compare(report, [options.mine])
        return
    if not torch.cuda.is_available():
        report.add("PyTorch, Triton", "absent", note=f"PyTorch {torch.__version__} sees no GPU")
        compare(report, [options.mine])
        return
    torch.manual_seed(1)
    grouped_mm = getattr(torch.nn.functional, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)
    kernel = product if triton is not None else None
    if kernel is None:
        report.add("Triton", "absent", note="no module named triton")
    report.add("versions", "passed", note=f"PyTorch {torch.__version__}")
    weights = {}
    for point in POINTS:
        for shape, (_, products) in SHAPES.items():
            for which, (n, k) in enumerate(products):
                if time.monotonic() - BEGIN > options.seconds:
                    report.add("points left", "absent", note=f"no time left at {point}")
                    compare(report, [options.mine, options.records])
                    return
                experts = max(256, ROTATION // (n * k * 2) + 1)
                key = (shape, which)
                if key not in weights:
                    weights[key] = torch.randn(experts, n, k, device="cuda", dtype=torch.bfloat16) / math.sqrt(k)
                measure_point(torch, report, kernel, grouped_mm, point, shape, which, weights[key])
    compare(report, [options.mine, options.records])


if __name__ == "__main__":
    main()
