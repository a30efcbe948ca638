"""Plants faults of engines in pairs of recordings: a test of `stormcell diff` by somebody who has not seen its rules.

    python plant.py --out FOLDER [--seed 1] [--text FOLDER]

It writes 30 pairs with one planted fault each, and 20 healthy pairs, as FOLDER/pairs/NN-name/{a,b}.safetensors (native
traces) with expect.json beside them: the cause, whether the recording lacks what would tell it, the strength, and why.
Nothing here runs `diff`, so every expectation is older than every verdict.

Three networks are recorded. All are small language models with causal attention and mixtures of experts:
  mixtral   8 experts, top 2 of a softmax, renormalised; seeded weights
  deepseek  64 experts in 8 groups, top 8 of sigmoids with a selection bias, a shared expert, weights scaled; seeded
            weights, and a bias that is balanced as such models balance it
  trained   16 experts, top 4 of a softmax, not renormalised; trained here, on the text that --text holds
An engine is a forward pass with a number format, an order of sums, and perhaps a fault. Where a fault is arithmetic,
the engine computes wrongly and all later layers see it. Where it is one of recording, the engine is right and what is
written is wrong.

It needs numpy and about ten minutes of one core. The text is kept in FOLDER/text.json and the trained weights in
FOLDER/trained.npz, and both are used again, as the text that --text holds may have changed.
"""
import argparse
import collections
import gzip
import json
import os
import pathlib
import re
import struct
import time

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")
import numpy as np  # noqa: E402  (after the number of threads is set)

PAD, BEGIN, UNKNOWN = 0, 1, 2


# --- Text and tokens --------------------------------------------------------------------------------------------------
def plain_text(path):
    """The prose of a file: a manual page without its markup, or a text as it is. Empty if it is neither."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    text = data[:200_000].decode("utf-8", "ignore")
    if "/man/" in path.as_posix():
        lines = [line for line in text.split("\n") if not line.startswith((".", "'", "\\\""))]
        text = re.sub(r"\\[f*](\(\w\w|\[\w*\]|\w)|\\[&/,]|\\\(\w\w", "", "\n".join(lines)).replace("\\-", "-")
    return text


def paragraphs(folder, limit):
    """Paragraphs of English prose below a folder, each once: two lists, of which no file has part in both."""
    places = [folder / "man" / f"man{n}" for n in (1, 5, 7, 8)] + [folder / "doc", folder]
    kinds = (".gz", ".txt", ".pod", ".md", ".rst", "")
    taught, held, seen, total, files = [], [], set(), 0, set()
    for place in places:
        found = sorted(p for p in place.rglob("*") if p.suffix in kinds) if place.is_dir() else []
        np.random.default_rng(len(found)).shuffle(found)
        for path in found:
            if total > limit or path in files or not path.is_file() or path.stat().st_size > 300_000:
                continue
            files.add(path)
            try:
                text = plain_text(path)
            except (OSError, EOFError, ValueError):
                continue
            here = held if len(files) % 8 == 0 else taught
            for part in re.split(r"\n\s*\n", text):
                part = re.sub(r"\s+", " ", part).strip()
                letters = sum(c.isascii() and (c.isalpha() or c == " ") for c in part)
                if len(part) < 160 or letters < 0.9 * len(part) or part[:80] in seen:
                    continue
                seen.add(part[:80])
                here.append(part)
                total += len(part)
    return taught, held


class Tokenizer:
    """Frequent words with the blank before them, and single characters for the rest."""

    split = re.compile(r" ?[A-Za-z]+| ?\d| ?[^\sA-Za-z\d]")

    def __init__(self, texts, size):
        counts = collections.Counter(piece for text in texts for piece in self.split.findall(text))
        singles = sorted({c for c in map(chr, range(32, 127))})
        words = [w for w, _ in counts.most_common(size) if w not in singles]
        self.pieces = (["<pad>", "<s>", "<unk>"] + singles + words)[:size]
        self.number = {piece: i for i, piece in enumerate(self.pieces)}

    def encode(self, text):
        ids = []
        for piece in self.split.findall(text):
            known = self.number.get(piece)
            ids += [known] if known is not None else [self.number.get(c, UNKNOWN) for c in piece]
        return ids


# --- Number formats ---------------------------------------------------------------------------------------------------
def cut_mantissa(x, bits):
    """Rounds to nearest even with so many bits less than the 23 of float32."""
    u = np.ascontiguousarray(x, "float32").view("uint32")
    half = np.uint32((1 << (bits - 1)) - 1)
    keep = np.uint32(0xFFFFFFFF << bits & 0xFFFFFFFF)
    return ((u + half + ((u >> np.uint32(bits)) & np.uint32(1))) & keep).view("float32")


def to_fp8(x):
    """e4m3 with one scale for the tensor, as quantised checkpoints hold it."""
    scale = np.float32(np.abs(x).max() / 448 + 1e-30)
    step = np.exp2(np.maximum(np.frexp(x / scale)[1], -5) - 4).astype("float32")
    return (np.round(x / scale / step) * step * scale).astype("float32")


FORMATS = {
    "f32": lambda x: np.asarray(x, "float32"),
    "tf32": lambda x: cut_mantissa(x, 13),
    "bf16": lambda x: cut_mantissa(x, 16),
    "f16": lambda x: np.asarray(x, "float32").astype("float16").astype("float32"),
    "fp8": to_fp8,
}


# --- Networks ---------------------------------------------------------------------------------------------------------
def normal(rng, *shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype("float32")


def make_layer(rng, d, experts, ffn, spread, value=0.7, gain=0.6):
    """Weights of a layer. spread: standard deviation of the routers' scores, as hidden states have unit size."""
    return dict(q=normal(rng, d, d, scale=d ** -0.5), k=normal(rng, d, d, scale=d ** -0.5),
                v=normal(rng, d, d, scale=value * d ** -0.5), o=normal(rng, d, d, scale=value * d ** -0.5),
                router=normal(rng, d, experts, scale=spread * d ** -0.5),
                up=normal(rng, d, experts * ffn, scale=d ** -0.5),
                down=normal(rng, experts * ffn, d, scale=gain * ffn ** -0.5))


def embeddings(rng, size, d, classes=40):
    """Tokens in classes, so that some tokens are alike, as in trained embeddings."""
    centre = normal(rng, classes, d)
    return (0.7 * centre[rng.integers(0, classes, size)] + normal(rng, size, d, scale=0.7)).astype("float32")


def mixtral_like(rng, vocabulary, d=48, layers=8):
    return dict(kind="softmax-renormalised", name="mixtral-like", experts=8, k=2, ffn=48, heads=4, first_layer=0,
                recorded=layers, embed=embeddings(rng, vocabulary, d),
                layers=[make_layer(rng, d, 8, 48, 1.5, gain=0.9) for _ in range(layers)])


def deepseek_like(rng, vocabulary, d=64, layers=5):
    """Layer 0 is dense. Behind the last layer comes one that predicts a further token; its routes are not recorded."""
    made = [make_layer(rng, d, 64, 16, 1.2, gain=0.5) for _ in range(layers + 1)]
    for layer in made:
        layer["bias"] = np.zeros(64, "float32")
        layer["shared_up"] = normal(rng, d, 32, scale=d ** -0.5)
        layer["shared_down"] = normal(rng, 32, d, scale=0.5 * 32 ** -0.5)
    dense = make_layer(rng, d, 1, 128, 1.0)
    return dict(kind="sigmoid-groups", name="deepseek-like", experts=64, k=8, ffn=16, heads=4, first_layer=1, groups=8,
                kept_groups=4, scale=2.5, recorded=layers, dense=dense, embed=embeddings(rng, vocabulary, d),
                layers=made)


def balance(model, requests, rounds=30, step=0.02):
    """Moves the selection bias against the load, as models without a balancing loss do while they are trained."""
    for _ in range(rounds):
        loads = np.zeros((len(model["layers"]), model["experts"]))
        for tokens in requests:
            for at, choice in enumerate(forward(model, tokens, Engine())):
                loads[at] += np.bincount(choice["ids"].ravel(), minlength=model["experts"])
        for layer, load in zip(model["layers"], loads):
            layer["bias"] += np.float32(step) * np.sign(load.mean() - load).astype("float32")


# --- An engine --------------------------------------------------------------------------------------------------------
class Engine:
    """How a forward pass is computed. fault names what is computed wrongly, in those layers (default: in all)."""

    def __init__(self, inputs="f32", state="f32", sums="plain", fault=None, layers=None, requests=None, **more):
        self.inputs, self.state, self.sums, self.fault = inputs, state, sums, fault
        self.layers, self.requests, self.more = layers, requests, more

    def wrong(self, fault, layer):
        return self.fault == fault and (self.layers is None or layer in self.layers)

    def without_fault(self):
        return Engine(self.inputs, self.state, self.sums)

    def product(self, x, w):
        """x w, with the sums in this engine's order. Of "chunks", the number of parts is a batch's business."""
        if self.sums == "plain":
            return x @ w
        size = {"reversed": 16, "chunks": 12}[self.sums]
        total = np.zeros((*x.shape[:-1], w.shape[-1]), "float32")
        for begin in reversed(range(0, x.shape[-1], size)):
            total += x[..., begin:begin + size] @ w[begin:begin + size]
        return total


def unit(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def recency(heads, length):
    """A penalty on distance for each head, instead of an embedding of positions; and the causal mask."""
    back = np.arange(length)[:, None] - np.arange(length)[None]
    slope = np.exp2(-np.arange(heads) * 1.5 - 0.5)[:, None, None]
    return np.where(back >= 0, -slope * back, -1e9).astype("float32")


def attention(layer, h, heads, engine):
    length, d = h.shape
    q, k, v = (engine.product(h, layer[key]).reshape(length, heads, -1).transpose(1, 0, 2) for key in "qkv")
    p = softmax(q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(d // heads)) + recency(heads, length))
    mixed = p @ v if engine.sums == "plain" else p[:, :, ::-1] @ v[:, ::-1]
    return engine.product(mixed.transpose(1, 0, 2).reshape(length, d), layer["o"])


def best(scores, k):
    """The k largest, the largest first; of equal ones the first."""
    return np.argsort(-scores, axis=-1, kind="stable")[:, :k]


def router_scores(layer, h, at, engine):
    if engine.wrong("router-fp8", at):
        return FORMATS["fp8"](h) @ FORMATS["fp8"](layer["router"])
    if engine.wrong("router-bf16", at):  # each partial sum is kept in bf16, and so is the result
        cut, total = FORMATS["bf16"], np.zeros((len(h), layer["router"].shape[1]), "float32")
        x, w = cut(h), cut(layer["router"])
        for i in range(h.shape[1]):
            total = cut(total + x[:, i:i + 1] * w[i])
        return total
    return engine.product(FORMATS[engine.inputs](h), layer["router"])


def route(model, layer, h, at, engine):
    """Choices of a layer: ids and weights [tokens, k] as computed with, what a recorder sees of them, and scores."""
    logits = router_scores(layer, h, at, engine)
    k = engine.more["k"] if engine.wrong("other-k", at) else model["k"]
    rows = np.arange(len(h))[:, None]
    margin = None
    if model["kind"] == "sigmoid-groups":
        scores = 1 / (1 + np.exp(-logits))
        biased = scores + layer["bias"]
        allowed = biased
        if not engine.wrong("groups-ignored", at):
            parts = biased.reshape(len(h), model["groups"], -1)
            group = np.sort(parts, -1)[:, :, -2:].sum(-1)
            open_ = np.zeros(group.shape, bool)
            open_[rows, best(group, model["kept_groups"])] = True
            allowed = np.where(np.repeat(open_, parts.shape[2], 1), biased, -np.inf)
        ids = best(allowed, k)
        weights = (biased if engine.wrong("bias-in-weights", at) else scores)[rows, ids]
        if engine.wrong("shared-overwrites", at):
            weights[:, -1] = 0
        weights = weights / weights.sum(-1, keepdims=True)
        if not engine.wrong("scale-lost", at):
            weights = weights * np.float32(model["scale"])
    else:
        scores = logits
        p = softmax(logits)
        ids = best(p, k)
        weights = p[rows, ids]
        ranked = np.sort(logits, -1)
        margin = ranked[:, -k] - ranked[:, -k - 1]
        if model["kind"] == "softmax-renormalised" and not engine.wrong("not-renormalised", at):
            weights = weights / weights.sum(-1, keepdims=True)
        if engine.wrong("softmax-order", at):
            weights = softmax(logits[rows, ids])
    seen = ids, weights
    if engine.wrong("shared-overwrites", at):
        seen = ids.copy(), weights.copy()
        seen[0][:, -1], seen[1][:, -1] = model["experts"], 1
    if engine.wrong("shared-appended", at):
        one = np.ones((len(h), 1), "float32")
        seen = np.hstack([ids, (one * model["experts"]).astype(ids.dtype)]), np.hstack([weights, one])
    return ids, weights, dict(ids=seen[0].astype("int32"), weights=seen[1].astype("float32"),
                              scores=scores.astype("float32"), margin=margin)


def mixture(layer, model, h, ids, weights, engine):
    """The weighted sum of the experts, slot by slot in this engine's order and number format."""
    cut, experts = FORMATS[engine.state], model["experts"]
    inner = np.maximum(engine.product(h, layer["up"]), 0).reshape(len(h), experts, -1).transpose(1, 0, 2)
    outer = inner @ layer["down"].reshape(experts, -1, h.shape[1])
    order = np.argsort(ids, -1) if engine.sums != "plain" else np.tile(np.arange(ids.shape[1]), (len(ids), 1))
    rows, total = np.arange(len(h)), np.zeros_like(h)
    for slot in order.T:
        chosen = ids[rows, slot]
        total = cut(total + weights[rows, slot][:, None] * cut(outer[chosen, rows]))
    if "shared_up" in layer:
        total = cut(total + np.maximum(h @ layer["shared_up"], 0) @ layer["shared_down"])
    return total


def forward(model, tokens, engine):
    """What each layer chose for a request's tokens, as a recorder sees it."""
    cut, heads = FORMATS[engine.state], model["heads"]
    x = cut(model["embed"][np.asarray(tokens)])
    if "dense" in model:
        dense = model["dense"]
        x = cut(x + cut(attention(dense, cut(unit(x)), heads, engine)))
        x = cut(x + np.maximum(engine.product(cut(unit(x)), dense["up"]), 0) @ dense["down"])
    choices = []
    for at, layer in enumerate(model["layers"]):
        x = cut(x + cut(attention(layer, cut(unit(x)), heads, engine)))
        h = cut(unit(x))
        ids, weights, seen = route(model, layer, h, at, engine)
        x = cut(x + mixture(layer, model, h, ids, weights, engine))
        choices.append(seen)
    return choices


# --- Training ---------------------------------------------------------------------------------------------------------
def unit_back(dy, y, x):
    return (dy - y * (dy * y).mean(-1, keepdims=True)) / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6))


def loss_and_gradients(model, tokens, aux=0.01):
    """Mean loss of the next token over a batch [b, t + 1], and the gradients of all weights in the model's own form."""
    heads, k, experts = model["heads"], model["k"], model["experts"]
    inputs, targets = tokens[:, :-1], tokens[:, 1:].reshape(-1)
    b, t = inputs.shape
    d = model["embed"].shape[1]
    n, grow = b * t, 1 / np.float32(np.sqrt(d // heads))

    def split(y):
        return y.reshape(b, t, heads, -1).transpose(0, 2, 1, 3)

    def join(y):
        return y.transpose(0, 2, 1, 3).reshape(n, d)

    x, kept, bent = model["embed"][inputs].reshape(n, d), [], recency(heads, t)
    for w in model["layers"]:
        h = unit(x)
        q, key, v = (split(h @ w[name]) for name in "qkv")
        p = softmax(q @ key.transpose(0, 1, 3, 2) * grow + bent)
        mixed = join(p @ v)
        middle = x + mixed @ w["o"]
        g = unit(middle)
        probability = softmax(g @ w["router"])
        mask = np.zeros(probability.shape, "float32")
        mask[np.arange(n)[:, None], np.argpartition(-probability, k - 1, -1)[:, :k]] = 1
        gate = probability * mask
        inner = np.maximum(g @ w["up"], 0)
        gated = (inner.reshape(n, experts, -1) * gate[:, :, None]).reshape(n, -1)
        kept.append((x, h, q, key, v, p, mixed, middle, g, probability, mask, gate, inner, gated))
        x = middle + gated @ w["down"]
    top = unit(x)
    p_next = softmax(top @ model["embed"].T)
    loss = -np.log(p_next[np.arange(n), targets] + 1e-9).mean()
    p_next[np.arange(n), targets] -= 1
    p_next /= n
    d_embed = p_next.T @ top
    dx = unit_back(p_next @ model["embed"], top, x)
    gradients = []
    for w, state in zip(reversed(model["layers"]), reversed(kept)):
        x, h, q, key, v, p, mixed, middle, g, probability, mask, gate, inner, gated = state
        new = dict(down=gated.T @ dx)
        d_gated = (dx @ w["down"].T).reshape(n, experts, -1)
        d_gate = (d_gated * inner.reshape(n, experts, -1)).sum(-1) * mask
        d_inner = (d_gated * gate[:, :, None]).reshape(n, -1) * (inner > 0)
        d_probability = d_gate + np.float32(aux * experts / n / k) * mask.mean(0)
        d_logits = probability * (d_probability - (d_probability * probability).sum(-1, keepdims=True))
        new["up"], new["router"] = g.T @ d_inner, g.T @ d_logits
        dx = dx + unit_back(d_inner @ w["up"].T + d_logits @ w["router"].T, g, middle)
        new["o"] = mixed.T @ dx
        d_mixed = split(dx @ w["o"].T)
        d_p = d_mixed @ v.transpose(0, 1, 3, 2)
        d_s = p * (d_p - (d_p * p).sum(-1, keepdims=True)) * grow
        parts = dict(q=d_s @ key, k=d_s.transpose(0, 1, 3, 2) @ q, v=p.transpose(0, 1, 3, 2) @ d_mixed)
        d_h = np.zeros((n, d), "float32")
        for name, part in parts.items():
            new[name] = h.T @ join(part)
            d_h += join(part) @ w[name].T
        dx = dx + unit_back(d_h, h, x)
        gradients.insert(0, new)
    np.add.at(d_embed, inputs.reshape(-1), dx)
    return loss, dict(embed=d_embed, layers=gradients)


def tensors_of(model):
    return [(model, "embed")] + [(layer, name) for layer in model["layers"] for name in sorted(
        ("q", "k", "v", "o", "router", "up", "down"))]


def train(rng, stream, vocabulary, steps, keep_at, d=64, layers=6, experts=16, ffn=32, batch=16, length=64):
    """A mixture trained on a stream of tokens. Returns the weights behind keep_at steps and at the end."""
    model = dict(kind="softmax", name="trained", experts=experts, k=4, ffn=ffn, heads=4, first_layer=0,
                 recorded=layers, embed=normal(rng, vocabulary, d, scale=0.15),
                 layers=[make_layer(rng, d, experts, ffn, 0.3, value=0.5, gain=0.5) for _ in range(layers)])
    moments = [(np.zeros_like(o[key]), np.zeros_like(o[key])) for o, key in tensors_of(model)]
    began, early = time.perf_counter(), None
    for step in range(1, steps + 1):
        at = rng.integers(0, len(stream) - length - 1, batch)
        loss, gradients = loss_and_gradients(model, stream[at[:, None] + np.arange(length + 1)])
        rate = 3e-3 * min(1, step / 40) * (0.1 + 0.9 * (1 + np.cos(np.pi * step / steps)) / 2)
        for (owner, key), (given, given_key), (m, v) in zip(tensors_of(model), tensors_of(gradients), moments):
            slope = given[given_key]
            m += 0.1 * (slope - m)
            v += 0.02 * (slope * slope - v)
            change = m / (1 - 0.9 ** step) / (np.sqrt(v / (1 - 0.98 ** step)) + 1e-8)
            owner[key] = owner[key] - np.float32(rate) * change.astype("float32")
        if step == keep_at:
            early = [owner[key].copy() for owner, key in tensors_of(model)]
        if step % 50 == 0 or step == 1:
            print(f"step {step}: loss {loss:.3f}, {time.perf_counter() - began:.0f} s", flush=True)
    return model, early


def with_weights(model, weights):
    """The same network with other weights, in the order of tensors_of."""
    other = dict(model, layers=[dict(layer) for layer in model["layers"]])
    for (owner, key), value in zip(tensors_of(other), weights):
        owner[key] = value
    return other


def check_gradients():
    """Compares some gradients with differences of the loss, on a tiny network."""
    rng = np.random.default_rng(5)
    model = dict(experts=4, k=2, heads=2, embed=normal(rng, 11, 8), layers=[make_layer(rng, 8, 4, 6, 1.0)] * 1)
    tokens = rng.integers(0, 11, (2, 6))
    _, gradients = loss_and_gradients(model, tokens, aux=0)
    worst = 0
    for (owner, key), (given, given_key) in zip(tensors_of(model), tensors_of(gradients)):
        original = owner[key]
        direction = normal(rng, *original.shape)
        losses = []
        for sign in (1, -1):
            owner[key] = original + np.float32(sign * 3e-3) * direction
            losses.append(float(loss_and_gradients(model, tokens, aux=0)[0]))
        owner[key] = original
        found, told = (losses[0] - losses[1]) / 6e-3, float((given[given_key] * direction).sum())
        worst = max(worst, abs(found - told) / (abs(told) + 0.05))
        print(f"{key}: by differences {found:.4f}, computed {told:.4f}")
    print(f"worst relative difference {worst:.3f}")


# --- Recordings -------------------------------------------------------------------------------------------------------
class Answer:
    """What was recorded of one request: its cells in order, and the choices of each layer for them."""

    def __init__(self, number, tokens, prompt, choices):
        self.number, self.tokens, self.choices = number, np.asarray(tokens), choices
        self.position = np.arange(len(tokens))
        self.phase = (self.position >= prompt).astype("int32")

    def take(self, cells, of):
        """Keeps some cells, with the choices of others (or of the same)."""
        self.tokens, self.position, self.phase = (v[cells] for v in (self.tokens, self.position, self.phase))
        self.choices = [{key: None if v is None else v[of] for key, v in layer.items()} for layer in self.choices]


def record(model, requests, engine):
    answers = []
    for number, (tokens, prompt) in enumerate(requests):
        here = engine if engine.requests is None or number in engine.requests else engine.without_fault()
        answers.append(Answer(number, tokens, prompt, forward(model, tokens, here)))
    return answers


def shift_layers(answers, first, last, by):
    """The recorded layers from first to last hold what another layer chose."""
    for answer in answers:
        told = list(answer.choices)
        for at in range(first, last + 1):
            answer.choices[at] = told[at + by]


def permute_ids(answers, maps):
    """maps {layer: the number that is written for each expert}."""
    for answer in answers:
        for at, written in maps.items():
            answer.choices[at] = dict(answer.choices[at], ids=written[answer.choices[at]["ids"]].astype("int32"))


def shift_tokens(answers, which, decoding_only):
    """Cells hold the choices for the next token; the last one has none and is not written."""
    for answer in answers:
        if answer.number in which:
            n = len(answer.tokens)
            of = np.arange(n - 1)
            of = np.where((answer.phase[:-1] == 1) | (not decoding_only), of + 1, of)
            answer.take(np.arange(n - 1), of)


def exchange(answers, source):
    """source {request: the request whose choices it gets}."""
    told = {a.number: a.choices for a in answers}
    for answer in answers:
        if answer.number in source:
            assert len(told[source[answer.number]][0]["ids"]) == len(answer.tokens)
            answer.choices = told[source[answer.number]]


def pad(answers, model, engine, batches, size, left):
    """Pads the requests of some batches to the longest of each, and keeps the padding's cells. On the left, prompts
    are padded, and decoding goes on behind them. On the right, whole texts are, as in a training step."""
    if not left:
        for answer in answers:
            answer.phase[:] = 0
    for batch in batches:
        here = [a for a in answers if a.number // size == batch]
        lengths = [int((a.phase == 0).sum()) for a in here]
        for answer, prompt in zip(here, lengths):
            n = max(lengths) - prompt
            if not n:
                continue
            if left:  # masked: the text does not see the padding, and the padding sees only itself
                extra = forward(model, [PAD] * n, engine)
                order = (extra, answer.choices)
                tokens = [PAD] * n + list(answer.tokens)
                prompt += n
            else:
                extra = forward(model, list(answer.tokens) + [PAD] * n, engine)
                extra = [{key: None if v is None else v[-n:] for key, v in layer.items()} for layer in extra]
                order = (answer.choices, extra)
                tokens = list(answer.tokens) + [PAD] * n
                prompt += n
            choices = [{key: None if one[key] is None else np.concatenate([one[key], two[key]]) for key in one}
                       for one, two in zip(*order)]
            answer.__init__(answer.number, tokens, prompt, choices)


def write_safetensors(path, tensors, about):
    kinds = {"int32": "I32", "int64": "I64", "uint8": "U8", "float32": "F32"}
    header, at = {"__metadata__": about}, 0
    for name, value in tensors.items():
        header[name] = dict(dtype=kinds[value.dtype.name], shape=list(value.shape),
                            data_offsets=[at, at + value.nbytes])
        at += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            file.write(np.ascontiguousarray(value).tobytes())


def write_trace(path, model, answers, level, recorder, tokenizer, batch=4, by_id=False, reverse=False):
    """level: ids (alone), ids+tokens, weights (and margins and tokens), scores (and all of these). batch: requests that
    are computed together, a prompt first and then one token of each at a time. by_id: slots in the order of ids."""
    cells, number, before = [], -1, None  # (answer, its row, batch)

    def add(answer, rows):
        """Requests that are numbered on and have as many cells are one batch."""
        nonlocal number, before
        number += before != (answer.number - 1, len(rows))
        before = answer.number, len(rows)
        cells.extend((answer, row, number) for row in rows)

    groups = [answers[i:i + batch] for i in range(0, len(answers), batch)]
    for group in (reversed(groups) if reverse else groups):
        group = group[::-1] if reverse else group
        for answer in group:
            add(answer, np.flatnonzero(answer.phase == 0))
        begins = [int((a.phase == 0).sum()) for a in group]
        for step in range(max(len(a.tokens) - begin for a, begin in zip(group, begins))):
            for answer, begin in zip(group, begins):
                if begin + step < len(answer.tokens):
                    add(answer, [begin + step])
    tensors = {}
    for at in range(model["recorded"]):
        told = {key: None if answers[0].choices[at][key] is None else np.stack(
            [a.choices[at][key][row] for a, row, _ in cells]) for key in ("ids", "weights", "scores", "margin")}
        order = np.argsort(told["ids"] if by_id else -told["weights"], -1, kind="stable")
        tensors[f"layer.{at}.indices"] = np.take_along_axis(told["ids"], order, 1).astype("int32")
        if level in ("weights", "scores"):
            tensors[f"layer.{at}.weights"] = np.take_along_axis(told["weights"], order, 1).astype("float32")
            if told["margin"] is not None:
                tensors[f"layer.{at}.margins"] = told["margin"].astype("float32")
        if level == "scores":
            tensors[f"layer.{at}.scores"] = told["scores"].astype("float32")
    for key, value in (("request", [a.number for a, _, _ in cells]), ("position", [a.position[r] for a, r, _ in cells]),
                       ("phase", [a.phase[r] for a, r, _ in cells]), ("stack", [0] * len(cells)),
                       ("batch", [n for _, _, n in cells])):
        tensors["cell." + key] = np.array(value, "int32")
    if level != "ids":
        tensors["cell.token"] = np.array([a.tokens[r] for a, r, _ in cells], "int32")
        ids = np.unique(tensors["cell.token"])
        texts = [tokenizer.pieces[i].encode() for i in ids]
        tensors |= {"token.id": ids.astype("int32"), "token.end": np.cumsum([len(t) for t in texts], dtype="int64"),
                    "token.text": np.frombuffer(b"".join(texts), "uint8")}
    about = {"schema": "stormcell.trace/1", "model": model["name"], "recorder": recorder,
             "layers": str(model["recorded"]), "cut": "", "stack.0": "tokens"}
    for at in range(model["recorded"]):
        layer = at + model["first_layer"]
        most = int(tensors[f"layer.{at}.indices"].max()) + 1
        about |= {f"layer.{at}.router": f"model.layers.{layer}.mlp", f"layer.{at}.stack": "tokens",
                  f"layer.{at}.branches": str(max(model["experts"], most)), f"layer.{at}.layer": str(layer)}
    write_safetensors(path, tensors, about)


# --- The pairs --------------------------------------------------------------------------------------------------------
BF16 = dict(inputs="bf16", state="bf16")  # a usual server
FULL = dict(level="weights")


def fault(name, model, cause, strength, why, cannot=False, level="ids", requests=20, a=None, b=None, change=None,
          **more):
    return dict(name=name, model=model, cause=cause, strength=strength, why=why, cannot=cannot, level=level,
                requests=requests, a=a or {}, b=dict(BF16) if b is None else b, change=change, more=more)


def planted(rng):
    """The 30 faults. b: the engine of the second recording; change: what is done to its recording."""
    slots = {at: rng.permutation(64) for at in range(5)}
    swapped = np.arange(8)
    swapped[[1, 6]] = [6, 1]
    return [
        fault("deepseek-layer-shift", "deepseek", "layer-shift", "strong: all layers, large",
              "The reader counts columns from the end and so takes the layer that predicts a further token for the "
              "last one: each recorded layer holds what the next chose. Ids alone tell it, by agreement one layer on.",
              requests=60, change=lambda e: shift_layers(e["answers"], 0, 4, 1)),
        fault("trained-layer-shift", "trained", "layer-shift", "middle: half of the layers (the second pipeline stage)",
              "The second pipeline stage numbers its layers one too low: layers 3 to 5 hold what 2 to 4 chose.",
              **FULL, requests=40, change=lambda e: shift_layers(e["answers"], 3, 5, -1)),
        fault("deepseek-ids-permuted", "deepseek", "ids-permuted", "strong: another permutation in each layer",
              "A server with moved experts writes physical slots instead of logical ids. A permutation for each layer "
              "explains all, from ids alone.", requests=60,
              change=lambda e: permute_ids(e["answers"], slots), by_id=True),
        fault("mixtral-ids-permuted", "mixtral", "ids-permuted", "weak: two experts in one of eight layers",
              "Two experts were exchanged between devices in layer 5, and slots are written. Weights and all other "
              "layers agree.", **FULL, requests=40, change=lambda e: permute_ids(e["answers"], {5: swapped})),
        fault("deepseek-shared-experts", "deepseek", "shared-experts", "strong: all layers",
              "The shared expert is fused with the routed ones and recorded as a ninth choice, number 64. Ids tell it.",
              requests=20, b=dict(BF16, fault="shared-appended"), by_id=True),
        fault("deepseek-shared-overwrites", "deepseek", "shared-experts", "middle: three of five layers",
              "k was not raised for the fused shared expert, so that it takes the last routed expert's slot (number "
              "64) and the token goes to seven routed ones, whose weights are shared out anew.",
              **FULL, requests=20, b=dict(BF16, fault="shared-overwrites", layers={1, 2, 3})),
        fault("mixtral-other-k", "mixtral", "other-k", "strong: 1 instead of 2 in all layers",
              "The number of experts of an ablation was left in. Ids show their number.", requests=8,
              b=dict(BF16, fault="other-k", k=1)),
        fault("deepseek-other-k", "deepseek", "other-k", "weak: 6 instead of 8 in two of five layers",
              "Two layers were tried with fewer experts. Ids show their number.", **FULL, requests=20,
              b=dict(BF16, fault="other-k", layers={2, 4}, k=6)),
        fault("trained-softmax-order", "trained", "softmax-order", "middle: half of the layers",
              "The second engine takes the softmax over the chosen scores only: weights of layers 0, 2 and 4 sum to 1, "
              "where the first has the softmax of all 16. Scores and weights tell it.", level="scores", requests=16,
              b=dict(BF16, fault="softmax-order", layers={0, 2, 4})),
        fault("trained-softmax-order-ids", "trained", "softmax-order", "strong: all layers, ids alone",
              "As before in all layers, but the weights are not recorded. The first layer agrees, later ones differ "
              "by what the weights did to hidden states; any fault of weights looks the same.", cannot=True,
              requests=40, b=dict(BF16, fault="softmax-order")),
        fault("mixtral-not-renormalised", "mixtral", "not-renormalised", "strong: all layers",
              "The second engine does not divide the two weights by their sum. Weights sum to less than 1.",
              level="scores", requests=20, b=dict(BF16, fault="not-renormalised")),
        fault("mixtral-not-renormalised-part", "mixtral", "not-renormalised", "weak: a third of the requests",
              "One of three replicas runs an earlier version that does not renormalise. In its requests weights sum to "
              "less than 1.", **FULL, requests=24,
              b=dict(BF16, fault="not-renormalised", requests=set(range(0, 24, 3)))),
        fault("mixtral-not-renormalised-ids", "mixtral", "not-renormalised", "strong: all layers, ids alone",
              "As the first of its kind, but weights are not recorded.", cannot=True, level="ids+tokens", requests=60,
              b=dict(BF16, fault="not-renormalised")),
        fault("deepseek-scale-lost", "deepseek", "scale-lost", "middle: three of five layers",
              "A kernel that some layers use drops the factor 2.5. Weights sum to 1 there, and are in the same "
              "proportions.", **FULL, requests=30, b=dict(BF16, fault="scale-lost", layers={0, 1, 3})),
        fault("deepseek-scale-lost-ids", "deepseek", "scale-lost", "strong: all layers, ids alone",
              "The factor is lost everywhere, but weights are not recorded.", cannot=True, requests=60,
              b=dict(BF16, fault="scale-lost")),
        fault("deepseek-bias-in-weights", "deepseek", "bias-in-weights", "middle: three of five layers, small",
              "Weights are taken from the scores with the selection bias. Weights and scores tell it: the first layers "
              "choose alike, with other proportions that depend on the expert.", level="scores", requests=6,
              b=dict(BF16, fault="bias-in-weights", layers={0, 2, 3})),
        fault("deepseek-bias-in-weights-ids", "deepseek", "bias-in-weights", "strong: all layers, ids alone",
              "As before in all layers, but neither weights nor scores are recorded.", cannot=True, level="ids+tokens",
              requests=40, b=dict(BF16, fault="bias-in-weights")),
        fault("deepseek-groups-ignored", "deepseek", "groups-ignored", "strong: all layers, ids alone",
              "The second engine takes the best 8 of all 64. The first's choices always lie in 4 groups of 8 "
              "neighbouring ids, the second's in up to 8. Ids tell it.", requests=60,
              b=dict(BF16, fault="groups-ignored")),
        fault("deepseek-groups-ignored-part", "deepseek", "groups-ignored", "weak: two of five layers",
              "As before in the layers of one pipeline stage.", **FULL, requests=20,
              b=dict(BF16, fault="groups-ignored", layers={3, 4})),
        fault("mixtral-router-fp8", "mixtral", "router-precision", "strong: e4m3 in all layers",
              "The quantiser did not leave the gates out: inputs and weights of routers are in 8 bits. Recorded scores "
              "are off by several hundredths and more, and choices change at margins far above those of 16 bits.",
              level="scores", requests=24, b=dict(BF16, fault="router-fp8")),
        fault("trained-router-bf16", "trained", "router-precision", "middle: sums in bf16 in all layers",
              "The gate's product is summed up and kept in bf16. The second's scores are all on the grid of bf16, the "
              "first's are not, and they are off by more than rounding of the inputs explains.", level="scores",
              requests=16, b=dict(BF16, fault="router-bf16")),
        fault("deepseek-router-bf16-ids", "deepseek", "router-precision", "weak: sums in bf16, ids alone",
              "As before, but without scores nobody sees at which margins choices changed.", cannot=True, requests=20,
              b=dict(BF16, fault="router-bf16")),
        fault("mixtral-token-shift", "mixtral", "token-shift", "strong: all requests, ids alone, large",
              "The first token's choices were dropped, so that each position holds those of the next token. Ids tell "
              "it, by agreement one position on.", requests=60,
              change=lambda e: shift_tokens(e["answers"], set(range(60)), False)),
        fault("trained-token-shift", "trained", "token-shift", "weak: decoding of a quarter of the requests",
              "The buffer of decoded tokens is read one late for requests that were decoded on another worker.", **FULL,
              requests=24, change=lambda e: shift_tokens(e["answers"], set(range(2, 24, 4)), True)),
        fault("mixtral-padding", "mixtral", "padding-recorded", "middle: right, one batch in two",
              "Padding behind the prompts of some batches is recorded, with its token 0.", **FULL, requests=24,
              change=lambda e: pad(e["answers"], e["model"], e["engine"], range(0, 6, 2), 4, False)),
        fault("trained-padding", "trained", "padding-recorded", "strong: left, all batches, ids alone",
              "Prompts are padded on the left, and padding is recorded: a request has more cells, and its text begins "
              "later by a number of cells of its own. Ids tell it.", requests=40,
              change=lambda e: pad(e["answers"], e["model"], e["engine"], range(10), 4, True)),
        fault("deepseek-requests-exchanged", "deepseek", "requests-exchanged", "weak: two of 20, ids and tokens",
              "Two requests that ended in one step got each other's choices. Their own token ids are right.",
              level="ids+tokens", requests=20, equal=4, change=lambda e: exchange(e["answers"], {9: 10, 10: 9})),
        fault("mixtral-requests-exchanged", "mixtral", "requests-exchanged", "strong: all, rotated in batches of four",
              "Choices are handed out in the order in which requests ended, not in that of the batch.", **FULL,
              requests=24, equal=4, change=lambda e: exchange(
                  e["answers"], {i: i // 4 * 4 + (i + 1) % 4 for i in range(24)})),
        fault("mixtral-unlike", "mixtral", "unlike", "strong: another network, ids alone",
              "The server loaded another checkpoint of the same shape. Choices agree as by chance.", requests=40,
              b_model="mixtral-other"),
        fault("trained-unlike", "trained", "unlike", "middle: weights of an earlier step of training",
              "The server was not sent the new weights. Choices differ from the first layer on, at all margins, and no "
              "permutation, shift or rule explains it.", level="scores", requests=16, b_model="trained-early"),
    ]


def healthy():
    """20 pairs in which the engines differ by number format, order of sums or batches alone."""
    cases = [
        ("mixtral", "weights", 40, {}, dict(inputs="bf16"), "inputs of routers in bf16"),
        ("mixtral", "ids", 60, {}, dict(inputs="f16"), "inputs of routers in f16"),
        ("mixtral", "scores", 20, BF16, dict(BF16, sums="reversed"), "bf16, another order of sums"),
        ("mixtral", "ids+tokens", 24, BF16, dict(BF16, sums="chunks"), "bf16, another order of batches"),
        ("mixtral", "ids", 40, {}, dict(inputs="tf32"), "inputs of routers in tf32"),
        ("mixtral", "scores", 20, dict(inputs="bf16"), dict(inputs="f16"), "inputs of routers in f16 against bf16"),
        ("deepseek", "scores", 6, {}, dict(inputs="bf16"), "inputs of routers in bf16"),
        ("deepseek", "ids", 60, {}, dict(inputs="bf16"), "inputs of routers in bf16"),
        ("deepseek", "weights", 30, BF16, dict(BF16, sums="reversed"), "bf16, another order of sums"),
        ("deepseek", "ids+tokens", 40, BF16, dict(BF16, sums="chunks"), "bf16, another order of batches"),
        ("deepseek", "ids", 20, {}, dict(inputs="f16"), "inputs of routers in f16"),
        ("deepseek", "weights", 30, dict(inputs="f16"), BF16, "all in bf16 against inputs of routers in f16"),
        ("deepseek", "ids", 20, {}, dict(sums="reversed"), "another order of sums"),
        ("trained", "scores", 16, {}, dict(inputs="bf16"), "inputs of routers in bf16"),
        ("trained", "ids", 60, {}, dict(inputs="bf16"), "inputs of routers in bf16"),
        ("trained", "weights", 40, BF16, dict(BF16, sums="reversed"), "bf16, another order of sums"),
        ("trained", "ids+tokens", 60, BF16, dict(BF16, sums="chunks"), "bf16, another order of batches"),
        ("trained", "scores", 16, {}, dict(inputs="f16"), "inputs of routers in f16"),
        ("trained", "ids", 40, dict(inputs="bf16"), dict(inputs="f16"), "inputs of routers in f16 against bf16"),
        ("trained", "weights", 40, {}, dict(sums="reversed"), "another order of sums"),
    ]
    for number, (model, level, requests, a, b, what) in enumerate(cases):
        blind = " With ids alone 'cannot be told' is no accusation either." if level.startswith("ids") else ""
        yield fault(f"{model}-healthy-{number + 1:02}", model, "agree", f"healthy: {what}",
                    f"The same engine, {what}.{blind}", level=level, requests=requests, a=a, b=b,
                    reverse="batches" in what, by_id=number % 3 == 1)


def draw_requests(rng, held, tokenizer, count, equal=1):
    """Beginnings of held-out paragraphs; so many neighbours in a row are equally long."""
    requests, used = [], set()
    while len(requests) < count:
        length = int(rng.choice([24, 32, 40, 48]))
        for _ in range(equal):
            while True:
                at = int(rng.integers(len(held)))
                tokens = [BEGIN] + tokenizer.encode(held[at])
                if at not in used and len(tokens) >= length:
                    break
            used.add(at)
            requests.append((tokens[:length], int(length * rng.uniform(0.4, 0.8))))
    return requests[:count]


def write_pair(folder, pair, models, held, tokenizer, rng):
    model = models[pair["model"]]
    other = models[pair["more"].get("b_model", pair["model"])]
    requests = draw_requests(rng, held, tokenizer, pair["requests"], pair["more"].get("equal", 1))
    first = record(model, requests, Engine(**pair["a"]))
    engine = Engine(**pair["b"])
    second = record(other, requests, engine)
    if pair["change"]:
        pair["change"](dict(answers=second, model=other, engine=engine))
    folder.mkdir(parents=True, exist_ok=True)
    recorders = ("vllm", "sglang") if pair["level"].startswith("ids") else ("transformers-5", "pytorch")
    write_trace(folder / "a.safetensors", model, first, pair["level"], recorders[0], tokenizer)
    write_trace(folder / "b.safetensors", model, second, pair["level"], recorders[1], tokenizer,
                by_id=pair["more"].get("by_id", False), reverse=pair["more"].get("reverse", False),
                batch=6 if pair["more"].get("reverse") else 4)
    told = dict(cause=pair["cause"], cannot_be_told=pair["cannot"], strength=pair["strength"], why=pair["why"],
                model=pair["model"], recorded=pair["level"], requests=pair["requests"])
    (folder / "expect.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    size = sum(os.path.getsize(folder / f"{x}.safetensors") for x in "ab")
    print(f"{folder.name}: {size / 1e6:.2f} MB; share of cells that differ, by layer as recorded: "
          f"{' '.join(f'{s:.3f}' for s in differing(first, second, model['recorded']))}")
    assert size < 1e6, folder


def differing(first, second, layers):
    """For whoever plants: the share of positions of a layer whose sets of ids differ."""
    for at in range(layers):
        same = total = 0
        for a, b in zip(first, second):
            for one, two in zip(a.choices[at]["ids"], b.choices[at]["ids"]):
                same += set(one) == set(two)
                total += 1
        yield 1 - same / total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--text", type=pathlib.Path, default=pathlib.Path("/usr/share"), help="where English text lies")
    parser.add_argument("--steps", type=int, default=700, help="steps of training")
    parser.add_argument("--check-gradients", action="store_true", help="checks the training's arithmetic and ends")
    given = parser.parse_args()
    if given.check_gradients:
        return check_gradients()
    rng = np.random.default_rng(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    texts = given.out / "text.json"
    if not texts.exists():
        texts.write_text(json.dumps(dict(zip(("taught", "held"), paragraphs(given.text, 4_000_000)))), encoding="utf-8")
    taught, held = json.loads(texts.read_text(encoding="utf-8")).values()
    tokenizer = Tokenizer(taught, 1536)
    print(f"{len(taught)} paragraphs to train on, {len(held)} held out")
    stream = np.array([i for text in taught for i in [BEGIN] + tokenizer.encode(text)], "int32")
    kept = given.out / "trained.npz"
    trained, early = train(np.random.default_rng(given.seed), stream, len(tokenizer.pieces),
                           0 if kept.exists() else given.steps, max(1, given.steps // 4))
    if kept.exists():
        stored = np.load(kept)
        early = [stored[f"early.{i}"] for i in range(len(tensors_of(trained)))]
        trained = with_weights(trained, [stored[f"last.{i}"] for i in range(len(tensors_of(trained)))])
    else:
        np.savez(kept, **{f"early.{i}": v for i, v in enumerate(early)},
                 **{f"last.{i}": owner[key] for i, (owner, key) in enumerate(tensors_of(trained))})
    size = len(tokenizer.pieces)
    models = {"mixtral": mixtral_like(rng, size), "mixtral-other": mixtral_like(rng, size),
              "deepseek": deepseek_like(rng, size), "trained": trained, "trained-early": with_weights(trained, early)}
    balance(models["deepseek"], [stream[i:i + 64] for i in rng.integers(0, len(stream) - 64, 16)])
    for number, pair in enumerate([*planted(rng), *healthy()], 1):
        write_pair(given.out / "pairs" / f"{number:02}-{pair['name']}", pair, models, held, tokenizer,
                   np.random.default_rng([given.seed, number]))


if __name__ == "__main__":
    main()
