#!/usr/bin/env python3
"""Makes mixtral/: small random Mixtral models and what the reference implementation computes.

Run in the environment of resources/python-requirements.txt; takes no arguments. Attention is the
library's eager one, whose rows are defined even where every key is masked.
"""
import dataclasses

import torch
from transformers import MixtralConfig, MixtralForCausalLM
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

import fixture

NEW_TOKENS = 12


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    config: dict
    lengths: tuple           # of the sequences, without padding
    pads: str = "none"       # "left", "right", or "none": no mask in input.safetensors
    dtype: torch.dtype = torch.float32
    generates: bool = False  # must write both rows that end by themselves and rows cut off


def heads(count, key_value, head_dim=None):
    return dict(num_attention_heads=count, num_key_value_heads=key_value, head_dim=head_dim)


def experts(count, chosen):
    return dict(num_local_experts=count, num_experts_per_tok=chosen)


def sizes(hidden, intermediate, layers, vocabulary):
    return dict(hidden_size=hidden, intermediate_size=intermediate, num_hidden_layers=layers,
                vocab_size=vocabulary)


CASES = [
    Case("top-2-of-8-grouped-heads",
         sizes(32, 24, 3, 50) | heads(4, 2) | experts(8, 2), lengths=(17, 17), generates=True),
    Case("top-2-of-4-left-padding",
         sizes(24, 32, 2, 40) | heads(4, 1, head_dim=10) | experts(4, 2) | dict(rope_theta=1e4),
         lengths=(13, 6, 1), pads="left", generates=True),
    Case("top-1-of-4-right-padding-tied",
         sizes(32, 20, 2, 40) | heads(4, 4) | experts(4, 1)
         | dict(tie_word_embeddings=True, rms_norm_eps=1e-3), lengths=(11, 15), pads="right"),
    Case("top-3-of-8-sliding-window",
         sizes(20, 28, 2, 40) | heads(2, 1, head_dim=14) | experts(8, 3)
         | dict(sliding_window=5, rope_theta=500.0), lengths=(19, 19), generates=True),
    Case("all-of-2-one-token",
         sizes(12, 10, 1, 20) | heads(3, 3) | experts(2, 2), lengths=(1,)),
    Case("stored-bf16",
         sizes(32, 24, 2, 50) | heads(4, 2) | experts(8, 2), lengths=(16, 16), dtype=torch.bfloat16),
]


def standard_deviation(name, config):
    """Of a weight: such that activations stay near 1, attention is not flat and routers decide."""
    hidden = config.hidden_size
    head_dim = config.head_dim or hidden // config.num_attention_heads
    leaf = name.removesuffix(".weight").rpartition(".")[2]
    return {"embed_tokens": 0.3, "lm_head": 2.0 * hidden ** -0.5, "gate": 2.0 * hidden ** -0.5,
            "q_proj": 1.3 * hidden ** -0.5, "k_proj": 1.3 * hidden ** -0.5,
            "v_proj": hidden ** -0.5,
            "o_proj": 1.5 * (config.num_attention_heads * head_dim) ** -0.5,
            "w1": hidden ** -0.5, "w3": hidden ** -0.5,
            "w2": 2.0 * config.intermediate_size ** -0.5}[leaf]


def draw_weights(model, generator):
    for name, parameter in model.named_parameters():
        if "norm" in name:
            fixture.normal_(parameter, 0.2, generator, mean=1.0)
        else:
            fixture.normal_(parameter, standard_deviation(name, model.config), generator)


def draw_inputs(case, generator):
    """Ids from 3 upward: 0 pads, 1 begins, 2 ends."""
    width = max(case.lengths)
    mask = torch.arange(width) < torch.tensor(case.lengths)[:, None]
    mask = mask.flip(1) if case.pads == "left" else mask
    ids = torch.randint(3, case.config["vocab_size"], mask.shape, generator=generator) * mask
    return {"input_ids": ids} if case.pads == "none" else {"input_ids": ids,
                                                           "attention_mask": mask.long()}


def record_decisions(model):
    """A dict that the next forward pass fills: router name -> its decisions."""
    decisions = {}

    def recorder(name, chosen):
        def record(module, arguments, result):
            probabilities = result[1].float().softmax(-1)
            weight, branch = probabilities.topk(chosen, dim=-1)
            decisions[name] = fixture.decisions_of(
                probabilities, branch, weight / weight.sum(-1, keepdim=True))
        return record

    for name, module in model.named_modules():
        if isinstance(module, MixtralSparseMoeBlock):
            module.register_forward_hook(recorder(name, module.top_k))
    return decisions


def generate(model, inputs):
    width = inputs["input_ids"].shape[1]
    tokens = fixture.greedy(model, width, NEW_TOKENS, inputs)
    ended = (tokens == model.config.eos_token_id).any(1)
    fixture.require(ended.any() and not ended.all() and len(tokens.unique()) >= 9)
    check_against_no_cache(model, inputs, tokens)
    return tokens


def check_against_no_cache(model, inputs, tokens):
    """Each token is the best after a whole pass over all before it: cache and positions agree."""
    ids = inputs["input_ids"]
    mask = inputs.get("attention_mask", torch.ones_like(ids))
    for step in range(tokens.shape[1]):
        alive = tokens[:, step] != fixture.NO_TOKEN
        best = model(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, -1].argmax(-1)
        assert torch.equal(best[alive], tokens[alive, step].long())
        ids = torch.cat([ids, tokens[:, step:step + 1].long().clamp(min=0)], dim=1)
        mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)


@torch.no_grad()
def make(case, folder, seed):
    generator = fixture.random_generator(seed)
    model = MixtralForCausalLM(MixtralConfig(pad_token_id=0, **case.config))
    draw_weights(model, generator)
    model.to(case.dtype).save_pretrained(folder)

    # What was stored is what counts: rounded weights, arithmetic in f32.
    model = MixtralForCausalLM.from_pretrained(folder, dtype=torch.float32,
                                               attn_implementation="eager").eval()
    inputs = draw_inputs(case, generator)
    decisions = record_decisions(model)
    result = model(**inputs, output_hidden_states=True, use_cache=False)
    recorded = dict(decisions)
    outputs = {"decoder_hidden": result.hidden_states[-1], "logits": result.logits}
    assert torch.equal(model.lm_head(outputs["decoder_hidden"]), outputs["logits"])
    generated = generate(model, inputs) if case.generates else None
    fixture.save(folder / "input.safetensors", inputs)
    fixture.save_expected(folder, outputs, recorded, generated)
    return f"{len(recorded)} routers"


def main():
    torch.set_num_threads(1)
    folder = fixture.clear("mixtral")
    for case in CASES:
        fixture.write_suitable(folder / case.name, lambda path, seed: make(case, path, seed))


if __name__ == "__main__":
    main()
