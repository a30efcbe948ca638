#!/usr/bin/env python3
"""Makes switch/: small random Switch Transformers and what the reference implementation computes.

Run in the environment of resources/python-requirements.txt; takes no arguments. Every case states
below what it is there for. Weights are drawn by seed; a model whose decisions hang on rounding
(two best probabilities closer than fixture.SMALLEST_MARGIN) is drawn again.
"""
import copy
import dataclasses

import torch
from safetensors.torch import load_file
from transformers import (SwitchTransformersConfig, SwitchTransformersEncoderModel,
                          SwitchTransformersForConditionalGeneration)
from transformers.models.switch_transformers.modeling_switch_transformers import (
    SwitchTransformersAttention, SwitchTransformersTop1Router)

import fixture

NEW_TOKENS = 12


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    config: dict
    lengths: tuple                 # of the encoder's sequences, without padding
    decoder_lengths: tuple = None  # None: an encoder without decoder
    pads: str = "right"            # "left", or "none": no masks in input.safetensors
    dtype: torch.dtype = torch.float32
    shard_bytes: str = "1GB"
    drops: bool = False            # some token must be dropped in every stack with routers
    generates: bool = False        # must write both rows that end by themselves and rows cut off
    separate_embeddings: bool = False  # each stack its own, the shared ones unused
    config_without: tuple = ()     # keys taken out of config.json


def sizes(d_model, d_kv, num_heads, d_ff, **others):
    return dict(d_model=d_model, d_kv=d_kv, num_heads=num_heads, d_ff=d_ff, **others)


def layers(encoder, sparse_encoder, decoder=1, sparse_decoder=1):
    return dict(num_layers=encoder, num_sparse_encoder_layers=sparse_encoder,
                num_decoder_layers=decoder, num_sparse_decoder_layers=sparse_decoder)


CASES = [
    Case("encoder-decoder-8-experts",
         sizes(32, 8, 4, 48, num_experts=8, vocab_size=50) | layers(4, 2, 2, 1),
         lengths=(13, 9, 1), decoder_lengths=(11, 7, 5), generates=True),
    Case("capacity-drops-tokens",
         sizes(24, 8, 3, 32, num_experts=4, expert_capacity=3, vocab_size=40) | layers(3, 3, 3, 3),
         lengths=(17, 12, 15), decoder_lengths=(13, 9, 13), drops=True, generates=True),
    Case("odd-sizes-no-masks",
         sizes(20, 5, 3, 37, num_experts=3, vocab_size=41, relative_attention_num_buckets=7,
               relative_attention_max_distance=11) | layers(3, 1, 4, 1),
         lengths=(29, 29), decoder_lengths=(23, 23), pads="none"),
    Case("encoder-only-16-experts-gelu",
         sizes(24, 8, 3, 16, num_experts=16, vocab_size=37, dense_act_fn="gelu") | layers(3, 3),
         lengths=(19, 7)),
    Case("encoder-only-dense",
         sizes(16, 4, 4, 24, num_experts=4, vocab_size=23, encoder_sparse_step=0) | layers(2, 0),
         lengths=(9, 5)),
    Case("untied-head-gelu-new",
         sizes(28, 7, 2, 40, num_experts=4, vocab_size=33, tie_word_embeddings=False,
               dense_act_fn="gelu_new", layer_norm_epsilon=1e-3) | layers(4, 2, 2, 2),
         lengths=(8, 11), decoder_lengths=(6, 10), generates=True),
    Case("separate-embeddings",
         sizes(16, 4, 4, 24, num_experts=4, vocab_size=33, tie_word_embeddings=False)
         | layers(2, 1, 2, 1),
         lengths=(8, 11), decoder_lengths=(6, 10), separate_embeddings=True),
    Case("router-bias",
         sizes(16, 8, 2, 24, num_experts=8, expert_capacity=4, vocab_size=29, router_bias=True,
               layer_norm_epsilon=1e-5) | layers(2, 1, 2, 1),
         lengths=(12, 15), decoder_lengths=(10, 14)),
    Case("64-experts-capacity-2",
         sizes(40, 8, 5, 8, num_experts=64, expert_capacity=2, vocab_size=61) | layers(2, 1, 1, 1),
         lengths=(41, 33, 40), decoder_lengths=(37, 29, 21), drops=True),
    Case("two-experts-left-padding",
         sizes(8, 4, 2, 12, num_experts=2, expert_capacity=5, vocab_size=19,
               relative_attention_num_buckets=8, relative_attention_max_distance=9)
         | layers(2, 2, 2, 1),
         lengths=(14, 6), decoder_lengths=(12, 5), pads="left", drops=True),
    Case("one-layer-one-token",
         sizes(12, 3, 2, 20, num_experts=3, vocab_size=11) | layers(1, 1, 1, 1),
         lengths=(1,), decoder_lengths=(1,), pads="none"),
    # A count of zero does not give zero sparse layers: the step becomes the number of layers, and
    # the layer of index 1 is sparse. Only a step of zero makes a stack dense.
    Case("sparse-count-zero",
         sizes(16, 4, 3, 24, num_experts=4, vocab_size=31, decoder_sparse_step=0)
         | layers(3, 0, 2, 0),
         lengths=(10, 7), decoder_lengths=(9, 4)),
    # 4 // 3 and 3 // 2 are both 1: every layer is sparse. Here config.json lacks the steps.
    Case("sparse-step-derived-from-counts",
         sizes(16, 4, 3, 20, num_experts=4, vocab_size=31) | layers(4, 3, 3, 2),
         lengths=(10, 7), decoder_lengths=(9, 4),
         config_without=("encoder_sparse_step", "decoder_sparse_step")),
    Case("wholly-masked-sequence",
         sizes(16, 4, 2, 24, num_experts=4, vocab_size=31) | layers(2, 1, 2, 1),
         lengths=(9, 0), decoder_lengths=(8, 3)),
    Case("stored-bf16",
         sizes(32, 8, 4, 48, num_experts=8, vocab_size=50) | layers(2, 1, 2, 1),
         lengths=(16, 11), decoder_lengths=(12, 12), dtype=torch.bfloat16),
    Case("stored-f16",
         sizes(32, 8, 4, 48, num_experts=8, vocab_size=50) | layers(2, 1, 2, 1),
         lengths=(16, 11), decoder_lengths=(12, 12), dtype=torch.float16),
    Case("sharded",
         sizes(24, 6, 4, 40, num_experts=4, vocab_size=50) | layers(2, 1, 2, 1),
         lengths=(16, 11), decoder_lengths=(12, 9), shard_bytes="24KB"),
]


def standard_deviation(name, config):
    """Of a weight: such that activations stay near 1, attention is not flat and routers decide."""
    inner = config.num_heads * config.d_kv
    leaf = name.removesuffix(".weight").removesuffix(".bias").rpartition(".")[2]
    return {"classifier": 2.5 * config.d_model ** -0.5 if name.endswith("weight") else 0.5,
            "shared": 0.3, "embed_tokens": 0.3, "relative_attention_bias": 1.0,
            "q": 1.3 * config.d_model ** -0.5 * config.d_kv ** -0.25,
            "k": 1.3 * config.d_model ** -0.5 * config.d_kv ** -0.25,
            "v": config.d_model ** -0.5, "o": 1.5 * inner ** -0.5,
            "wi": config.d_model ** -0.5, "wo": 1.5 * config.d_ff ** -0.5,
            "lm_head": 2.0 * config.d_model ** -0.5}[leaf]


def draw_weights(model, generator):
    for name, parameter in model.named_parameters():
        if "layer_norm" in name:
            fixture.normal_(parameter, 0.2, generator, mean=1.0)
        else:
            fixture.normal_(parameter, standard_deviation(name, model.config), generator)


def padded_ids(lengths, vocabulary, pads, generator):
    """Ids from 2 upward (0 pads, 1 ends), and the mask."""
    width = max(lengths)
    ids = torch.randint(2, vocabulary, (len(lengths), width), generator=generator)
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    mask = mask.flip(1) if pads == "left" else mask
    return ids * mask, mask.long()


def draw_inputs(case, generator):
    inputs = {}
    for prefix, lengths in (("", case.lengths), ("decoder_", case.decoder_lengths)):
        if lengths is None:
            continue
        ids, mask = padded_ids(lengths, case.config["vocab_size"], case.pads, generator)
        inputs[prefix + "input_ids"] = ids
        if case.pads != "none":
            inputs[prefix + "attention_mask"] = mask
    return inputs


def record_decisions(model):
    """A dict that the next forward pass fills: router name -> its decisions."""
    decisions = {}

    def recorder(name):
        def record(module, arguments, result):
            kept, weight, logits = result   # kept: one-hot, all zero where the token is dropped
            branch = torch.where(kept.sum(-1) == 0, fixture.NO_BRANCH, kept.argmax(-1))
            decisions[name] = fixture.decisions_of(logits.softmax(-1), branch.unsqueeze(-1), weight)
        return record

    for name, module in model.named_modules():
        if isinstance(module, SwitchTransformersTop1Router):
            module.register_forward_hook(recorder(name.removesuffix(".router")))
    return decisions


def generate(model, inputs):
    encoder_side = {name: t for name, t in inputs.items() if not name.startswith("decoder_")}
    tokens = fixture.greedy(model, 1, NEW_TOKENS, encoder_side)
    ended = (tokens == model.config.eos_token_id).any(1)
    fixture.require(ended.any() and not ended.all() and len(tokens.unique()) >= 9)
    return tokens


def count_drops(decisions, stack):
    return sum(int((parts["branch"] == fixture.NO_BRANCH).sum())
               for router, parts in decisions.items() if router.startswith(stack))


def load(kind, config, folder):
    """The stored model with its weights, rounded as they are, in f32.

    Not by from_pretrained: without tied embeddings it draws the stacks' embeddings anew where the
    file has only the shared ones, which is what save_pretrained writes.
    """
    config = copy.deepcopy(config)
    config.dtype = torch.float32
    model = kind(config)
    stored = {}
    for path in sorted(folder.glob("*.safetensors")):
        stored |= load_file(path)
    embeddings = [f"{stack}.embed_tokens.weight" for stack in ("encoder", "decoder")]
    if all(name in stored for name in embeddings):
        model.encoder.embed_tokens = copy.deepcopy(model.encoder.embed_tokens)
        model.decoder.embed_tokens = copy.deepcopy(model.decoder.embed_tokens)
    missing, unexpected = model.load_state_dict(stored, strict=False)
    assert not unexpected and set(missing) <= {*embeddings, "lm_head.weight"}, (missing, unexpected)
    return model.float().eval()


@torch.no_grad()
def make(case, folder, seed):
    has_decoder = case.decoder_lengths is not None
    kind = SwitchTransformersForConditionalGeneration if has_decoder else SwitchTransformersEncoderModel
    settings = dict(router_jitter_noise=0.0, dropout_rate=0.0, decoder_start_token_id=0)
    generator = fixture.random_generator(seed)
    model = kind(SwitchTransformersConfig(**settings | case.config))
    if case.separate_embeddings:
        model.encoder.embed_tokens = copy.deepcopy(model.encoder.embed_tokens)
        model.decoder.embed_tokens = copy.deepcopy(model.decoder.embed_tokens)
    draw_weights(model, generator)
    model.to(case.dtype).save_pretrained(folder, max_shard_size=case.shard_bytes)
    fixture.without_keys(folder / "config.json", case.config_without)

    model = load(kind, model.config, folder)
    inputs = draw_inputs(case, generator)
    decisions = record_decisions(model)
    result = model(**inputs, output_router_logits=False)
    if has_decoder:
        # The head's input is scaled where it is tied; the decoder gives the state before that.
        decoded = model.decoder(
            input_ids=inputs["decoder_input_ids"],
            attention_mask=inputs.get("decoder_attention_mask"),
            encoder_hidden_states=result.encoder_last_hidden_state,
            encoder_attention_mask=inputs.get("attention_mask"), output_router_logits=False)
        outputs = {"encoder_hidden": result.encoder_last_hidden_state,
                   "decoder_hidden": decoded.last_hidden_state, "logits": result.logits}
    else:
        outputs = {"encoder_hidden": result.last_hidden_state}

    drops = {stack: count_drops(decisions, stack) for stack in ("encoder", "decoder")}
    if case.drops:
        fixture.require(drops["encoder"] > 0 and drops["decoder"] > 0)
    recorded = dict(decisions)
    generated = generate(model, inputs) if case.generates else None
    fixture.save(folder / "input.safetensors", inputs)
    fixture.save_expected(folder, outputs, recorded, generated)
    return f"{len(recorded)} routers, {drops['encoder']} + {drops['decoder']} dropped"


def make_relative_buckets(path):
    """Bucket of each key position minus query position, -300 to 300, for several tables."""
    distances = torch.arange(-300, 301)
    tables = {}
    for buckets, farthest in ((32, 128), (64, 64), (32, 64), (16, 20), (8, 9), (7, 11), (64, 256)):
        for name, both_ways in (("encoder", True), ("decoder", False)):
            tables[f"{name}.buckets_{buckets}.distance_{farthest}"] = (
                SwitchTransformersAttention._relative_position_bucket(
                    distances, both_ways, buckets, farthest).int())
    fixture.save(path, {"distance": distances.int()} | tables)


def main():
    torch.set_num_threads(1)
    folder = fixture.clear("switch")
    for case in CASES:
        fixture.write_suitable(folder / case.name, lambda path, seed: make(case, path, seed))
    make_relative_buckets(folder / "relative-buckets.safetensors")


if __name__ == "__main__":
    main()
