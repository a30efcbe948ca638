"""Hugging Face transformers 5 and later: every mixture of experts, through the library's experts interface.

How to use it, in three lines (the file is yours to change; it needs torch, transformers and numpy):
    from record import Recorder                        # stormcell recorder transformers-5 > record.py
    with Recorder(model, tokenizer, "trace.safetensors"):
        model.generate(**tokenizer(texts, return_tensors="pt", padding=True))
then: stormcell import trace.safetensors -o trace.storm

It records the token ids with their text, all k chosen experts with their weights, and the margin: how far the last
chosen score lies above the first that was not chosen (not where the model adds a bias or chooses groups first). It
knows prompt from decoding, and leaves out padding and what a batch computes for a request behind its end token.
every=10 records each tenth request. scores=True also keeps the scores of all experts, which `stormcell what-if` needs
for a next best one. In a distributed run each process writes its own rank: name a file for each.

Cost: the choices of a pass are copied to main memory when the pass ends, so a GPU waits once a pass. In memory and
on disk a token takes 8 * k + 4 bytes a layer, and 28 bytes; a 32-layer model with k = 8 takes 2.2 KB a token. Scores
take 4 bytes more for each expert of each layer. The time spent is printed at the end.

Not recorded: beam search once its beams change places, expert parallelism of the library, compiled passes (set
disable_compile=True in generate). The file says what was cut.
"""
import inspect
import json
import os
import re
import struct
import sys
import time

import numpy
import torch
from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS


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


# --- The passes of a transformers model. This part is the same in both recorders of transformers. ---------------------
class Passes:
    """Watches each call of the model, or of its encoder and its decoder: which row is which token of which request."""

    def __init__(self, model, trace):
        self.trace, self.now, self.next_request = trace, None, 0
        self.requests, self.length, self.ended, self.moved = [], [], [], False
        self.ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
        self.ends = set(self.ends if isinstance(self.ends, (list, tuple)) else [self.ends]) - {None}
        two = getattr(model.config, "is_encoder_decoder", False)
        self.stacks = {"encoder": model.get_encoder(), "decoder": model.get_decoder()} if two else {"tokens": model}
        self.hooks = []
        for name, module in self.stacks.items():
            names = list(inspect.signature(module.forward).parameters)
            self.hooks += [module.register_forward_pre_hook(self.begin(name, names), with_kwargs=True),
                           module.register_forward_hook(lambda *_: self.end(), always_call=True)]

    def close(self):
        for hook in self.hooks:
            hook.remove()

    def begin(self, stack, names):
        def hook(module, args, kwargs):
            begin = time.perf_counter()
            given = dict(zip(names, args)) | kwargs
            ids, embeds = given.get("input_ids"), given.get("inputs_embeds")
            n, t = (ids if ids is not None else embeds).shape[:2]
            mask = given.get("attention_mask")
            mask = mask if torch.is_tensor(mask) and mask.dim() == 2 and len(mask) == n and mask.shape[1] >= t else None
            cache = given.get("past_key_values", given.get("cache"))
            past = 0 if stack == "encoder" else mask.shape[1] - t if mask is not None else length_of(cache)
            self.watch_beams(cache)
            if past == 0 and (stack != "decoder" or len(self.requests) != n):
                self.requests = list(range(self.next_request, self.next_request + n))
                self.next_request += n
            if past == 0:
                self.length, self.ended, self.moved = [0] * n, [False] * n, False
            if len(self.requests) != n or self.moved:
                self.trace.note_cut("a pass of a search whose beams had changed places")
                self.now = None
                return
            real = mask[:, -t:].bool().cpu().numpy() if mask is not None else numpy.full((n, t), True)
            tokens = ids.cpu().numpy() if ids is not None else numpy.full((n, t), -1)
            decodes = past > 0 and t == 1
            places, texts, kept = [], [], numpy.full((n, t), False)
            for row in range(n):
                here = real[row] & (not (decodes and self.ended[row]))
                count = int(here.sum())
                if decodes and count and int(tokens[row, -1]) in self.ends:
                    self.ended[row] = True
                if self.requests[row] % self.trace.every == 0:
                    kept[row] = here
                places.append(self.length[row] + numpy.arange(count)[:int(kept[row].sum())])
                texts.append(tokens[row][kept[row]])
                self.length[row] += count
            rank = torch.distributed.get_rank() if torch.distributed.is_available() and \
                torch.distributed.is_initialized() else -1
            rows = self.trace.add_cells(self.requests, places, int(decodes), texts, stack, rank)
            self.now = dict(kept=kept.reshape(-1), rows=numpy.concatenate(rows), noted=[])
            self.trace.seconds += time.perf_counter() - begin
        return hook

    def watch_beams(self, cache):
        """A beam search reorders its cache; behind that a row is no longer of the request that it was of."""
        plain = getattr(cache, "reorder_cache", None)
        if plain is None or hasattr(plain, "watched"):
            return

        def reorder(rows, *rest):
            self.moved = self.moved or not torch.equal(rows.cpu(), torch.arange(len(rows)))
            return plain(rows, *rest)
        reorder.watched = True
        cache.reorder_cache = reorder

    def note(self, router, index, weight=None, logits=None, dropped=None):
        """Tensors [rows of the pass, ...] as a router leaves them."""
        if self.now is not None:
            self.now["noted"].append((router, *(None if v is None else v.detach().reshape(-1, v.shape[-1])
                                                for v in (index, weight, logits, dropped))))

    def end(self):
        if self.now is None:
            return
        begin = time.perf_counter()
        kept, rows = self.now["kept"], self.now["rows"]
        for router, index, weight, logits, dropped in self.now["noted"]:
            if len(index) != len(kept):
                self.trace.note_cut(f"{self.trace.routers[router]['name']} saw {len(index)} rows of {len(kept)}")
                continue
            margin = None if logits is None or dropped is not None else margin_of(logits.float(), index)
            scores = [logits] if self.trace.scores else []
            if kept.any():
                numbers = [None if v is None else v.float().cpu().numpy()[kept] if v.is_floating_point() else
                           v.cpu().numpy()[kept] for v in (index, weight, margin, dropped, *scores)]
                self.trace.add_choices(router, rows, *numbers)
        self.now = None
        self.trace.seconds += time.perf_counter() - begin


def length_of(past):
    """Tokens of each sequence that a cache holds already."""
    if past is None:
        return 0
    if hasattr(past, "get_seq_length"):
        return int(past.get_seq_length())
    return int(past[0][0].shape[-2]) if len(past) and past[0] is not None else 0


def margin_of(logits, index):
    """[n] The least chosen score less the greatest that was not chosen; infinite where all were chosen."""
    if index.shape[1] >= logits.shape[1]:
        return torch.full_like(logits[:, 0], float("inf"))
    others = logits.scatter(1, index.long().clamp(min=0), float("-inf"))
    return logits.gather(1, index.long().clamp(min=0)).min(1).values - others.max(1).values


def text_by(tokenizer):
    return (lambda token: tokenizer.convert_ids_to_tokens(token)) if tokenizer is not None else None


def layer_number(name):
    """The number of the layer in a module's name: model.layers.3.mlp.gate is in layer 3."""
    found = re.findall(r"\.(\d+)\.", "." + name + ".")
    return int(found[0]) if found else -1


def chooses_by_bias(block):
    """Whether something is added to the scores before the choice, so that they do not show how near it was."""
    return any(re.search("correction_bias|expert_bias|moe_statics", name)
               for name, _ in [*block.named_parameters(), *block.named_buffers()])


def stack_of(passes, module):
    return next((name for name, stack in passes.stacks.items() if any(m is module for m in stack.modules())), "tokens")


def one_hot_choices(mask, weight):
    """Switch routers: one expert a token; a mask of zeros says that the expert had no room. Its number is not kept."""
    chosen = mask.argmax(-1, keepdim=True)
    return torch.where(mask.sum(-1, keepdim=True) > 0, chosen, torch.full_like(chosen, -1)), weight


# --- The recorder -----------------------------------------------------------------------------------------------------
class Recorder:
    def __init__(self, model, tokenizer=None, path="trace.safetensors", every=1, scores=False):
        self.model, self.tokenizer, self.path = model, tokenizer, path
        name = getattr(model.config, "_name_or_path", "") or model.config.model_type
        self.trace = Trace("transformers-5", name, every, scores)
        self.passes = Passes(model, self.trace)
        self.router_of, self.logits, self.hooks = {}, {}, []
        modules = dict(model.named_modules())
        self.experts = {name: m for name, m in modules.items() if hasattr(m, "_is_expert_parallel")}
        for name, module in self.experts.items():
            if module._is_expert_parallel:
                raise SystemExit(f"{name}: its experts are shared among processes, and their numbers are not those of "
                                 "the model (load the model without expert parallelism)")
            self.watch_interface(name, module, modules)
        for name, module in modules.items():
            for kind, at in self.classes_of_routers().items():
                if isinstance(module, kind) and name.rpartition(".")[0] + ".experts" not in self.experts:
                    self.watch_router(name, module, at)
        if not self.router_of:
            raise SystemExit("no router was found: neither the experts interface nor router_logits is in this model "
                             "(stormcell recorder pytorch takes any module with a gate)")
        self.dispatch()

    def watch_interface(self, name, module, modules):
        """The experts are told their tokens' choices; the gate beside them has the scores, for the margin."""
        branches = getattr(module, "num_experts", 0)
        self.router_of[module] = self.trace.add_router(name, branches, layer_number(name),
                                                       stack_of(self.passes, module))
        parent = name.rpartition(".")[0]
        for child in ("gate", "router"):
            gate = modules.get(f"{parent}.{child}")
            if gate is not None and not chooses_by_bias(modules[parent]):
                self.hooks.append(gate.register_forward_hook(self.keep_logits(module, branches)))

    def keep_logits(self, experts, branches):
        def hook(gate, args, result):
            tensors = result if isinstance(result, (tuple, list)) else [result]
            scores = [t for t in tensors if torch.is_tensor(t) and t.is_floating_point() and t.shape[-1] == branches]
            self.logits[experts] = scores[0] if scores else None
        return hook

    def classes_of_routers(self):
        """{class: which of its outputs the logits are}: the modules that the library itself asks for router_logits."""
        found = {}
        for module in self.model.modules():
            recorded = getattr(module, "_can_record_outputs", None) or {}
            for asked in [recorded.get("router_logits")] if isinstance(recorded, dict) else []:
                for one in asked if isinstance(asked, (list, tuple)) else [asked]:
                    if one is not None:
                        found[getattr(one, "target_class", one)] = getattr(one, "index", 0)
        return found

    def watch_router(self, name, module, at):
        """at: which of the outputs are the logits."""
        router = self.trace.add_router(name, 0, layer_number(name), stack_of(self.passes, module))
        self.router_of[module] = router
        k = getattr(module, "top_k", None) or getattr(self.model.config, "num_experts_per_tok", None)

        def hook(module, args, result):
            tensors = [t for t in (result if isinstance(result, (tuple, list)) else [result]) if torch.is_tensor(t)]
            logits = result[at] if isinstance(result, (tuple, list)) else result
            branches = logits.shape[-1]
            self.trace.routers[router]["branches"] = branches
            rows = logits.shape[:-1]
            index = next((t for t in tensors if not t.is_floating_point() and t.shape[:-1] == rows), None)
            weight = dropped = None
            if index is not None and index.shape[-1] == branches:  # a mask of the experts
                weight = next((t for t in tensors if t.is_floating_point() and t.shape == (*rows, 1)), None)
                index, weight = one_hot_choices(index, weight)
                dropped = torch.where(index < 0, logits.argmax(-1, keepdim=True), torch.full_like(index, -1))
            elif index is not None:
                weight = next((t for t in tensors if t.is_floating_point() and t.shape == index.shape), None)
            elif k and not chooses_by_bias(module):
                index = logits.topk(k).indices
            else:
                self.trace.note_cut(f"{name}: its router returns no choices that this recorder knows")
                return
            self.passes.note(router, index, weight, logits, dropped)
        self.hooks.append(module.register_forward_hook(hook))

    def dispatch(self):
        """Puts a function of ours in front of the one that computes the experts."""
        self.configs = {id(m.config): m.config for m in self.experts.values()}
        self.before = {key: config._experts_implementation for key, config in self.configs.items()}

        def recorded(module, hidden, index, weight, *args, **kwargs):
            if module in self.router_of:
                self.passes.note(self.router_of[module], index, weight, self.logits.pop(module, None))
            usual = self.before.get(id(module.config))
            compute = ALL_EXPERTS_FUNCTIONS[usual] if usual in ALL_EXPERTS_FUNCTIONS else \
                type(module).forward.__wrapped__
            return compute(module, hidden, index, weight, *args, **kwargs)
        ALL_EXPERTS_FUNCTIONS.register("stormcell", recorded)
        for config in self.configs.values():
            config._experts_implementation = "stormcell"

    def close(self):
        for key, config in self.configs.items():
            config._experts_implementation = self.before[key]
        self.passes.close()
        for hook in self.hooks:
            hook.remove()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
        if error[0] is not None:
            self.trace.note_cut("the program ended with an error")
        self.trace.save(self.path, text_by(self.tokenizer))
