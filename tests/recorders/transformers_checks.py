"""The recorder of the transformers that is installed, against router_logits and the outputs of gates."""
import numpy
import torch
import transformers

from harness import EXPERTS, K, VOCABULARY, Words, Wrong, check, expect, load, quietly, read

MAJOR = int(transformers.__version__.split(".")[0])
TIE = 1e-5  # logits nearer than this may change places with the shape of the batch


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
        make, config = (t.Qwen2MoeForCausalLM, t.Qwen2MoeConfig) if family == "qwen2_moe" else \
            (t.Qwen3MoeForCausalLM, t.Qwen3MoeConfig)
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
            if f"layer.{i}.scores" in tensors:
                expect(numpy.abs(tensors[f"layer.{i}.scores"][order] - logits).max() < 1e-3,
                       f"request {request}, router {i}: other scores")
    expect(ties * 20 < cells, f"{ties} of {cells} cells are near ties: the case shows nothing")
    return tensors, about


def record_generate(module, model, path, every=1, scores=False):
    """Two batches, with padding, decoded. Returns {request: (computed tokens, prompt length)}."""
    texts, number = {}, 0
    with module.Recorder(model, Words(), str(path), every=every, scores=scores):
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


NAME = f"transformers-{5 if MAJOR >= 5 else 4}"
FAMILIES = {"mixtral": [0, 1, 2], "qwen2_moe": [0, 2], "olmoe": [0, 1, 2], "qwen3_moe": [0, 2]}


def written(folder, family, every=1, scores=False):
    module, model, path = load(NAME), tiny(family), folder / f"{family}.safetensors"
    texts, said = quietly(record_generate, module, model, path, every, scores)
    return path, texts, model, said


def family_check(family):
    def run(folder):
        path, texts, model, said = written(folder, family, scores=True)
        tensors, about = compare(path, texts, model, FAMILIES[family])
        expect(all(f"layer.{i}.scores" in tensors for i in range(len(FAMILIES[family]))), "no scores were kept")
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
    tensors, about = compare(path, texts, model, FAMILIES["olmoe"])
    expect(not any(name.endswith(".scores") for name in tensors), "scores were kept that nobody asked for")
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
    for stack, given, told in (("encoder", ids, out.encoder_router_logits),
                               ("decoder", decoder, out.decoder_router_logits)):
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


def gate_outputs_check(family, settings):
    """Families that return no router_logits: the gates' own outputs are the reference."""
    def run(folder):
        torch.manual_seed(11)
        config = transformers.AutoConfig.for_model(
            family, hidden_size=32, intermediate_size=24, moe_intermediate_size=16, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=4, vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2,
            pad_token_id=0, num_experts_per_tok=K, **settings)
        module, path = load(NAME), folder / f"{family}.safetensors"
        model = transformers.AutoModelForCausalLM.from_config(config).eval()
        told = []
        for name, gate in model.named_modules():
            if name.endswith((".gate", ".router")):
                gate.register_forward_hook(lambda m, i, result: told.append(result))
        ids, mask = batch_of((9, 4, 6), 1)

        def record():
            with module.Recorder(model, None, str(path)), torch.no_grad():
                model(input_ids=ids, attention_mask=mask)
        quietly(record)
        tensors, about = read(path)
        real = mask.reshape(-1).bool().numpy()
        expect(about["layers"] == str(len(told)), f"{about['layers']} routers of {len(told)}")
        for i, result in enumerate(told):
            index = next(t for t in result if not t.is_floating_point())
            scores = [t for t in result if t.is_floating_point()]
            weight = next((t for t in scores if t.shape == index.shape), None)
            weight = (scores[0].gather(-1, index) if weight is None else weight).numpy()
            order = numpy.argsort(-weight, axis=1, kind="stable")
            right, weight = (numpy.take_along_axis(v, order, 1)[real] for v in (index.numpy(), weight))
            expect((tensors[f"layer.{i}.indices"] == right).all(), f"router {i}: other choices")
            expect(numpy.abs(tensors[f"layer.{i}.weights"] - weight).max() < 1e-6, f"router {i}: other weights")
    run.__name__ = f"choices_of_{family}_are_those_of_its_gates"
    return run


check(gate_outputs_check("deepseek_v3", dict(
    n_routed_experts=EXPERTS, n_group=2, topk_group=1, first_k_dense_replace=0, q_lora_rank=8, kv_lora_rank=8,
    qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=8, n_shared_experts=1, head_dim=4)))
check(gate_outputs_check("gpt_oss", dict(num_local_experts=EXPERTS, head_dim=8, layer_types=["full_attention"] * 2)))


@check
def beams_that_change_places_are_said_to_be_cut(folder):
    model, path = tiny("olmoe"), folder / "beams.safetensors"
    ids, mask = batch_of((6, 6), 8)

    def record():
        with load(NAME).Recorder(model, None, str(path)), torch.no_grad():
            model.generate(input_ids=ids, attention_mask=mask, max_new_tokens=8, num_beams=3, do_sample=False)
    quietly(record)
    _, about = read(path)
    expect("beams had changed places" in about["cut"], f"cut: {about['cut']}")


@check
def the_rank_of_a_distributed_run_is_written(folder):
    model, path = tiny("olmoe"), folder / "rank.safetensors"
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        texts, _ = quietly(record_generate, load(NAME), model, path)
    finally:
        torch.distributed.destroy_process_group()
    tensors, _ = compare(path, texts, model, FAMILIES["olmoe"])
    expect((tensors["cell.rank"] == 0).all(), "another rank")


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
