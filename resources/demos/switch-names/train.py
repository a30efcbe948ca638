#!/usr/bin/env python3
"""Trains demo:switch-names with the reference implementation (transformers) on two CPU threads.

    train.py DATA_DIR MODEL_DIR --work WORK_DIR

DATA_DIR is what stormcell-prepare-switch-names wrote. MODEL_DIR gets config.json,
generation_config.json, model.safetensors (bf16), spiece.model and expected.json. WORK_DIR keeps the
model after the first phase, so that the second can be tried again with --specialise-only.

Two phases. The first learns the task with a light balance loss; its experts come to divide
characters, and their loads are even. The second teaches the routers the scripts: a loss on the
entropy of the expert given the script of the name, against a strong balance loss. The schedules
count steps, so the result does not depend on what else the machine does.
"""
import argparse
import collections
import contextlib
import dataclasses
import json
import math
import pathlib
import random
import time

import sentencepiece
import torch
import transformers.models.switch_transformers.modeling_switch_transformers as switch
from transformers import SwitchTransformersConfig, SwitchTransformersForConditionalGeneration

import tokenizer as tokenizer_training

PAD, EOS, IGNORED = 0, 1, -100
EXPERTS = 8
BATCH = 96
SORTED_BATCHES = 16     # batches are cut from stretches of this many, sorted by length
PART_PROBABILITY = 0.2  # of a name being cut to an aligned run of its words
MAX_NEW_TOKENS = 64
SEED = 0


@dataclasses.dataclass(frozen=True)
class Phase:
    name: str
    steps: int
    warm_up: int
    learning_rate: float
    balance: float      # coefficient of the Switch balance loss, a batch and layer at a time
    logits: float       # coefficient of the squared log-sum-exp of the routers' logits
    specialise: float   # coefficient of the entropy of the expert given the script


LEARN = Phase("learn", steps=14000, warm_up=300, learning_rate=2e-3,
              balance=0.01, logits=0.001, specialise=0.0)
SPECIALISE = Phase("specialise", steps=1800, warm_up=300, learning_rate=1e-3,
                   balance=0.2, logits=0.0, specialise=0.2)


@dataclasses.dataclass(frozen=True)
class Name:
    text: str
    target: str
    language: str
    script: str


def read_names(path):
    with open(path, encoding="utf-8") as lines:
        return [Name(**json.loads(line)) for line in lines]


# Batches -------------------------------------------------------------------------------------

def padded(rows, value):
    length = max(map(len, rows))
    return torch.tensor([row + [value] * (length - len(row)) for row in rows])


@dataclasses.dataclass
class Batch:
    names: list
    inputs: torch.Tensor   # [B, T], padded with PAD
    labels: torch.Tensor   # [B, U], padded with IGNORED

    @property
    def input_mask(self):
        return self.inputs != PAD

    @property
    def label_mask(self):
        return self.labels != IGNORED


def make_batch(names, encode):
    return Batch(names, padded([encode(name.text) for name in names], PAD),
                 padded([encode(name.target) for name in names], IGNORED))


def part_of(name, held_out, rng):
    """A run of the name's words with the same run of the target's, where the words correspond."""
    words, targets = name.text.split(" "), name.target.split(" ")
    if len(words) != len(targets) or len(words) < 2:
        return name
    first = rng.randrange(len(words))
    last = rng.randrange(first + 1, len(words) + 1)
    part = dataclasses.replace(name, text=" ".join(words[first:last]),
                               target=" ".join(targets[first:last]))
    return name if part.text in held_out else part


def epoch(names, held_out, encode, rng):
    names = [part_of(name, held_out, rng) if rng.random() < PART_PROBABILITY else name
             for name in names]
    rng.shuffle(names)
    batches = []
    for start in range(0, len(names), BATCH * SORTED_BATCHES):
        stretch = sorted(names[start:start + BATCH * SORTED_BATCHES],
                         key=lambda name: len(name.text) + len(name.target))
        batches += [stretch[i:i + BATCH] for i in range(0, len(stretch), BATCH)]
    rng.shuffle(batches)
    for batch in batches:
        yield make_batch(batch, encode)


# The model -----------------------------------------------------------------------------------

def new_model(vocabulary):
    config = SwitchTransformersConfig(
        vocab_size=vocabulary, d_model=128, d_kv=32, d_ff=256, num_heads=4,
        num_layers=4, num_sparse_encoder_layers=2, num_decoder_layers=2,
        num_sparse_decoder_layers=1, num_experts=EXPERTS, expert_capacity=64,
        router_jitter_noise=0.0, router_bias=False, router_dtype="float32",
        relative_attention_num_buckets=64, relative_attention_max_distance=64, dropout_rate=0.0,
        dense_act_fn="relu", tie_word_embeddings=True, pad_token_id=PAD, eos_token_id=EOS,
        decoder_start_token_id=PAD)
    torch.manual_seed(SEED)
    model = SwitchTransformersForConditionalGeneration(config)
    model.generation_config.max_new_tokens = MAX_NEW_TOKENS
    for _, router in routers(model):
        # The library's standard deviation of 1 saturates the routers from the start.
        torch.nn.init.normal_(router.classifier.weight, std=config.d_model ** -0.5)
    return model


def routers(model):
    """(name, module) in layer order; a router's name is its weight prefix."""
    return [(name.removesuffix(".router"), module) for name, module in model.named_modules()
            if isinstance(module, switch.SwitchTransformersTop1Router)]


def grouped_forward(self, hidden):
    """The library's sparse layer with the cells of each expert sorted together, for speed.

    Equal to it while no expert gets more cells than its capacity: no name is that long.
    """
    probabilities, logits = self.router._compute_router_probabilities(hidden)
    weight, expert = probabilities.flatten(0, 1).max(-1)
    order = expert.argsort(stable=True)
    counts = torch.bincount(expert, minlength=probabilities.shape[-1]).tolist()
    groups = hidden.flatten(0, 1).index_select(0, order).split(counts)
    outputs = torch.cat([self.experts[f"expert_{index}"](group)
                         for index, group in enumerate(groups) if len(group)])
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order))
    mixed = outputs.index_select(0, place) * weight.unsqueeze(-1)
    return mixed.view_as(hidden), (logits, expert.view(hidden.shape[:2]))


@contextlib.contextmanager
def grouped_experts():
    library_forward = switch.SwitchTransformersSparseMLP.forward
    switch.SwitchTransformersSparseMLP.forward = grouped_forward
    try:
        yield
    finally:
        switch.SwitchTransformersSparseMLP.forward = library_forward


def teacher_forced(model, batch):
    """The library's output and, for each router, (logits [B, T, experts], mask [B, T])."""
    output = model(input_ids=batch.inputs, attention_mask=batch.input_mask.long(),
                   labels=batch.labels, output_router_logits=True, use_cache=False)
    # A dense layer leaves something that is not a (logits, expert) pair.
    sides = [(output.encoder_router_logits, batch.input_mask),
             (output.decoder_router_logits, batch.label_mask)]
    return output, [(layer[0], mask) for layers, mask in sides for layer in layers if len(layer) == 2]


# Training ------------------------------------------------------------------------------------

def balance_loss(logits, mask):
    """Of one layer and the whole batch, padding left out.

    The library's own balances each sequence, counts padding and mixes layers.
    """
    probabilities = logits[mask].softmax(-1)
    share = torch.bincount(probabilities.argmax(-1), minlength=EXPERTS) / len(probabilities)
    return EXPERTS * (share * probabilities.mean(0)).sum()


def logits_loss(logits, mask):
    return logits[mask].logsumexp(-1).square().mean()


def expert_entropy_given_script(logits, mask, scripts):
    """Mean entropy of the expert given the script, in nats, from the routers' probabilities.

    Minimised against the balance loss, it raises the mutual information of script and expert.
    """
    of_name = (logits.softmax(-1) * mask.unsqueeze(-1)).sum(1)
    of_script = scripts.t() @ of_name
    cells = scripts.t() @ mask.sum(1, keepdim=True).float()
    mean = of_script / cells.clamp(min=1)
    entropy = -(mean * (mean + 1e-9).log()).sum(-1, keepdim=True)
    return (entropy * cells).sum() / cells.sum()


def mean_over(routings, loss, *arguments):
    return sum(loss(logits, mask, *arguments) for logits, mask in routings) / len(routings)


def loss_of(model, batch, phase, script_ids):
    output, routings = teacher_forced(model, batch)
    cross_entropy = torch.nn.functional.cross_entropy(
        output.logits.flatten(0, 1), batch.labels.flatten(), ignore_index=IGNORED)
    scripts = torch.nn.functional.one_hot(
        torch.tensor([script_ids[name.script] for name in batch.names]), len(script_ids)).float()
    parts = {"cross entropy": cross_entropy,
             "balance": mean_over(routings, balance_loss),
             "logits": mean_over(routings, logits_loss),
             "entropy given script": mean_over(routings, expert_entropy_given_script, scripts)}
    total = (parts["cross entropy"] + phase.balance * parts["balance"]
             + phase.logits * parts["logits"] + phase.specialise * parts["entropy given script"])
    return total, parts


def learning_rate(phase, step):
    warm = min(1.0, (step + 1) / phase.warm_up)
    cosine = 0.5 * (1 + math.cos(math.pi * step / phase.steps))
    return phase.learning_rate * warm * (0.99 * cosine + 0.01)


def make_optimizer(model, phase):
    decays = lambda name, parameter: parameter.ndim > 1 and "shared" not in name
    parameters = list(model.named_parameters())
    groups = [{"params": [p for n, p in parameters if decays(n, p)], "weight_decay": 0.01},
              {"params": [p for n, p in parameters if not decays(n, p)], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=phase.learning_rate, betas=(0.9, 0.98), eps=1e-9,
                             fused=True)


def train(model, phase, names, held_out, encode, log_every=200):
    rng = random.Random(f"{SEED} {phase.name}")
    script_ids = {script: i for i, script in enumerate(sorted({name.script for name in names}))}
    optimizer = make_optimizer(model, phase)
    model.train()
    step, begin, sums = 0, time.monotonic(), collections.Counter()
    while step < phase.steps:
        for batch in epoch(names, held_out, encode, rng):
            if step == phase.steps:
                break
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(phase, step)
            loss, parts = loss_of(model, batch, phase, script_ids)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            sums.update({part: value.item() for part, value in parts.items()})
            if step % log_every == 0:
                means = ", ".join(f"{part} {value / log_every:.4f}" for part, value in sums.items())
                milliseconds = 1000 * (time.monotonic() - begin) / log_every
                print(f"{phase.name} {step}/{phase.steps}: {means} ({milliseconds:.0f} ms a step)",
                      flush=True)
                sums.clear()
                begin = time.monotonic()


# Measuring -----------------------------------------------------------------------------------

@torch.no_grad()
def written(model, names, tokenizer, encode):
    """What greedy decoding writes for each name."""
    model.eval()
    results = {}
    by_length = sorted(names, key=lambda name: len(name.text))
    for start in range(0, len(names), 128):
        batch = make_batch(by_length[start:start + 128], encode)
        rows = model.generate(input_ids=batch.inputs, attention_mask=batch.input_mask.long(),
                              max_new_tokens=MAX_NEW_TOKENS, do_sample=False, num_beams=1)
        for name, row in zip(batch.names, rows.tolist()):
            row = row[1:]
            ids = row[:row.index(EOS)] if EOS in row else row
            results[name] = tokenizer.decode([i for i in ids if i != PAD])
    return [results[name] for name in names]


def exact_match(model, names, tokenizer, encode):
    """Share of names written exactly, in all and by language."""
    right = collections.defaultdict(list)
    for name, result in zip(names, written(model, names, tokenizer, encode)):
        right[name.language].append(result == name.target)
    hits = [hit for some in right.values() for hit in some]
    return sum(hits) / len(hits), {l: sum(some) / len(some) for l, some in sorted(right.items())}


@torch.no_grad()
def loads_by_language(model, names, encode):
    """Cells (padding left out) that each expert takes of each language: {router: {language: [..]}}."""
    model.eval()
    languages = sorted({name.language for name in names})
    loads = {router: {l: torch.zeros(EXPERTS) for l in languages} for router, _ in routers(model)}
    for start in range(0, len(names), 256):
        batch = make_batch(names[start:start + 256], encode)
        for by_language, (logits, mask) in zip(loads.values(), teacher_forced(model, batch)[1]):
            for name, experts, cells in zip(batch.names, logits.argmax(-1), mask):
                by_language[name.language] += torch.bincount(experts[cells], minlength=EXPERTS)
    return loads


def mutual_information_bits(by_language):
    joint = torch.stack(list(by_language.values())).double()
    joint /= joint.sum()
    independent = joint.sum(0, keepdim=True) * joint.sum(1, keepdim=True)
    present = joint > 0
    return (joint[present] * (joint[present] / independent[present]).log2()).sum().item()


def report(model, names, tokenizer, encode):
    overall, by_language = exact_match(model, names, tokenizer, encode)
    loads = loads_by_language(model, names, encode)
    bits = {router: mutual_information_bits(of_router) for router, of_router in loads.items()}
    print(f"exact match {overall:.4f} of {len(names)}")
    print("| language | names | exact |\n|---|---|---|")
    for language, share in by_language.items():
        count = sum(name.language == language for name in names)
        print(f"| {language} | {count} | {100 * share:.1f} % |")
    for router, of_router in loads.items():
        print(f"\n{router}: language and expert share {bits[router]:.2f} bits; per cent of cells")
        print("| language | " + " | ".join(map(str, range(EXPERTS))) + " |")
        print("|" + "---|" * (EXPERTS + 1))
        for language, cells in of_router.items():
            shares = (100 * cells / cells.sum()).tolist()
            print(f"| {language} | " + " | ".join(f"{share:.0f}" for share in shares) + " |")
    print(flush=True)
    return {"n": len(names), "exact_match": round(overall, 4),
            "exact_match_by_language": {l: round(s, 4) for l, s in by_language.items()},
            "mutual_information_bits": {router: round(b, 4) for router, b in bits.items()}}


# The program ---------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data_dir", type=pathlib.Path)
    parser.add_argument("model_dir", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--specialise-only", action="store_true",
                        help="begin with the model that the first phase left in the work folder")
    arguments = parser.parse_args()
    torch.set_num_threads(2)

    arguments.model_dir.mkdir(parents=True, exist_ok=True)
    spiece = arguments.model_dir / "spiece.model"
    spiece.write_bytes(tokenizer_training.train(arguments.data_dir))
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(spiece))
    encode = lambda text: tokenizer.encode(text) + [EOS]
    names, val, test = (read_names(arguments.data_dir / f"{part}.jsonl")
                        for part in ("train", "val", "test"))
    held_out = {name.text for name in val + test}

    learnt = arguments.work / "learnt"
    with grouped_experts():
        if arguments.specialise_only:
            model = SwitchTransformersForConditionalGeneration.from_pretrained(learnt)
        else:
            model = new_model(tokenizer.vocab_size())
            print(f"{model.num_parameters()} parameters", flush=True)
            train(model, LEARN, names, held_out, encode)
            model.save_pretrained(learnt)
            print("after the first phase, on the validation names:")
            report(model, val, tokenizer, encode)
        train(model, SPECIALISE, names, held_out, encode)

    model.to(torch.bfloat16).save_pretrained(arguments.model_dir)
    # As everybody will read it: weights rounded to bf16, arithmetic in f32, the library's own layers.
    model = SwitchTransformersForConditionalGeneration.from_pretrained(arguments.model_dir,
                                                                       dtype=torch.float32)
    print("the finished model, on the test names:")
    expected = report(model, test, tokenizer, encode)
    (arguments.model_dir / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


if __name__ == "__main__":
    main()
