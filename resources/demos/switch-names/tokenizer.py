#!/usr/bin/env python3
"""Makes the tokenizer of demo:switch-names: one character a piece, unknown characters as bytes.

    tokenizer.py DATA_DIR spiece.model

Text is decomposed first (NFKD), so that Hangul falls into its letters and accents into marks: a few
hundred pieces then cover every script. Pieces of several characters were tried and learn far worse.
DATA_DIR is what stormcell-prepare-switch-names wrote.
"""
import argparse
import io
import json
import pathlib
import tempfile
import unicodedata

import sentencepiece

# Blocks of the scripts in the data, with their compatibility and punctuation forms.
DECOMPOSED_BLOCKS = [
    (0x00A0, 0x024F), (0x0370, 0x052F), (0x0531, 0x06FF), (0x0900, 0x0DFF), (0x1E00, 0x1FFF),
    (0x2000, 0x206F), (0x3040, 0x30FF), (0xAC00, 0xD7A3), (0xFF00, 0xFFEF),
]
CONTROL_WHITE_SPACE = [0x09, 0x0A, 0x0D]


def decomposition_rules():
    """SentencePiece's rule table: source code points, tab, normalised code points, in hexadecimal."""
    hexadecimal = lambda text: " ".join(f"{ord(character):X}" for character in text)
    rules = [f"{code:X}\t20" for code in CONTROL_WHITE_SPACE]
    for first, last in DECOMPOSED_BLOCKS:
        for character in map(chr, range(first, last + 1)):
            decomposed = unicodedata.normalize("NFKD", character)
            if decomposed != character:
                rules.append(f"{hexadecimal(character)}\t{hexadecimal(decomposed)}")
    return "\n".join(rules) + "\n"


def training_text(data_dir):
    with open(data_dir / "train.jsonl", encoding="utf-8") as lines:
        for line in lines:
            name = json.loads(line)
            yield name["text"]
            yield name["target"]


def train(data_dir):
    """The serialised model."""
    model = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        rules = pathlib.Path(folder) / "rules.tsv"
        rules.write_text(decomposition_rules(), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=training_text(data_dir), model_writer=model, model_type="unigram",
            vocab_size=1500, hard_vocab_limit=False, max_sentencepiece_length=1,
            character_coverage=1.0, byte_fallback=True, normalization_rule_tsv=str(rules),
            pad_id=0, eos_id=1, unk_id=2, bos_id=-1, num_threads=1, minloglevel=2)
    return without_paths(model.getvalue())


def without_paths(serialised):
    """The model names the temporary rule file; only the compiled rules are read."""
    from sentencepiece import sentencepiece_model_pb2
    model = sentencepiece_model_pb2.ModelProto.FromString(serialised)
    model.normalizer_spec.ClearField("normalization_rule_tsv")
    return model.SerializeToString()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data_dir", type=pathlib.Path)
    parser.add_argument("model_file", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.model_file.write_bytes(train(arguments.data_dir))
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(arguments.model_file))
    print(f"{arguments.model_file}: {tokenizer.vocab_size()} pieces, "
          f"{arguments.model_file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
