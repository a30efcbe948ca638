#!/usr/bin/env python3
"""Times `stormcell import` on made-up traces of 10^7 rows (a row is one choice of one token in one layer), each format by itself.

    tests/bench/import_bench.py [--stormcell build/bin/stormcell] [--rows 10000000] [--folder DIR]

The traces lie in a temporary folder, about 1.2 GB with their sessions. The shape is that of Qwen3-30B-A3B: 48 layers, 128 experts, top 6.
The files are read once before they are timed, so that the disk is not."""
import argparse
import json
import os
import struct
import subprocess
import tempfile
import time

LAYERS, EXPERTS, K = 48, 128, 6
WEIGHTS = ["0.221297", "0.191844", "0.190793", "0.147117", "0.136741", "0.112209"]


def experts(token, layer):
    """Six different ones, the low ones more often."""
    first = (token * 7 + layer * 31 + token * token % 97) % EXPERTS
    return [(first * first // EXPERTS + slot * 19) % EXPERTS for slot in range(K)]


def write_csv(path, tokens):
    # Tails of rows repeat: what differs is the step.
    tails = [[[f",{layer},{slot},{expert},{WEIGHTS[slot]},{(token + slot) % 2},{0 if (token + slot) % 2 else 3059712}\n"
               for slot, expert in enumerate(experts(token, layer))] for layer in range(LAYERS)] for token in range(97 * 2)]
    tails = ["".join("0,1,@" + tail for layer in token for tail in layer) for token in tails]
    with open(path, "w") as out:
        out.write(f"# route_trace v1\n# model=/models/bench.gguf arch=qwen3moe n_layer={LAYERS} n_expert={EXPERTS} n_expert_used={K}\n")
        for layer in range(LAYERS):
            out.write(f"# layer={layer} expert_bytes=3059712 dense_bytes=11953152\n")
        out.write("turn,phase,step,layer,slot,expert,weight,residency,expert_bytes\n")
        for token in range(tokens):
            out.write(tails[token % len(tails)].replace("@", str(token)))


def write_npy(path, tokens):
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({tokens}, {LAYERS}, {K}), }}"
    header = header.ljust((10 + len(header) + 1 + 63) // 64 * 64 - 11) + "\n"
    cells = [struct.pack(f"<{LAYERS * K}i", *(e for layer in range(LAYERS) for e in experts(token, layer))) for token in range(97)]
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for token in range(tokens):
            out.write(cells[token % 97])


def write_json(path, tokens):
    cells = [json.dumps([experts(token, layer) for layer in range(LAYERS)]) for token in range(97)]
    with open(path, "w") as out:
        out.write(f'{{"expertsPerLayer": {EXPERTS}, "layers": {LAYERS}, "selections": [')
        for token in range(tokens):
            out.write((",\n" if token else "\n") + cells[token % 97])
        out.write(f'\n], "source": {{"kind": "synthetic", "model": {{"id": "bench"}}}}, "tokens": {tokens}, "topK": {K}, "version": 2}}\n')


def timed(stormcell, trace, session):
    with open(trace, "rb") as file:
        while file.read(1 << 24):
            pass
    begin = time.monotonic()
    told = subprocess.run([stormcell, "import", trace, "-o", session, "--json", "-"], check=True, capture_output=True)
    seconds = time.monotonic() - begin
    rows = json.loads(told.stdout)["rows_read"]
    print(f"{os.path.basename(trace):20} {rows:>12,} rows  {os.path.getsize(trace) / 2**20:7.0f} MiB  {seconds:6.2f} s  "
          f"{rows / seconds / 1e6:6.2f} million rows a second  session {os.path.getsize(session) / 2**20:.0f} MiB", flush=True)


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stormcell", default=os.path.join(root, "build/bin/stormcell"))
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--folder", help="where the temporary folder is made")
    options = parser.parse_args()
    tokens = -(-options.rows // (LAYERS * K))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for name, write in (("trace.csv", write_csv), ("trace.npy", write_npy), ("trace.json", write_json)):
            trace = os.path.join(folder, name)
            write(trace, tokens)
            timed(options.stormcell, trace, trace + ".storm")
            if name == "trace.csv":
                native = os.path.join(folder, "trace.safetensors")
                subprocess.run([options.stormcell, "export", trace + ".storm", "--format", "native", "-o", native, "--quiet"], check=True)
                timed(options.stormcell, native, native + ".storm")
                os.remove(native)
            os.remove(trace)


if __name__ == "__main__":
    main()
