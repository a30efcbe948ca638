#!/usr/bin/env python3
"""Makes byte-pairs/: a tokenizer as Mixtral's, in the three forms in which it is published.

Run in the environment of resources/python-requirements.txt; takes no arguments. tokenizer.model is a
SentencePiece model of the kind BPE with byte fallback and a begin token; prepend.json is what older
converters made of such a model, metaspace.json what newer ones make. `cases.json` has the ids of the
`sentencepiece` and `tokenizers` libraries for the strings of make_tokenizer.py.
"""
import io
import json

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import fixture
from make_tokenizer import SENTENCES, TEXTS

UNK, BOS, EOS = 0, 1, 2
VOCABULARY = 1000
MORE_TEXTS = ["<s>the cat", "the</s> cat", "the <unk> cat", "<0x41>", "  two  spaces  ", "hello  world", "café 😀", "a\tb\r\nc",
              "the garden\u2581the", "\u2581\u2581a", "zzzzzz the zzzz", "1234567890", "Ｗｉｄｅ", "x" * 200, "the cat " * 20]


def train():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_writer=model, model_type="bpe", vocab_size=VOCABULARY, character_coverage=0.98,
        byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True,
        allow_whitespace_only_pieces=True, unk_id=UNK, bos_id=BOS, eos_id=EOS, pad_id=-1, num_threads=1, minloglevel=2)
    return model.getvalue()


def merges_of(pieces):
    """All pairs of pieces that make a piece, in the order of the pieces' scores: what converters do."""
    vocabulary = {piece.piece: i for i, piece in enumerate(pieces)}
    merges = []
    for piece in pieces:
        splits = [(piece.piece[:i], piece.piece[i:]) for i in range(1, len(piece.piece))]
        known = [(left, right) for left, right in splits if left in vocabulary and right in vocabulary]
        known.sort(key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
        merges += [(piece.score, left, right) for left, right in known]
    merges.sort(key=lambda merge: (-merge[0], -len(merge[1]), -len(merge[2])))
    return [(left, right) for _, left, right in merges]


def converted(proto, prepend):
    """`prepend`: by a normalizer, as older files do; else by Metaspace."""
    vocabulary = {piece.piece: i for i, piece in enumerate(proto.pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges_of(proto.pieces), unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if prepend:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.add_special_tokens([AddedToken(piece, normalized=False, special=True) for piece in ("<unk>", "<s>", "</s>")])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s>:0 $A:0", pair="<s>:0 $A:0 <s>:1 $B:1", special_tokens=[("<s>", BOS)])
    return tokenizer


def main():
    folder = fixture.clear("byte-pairs")
    model = train()
    (folder / "tokenizer.model").write_bytes(model)
    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    by_prepend, by_metaspace = converted(proto, True), converted(proto, False)
    for tokenizer, name in ((by_prepend, "prepend.json"), (by_metaspace, "metaspace.json")):
        (folder / name).write_text(tokenizer.to_str(), encoding="utf-8")
    cases = [{"text": text, "model": [BOS] + processor.encode(text), "prepend": by_prepend.encode(text).ids,
              "metaspace": by_metaspace.encode(text).ids} for text in TEXTS + MORE_TEXTS if len(text) <= 200]
    lines = ",\n".join(json.dumps(case) for case in cases)
    (folder / "cases.json").write_text(f"[\n{lines}\n]\n")
    same = sum(case["model"] == case["prepend"] == case["metaspace"] for case in cases)
    print(f"byte-pairs: {processor.vocab_size()} pieces, {len(cases)} strings, {same} of them the same by all three")


if __name__ == "__main__":
    main()
