"""Early exits of any PyTorch network: confidence and prediction of every item at every exit, labels, time.

How to use it, in three lines (the file is yours to change; it needs torch and numpy):
    from record import Recorder                        # stormcell recorder exits > record.py
    with Recorder(model, ["heads.0", "heads.1", "heads.2"], "exits.safetensors", threshold=0.9) as recorder:
        for pictures, labels in data: recorder.labels(labels); model(pictures)
then: stormcell import exits.safetensors -o exits.storm

Each name is a module whose output is the logits [items, classes] of an exit, in the order of the network; the last one
is the end. exits=None takes a list of logits that the model itself returns (as MSDNet's program does), without times.
All exits must be computed for all items: run the network without leaving early.

The file holds exit.confidence f32 and exit.prediction i32 [items, exits], exit.label i32 [items] (-1: none),
exit.pass i32 [items], and exit.seconds f64 [passes, exits]: the time from the start of a pass to the exit's logits,
for all items of the pass together. The confidence is the largest probability. The file also holds a router for each
exit but the last: branch 0 leaves there (confidence >= threshold), 1 goes on; its margin is how far the confidence is
from the threshold. threshold= is one number, or a list with one for each exit but the last. The import keeps decisions,
confidences, margins and labels, and says of each exit how confident, how often right and how late it is; predictions
are for programs of yours. every=10 records each tenth item. In a distributed run each process writes its own rank: name
a file for each.

Cost: a softmax an exit, and a GPU waits once an exit, so that times are true; one warm pass before the first is wise.
An item takes 12 bytes an exit, and 32 bytes. The time spent is printed at the end.
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
class Recorder:
    def __init__(self, model, exits=None, path="exits.safetensors", threshold=0.9, name="", every=1):
        self.model, self.path, self.threshold = model, path, threshold
        self.trace = Trace("exits", name or type(model).__name__, every)
        self.trace.forward = True
        self.items, self.passes, self.said, self.rows = 0, 0, None, {key: [] for key in (
            "confidence", "prediction", "label", "pass")}
        self.seconds, self.routers = [], []
        modules = dict(model.named_modules())
        unknown = [name for name in exits or () if name not in modules]
        if unknown:
            raise SystemExit(f"{unknown[0]}: the model has no module of this name (its modules: "
                             f"{', '.join(n for n in modules if n)[:300]})")
        self.exits = exits
        self.hooks = [model.register_forward_pre_hook(self.begin), model.register_forward_hook(self.end)]
        for i, exit_name in enumerate(exits or ()):
            self.hooks.append(modules[exit_name].register_forward_hook(self.watch(i)))

    def labels(self, labels):
        """The classes of the next call's items; -1: not known."""
        self.said = numpy.asarray(labels.cpu() if torch.is_tensor(labels) else labels, dtype="int32")

    def begin(self, module, args):
        self.logits, self.times = {}, {}
        wait()
        self.began = time.perf_counter()

    def watch(self, i):
        def hook(module, args, result):
            wait()
            self.times[i] = time.perf_counter() - self.began
            self.logits[i] = result.detach()
        return hook

    def end(self, module, args, result):
        begin = time.perf_counter()
        if self.exits is None:
            self.logits = {i: v.detach() for i, v in enumerate(result)}
        count = len(self.exits) if self.exits else len(self.logits)
        said, self.said = self.said, None
        if len(self.logits) != count:
            self.trace.note_cut("a pass that did not compute all exits")
            return
        best = [self.logits[i].float().softmax(-1).max(-1) for i in range(count)]
        confidence = torch.stack([b.values for b in best], 1).cpu().numpy()
        prediction = torch.stack([b.indices for b in best], 1).cpu().numpy().astype("int32")
        n = len(confidence)
        if said is None or len(said) != n:
            said = numpy.full(n, -1, "int32")
        numbers = numpy.arange(self.items, self.items + n)
        kept = numbers % self.trace.every == 0
        self.items += n
        for key, value in (("confidence", confidence), ("prediction", prediction), ("label", said),
                           ("pass", numpy.full(n, self.passes, "int32"))):
            self.rows[key].append(value[kept])
        self.seconds.append([self.times.get(i, float("nan")) for i in range(count)])
        self.passes += 1
        if kept.any():
            self.decide(numbers[kept], confidence[kept])
        self.trace.seconds += time.perf_counter() - begin

    def decide(self, numbers, confidence):
        """Who leaves where, by the threshold: a router for each exit but the last, met by those who did not leave."""
        tests = confidence.shape[1] - 1
        thresholds = self.threshold if isinstance(self.threshold, (list, tuple)) else [self.threshold] * tests
        for i in range(len(self.routers), tests):
            self.routers.append(self.trace.add_router(f"exit.{i + 1}", 2, stack="items", protocol="exit-threshold"))
        rows = numpy.concatenate(self.trace.add_cells(numbers.tolist(), [[0]] * len(numbers), 0, stack="items",
                                                       rank=this_rank()))
        there = numpy.full(len(numbers), True)
        for i in range(tests):
            goes_on = ~(confidence[:, i] >= thresholds[i])
            if there.any():
                self.trace.add_choices(self.routers[i], rows[there], goes_on[there, None].astype("int32"),
                                       margin=numpy.abs(confidence[there, i] - thresholds[i]))
            there = there & goes_on

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for hook in self.hooks:
            hook.remove()
        if error[0] is not None:
            self.trace.note_cut("the program ended with an error")
        more = {f"exit.{key}": numpy.concatenate(parts) for key, parts in self.rows.items() if parts}
        if more:
            more["exit.seconds"] = numpy.asarray(self.seconds, "float64")
        self.trace.save(self.path, more=more)


def wait():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def this_rank():
    """The rank in a distributed run; -1: it is none."""
    ranks = torch.distributed
    return ranks.get_rank() if ranks.is_available() and ranks.is_initialized() else -1
