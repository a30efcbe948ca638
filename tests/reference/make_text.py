#!/usr/bin/env python3
"""Makes text/: nine small tokenizers in the forms of nine families, and the ids of the `tokenizers` library.

Run in an environment with `tokenizers`. Without arguments it makes the committed fixture: 60 strings. With --strings N
--to FOLDER it writes as much for N random strings of many scripts, for
STORMCELL_TEXT_CASES=FOLDER test_formats TextParityTest. The vocabularies are trained on text that this script makes;
patterns, normalizers, added tokens, post-processors and decoders are those of the published files.
"""
import argparse
import json
import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

VOCABULARY = 420
TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
ANY_CASE = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = ANY_CASE + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + TAIL
QWEN = ANY_CASE + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + TAIL
QWEN35 = ANY_CASE + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + TAIL
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
BEFORE = r"[^\r\n\p{L}\p{N}]?"
O200K = (BEFORE + UPPER + "*" + LOWER + "+" + ANY_CASE + "?|" + BEFORE + UPPER + "+" + LOWER + "*" + ANY_CASE +
         r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + TAIL)
TEKKEN = (BEFORE + UPPER + "*" + LOWER + "+|" + BEFORE + UPPER + "+" + LOWER + r"*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + TAIL)
DEEPSEEK = ("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
            "| ?[\\p{P}\\p{S}]+[\\r\\n]*" + TAIL)

WORDS = ("the cat sat on a wall and it didn't look down we'll see HTTPServer CamelCase fooBar return value 2024 1234567 "
         "où naïve café Ångström straße Привет мир Καλημέρα κόσμε שלום مرحبا नमस्ते ไทยครับ 한국어 你好 世界 北京大学 "
         "こんにちは カタカナ def f(x): if a<=b: pass x**2 // # -- => ½ Ⅷ 😀 🚀 👩‍👧").split(" ")
STRINGS = [
    "", " ", "  ", "\n", "a", "the cat sat on the wall", "  leading and  double  spaces ", "I'll WE'RE don't it's O'Brien",
    "'S'T'RE'VE'M'LL'D'x", "3.14159 and 1234567 in 2024", "你好,世界!北京大学2024年", "👩‍👩‍👧 family 🚀🔥!!",
    "def f(x):\n    return x**2  # ok\n\n\tif a<=b: pass", "naïve cafe\u0301 ﬁ Ångström A\u030Angström \u212B",
    "こんにちは カタカナ 한국어 ไทยครับ", "tabs\t\tand\r\nCRLF\n\n\n  end   ", "CamelCase HTTPServer fooBar/baz//\n#TODO", "漢A ABc aBC",
    "\u1100\u1161\u11A8 가각 \u1112\u1161", "नमस्ते दुनिया", "مرحبا بالعالم ١٢٣", "שָׁלוֹם", "½ Ⅷ ² ③ 12³4", "x\u200by\u200dz\ufeff",
    "\u00a0non\u00a0breaking\u3000wide\u2003em", "a\u0301\u0327\u0302 q\u0307\u0323", "ǅ ǈ ʰʷ ªº", "…—“quotes” «guillemets» ‹›",
    "$100 €50 £7 +1 =2 <3 >4 ^5 `6` |7| ~8", "_under_score __init__ a_b", "http://example.com/a?b=c&d=e#f", "user@example.com",
    "\t\t\tdeep\n\t\tless\n\tone\n", " \n \n ", "\r\r\n", "a \n b", "end with blanks   ", "\u2028line\u2029paragraph\u0085next",
    "'ſ 'S don\u2019t", "AAA'LL aaa'Ll", "12345678901234567890", "1 22 333 4444", "a1b22c333", "!!!???...", "!a #b /c \\d",
    "{\"key\": [1, 2.5e-3, null]}", "\u0001\u0002\x7f", "\U0001F468\U0001F3FD\u200D\U0001F4BB code", "🇩🇪🇫🇷", "İstanbul ıI", "ŒUVRE œuvre",
    "ｗｉｄｅ ｶﾀｶﾅ １２", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚", "ქართული ᲥᲐᲠᲗᲣᲚᲘ", "<|end|>the cat<|end|> sat", "a <mask> b<mask>", "x[TOK]y [TOK] z", "▁under▁the",
    "the the the the the", "Zażółć gęślą jaźń"]
SCRIPTS = [(0x20, 0x7E), (0xA0, 0x24F), (0x250, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0xDFF), (0xE00, 0xEFF), (0x1100, 0x11FF),
           (0x1E00, 0x206F), (0x20A0, 0x2BFF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xA640, 0xA7FF), (0xAC00, 0xD7A3), (0xF900, 0xFFFD),
           (0x10400, 0x1044F), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF)]


def random_string(chance):
    parts = []
    for _ in range(chance.randrange(1, 12)):
        kind = chance.random()
        if kind < 0.4:
            parts.append(chance.choice(WORDS))
        elif kind < 0.6:
            parts.append(chance.choice(["  ", "\n", "\r\n", "\t", " \n ", "'s", "'LL", "<|end|>", "<mask>", "[TOK]", "/", "123", "1234"]))
        else:
            low, high = chance.choice(SCRIPTS)
            parts.append("".join(chr(chance.randint(low, high)) for _ in range(chance.randrange(1, 6))))
        if chance.random() < 0.6:
            parts.append(" ")
    return "".join(parts)


def corpus():
    chance = random.Random(7)
    return [" ".join(chance.choice(WORDS) for _ in range(12)) for _ in range(200)]


def byte_level(steps, normalizer=None, ignore_merges=False, begin=None):
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps) if len(steps) > 1 else steps[0]
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=VOCABULARY, initial_alphabet=alphabet, show_progress=False))
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens([AddedToken("<|begin|>", normalized=False), AddedToken("<|end|>", normalized=False)])
    if begin:
        frame = processors.TemplateProcessing(single="<|begin|> $A", special_tokens=[("<|begin|>", tokenizer.token_to_id("<|begin|>"))])
        tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), frame])
    tokenizer.add_tokens([AddedToken("<mask>", lstrip=True, rstrip=True, normalized=False), AddedToken("[TOK]", single_word=True, normalized=False)])
    return tokenizer


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated", invert=False)


def encoded_by(*patterns):
    return [split(pattern) for pattern in patterns] + [pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=False)]


def gemma():
    trained = Tokenizer(models.BPE())
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trained.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=VOCABULARY - 256, show_progress=False))
    model = json.loads(trained.to_str())["model"]
    pieces = ["<pad>", "<eos>", "<bos>", "<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)] + sorted(model["vocab"], key=model["vocab"].get)
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    merges = [tuple(merge) for merge in model["merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous", invert=False)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(piece, normalized=False) for piece in pieces[:4] + ["<|end|>"]])
    tokenizer.add_tokens([AddedToken("<mask>", lstrip=True, rstrip=True, normalized=False), AddedToken("[TOK]", single_word=True, normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 2)])
    return tokenizer


def families():
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True)
    return {
        "olmoe": byte_level([gpt2], normalizers.NFC()),
        "llama3": byte_level(encoded_by(LLAMA3), ignore_merges=True, begin=True),
        "qwen3": byte_level(encoded_by(QWEN), normalizers.NFC()),
        "qwen35": byte_level(encoded_by(QWEN35), normalizers.NFC()),
        "gpt-oss": byte_level(encoded_by(O200K), ignore_merges=True),
        "deepseek-v3": byte_level(encoded_by(r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", DEEPSEEK), normalizers.Sequence([])),
        "mistral": byte_level(encoded_by(TEKKEN), ignore_merges=True, begin=True),
        "smollm": byte_level([pre_tokenizers.Digits(individual_digits=True), gpt2]),
        "gemma": gemma(),
    }


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--strings", type=int, help="so many random strings instead of the 60")
    options.add_argument("--to", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "text")
    chosen = options.parse_args()
    chance = random.Random(11)
    strings = [random_string(chance) for _ in range(chosen.strings)] if chosen.strings else STRINGS
    chosen.to.mkdir(parents=True, exist_ok=True)
    rows = [f'"strings":{json.dumps(strings)}']
    for name, tokenizer in families().items():
        compact = json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":"))
        (chosen.to / f"{name}.json").write_text(compact + "\n", encoding="utf-8")
        ids = [tokenizer.encode(text).ids for text in strings]
        texts = [tokenizer.decode(one, skip_special_tokens=True) for one in ids]
        rows.append(f'"{name}":' + json.dumps({"ids": ids, "texts": texts}, separators=(",", ":")))
    (chosen.to / "cases.json").write_text("{" + ",\n".join(rows) + "}\n", encoding="utf-8")
    print(f"{len(strings)} strings, {len(rows) - 1} tokenizers, in {chosen.to}")


if __name__ == "__main__":
    main()
