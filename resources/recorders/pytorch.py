"""PyTorch in general: any module with a gate that scores the branches, or that returns what it chose.

How to use it, in three lines (the file is yours to change; it needs torch and numpy):
    from record import Recorder                        # stormcell recorder pytorch > record.py
    with Recorder(model, {"blocks.3.gate": 2}, "trace.safetensors"):     # the gate's name, and its choices a cell
        model(batch)
then: stormcell import trace.safetensors -o trace.storm

A gate returns scores [..., branches], of which the k largest are the choices; or a tuple with the choices, whole
numbers [..., k], and where it has them weights [..., k] and scores [..., branches]. rule= says how scores become
weights: "softmax" (of all branches), "softmax-of-k", "sigmoid", or a function of the gate's output that returns
(choices, weights, scores); weights and scores may be None.
Each row of the first tensor that the model is called with is a request. Token ids are known where that tensor has
whole numbers; else, and for padding or decoding, say it before the call: recorder.next(tokens=, mask=, decoding=).
every=10 records each tenth request. scores=True also keeps the scores of all branches, which `stormcell what-if` needs
for a next best one. In a distributed run each process writes its own rank: name a file for each.

Cost: the choices of a pass are copied to main memory when the pass ends, so a GPU waits once a pass. In memory and
on disk a cell takes 8 * k + 4 bytes a gate, and 28 bytes; with scores, 4 more for each branch of each gate. The time
spent is printed at the end.

Not recorded: gates that see other cells than a whole number a request, such as those nested in a branch of another
gate. The file says what was cut.
"""
import json
import os
import re
import struct
import sys
import time

import numpy
import torch


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
def margin_of(scores, index):
    """[n] The least chosen score less the greatest that was not chosen; infinite where all were chosen."""
    if index.shape[1] >= scores.shape[1]:
        return torch.full_like(scores[:, 0], float("inf"))
    others = scores.scatter(1, index.long().clamp(min=0), float("-inf"))
    return scores.gather(1, index.long().clamp(min=0)).min(1).values - others.max(1).values


def choices_by_scores(scores, k, rule):
    """Choices [..., k] and their weights [..., k]."""
    scores = scores.float()
    if rule == "softmax":
        weight, index = scores.softmax(-1).topk(k)
    elif rule == "softmax-of-k":
        best, index = scores.topk(k)
        weight = best.softmax(-1)
    elif rule == "sigmoid":
        weight, index = scores.sigmoid().topk(k)
    else:
        raise SystemExit(f'rule="{rule}" is not known (softmax, softmax-of-k, sigmoid, or a function)')
    return index, weight


class Recorder:
    """gates: {name of the module: choices a cell}; k=None where the gate returns its choices itself."""

    def __init__(self, model, gates, path="trace.safetensors", name="", rule="softmax", every=1, text_of=None,
                 scores=False):
        self.model, self.path, self.rule, self.text_of = model, path, rule, text_of
        self.trace = Trace("pytorch", name or type(model).__name__, every, scores)
        self.trace.forward = True
        self.next_request, self.lengths, self.said, self.noted, self.stack_of = 0, [], {}, [], {}
        modules = dict(model.named_modules())
        unknown = [name for name in gates if name not in modules]
        if unknown:
            raise SystemExit(f"{unknown[0]}: the model has no module of this name (its modules: "
                             f"{', '.join(n for n in modules if n)[:300]})")
        self.gates = {name: i for i, name in enumerate(gates)}
        self.hooks = [model.register_forward_pre_hook(self.begin, with_kwargs=True),
                      model.register_forward_hook(lambda *_: self.end(), always_call=True)]
        for name, k in gates.items():
            self.hooks.append(modules[name].register_forward_hook(self.watch(name, k)))

    def next(self, tokens=None, mask=None, decoding=False):
        """What the next call of the model is about: token ids [N, T], mask [N, T] (0: padding), and whether it goes on
        with the requests of the call before."""
        self.said = dict(tokens=tokens, mask=mask, decoding=decoding)

    def begin(self, module, args, kwargs):
        self.noted = []
        self.first = next((v for v in [*args, *kwargs.values()] if torch.is_tensor(v) and v.dim() > 0), None)

    def watch(self, name, k):
        def hook(module, args, result):
            begin = time.perf_counter()
            weight = scores = None
            if callable(self.rule):
                index, weight, scores = self.rule(result)
            elif torch.is_tensor(result) and result.is_floating_point():
                scores = result
                index, weight = choices_by_scores(scores, k, self.rule)
            else:
                tensors = [t for t in (result if isinstance(result, (tuple, list)) else [result]) if torch.is_tensor(t)]
                index = next((t for t in tensors if not t.is_floating_point()), None)
                if index is None:
                    raise SystemExit(f"{name}: it returns neither scores nor choices (rule= takes a function of its "
                                     "output)")
                real = [t for t in tensors if t.is_floating_point() and t.shape[:-1] == index.shape[:-1]]
                weight = next((t for t in real if t.shape == index.shape), None)
                scores = next((t for t in real if t.shape[-1] > index.shape[-1]), None)
            self.noted.append((name, *(None if v is None else v.detach().reshape(-1, v.shape[-1])
                                       for v in (index, weight, scores))))
            self.trace.seconds += time.perf_counter() - begin
        return hook

    def end(self):
        begin = time.perf_counter()
        said, self.said = self.said, {}
        n = len(self.first) if self.first is not None else 1
        decoding = said.get("decoding", False) and len(self.lengths) == n
        if not decoding:
            self.lengths = [0] * n
            self.next_request += n
        if decoding:
            self.trace.forward = False
        numbers = list(range(self.next_request - n, self.next_request))
        tokens, mask = said.get("tokens"), said.get("mask")
        if tokens is None and self.first is not None and self.first.dim() == 2 and not self.first.is_floating_point():
            tokens = self.first
        whole = {}  # by cells of a request, and stack: which cells are kept, and their rows
        real = None
        for name, index, weight, scores in self.noted:
            per = len(index) // n
            if per * n != len(index) or per == 0:
                self.trace.note_cut(f"{name} saw {len(index)} cells of {n} requests")
                continue
            first = real is None
            shape = (n, per)
            if first or (per, self.stack_of.get(name)) not in whole:
                stack = self.stack_of.setdefault(name, "cells" if first or (per, "cells") in whole
                                                 else f"cells of {name}")
            stack = self.stack_of[name]
            if (per, stack) not in whole:
                fits = mask is not None and tuple(mask.shape) == shape
                here = mask.cpu().numpy().astype(bool) if fits else numpy.full(shape, True)
                real = here.sum(1) if first else real
                whole[per, stack] = self.add_cells(numbers, here, decoding, tokens, stack)
            kept, rows = whole[per, stack]
            if name not in (r["name"] for r in self.trace.routers):
                branches = scores.shape[-1] if scores is not None else 0
                self.trace.add_router(name, branches, layer_number(name), stack)
            router = next(i for i, r in enumerate(self.trace.routers) if r["name"] == name)
            margin = margin_of(scores.float(), index) if scores is not None else None
            if kept.any():
                self.trace.add_choices(router, rows, *(None if v is None else v.cpu().float().numpy()[kept]
                                                       if v.is_floating_point() else v.cpu().numpy()[kept]
                                                       for v in (index, weight, margin)),
                                       scores=scores.cpu().float().numpy()[kept]
                                       if self.trace.scores and scores is not None else None)
        if real is not None:
            self.lengths = [length + int(count) for length, count in zip(self.lengths, real)]
        self.trace.seconds += time.perf_counter() - begin

    def add_cells(self, numbers, here, decoding, tokens, stack):
        fits = tokens is not None and tuple(tokens.shape) == here.shape
        ids = tokens.cpu().numpy() if fits else numpy.full(here.shape, -1)
        kept = here & (numpy.asarray(numbers) % self.trace.every == 0)[:, None]
        places = [self.lengths[i] + numpy.arange(int(row.sum())) for i, row in enumerate(kept)]
        rows = self.trace.add_cells(numbers, places, int(decoding), [t[r] for t, r in zip(ids, kept)], stack,
                                    this_rank())
        return kept.reshape(-1), numpy.concatenate(rows)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for hook in self.hooks:
            hook.remove()
        if error[0] is not None:
            self.trace.note_cut("the program ended with an error")
        self.trace.save(self.path, self.text_of)


def layer_number(name):
    """The number of the layer in a module's name: model.layers.3.mlp.gate is in layer 3."""
    found = re.findall(r"\.(\d+)\.", "." + name + ".")
    return int(found[0]) if found else -1


def this_rank():
    """The rank in a distributed run; -1: it is none."""
    ranks = torch.distributed
    return ranks.get_rank() if ranks.is_available() and ranks.is_initialized() else -1
