"""llama.cpp through llama-cpp-python: any GGUF mixture, by the callback that sees each tensor as it is computed.

How to use it, in three lines (the file is yours to change; it needs llama-cpp-python, tested: 0.3.36, and numpy):
    stormcell recorder llama-cpp > record.py
    python record.py model.gguf prompts.txt trace.safetensors --tokens 64     # a prompt a line; then greedy decoding
    stormcell import trace.safetensors -o trace.storm
Further options: --every 10 records each tenth prompt, --scores also keeps the scores of all experts, which `stormcell
what-if` needs for a next best one, --gpu-layers 99, --context 4096, --batch 512, --threads 8.

It records the token ids with their text, all k chosen experts, their weights, and the margin: how far the last chosen
score lies above the first that was not chosen; prompt and decoding apart. Prompts run one after another.

Cost: the callback makes llama.cpp stop after some 5 tensors a layer and copy them, which slows a GPU most while it
decodes. Logits are computed for every token of a prompt, because llama.cpp otherwise leaves the other tokens out of the
last layer. In memory and on disk a token takes 8 * k + 4 bytes a layer, and 28 bytes; with scores, 4 bytes more for
each expert of each layer. The time spent is printed at the end; it does not hold the stops.

It finds the tensors ffn_moe_topk, ffn_moe_weights and ffn_moe_logits by their names, and reads llama.cpp's struct of a
tensor: a version with a struct of another size is refused, and without these names no file is written.
"""
import argparse
import ctypes
import json
import os
import re
import struct
import sys
import time

import llama_cpp
import numpy


# --- The trace file. This part is the same in every recorder. ---------------------------------------------------------
class Trace:
    """Cells (tokens, pictures) and the choices made for them. save() writes one safetensors file."""

    def __init__(self, recorder, model, every=1, scores=False):
        self.recorder, self.model, self.every, self.scores = recorder, str(model), max(1, int(every)), bool(scores)
        self.cells = {key: [] for key in ("request", "position", "phase", "token", "stack", "batch", "rank")}
        self.routers, self.stacks, self.requests = [], [], set()
        self.count = self.batches = 0
        self.cut, self.lacks, self.forward = {}, set(), False
        self.seconds, self.began = 0.0, time.perf_counter()

    def add_router(self, name, branches=0, layer=-1, stack="tokens", protocol=""):
        """Returns its number. Add routers in the order in which a cell meets them."""
        if stack not in self.stacks:
            self.stacks.append(stack)
        self.routers.append(dict(name=name, branches=int(branches), layer=layer, stack=stack, protocol=protocol,
                                 rows=[], index=[], weight=[], margin=[], dropped=[], scores=[]))
        return len(self.routers) - 1

    def add_cells(self, requests, positions, phase, tokens=None, stack="tokens", rank=-1):
        """Cells of one pass: for each request its number, its positions and its tokens (ids). Returns their rows, one
        array a request. phase: 0 prompt, 1 decoding. Requests that are numbered on and have as many cells are one
        batch."""
        if stack not in self.stacks:
            self.stacks.append(stack)
        rows, before = [], None
        for i, (request, place) in enumerate(zip(requests, positions)):
            n = len(place)
            rows.append(numpy.arange(self.count, self.count + n))
            if n == 0:
                continue
            if before != (request - 1, n):
                self.batches += 1
            before = (request, n)
            self.count += n
            self.requests.add(request)
            for key, value in (("request", request), ("phase", phase), ("stack", self.stacks.index(stack)),
                               ("batch", self.batches - 1), ("rank", rank)):
                self.cells[key].append(numpy.full(n, value))
            self.cells["position"].append(numpy.asarray(place))
            self.cells["token"].append(numpy.full(n, -1) if tokens is None else numpy.asarray(tokens[i]))
        return rows

    def add_choices(self, router, rows, index, weight=None, margin=None, dropped=None, scores=None):
        """rows [n] of cells; index [n, k] the chosen branches, -1: none; weight [n, k]; margin [n]; dropped [n, k] the
        branch that had no room for the cell, else -1; scores [n, branches] by which the branches were chosen."""
        kept = self.routers[router]
        index = numpy.asarray(index, dtype="int32")
        kept["rows"].append(numpy.asarray(rows))
        kept["index"].append(index)
        kept["weight"].append(None if weight is None else numpy.asarray(weight, dtype="float32"))
        kept["margin"].append(None if margin is None else numpy.asarray(margin, dtype="float32"))
        kept["dropped"].append(numpy.full_like(index, -1) if dropped is None else numpy.asarray(dropped, "int32"))
        kept["scores"].append(None if scores is None else numpy.asarray(scores, dtype="float32"))

    def note_cut(self, what):
        self.cut[what] = self.cut.get(what, 0) + 1

    def cuts(self):
        """What is missing in the file, in words. Empty: nothing."""
        sampled = [f"each {self.every}. request alone is recorded"] if self.every > 1 else []
        return sampled + [f"{what} ({n} times)" if n > 1 else what for what, n in self.cut.items()]

    def tensors(self):
        found = {}
        for i, router in enumerate(r for r in self.routers if r["rows"]):
            k = max(index.shape[1] for index in router["index"])
            weighted = all(w is not None for w in router["weight"])
            tensor = dict(indices=numpy.full((self.count, k), -2, "int32"))
            if weighted:
                tensor["weights"] = numpy.zeros((self.count, k), "float32")
            if any((d >= 0).any() for d in router["dropped"]):
                tensor["dropped"] = numpy.full((self.count, k), -1, "int32")
            # One negative margin shows that the layer chooses by something else than the scores it was seen with.
            if all(m is not None and (m >= 0).all() for m in router["margin"]):
                tensor["margins"] = numpy.full(self.count, numpy.nan, "float32")
            if self.scores and "margins" in tensor and all(s is not None for s in router["scores"]):
                tensor["scores"] = numpy.full((self.count, router["scores"][0].shape[1]), numpy.nan, "float32")
            elif self.scores:
                self.note_cut(f"{router['name']} shows no scores that tell its choices")
            for rows, index, weight, margin, dropped, scores in zip(*(router[key] for key in (
                    "rows", "index", "weight", "margin", "dropped", "scores"))):
                if weighted:  # the heaviest first
                    order = numpy.argsort(-weight, axis=1, kind="stable")
                    index, weight, dropped = (numpy.take_along_axis(v, order, 1) for v in (index, weight, dropped))
                    tensor["weights"][rows, :weight.shape[1]] = weight
                tensor["indices"][rows] = -1
                tensor["indices"][rows, :index.shape[1]] = index
                if "dropped" in tensor:
                    tensor["dropped"][rows, :index.shape[1]] = dropped
                if "margins" in tensor:
                    tensor["margins"][rows] = margin
                if "scores" in tensor:
                    tensor["scores"][rows] = scores
            found |= {f"layer.{i}.{key}": value for key, value in tensor.items()}
        for key, parts in self.cells.items():
            found["cell." + key] = numpy.concatenate(parts).astype("int32")
        if (found["cell.rank"] < 0).all():
            del found["cell.rank"]
        if (found["cell.token"] < 0).all():
            del found["cell.token"]
        return found

    def about(self):
        used = [r for r in self.routers if r["rows"]]
        about = {"schema": "stormcell.trace/1", "model": self.model, "recorder": self.recorder,
                 "layers": str(len(used)), "cut": "; ".join(self.cuts())}
        about |= {f"stack.{i}": name for i, name in enumerate(self.stacks)}
        for i, router in enumerate(used):
            largest = max(int(index.max()) for index in router["index"]) + 1
            about |= {f"layer.{i}.router": router["name"], f"layer.{i}.stack": router["stack"],
                      f"layer.{i}.branches": str(max(router["branches"], largest))}
            if router["layer"] >= 0:
                about[f"layer.{i}.layer"] = str(router["layer"])
            if router["protocol"]:
                about[f"layer.{i}.protocol"] = router["protocol"]
        if self.forward:
            about["phase.0"] = "forward"
        if self.lacks:
            about["lacks"] = " ".join(sorted(self.lacks))
        return about

    def save(self, path, text_of=None, more=None):
        """text_of(id) gives a token's text as it stands in the vocabulary; more: further tensors."""
        begin = time.perf_counter()
        if not self.count or not any(r["rows"] for r in self.routers):
            why = "; ".join(self.cuts()) or "no pass was seen"
            print(f"{path}: nothing was recorded, so no file was written ({why})", file=sys.stderr)
            return
        tensors = self.tensors() | (more or {})
        if text_of and "cell.token" in tensors:
            ids = numpy.unique(tensors["cell.token"])
            ids = ids[ids >= 0]
            texts = [str(text_of(int(i)) or "").encode("utf-8", "replace") for i in ids]
            tensors |= {"token.id": ids, "token.end": numpy.cumsum([len(t) for t in texts], dtype="int64"),
                        "token.text": numpy.frombuffer(b"".join(texts), "uint8")}
        write_safetensors(path, tensors, self.about())
        self.seconds += time.perf_counter() - begin
        share = 100 * self.seconds / max(time.perf_counter() - self.began, 1e-9)
        routers = sum(bool(r["rows"]) for r in self.routers)
        print(f"{path}: {len(self.requests)} requests, {self.count} cells, {routers} routers, "
              f"{os.path.getsize(path) / 1e6:.1f} MB; {'; '.join(self.cuts()) or 'complete'}; recording took "
              f"{self.seconds:.2f} s, {share:.0f} % of the time", file=sys.stderr)


def write_safetensors(path, tensors, about):
    kinds = {"int32": "I32", "int64": "I64", "uint8": "U8", "float32": "F32", "float64": "F64"}
    header, at = {"__metadata__": about}, 0
    for name, value in tensors.items():
        end = at + value.nbytes
        header[name] = dict(dtype=kinds[value.dtype.name], shape=list(value.shape), data_offsets=[at, end])
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(str(path) + ".part", "wb") as file:  # renamed when it is whole
        file.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            file.write(numpy.ascontiguousarray(value).tobytes())
    os.replace(str(path) + ".part", path)


# --- The recorder -----------------------------------------------------------------------------------------------------
class Tensor(ctypes.Structure):
    """ggml_tensor, as ggml.h has it."""
    _fields_ = [("type", ctypes.c_int), ("buffer", ctypes.c_void_p), ("ne", ctypes.c_int64 * 4),
                ("nb", ctypes.c_size_t * 4), ("op", ctypes.c_int), ("op_params", ctypes.c_int32 * 16),
                ("flags", ctypes.c_int32), ("src", ctypes.c_void_p * 10), ("view_src", ctypes.c_void_p),
                ("view_offs", ctypes.c_size_t), ("data", ctypes.c_void_p), ("name", ctypes.c_char * 64)]


KINDS = {0: numpy.float32, 26: numpy.int32}  # GGML_TYPE_F32, GGML_TYPE_I32
WANTED = re.compile(r"ffn_moe_(topk|logits|logits_biased|probs|probs_biased|probs_masked|weights|weights_softmax|"
                    r"weights_norm|weights_scaled)-(\d+)$")


def library_of_ggml():
    """The function that copies a tensor's bytes from wherever they are."""
    folder = os.path.join(os.path.dirname(llama_cpp.__file__), "lib")
    libraries = ("libggml-base", "ggml-base", "libggml", "ggml")
    for name in [n for n in sorted(os.listdir(folder)) if n.split(".")[0] in libraries]:
        try:
            library = ctypes.CDLL(os.path.join(folder, name))
            get, overhead = library.ggml_backend_tensor_get, library.ggml_tensor_overhead
        except (OSError, AttributeError):
            continue
        overhead.restype = ctypes.c_size_t
        if overhead() != 32 + ctypes.sizeof(Tensor) + 16:  # an object's head, and behind the name a pointer and padding
            raise SystemExit(f"{name}: this version has another struct of a tensor (correct the class Tensor by its "
                             "ggml.h)")
        get.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
        get.restype = None
        return get
    raise SystemExit(f"{folder}: no library there has ggml_backend_tensor_get (reinstall llama-cpp-python)")


class Recorder:
    def __init__(self, model, path, every=1, gpu_layers=0, context=4096, batch=512, threads=0, scores=False):
        self.path, self.get, self.seen = path, library_of_ggml(), {}
        self.batch_size = batch
        options = llama_cpp.llama_model_default_params()
        options.n_gpu_layers = gpu_layers
        self.model = llama_cpp.llama_model_load_from_file(os.fsencode(model), options)
        if not self.model:
            raise SystemExit(f"{model}: llama.cpp cannot load it")
        self.vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        options = llama_cpp.llama_context_default_params()
        options.n_ctx, options.n_batch, options.n_ubatch = context, batch, batch
        if threads:
            options.n_threads = options.n_threads_batch = threads
        self.callback = llama_cpp.ggml_backend_sched_eval_callback(self.see)  # kept: llama.cpp has its address alone
        options.cb_eval = self.callback
        self.context = llama_cpp.llama_init_from_model(self.model, options)
        if not self.context:
            raise SystemExit(f"{model}: llama.cpp cannot make a context of {context} tokens (--context)")
        self.length = context
        self.trace = Trace("llama-cpp", os.path.basename(model), every, scores)
        self.routers, self.requests = {}, 0

    def see(self, address, ask, _):
        """Called before each tensor (ask: is it wanted?) and after those that are."""
        tensor = Tensor.from_address(address)
        found = WANTED.match(tensor.name.decode("utf-8", "replace"))
        if ask or not found:
            return bool(found) if ask else True
        begin = time.perf_counter()
        part, layer = found[1], int(found[2])
        values = self.values(address, tensor)
        if values is None:
            self.trace.note_cut(f"{tensor.name.decode()} is of the kind {tensor.type}")
        else:
            kept = self.seen.setdefault(layer, {})
            # The last tensor of a kind is the one that counts: scores behind a bias, weights behind norm and scale.
            kept["topk" if part == "topk" else "weights" if part.startswith("weights") else part] = values
        self.trace.seconds += time.perf_counter() - begin
        return True

    def values(self, address, tensor):
        """[tokens, ...] of a tensor that may be a view with strides, as the largest k of a sorted row are."""
        kind = KINDS.get(tensor.type)
        if kind is None:
            return None
        ne, nb = list(tensor.ne), list(tensor.nb)
        size = sum((n - 1) * b for n, b in zip(ne, nb)) + 4
        raw = (ctypes.c_ubyte * size)()
        self.get(address, raw, 0, size)
        whole = numpy.lib.stride_tricks.as_strided(numpy.frombuffer(raw, "u1")[:4].view(kind), shape=ne[::-1],
                                                   strides=nb[::-1]).copy()
        return whole.reshape(-1, whole.shape[-1])

    def decode(self, tokens, position):
        """One pass over tokens of one request, logits of each asked for. Returns False where it failed."""
        batch = llama_cpp.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, position + i, 1, 1
            batch.seq_id[i][0] = 0
        self.seen = {}
        code = llama_cpp.llama_decode(self.context, batch)
        llama_cpp.llama_batch_free(batch)
        return code == 0

    def keep(self, request, tokens, position, phase):
        begin = time.perf_counter()
        rows = self.trace.add_cells([request], [numpy.arange(position, position + len(tokens))], phase, [tokens])[0]
        for layer, parts in sorted(self.seen.items()):
            index = parts.get("topk")
            if index is None:
                continue
            if len(index) != len(rows):
                self.trace.note_cut(f"layer {layer} saw {len(index)} tokens of {len(rows)}")
                continue
            scores = next((parts[key] for key in ("probs_masked", "probs_biased", "logits_biased", "logits", "probs")
                           if key in parts), None)
            if layer not in self.routers:
                branches = scores.shape[1] if scores is not None else 0
                self.routers[layer] = self.trace.add_router(f"blk.{layer}.ffn_gate_inp", branches, layer)
            weight = parts.get("weights")
            weight = weight.reshape(index.shape) if weight is not None and weight.size == index.size else None
            margin = margin_of(scores, index) if scores is not None and len(scores) == len(index) else None
            self.trace.add_choices(self.routers[layer], rows, index, weight, margin,
                                   scores=scores if self.trace.scores and margin is not None else None)
        self.trace.seconds += time.perf_counter() - begin

    def run(self, text, new_tokens):
        """One request: its prompt, then greedy decoding until an end token."""
        request, self.requests = self.requests, self.requests + 1
        if request % self.trace.every:
            return
        given = text.encode("utf-8")
        room = (llama_cpp.llama_token * (len(given) + 8))()
        count = llama_cpp.llama_tokenize(self.vocabulary, given, len(given), room, len(room), True, False)
        tokens = list(room[:count])
        if count <= 0 or count + new_tokens > self.length:
            self.trace.note_cut("a prompt that has no tokens, or more than --context with its answer, was left out")
            return
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        for at in range(0, count, self.batch_size):
            part = tokens[at:at + self.batch_size]
            if not self.decode(part, at):
                self.trace.note_cut("a pass of llama.cpp failed")
                return
            self.keep(request, part, at, 0)
        size = llama_cpp.llama_vocab_n_tokens(self.vocabulary)
        rows = len(part)
        for step in range(new_tokens):
            logits = numpy.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, rows - 1), (size,))
            token = int(logits.argmax())
            if llama_cpp.llama_vocab_is_eog(self.vocabulary, token) or not self.decode([token], count + step):
                return
            self.keep(request, [token], count + step, 1)
            rows = 1

    def text_of(self, token):
        return (llama_cpp.llama_vocab_get_text(self.vocabulary, token) or b"").decode("utf-8", "replace")

    def save(self):
        self.trace.save(self.path, self.text_of)
        llama_cpp.llama_free(self.context)
        llama_cpp.llama_model_free(self.model)


def margin_of(scores, index):
    """[n] The least chosen score less the greatest that was not chosen; infinite where all were chosen."""
    others = scores.copy()
    numpy.put_along_axis(others, index.astype("int64"), -numpy.inf, 1)
    return numpy.take_along_axis(scores, index.astype("int64"), 1).min(1) - others.max(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", help="a GGUF file")
    parser.add_argument("prompts", help="a text file, one prompt a line")
    parser.add_argument("trace", help="the file to write")
    parser.add_argument("--tokens", type=int, default=64, help="most new tokens of an answer")
    parser.add_argument("--every", type=int, default=1, help="record every Nth prompt")
    parser.add_argument("--scores", action="store_true", help="also keep the scores of all experts: what-if needs them")
    parser.add_argument("--gpu-layers", type=int, default=0)
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    recorder = Recorder(given.model, given.trace, given.every, given.gpu_layers, given.context, given.batch,
                        given.threads, given.scores)
    for line in open(given.prompts, encoding="utf-8"):
        if line.strip():
            recorder.run(line.rstrip("\n"), given.tokens)
    recorder.save()


if __name__ == "__main__":
    main()
