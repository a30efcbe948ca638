#!/usr/bin/env python3
"""Makes tokenizers/: a small SentencePiece model, its tokenizer.json, and what both make of strings.

Run in the environment of resources/python-requirements.txt; takes no arguments. The vocabulary is
trained on the sentences below, so it is small and pieces are few; what is tested is normalisation,
white space, segmentation and unknown characters, which do not depend on its size.
"""
import io
import json
import pathlib
import tempfile
import unicodedata
import warnings

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from transformers import T5Tokenizer
from transformers.convert_slow_tokenizer import convert_slow_tokenizer

import fixture

PAD, EOS, UNK = 0, 1, 2
VOCABULARY = 520

SENTENCES = """
Rain fell on the roofs all night, and in the morning the street was a river of leaves.
She counted the boats in the harbour: seven white, two green and one that nobody had painted.
The train was late again; nobody on the platform seemed to mind, because the sun was out.
He wrote the letter twice, tore it up twice, and sent a photograph of the garden instead.
A small storm moved over the hills while the cells of the honeycomb filled with light.
If you open the window, the cat will sit on the sill and watch the birds in the tree.
The old clock in the hall strikes thirteen when the wind comes from the north.
They carried the table into the orchard and had breakfast under the apple trees.
Every morning the baker sets aside one loaf for the man who feeds the swans.
Das Wasser steigt langsam, aber die Brücke über den Fluss hält seit hundert Jahren.
Im Garten stehen drei Bäume, und unter dem größten schläft am Nachmittag der Hund.
Wer früh aufsteht, sieht die Füchse über die Wiese laufen und hört die Glocken.
Le marché ouvre à six heures, et déjà l'odeur du café monte jusqu'aux fenêtres.
Où est passée la clé de la cave ? Elle était hier encore à côté de l'échelle.
Les élèves ont dessiné une forêt où chaque arbre portait le nom d'une rivière.
La niña contó las estrellas hasta quedarse dormida en el jardín de su abuelo.
Mañana iremos al mercado a comprar naranjas, pan y un pequeño cuaderno azul.
Утром над рекой стоял туман, и лодки у берега казались совсем маленькими.
Старый мост скрипел, когда по нему проезжала телега с яблоками и хлебом.
Дети бежали по дороге к школе и считали вслух зелёные двери домов.
Το πλοίο έφυγε το πρωί και τα παιδιά κοίταζαν τη θάλασσα από το λιμάνι.
Στον κήπο υπάρχουν τρία δέντρα και μια μικρή πηγή με κρύο νερό.
Sáng nay trời mưa nhẹ, con đường ra chợ vắng người và thơm mùi lá ướt.
Bà tôi trồng một cây xoài trước nhà, mỗi mùa hè cây cho rất nhiều quả.
सुबह की धूप में बच्चे नदी के किनारे खेल रहे थे और नाव धीरे चल रही थी।
दादी ने आँगन में आम का पेड़ लगाया था, अब उस पर बहुत फल आते हैं।
هطل المطر طوال الليل وفي الصباح كانت الطريق إلى السوق هادئة.
زرعت جدتي شجرة كبيرة أمام البيت وكنا نجلس في ظلها كل مساء.
הספינה יצאה בבוקר מן הנמל והילדים הביטו אל הים מן החלון.
あさ、にわに とりが きて、ちいさな こえで うたった。
カメラとノートをもって、ふたりはバスにのった。
山の上に雪が残り、川の水は冷たく澄んでいた。
아침에 비가 그치고 아이들은 강가에서 작은 배를 띄웠다.
할머니는 마당에 나무를 심고 날마다 물을 주었다.
早上下了一场小雨,街道安静,市场里有新鲜的水果。
孩子们坐在河边数船,三只白的,两只绿的。
In 1987 there were 42 lamps on the quay; in 2024 only 3.5 % of them were still lit (12 of 340).
Prices: 1,250.00 for the boat, 75 for the oars & 9 for the rope -- all in all 1,334.00!
""".strip().split("\n")

# The kinds of rules that T5's table (nmt_nfkc) has, over few blocks, so that it stays small:
# compatibility forms, composition of marks, odd white space to a space, control characters away.
COMPATIBILITY_BLOCKS = [
    (0x00A0, 0x017F), (0x2010, 0x2033), (0x2070, 0x209F), (0x2100, 0x218F), (0x2460, 0x249B),
    (0x3300, 0x3357), (0xFB00, 0xFB06), (0xFE30, 0xFE4F), (0xFF01, 0xFFDC),
]
COMPOSED_BLOCKS = [(0x00C0, 0x017F), (0x0385, 0x03CE), (0x0400, 0x045E), (0x0929, 0x0934),
                   (0x1EA0, 0x1EF9), (0x304C, 0x30F4)]
JAMO_SYLLABLES = "아침에비가그치고강물을한국어"
TO_SPACE = [0x09, 0x0A, 0x0D, 0x1680, 0x200B, 0x2028, 0x2029, 0x3000, 0xFEFF]
TO_NOTHING = [*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F]

TEXTS = [
    # Nothing, white space, and where it stands.
    "", " ", "   ", "\t", "\n", "\r\n", " \t \n ", "the", " the", "the ", "  the   garden  ",
    "the\tgarden\nand\r\nthe cat", "\u00a0the\u00a0cat", "\u3000川\u3000水", "the\u200bcat",
    "the\u2028cat", "\ufeffthe cat", "▁the▁cat", "the ▁ cat", "▁", " ▁ ",
    # Sentences.
    "The cat sat on the sill.", "Rain fell on the roofs all night.", "Die Brücke über den Fluss",
    "Où est la clé ?", "mañana", "Старый мост", "Τα παιδιά κοίταζαν", "con đường ra chợ",
    "बच्चे नदी के किनारे", "كانت الطريق هادئة", "הספינה יצאה", "ちいさな こえで", "カメラとノート",
    "山の上に雪", "아침에 비가 그치고", "孩子们坐在河边", "THE CAT SAT", "thecatsatonthesill",
    # Numbers, punctuation, repetition.
    "1987", "3.14159", "1,334.00!", "a-b_c/d\\e", "...", "!!!???", "(12 of 340)", "\"quoted\"",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "the the the the the the", "x", "z" * 5,
    # Compatibility forms.
    "Ｔｈｅ　ｃａｔ", "ﬁsh and ﬂour", "½ of x² in ①", "ｶﾒﾗ ﾉｰﾄ", "№ 5 ™", "Ⅷ", "㌔ ㌘", "ﬃ",
    "１９８７", "‥…", "℃", "ﾊﾟﾝ",
    # Composition of marks.
    "cafe\u0301", "ma\u00f1ana man\u0303ana", "u\u0308ber", "e\u0301\u0300", "\u0301",
    "a\u0301\u0323", "и\u0306", "\u304b\u3099", "\u0928\u093c", "Tie\u0302\u0301ng Vie\u0323\u0302t",
    "\uff21\u0301", "\u1100\u1161\u11bc", "아침에", "q\u0301",
    # Not in the vocabulary.
    "😀", "the 😀 cat", "😀😁😂", "👨\u200d👩\u200d👧", "🇫🇷", "ჰ", "the ჰ", "ჰჱ ჰ", "ÿ", "\U00020000",
    "中文字符", "\u0e01\u0e02", "❤\ufe0f", "~", "\u2603 snow",
    # Control characters and names of control pieces.
    "the\u0007cat", "\u0001", "a\u0000b", "</s>", "the</s>cat", "<pad>", "<unk>", "<extra_id_0>",
    "the <extra_id_0> cat <extra_id_2>.", "<extra_id_7>", "<s>",
    # Long.
    " ".join(SENTENCES[:12]), "the garden " * 100, "a" * 600, "ჰ" * 300, "山" * 200, " " * 300,
]


def rules():
    """SentencePiece's rule table: source code points, tab, normalised code points."""
    table = {}
    for first, last in COMPATIBILITY_BLOCKS:
        for character in map(chr, range(first, last + 1)):
            normalised = unicodedata.normalize("NFKC", character)
            if normalised != character:
                table[character] = normalised
    for first, last in COMPOSED_BLOCKS:
        for character in map(chr, range(first, last + 1)):
            decomposed = unicodedata.normalize("NFD", character)
            composed = unicodedata.normalize("NFC", decomposed)
            if decomposed != composed:
                table[decomposed] = composed
    for syllable in JAMO_SYLLABLES:
        table[unicodedata.normalize("NFD", syllable)] = syllable
    table |= {chr(code): " " for code in TO_SPACE} | {chr(code): "" for code in TO_NOTHING}
    hexadecimal = lambda text: " ".join(f"{ord(character):X}" for character in text)
    return "".join(f"{hexadecimal(source)}\t{hexadecimal(table[source])}\n"
                   for source in sorted(table))


def train():
    model = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rules.tsv"
        path.write_text(rules(), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES), model_writer=model, model_type="unigram",
            vocab_size=VOCABULARY, character_coverage=0.98, normalization_rule_tsv=str(path),
            pad_id=PAD, eos_id=EOS, unk_id=UNK, bos_id=-1, num_threads=1, minloglevel=2)
    proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    proto.normalizer_spec.ClearField("normalization_rule_tsv")  # a path of this machine
    return proto.SerializeToString()


def converted(spiece):
    """As transformers converts a T5 vocabulary, with three of T5's extra tokens."""
    with warnings.catch_warnings(action="ignore"):
        return convert_slow_tokenizer(T5Tokenizer(str(spiece), extra_ids=3, legacy=True))


def with_white_space_split(tokenizer, spiece):
    """As the tokenizer.json of the published T5 and Switch models is: an older converter's layout."""
    proto = sentencepiece_model_pb2.ModelProto.FromString(spiece.read_bytes())
    tokenizer.normalizer = normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(),
         pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")])
    return tokenizer


def main():
    folder = fixture.clear("tokenizers")
    spiece = folder / "spiece.model"
    spiece.write_bytes(train())
    converted(spiece).save(str(folder / "tokenizer.json"))
    with_white_space_split(converted(spiece), spiece).save(
        str(folder / "tokenizer-white-space-split.json"))

    processor = sentencepiece.SentencePieceProcessor(model_file=str(spiece))
    by_json = Tokenizer.from_file(str(folder / "tokenizer.json"))
    by_split_json = Tokenizer.from_file(str(folder / "tokenizer-white-space-split.json"))
    cases = [{"text": text, "ids_spm": processor.encode(text) + [EOS],
              "ids_json": by_json.encode(text).ids,
              "ids_json_white_space_split": by_split_json.encode(text).ids} for text in TEXTS]
    lines = ",\n".join(json.dumps(case) for case in cases)
    (folder / "cases.json").write_text(f"[\n{lines}\n]\n")
    same = sum(case["ids_spm"] == case["ids_json"] for case in cases)
    print(f"tokenizers: {processor.vocab_size()} pieces, {len(cases)} strings, "
          f"{same} of them the same by spiece.model and tokenizer.json")


if __name__ == "__main__":
    main()
