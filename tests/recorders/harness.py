"""What the checks share: recorders loaded as modules, traces read by rules of our own, the list of checks."""
import contextlib
import importlib.util
import io
import json
import pathlib
import struct

import numpy

RECORDERS = pathlib.Path(__file__).resolve().parents[2] / "resources" / "recorders"
EXPERTS, K, VOCABULARY = 8, 3, 60


class Wrong(Exception):
    """What was written is not what was chosen."""


def load(name):
    spec = importlib.util.spec_from_file_location("recorder_" + name.replace("-", "_"), RECORDERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    with contextlib.redirect_stderr(io.StringIO()):
        spec.loader.exec_module(module)
    return module


def read(path):
    """Tensors and metadata of a safetensors file, read by rules of our own."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    about = header.pop("__metadata__")
    kinds = {"I32": "<i4", "I64": "<i8", "U8": "u1", "F32": "<f4", "F64": "<f8"}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = numpy.frombuffer(data[8 + size + begin:8 + size + end], kinds[entry["dtype"]]).reshape(
            entry["shape"])
    return tensors, about


def expect(condition, what):
    if not condition:
        raise Wrong(what)


class Words:
    """A tokenizer as far as a recorder asks for one."""
    def convert_ids_to_tokens(self, token):
        return f"w{token}ü"


CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def quietly(function, *arguments, **options):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        result = function(*arguments, **options)
    return result, said.getvalue()
