#!/usr/bin/env python3
"""Stormcell's `run` against the reference implementation in PyTorch, alternated on one machine.

    pytorch_compare.py STORMCELL MODEL NxT [--rounds 3] [--passes 3] [--dtype float32]

MODEL is preset:switch-base-E (PyTorch then gets random weights of the same configuration: time does not
depend on them) or a model folder. Needs the environment of `./dev fixtures`. Each round runs Stormcell, then
PyTorch, each in a process of its own with as many threads as there are cores; the first pass of a process
warms up. Prints medians, their ratio, and the share of the physical limit that Stormcell measured.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PYTORCH = r"""
import json, sys, time, torch
from transformers import SwitchTransformersConfig, SwitchTransformersModel
model, n, t, passes, dtype, threads = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5], int(sys.argv[6])
torch.set_num_threads(threads)
torch.manual_seed(0)
if model.startswith("preset:switch-base-"):
    config = SwitchTransformersConfig(vocab_size=32128, d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_decoder_layers=12,
        num_heads=12, num_sparse_encoder_layers=6, num_sparse_decoder_layers=6, num_experts=int(model.rsplit("-", 1)[1]),
        expert_capacity=64, router_jitter_noise=0.0, dropout_rate=0.0)
    with torch.device("meta"):
        m = SwitchTransformersModel(config)
    m = m.to_empty(device="cpu")
    with torch.no_grad():
        for p in m.parameters():
            p.normal_(0, 0.02) if p.ndim > 1 else p.fill_(1.0)
        for b in m.buffers():
            b.zero_()
else:
    m = SwitchTransformersModel.from_pretrained(model)
m = m.to(getattr(torch, dtype)).eval()
ids = torch.randint(3, m.config.vocab_size, (n, t))
times = []
with torch.no_grad():
    for i in range(passes + 1):
        begin = time.perf_counter()
        m(input_ids=ids, decoder_input_ids=ids, use_cache=False)
        times.append((time.perf_counter() - begin) * 1e3)
print(json.dumps(times[1:]))
"""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("stormcell")
    p.add_argument("model")
    p.add_argument("shape", help="sequences x tokens, as 8x128")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--passes", type=int, default=3)
    p.add_argument("--dtype", default="float32")
    a = p.parse_args()
    n, t = map(int, a.shape.split("x"))
    threads = len(os.sched_getaffinity(0))
    ours, theirs, shares = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        summary = os.path.join(folder, "run.json")
        for _ in range(a.rounds):
            subprocess.run([a.stormcell, "run", a.model, "--data", f"random:{n}x{t}", "--batch", str(n), "--threads", str(threads),
                            "--verify-seconds", "0", "--quiet", "--json", summary], check=True, stdout=subprocess.DEVNULL)
            with open(summary) as f:
                baseline = json.load(f)["baseline"]
            ours.append(baseline["latency_ms"]["median"])
            shares.append(baseline["limit_share"])
            out = subprocess.run([sys.executable, "-c", PYTORCH, a.model, str(n), str(t), str(a.passes), a.dtype, str(threads)],
                                 check=True, capture_output=True, text=True).stdout
            theirs += json.loads(out.splitlines()[-1])
    print(f"{a.model} {a.shape}, {threads} threads, {a.rounds} rounds")
    print(f"  stormcell {statistics.median(ours):.1f} ms, share of the limit {statistics.median(shares):.1%}")
    print(f"  PyTorch   {statistics.median(theirs):.1f} ms")
    print(f"  ratio     {statistics.median(theirs) / statistics.median(ours):.2f}")


main()
