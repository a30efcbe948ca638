#!/usr/bin/env python3
"""Checks resources/recorders: what they write is what the reference's own routers chose.

Run in the environment of resources/python-requirements.txt (transformers 4), and in one with transformers 5; it takes
no data and no network: models are tiny and random. --stormcell PROGRAM also imports what was written.
Ends with "N passed, M failed". A planted fault, a token dropped or two choices swapped, must be noticed.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers

import file_checks
import llama_cpp_checks
import pytorch_checks
import server_checks
import transformers_checks
from harness import CHECKS, Wrong, expect, read


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stormcell", help="a stormcell program that imports what was written")
    parser.add_argument("--only", default="", help="checks whose name holds this")
    given = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}: recorder {transformers_checks.NAME}")
    passed, wrong = 0, []
    for function in CHECKS:
        if given.only not in function.__name__:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(pathlib.Path(folder))
                if given.stormcell:
                    import_all(given.stormcell, pathlib.Path(folder))
                passed += 1
                print("ok   ", function.__name__)
            except Wrong as error:
                wrong.append(function.__name__)
                print("WRONG", function.__name__ + ":", error)
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong else 0


def import_all(program, folder):
    for path in folder.glob("*.safetensors"):
        done = subprocess.run([program, "import", str(path), "-o", str(path) + ".storm", "--json", "-"],
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"import: {done.stderr}")
        tensors, about = read(path)
        figures = json.loads(done.stdout)
        expect(figures["format"] == "native" and figures["model"]["layers"] == int(about["layers"]), "import: layers")
        chosen = sum(int((t >= 0).sum()) for name, t in tensors.items() if name.endswith(".indices"))
        expect(figures["rows_read"] >= chosen > 0, f"import: {figures['rows_read']} of {chosen} choices")
        if "exit.confidence" in tensors:
            told, right = figures["exits"][0], tensors["exit.prediction"] == tensors["exit.label"][:, None]
            expect(told["items"] == len(right), f"import: {told['items']} items")
            for exit, share, confidence in zip(told["exits"], right.mean(0), tensors["exit.confidence"].mean(0)):
                expect(abs(exit["confidence"] - confidence) < 1e-5, f"import: {exit}")
                expect(told["labelled"] == 0 or abs(exit["right"] - share) < 1e-9, f"import: {exit}")


if __name__ == "__main__":
    sys.exit(main())
