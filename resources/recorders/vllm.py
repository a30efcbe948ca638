"""vLLM: its own switch enable_return_routed_experts, offline; writes what each request's answer returns.

How to use it, in three lines (the file is yours to change; it needs vllm and numpy):
    stormcell recorder vllm > record.py
    python record.py Qwen/Qwen3-30B-A3B prompts.txt trace.safetensors --tokens 256     # a prompt a line
    stormcell import trace.safetensors -o trace.storm
Further options: --every 10 records each tenth prompt, --set tensor_parallel_size=4 is handed to vllm.LLM.

It records the token ids with their text and all k chosen experts, prompt and decoding apart. vLLM returns no weights,
so there are no margins either, and nothing for the last token of an answer, which is not computed. The ranks that
computed a token are not known.

Cost: vLLM keeps the choices of every token, 2 or 4 bytes each, on the GPU and in main memory, and sends them with the
answer; about k * layers * 4 bytes a token. vLLM 0.21 asks for prefix caching to be off
(--set enable_prefix_caching=False); later versions need it on, which is their default.

Not tested with vLLM: this recorder was written from vLLM's documentation and sources, and tested with made-up answers
in their form alone. Check the first file that it writes.
A server takes the same switch, --enable-return-routed-experts; its answers are imported as they are, one a line.
"""
import argparse
import json
import os
import re
import struct
import sys
import time

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
def layers_with_experts(routed, layers, k):
    """Numbers of the columns that hold experts: a column that is zero all over is a layer without them, where columns
    are all layers of the model. Then the number of the layer is the column's, else it is not known: -1."""
    if routed.shape[1] != layers or k == 1:
        return [(i, i if routed.shape[1] == layers else -1) for i in range(routed.shape[1])]
    return [(i, i) for i in range(routed.shape[1]) if (routed[:, i] != 0).any()]


def add_answers(trace, answers, layers, branches):
    """answers: for each request its prompt's token ids, its answer's, and the choices [tokens, layers, k], of which row
    0 is the first token of the prompt."""
    known = [routed for _, _, routed in answers if routed is not None and len(routed)]
    if not known:
        return
    columns = layers_with_experts(numpy.concatenate(known), layers, known[0].shape[2])
    routers = [trace.add_router(f"layer.{layer if layer >= 0 else i}", branches, layer) for i, layer in columns]
    for request, (prompt, answer, routed) in enumerate(answers):
        if request % trace.every:
            continue
        if routed is None or not len(routed):
            trace.note_cut("an answer without routed experts")
            continue
        tokens = [*prompt, *answer]
        if len(routed) < len(tokens) - 1:
            trace.note_cut("an answer whose first or last tokens have no choices")
        n = min(len(routed), len(tokens))
        split = min(n, len(prompt))
        for begin, end, phase in ((0, split, 0), (split, n, 1)):
            if begin == end:
                continue
            rows = trace.add_cells([request], [range(begin, end)], phase, [tokens[begin:end]])[0]
            for router, (column, _) in zip(routers, columns):
                trace.add_choices(router, rows, routed[begin:end, column])


def number_of_experts(config):
    for key in ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"):
        if getattr(config, key, None):
            return int(getattr(config, key))
    return 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("prompts", help="a text file, one prompt a line")
    parser.add_argument("trace", help="the file to write")
    parser.add_argument("--tokens", type=int, default=256, help="most new tokens of an answer")
    parser.add_argument("--every", type=int, default=1, help="record every Nth prompt")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an option of the engine")
    given = parser.parse_args()
    given.options = {}
    for one in given.set:
        key, _, value = one.partition("=")
        try:
            given.options[key] = json.loads({"True": "true", "False": "false"}.get(value, value))
        except ValueError:
            given.options[key] = value
    given.texts = [line.rstrip("\n") for line in open(given.prompts, encoding="utf-8") if line.strip()]
    return given


def answer_of(output):
    """Token ids of the prompt and of the answer, and the choices of all of them. Newer versions return one array;
    older ones one for the prompt and one for the answer."""
    done = output.outputs[0]
    parts = [getattr(output, "prompt_routed_experts", None), getattr(done, "routed_experts", None)]
    parts = [numpy.asarray(p) for p in parts if p is not None and len(p)]
    return list(output.prompt_token_ids), list(done.token_ids), numpy.concatenate(parts) if parts else None


def main():
    from vllm import LLM, SamplingParams
    given = arguments()
    llm = LLM(given.model, enable_return_routed_experts=True, **given.options)
    config = llm.llm_engine.model_config.hf_config
    config = getattr(config, "text_config", config)
    trace = Trace("vllm", given.model, given.every)
    outputs = llm.generate(given.texts, SamplingParams(temperature=0, max_tokens=given.tokens))
    begin = time.perf_counter()
    add_answers(trace, [answer_of(o) for o in outputs], config.num_hidden_layers, number_of_experts(config))
    trace.seconds += time.perf_counter() - begin
    trace.save(given.trace, llm.get_tokenizer().convert_ids_to_tokens)


if __name__ == "__main__":
    main()
