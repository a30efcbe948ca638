#!/usr/bin/env python3
"""Checks resources/recorders: what they write is what the reference's own routers chose.

Run in the environment of resources/python-requirements.txt (transformers 4), and in one with transformers 5; it takes
no data and no network: models are tiny and random. --stormcell PROGRAM also imports what was written.
Ends with "N passed, M failed". A planted fault, a token dropped or two choices swapped, must be noticed.
"""
import argparse
import ast
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import types

import numpy
import torch
import transformers

RECORDERS = pathlib.Path(__file__).resolve().parents[2] / "resources" / "recorders"
MAJOR = int(transformers.__version__.split(".")[0])
TIE = 1e-5  # logits nearer than this may change places with the shape of the batch
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


def layers_of(about):
    return [i for i in range(int(about["layers"]))]


# --- What the reference chooses ----------------------------------------------------------------------------------------

def tiny(family):
    torch.manual_seed(7)
    sizes = dict(hidden_size=32, intermediate_size=24, num_hidden_layers=3, num_attention_heads=4,
                 num_key_value_heads=2, vocab_size=VOCABULARY, max_position_embeddings=128, bos_token_id=1,
                 eos_token_id=2, pad_token_id=0)
    t = transformers
    if family == "mixtral":
        model = t.MixtralForCausalLM(t.MixtralConfig(**sizes, num_local_experts=EXPERTS, num_experts_per_tok=K))
    elif family == "olmoe":
        model = t.OlmoeForCausalLM(t.OlmoeConfig(**sizes, num_experts=EXPERTS, num_experts_per_tok=K))
    elif family in ("qwen2_moe", "qwen3_moe"):
        of = dict(qwen2_moe=(t.Qwen2MoeForCausalLM, t.Qwen2MoeConfig), qwen3_moe=(t.Qwen3MoeForCausalLM, t.Qwen3MoeConfig))
        make, config = of[family]
        model = make(config(**sizes, num_experts=EXPERTS, num_experts_per_tok=K, moe_intermediate_size=16,
                            shared_expert_intermediate_size=16, norm_topk_prob=True, mlp_only_layers=[1],
                            use_sliding_window=False))
    else:
        model = t.SwitchTransformersForConditionalGeneration(t.SwitchTransformersConfig(
            vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=24, num_layers=4, num_sparse_encoder_layers=2,
            num_decoder_layers=4, num_sparse_decoder_layers=2, num_heads=4, num_experts=4, expert_capacity=4,
            decoder_start_token_id=0, eos_token_id=2, pad_token_id=0))
    with torch.no_grad():  # the usual small weights make all logits alike
        for name, p in model.named_parameters():
            if p.dim() > 1:
                p.mul_(6.0)
    return model.eval()


def batch_of(lengths, seed):
    """Left padding, as one pads for generate."""
    generator = torch.Generator().manual_seed(seed)
    longest = max(lengths)
    ids = torch.zeros(len(lengths), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, n in enumerate(lengths):
        ids[row, longest - n:] = torch.randint(3, VOCABULARY, (n,), generator=generator)
        mask[row, longest - n:] = 1
    return ids, mask


def reference(model, ids):
    """Of one text without padding: router logits [layers][tokens, experts]."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids]), output_router_logits=True, use_cache=False).router_logits
    return [numpy.asarray(l.float()) for l in logits if l is not None and l.numel()]


def renormalises(model):
    return model.config.model_type == "mixtral" or bool(getattr(model.config, "norm_topk_prob", False))


def compare(path, texts, model, layers, new_tokens=True):
    """texts: {request: all its tokens}; the last one of a generated text was never computed."""
    tensors, about = read(path)
    expect(set(tensors["cell.request"].tolist()) == set(texts), "other requests than were made")
    expect(about["layers"] == str(len(layers)), f"{about['layers']} routers, expected {len(layers)}")
    for i, layer in enumerate(layers):
        expect(about[f"layer.{i}.layer"] == str(layer), f"router {i} is not of layer {layer}")
        expect(about[f"layer.{i}.branches"] == str(EXPERTS), f"router {i} has {about[f'layer.{i}.branches']} branches")
    ties = cells = 0
    for request, (text, prompt) in texts.items():
        rows = numpy.flatnonzero(tensors["cell.request"] == request)
        order = rows[numpy.argsort(tensors["cell.position"][rows], kind="stable")]
        expect(tensors["cell.position"][order].tolist() == list(range(len(text))),
               f"request {request}: positions are not those of its {len(text)} tokens")
        expect(tensors["cell.token"][order].tolist() == text, f"request {request}: other tokens")
        expect(tensors["cell.phase"][order].tolist() == [int(p >= prompt) for p in range(len(text))],
               f"request {request}: other phases")
        for i, logits in enumerate(reference(model, text)):
            best = numpy.argsort(-logits, axis=1, kind="stable")
            sorted_logits = numpy.take_along_axis(logits, best, 1)
            near = (sorted_logits[:, :K] - sorted_logits[:, 1:K + 1]).min(1) < TIE
            ties, cells = ties + int(near.sum()), cells + len(near)
            got = tensors[f"layer.{i}.indices"][order]
            expect((got[~near] == best[~near, :K]).all(), f"request {request}, router {i}: other choices")
            share = numpy.exp(sorted_logits - sorted_logits[:, :1])
            share = share / share.sum(1, keepdims=True)
            weight = share[:, :K] / share[:, :K].sum(1, keepdims=True) if renormalises(model) else share[:, :K]
            expect(numpy.abs(tensors[f"layer.{i}.weights"][order] - weight)[~near].max() < 1e-4,
                   f"request {request}, router {i}: other weights")
            margin = sorted_logits[:, K - 1] - sorted_logits[:, K]
            expect(numpy.abs(tensors[f"layer.{i}.margins"][order] - margin)[~near].max() < 1e-3,
                   f"request {request}, router {i}: other margins")
    expect(ties * 20 < cells, f"{ties} of {cells} cells are near ties: the case shows nothing")
    return tensors, about


class Words:
    """A tokenizer as far as a recorder asks for one."""
    def convert_ids_to_tokens(self, token):
        return f"w{token}ü"


def record_generate(module, model, path, every=1):
    """Two batches, with padding, decoded. Returns {request: (computed tokens, prompt length)}."""
    texts, number = {}, 0
    with module.Recorder(model, Words(), str(path), every=every):
        for lengths, seed in (((9, 4, 6), 1), ((5,), 2)):
            ids, mask = batch_of(lengths, seed)
            with torch.no_grad():
                out = model.generate(input_ids=ids, attention_mask=mask, max_new_tokens=7, do_sample=False)
            for row, n in enumerate(lengths):
                text = ids[row, -n:].tolist() + out[row, ids.shape[1]:].tolist()
                ends = [i for i in range(n, len(text)) if text[i] == 2]
                computed = text[:ends[0] + 1] if ends and ends[0] < len(text) - 1 else text[:-1]
                if number % every == 0:
                    texts[number] = (computed, n)
                number += 1
    return texts


# --- The checks --------------------------------------------------------------------------------------------------------
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def quietly(function, *arguments, **options):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        result = function(*arguments, **options)
    return result, said.getvalue()


NAME = f"transformers-{5 if MAJOR >= 5 else 4}"
FAMILIES = {"mixtral": [0, 1, 2], "qwen2_moe": [0, 2], "olmoe": [0, 1, 2], "qwen3_moe": [0, 2]}


def written(folder, family, every=1):
    module, model, path = load(NAME), tiny(family), folder / f"{family}.safetensors"
    texts, said = quietly(record_generate, module, model, path, every)
    return path, texts, model, said


def family_check(family):
    def run(folder):
        path, texts, model, said = written(folder, family)
        tensors, about = compare(path, texts, model, FAMILIES[family])
        expect(about["cut"] == "", f"cut: {about['cut']}")
        expect("complete" in said and "recording took" in said, f"it said: {said}")
        ends, text = tensors["token.end"].tolist(), tensors["token.text"].tobytes()
        for i, token in enumerate(tensors["token.id"].tolist()):
            expect(text[ends[i - 1] if i else 0:ends[i]].decode() == f"w{token}ü", f"token {token} has another text")
        expect(set(tensors["token.id"].tolist()) == set(tensors["cell.token"].tolist()), "texts of other tokens")
        expect("cell.rank" not in tensors, "a rank that nobody knows")
    run.__name__ = f"choices_of_{family}_are_the_references"
    return run


for family in FAMILIES:
    check(family_check(family))


@check
def the_model_computes_the_same_under_the_recorder_and_after_it(folder):
    module, model = load(NAME), tiny("olmoe")
    ids, mask = batch_of((6, 6), 5)
    with torch.no_grad():
        before = model(input_ids=ids, attention_mask=mask).logits
        recorder = module.Recorder(model, None, str(folder / "same.safetensors"))
        under = model(input_ids=ids, attention_mask=mask).logits
        recorder.close()
        after = model(input_ids=ids, attention_mask=mask).logits
    expect(torch.equal(before, under) and torch.equal(before, after), "other logits")


@check
def every_second_request_alone_is_recorded_and_said_to_be(folder):
    path, texts, model, said = written(folder, "olmoe", every=2)
    _, about = compare(path, texts, model, FAMILIES["olmoe"])
    expect("each 2. request" in about["cut"] and about["cut"] in said, f"cut: {about['cut']}")


@check
def switch_transformers_choose_and_drop_as_the_reference(folder):
    module, model = load(NAME), tiny("switch")
    ids, _ = batch_of((12, 12), 3)
    decoder = torch.randint(3, VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(4))
    path = folder / "switch.safetensors"

    def record():
        with module.Recorder(model, None, str(path)), torch.no_grad():
            return model(input_ids=ids, decoder_input_ids=decoder, output_router_logits=True)
    out, _ = quietly(record)
    tensors, about = read(path)
    routers = 0
    dropped = 0
    for stack, given, told in (("encoder", ids, out.encoder_router_logits), ("decoder", decoder, out.decoder_router_logits)):
        told = [t[0] if isinstance(t, tuple) else t for t in told if t is not None]
        told = [t for t in told if t.dim() == 3 and t.shape[-1] == 4]
        expect(len(told) == 2, f"the reference has {len(told)} routers in the {stack}")
        for logits in told:
            chosen = logits.argmax(-1)
            hot = torch.nn.functional.one_hot(chosen, 4)
            kept = (hot.cumsum(1) * hot).sum(-1) <= model.config.expert_capacity
            i = routers
            routers += 1
            expect(about[f"layer.{i}.stack"] == stack, f"router {i} is not of the {stack}")
            stack_number = [s for s in range(2) if about[f"stack.{s}"] == stack][0]
            rows = tensors["cell.stack"] == stack_number
            expect(tensors["cell.token"][rows].tolist() == given.reshape(-1).tolist(), f"{stack}: other tokens")
            got = tensors[f"layer.{i}.indices"]
            expect((got[~rows] == -2).all(), f"router {i} has choices of cells of another stack")
            right = torch.where(kept, chosen, torch.full_like(chosen, -1)).reshape(-1).numpy()
            expect((got[rows][:, 0] == right).all(), f"router {i}: other choices")
            lost = torch.where(kept, torch.full_like(chosen, -1), chosen).reshape(-1).numpy()
            told_lost = tensors.get(f"layer.{i}.dropped", numpy.full_like(got, -1))[rows][:, 0]
            expect((told_lost == lost).all(), f"router {i}: others were dropped")
            dropped += int((lost >= 0).sum())
            weight = logits.float().softmax(-1).max(-1).values.reshape(-1).numpy()
            expect(numpy.abs(tensors[f"layer.{i}.weights"][rows][:, 0] - weight).max() < 1e-5, f"router {i}: weights")
    expect(dropped > 0, "nothing was dropped: the case shows nothing")
    expect(about["layers"] == str(routers), "other routers")


@check
def switch_transformers_are_recorded_while_they_write(folder):
    module, model = load(NAME), tiny("switch")
    ids, mask = batch_of((8, 8), 6)
    path = folder / "written.safetensors"

    def record():
        with module.Recorder(model, None, str(path)), torch.no_grad():
            return model.generate(input_ids=ids, attention_mask=mask, max_new_tokens=5, min_new_tokens=5)
    out, _ = quietly(record)
    tensors, about = read(path)
    decoder = [s for s in range(2) if about[f"stack.{s}"] == "decoder"][0]
    for row in range(2):
        cells = (tensors["cell.stack"] == decoder) & (tensors["cell.request"] == row)
        expect(tensors["cell.token"][cells].tolist() == out[row, :-1].tolist(), "other tokens of the decoder")
        expect(tensors["cell.position"][cells].tolist() == list(range(5)), "other positions of the decoder")
    expect(about["cut"] == "", f"cut: {about['cut']}")


def fault_check(name, spoil):
    def run(folder):
        module = load(NAME)
        plain = module.Trace.add_choices

        def spoiled(self, router, rows, index, weight=None, margin=None, dropped=None):
            return plain(self, *spoil(router, rows, numpy.array(index), weight, margin))
        module.Trace.add_choices = spoiled
        model, path = tiny("olmoe"), folder / f"{name}.safetensors"
        texts, _ = quietly(record_generate, module, model, path)
        module.Trace.add_choices = plain
        compare(folder / "sound.safetensors", quietly(record_generate, module, model, folder / "sound.safetensors")[0],
                model, FAMILIES["olmoe"])
        try:
            compare(path, texts, model, FAMILIES["olmoe"])
        except Wrong:
            return
        raise Wrong(f"a recorder that {name.replace('_', ' ')} was not noticed")
    run.__name__ = f"a_recorder_that_{name}_is_noticed"
    return run


def drop_one(router, rows, index, weight, margin):
    keep = slice(1, None) if router == 1 and len(rows) > 1 else slice(None)
    return router, rows[keep], index[keep], weight[keep], margin[keep]


def swap_one(router, rows, index, weight, margin):
    if router == 0 and rows[0] == 0:
        index[0, [0, 1]] = index[0, [1, 0]]
    return router, rows, index, weight, margin


check(fault_check("drops_a_token", drop_one))
check(fault_check("swaps_two_choices", swap_one))
check(fault_check("moves_rows_by_one", lambda r, rows, index, w, m: (r, rows, numpy.roll(index, 1, 0), w, m)))


@check
def a_model_without_experts_is_refused(folder):
    t = transformers
    model = t.LlamaForCausalLM(t.LlamaConfig(hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                                             num_attention_heads=2, vocab_size=20))
    try:
        load(NAME).Recorder(model, None, str(folder / "none.safetensors"))
    except SystemExit as refused:
        expect("pytorch" in str(refused), f"it said {refused}")
        return
    raise Wrong("it was not refused")


class Gated(torch.nn.Module):
    def __init__(self, returns_choices):
        super().__init__()
        self.returns_choices = returns_choices
        self.embed = torch.nn.Embedding(30, 16)
        self.gate = torch.nn.Linear(16, 6)
        if returns_choices:
            self.gate = Chooser(self.gate)

    def forward(self, ids):
        return self.gate(self.embed(ids).reshape(-1, 16))


class Chooser(torch.nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear = linear

    def forward(self, x):
        scores = self.linear(x)
        weight, index = scores.sigmoid().topk(2)
        return index, weight, scores


def gate_check(returns_choices):
    def run(folder):
        torch.manual_seed(3)
        module, model, path = load("pytorch"), Gated(returns_choices), folder / "gate.safetensors"
        batches = [torch.randint(0, 30, (3, 5)), torch.randint(0, 30, (2, 7))]

        def record():
            with module.Recorder(model, {"gate": 2}, str(path)), torch.no_grad():
                for batch in batches:
                    model(batch)
        quietly(record)
        tensors, about = read(path)
        linear = model.gate.linear if returns_choices else model.gate
        ids = torch.cat([b.reshape(-1) for b in batches])
        with torch.no_grad():
            scores = linear(model.embed(ids))
        share = scores.sigmoid() if returns_choices else scores.softmax(-1)
        weight, index = share.topk(2)
        expect(tensors["cell.token"].tolist() == ids.tolist(), "other tokens")
        expect(tensors["cell.request"].tolist() == sum(([r] * n for r, n in ((0, 5), (1, 5), (2, 5), (3, 7), (4, 7))), []),
               "other requests")
        expect(tensors["layer.0.indices"].tolist() == index.tolist(), "other choices")
        expect(numpy.abs(tensors["layer.0.weights"] - weight.numpy()).max() < 1e-6, "other weights")
        best = scores.sort(-1, descending=True).values
        expect(numpy.abs(tensors["layer.0.margins"] - (best[:, 1] - best[:, 2]).numpy()).max() < 1e-6, "other margins")
        expect(about["cut"] == "" and about["layer.0.branches"] == "6", f"{about}")
    run.__name__ = "a_gate_that_returns_" + ("choices" if returns_choices else "scores") + "_is_recorded"
    return run


check(gate_check(False))
check(gate_check(True))


@check
def padding_and_decoding_that_are_told_are_kept(folder):
    torch.manual_seed(3)
    module, model, path = load("pytorch"), Gated(False), folder / "told.safetensors"

    def record():
        with module.Recorder(model, {"gate": 2}, str(path)) as recorder, torch.no_grad():
            recorder.next(mask=torch.tensor([[1, 1, 1], [1, 1, 0]]))
            model(torch.tensor([[3, 4, 5], [6, 7, 0]]))
            recorder.next(decoding=True)
            model(torch.tensor([[8], [9]]))
    quietly(record)
    tensors, _ = read(path)
    expect(tensors["cell.token"].tolist() == [3, 4, 5, 6, 7, 8, 9], "padding was kept")
    expect(tensors["cell.phase"].tolist() == [0] * 5 + [1] * 2, "other phases")
    expect(tensors["cell.position"].tolist() == [0, 1, 2, 0, 1, 3, 2], f"positions {tensors['cell.position'].tolist()}")


@check
def a_gate_that_is_not_there_is_named(folder):
    try:
        load("pytorch").Recorder(Gated(False), {"gaet": 2}, str(folder / "none.safetensors"))
    except SystemExit as refused:
        expect("gaet" in str(refused) and "gate" in str(refused), f"it said {refused}")
        return
    raise Wrong("it was not refused")


class Exits(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(12, 12) for _ in range(3))
        self.heads = torch.nn.ModuleList(torch.nn.Linear(12, 4) for _ in range(3))

    def forward(self, x):
        logits = []
        for block, head in zip(self.blocks, self.heads):
            x = block(x).relu()
            logits.append(head(x))
        return logits


def exits_check(named):
    def run(folder):
        torch.manual_seed(9)
        module, model, path = load("exits"), Exits(), folder / "exits.safetensors"
        x, labels = torch.randn(40, 12) * 3, torch.randint(0, 4, (40,))
        with torch.no_grad():
            share = torch.stack([l.softmax(-1) for l in model(x)], 1)
        best = share.max(-1)
        threshold = [best.values[:, 0].median().item(), best.values[:, 1].median().item()]

        def record():
            names = ["heads.0", "heads.1", "heads.2"] if named else None
            with module.Recorder(model, names, str(path), threshold=threshold) as recorder, torch.no_grad():
                for part, told in zip(x.split(16), labels.split(16)):
                    recorder.labels(told)
                    model(part)
        quietly(record)
        tensors, about = read(path)
        expect(numpy.abs(tensors["exit.confidence"] - best.values.numpy()).max() < 1e-6, "other confidences")
        expect((tensors["exit.prediction"] == best.indices.numpy()).all(), "other predictions")
        expect(tensors["exit.label"].tolist() == labels.tolist(), "other labels")
        seconds = tensors["exit.seconds"]
        expect(seconds.shape == (3, 3), "other passes")
        expect(not named or (numpy.diff(seconds, axis=1) > 0).all(), "times do not ascend")
        first = best.values[:, 0].numpy() >= threshold[0]
        second = best.values[:, 1].numpy() >= threshold[1]
        expect((tensors["layer.0.indices"][:, 0] == numpy.where(first, 0, 1)).all(), "exit 1: other decisions")
        expect((tensors["layer.1.indices"][:, 0] == numpy.where(first, -2, numpy.where(second, 0, 1))).all(),
               "exit 2: other decisions")
        expect(0 < first.sum() < 40 and 0 < second[~first].sum(), "the case shows nothing")
        expect(about["layer.0.protocol"] == "exit-threshold" and about["cut"] == "", f"{about}")
    run.__name__ = "exits_that_are_" + ("modules" if named else "returned") + "_are_recorded"
    return run


check(exits_check(True))
check(exits_check(False))


# --- Servers, with answers in their documented form --------------------------------------------------------------------

LAYERS, DENSE = 4, 0  # layer 0 has no experts and is filled with zeros


def answers():
    """Prompts and answers as token ids, and the choices of all but the last token, [tokens, layers, k]."""
    generator = numpy.random.default_rng(5)
    made = []
    for prompt, answer in ((4, 3), (2, 5), (6, 1)):
        n = prompt + answer - 1
        routed = numpy.stack([[generator.permutation(EXPERTS)[:K] for _ in range(LAYERS)] for _ in range(n)])
        routed[:, DENSE] = 0
        made.append((list(range(3, 3 + prompt)), list(range(20, 20 + answer)), routed.astype("int32")))
    return made


def compare_answers(path, made, every=1):
    tensors, about = read(path)
    made = {i: m for i, m in enumerate(made) if i % every == 0}
    expect(about["layers"] == str(LAYERS - 1), f"{about['layers']} routers")
    expect([about[f"layer.{i}.layer"] for i in range(LAYERS - 1)] == ["1", "2", "3"], "other layers")
    expect(set(tensors["cell.request"].tolist()) == set(made), "other requests")
    for request, (prompt, answer, routed) in made.items():
        rows = tensors["cell.request"] == request
        expect(tensors["cell.token"][rows].tolist() == [*prompt, *answer][:-1], "other tokens")
        expect(tensors["cell.phase"][rows].tolist() == [0] * len(prompt) + [1] * (len(answer) - 1), "other phases")
        for i in range(LAYERS - 1):
            expect((tensors[f"layer.{i}.indices"][rows] == routed[:, i + 1]).all(), "other choices")
    expect("layer.0.weights" not in tensors, "weights that no server returned")


def as_program(name, modules, arguments):
    module = load(name)
    before = dict(sys.modules), sys.argv
    sys.modules.update(modules)
    sys.argv = ["record.py", *arguments]
    try:
        quietly(module.main)
    finally:
        sys.argv = before[1]
        for key in modules:
            sys.modules.pop(key)
            if key in before[0]:
                sys.modules[key] = before[0][key]


def vllm_check(split):
    def run(folder):
        made, box = answers(), types.SimpleNamespace
        config = box(num_hidden_layers=LAYERS, num_experts=EXPERTS, num_experts_per_tok=K)

        class LLM:
            def __init__(self, name, enable_return_routed_experts=False, **options):
                expect(enable_return_routed_experts, "the switch is off")
                expect(options == {"tensor_parallel_size": 4}, f"options {options}")
                self.llm_engine = box(model_config=box(hf_config=config))

            def generate(self, texts, sampling):
                expect(texts == ["one", "two", "three"], f"prompts {texts}")
                return [box(prompt_token_ids=p, prompt_routed_experts=r[:len(p)] if split else None,
                            outputs=[box(token_ids=a, routed_experts=r[len(p):] if split else r)]) for p, a, r in made]

            def get_tokenizer(self):
                return Words()
        prompts = folder / "prompts.txt"
        prompts.write_text("one\n\ntwo\nthree\n")
        fake = types.ModuleType("vllm")
        fake.LLM, fake.SamplingParams = LLM, lambda **options: options
        as_program("vllm", {"vllm": fake}, ["model", str(prompts), str(folder / "v.safetensors"), "--set",
                                            "tensor_parallel_size=4", *(["--every", "2"] if split else [])])
        compare_answers(folder / "v.safetensors", made, 2 if split else 1)
    run.__name__ = "answers_of_vllm_with_" + ("a_part_for_the_prompt" if split else "one_array") + "_are_recorded"
    return run


check(vllm_check(False))
check(vllm_check(True))


@check
def answers_of_sglang_are_recorded(folder):
    import base64
    made, box = answers(), types.SimpleNamespace

    class Engine:
        def __init__(self, model_path, enable_return_routed_experts=False, **options):
            expect(enable_return_routed_experts, "the switch is off")

        def generate(self, input_ids, sampling_params, return_routed_experts=False):
            expect(return_routed_experts, "the request does not ask")
            return [dict(output_ids=a, meta_info=dict(routed_experts=base64.b64encode(r.tobytes()).decode()))
                    for _, a, r in made]

        def shutdown(self):
            pass
    fake = types.ModuleType("sglang")
    fake.Engine = Engine

    class Tokens(Words):
        def __call__(self, text):
            return {"input_ids": made[["one", "two", "three"].index(text)][0]}
    library = types.ModuleType("transformers")
    config = box(num_hidden_layers=LAYERS, num_experts=EXPERTS, num_experts_per_tok=K)
    library.AutoConfig = box(from_pretrained=lambda *a, **o: config)
    library.AutoTokenizer = box(from_pretrained=lambda *a, **o: Tokens())
    (folder / "prompts.txt").write_text("one\ntwo\nthree\n")
    as_program("sglang", {"sglang": fake, "transformers": library},
               ["model", str(folder / "prompts.txt"), str(folder / "s.safetensors")])
    compare_answers(folder / "s.safetensors", made)


# --- The files themselves ----------------------------------------------------------------------------------------------

@check
def shared_parts_are_the_same_in_every_file(folder):
    for mark, names in (("# --- The trace file.", None), ("# --- The passes of", ("transformers-4", "transformers-5"))):
        found = {}
        for path in sorted(RECORDERS.glob("*.py")):
            text = path.read_text()
            if names and path.stem not in names:
                continue
            expect(mark in text, f"{path.name} has no part {mark}")
            found[path.name] = text[text.index(mark):].split("\n# --- ", 1)[0]
        expect(len(set(found.values())) == 1, f"{mark} differs among {', '.join(found)}")


@check
def every_file_says_how_it_is_used_and_what_it_costs(folder):
    for path in sorted(RECORDERS.glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text()))
        for word in ("in three lines", "Cost:", "stormcell import", f"stormcell recorder {path.stem} > record.py"):
            expect(word in text, f"{path.name}: its head does not say {word!r}")
        expect(len(text.split("\n")[0]) <= 120, f"{path.name}: its first line is long")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stormcell", help="a stormcell program that imports what was written")
    parser.add_argument("--only", default="", help="checks whose name holds this")
    given = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}: recorder {NAME}")
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


if __name__ == "__main__":
    sys.exit(main())
