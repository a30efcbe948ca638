#!/usr/bin/env python3
"""Makes core/formats/unicode_classes.cpp, unicode_parts.cpp, unicode_marks.cpp and unicode_lower.cpp: properties of characters.

Run in an environment with `tokenizers`; takes no arguments. The library itself is asked about every character, so
that the tables are those of its engine: categories by its expressions, words by a token with single_word, compositions
and small letters by its normalizers. Combining classes are Python's, left out where the library's normalizer does not
reorder the character.
"""
import pathlib
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[2] / "core" / "formats"
CODES = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
CLASSES = ["Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "P", "S"]  # 1, 2, ...; 0: another one
WORD = 16


def matched(expression):
    """The characters that an expression of one character matches."""
    split = pre_tokenizers.Split(Regex(expression), "removed", invert=True)
    return {ord(piece) for piece, _ in split.pre_tokenize_str("".join(map(chr, CODES)))}


def word_characters():
    """Those behind which a token with single_word is not found."""
    tokenizer = Tokenizer(models.BPE(vocab={}, merges=[]))
    tokenizer.add_tokens([AddedToken("[X]", single_word=True, normalized=False), AddedToken("\n", normalized=False)])
    words = set()
    rest = [code for code in CODES if code != 10]
    for begin in range(0, len(rest), 4096):
        part = rest[begin:begin + 4096]
        ids = tokenizer.encode("\n".join(chr(code) + "[X]" for code in part)).ids
        found = [0]
        for token in ids:
            if token == 1:
                found.append(0)
            else:
                found[-1] = 1
        words |= {code for code, is_found in zip(part, found) if not is_found}
    return words


def lines(items):
    text, row = "", "   "
    for item in items:
        if len(row) + len(item) + 2 > 118:
            text, row = text + row + "\n", "   "
        row += f" {item},"
    return text + row + "\n"


def write(name, comment, body):
    text = f"// {comment}\n// Made by tests/reference/make_unicode.py.\n{body}"
    (ROOT / name).write_text(text, encoding="utf-8")


def classes():
    of = {code: index for index, name in enumerate(CLASSES, 1) for code in matched("\\p{" + name + "}")}
    words = word_characters()
    runs, before = [], None
    for code in range(0x110000):
        value = of.get(code, 0) | (WORD if code in words else 0)
        if value != before:
            runs.append((code, value))
        before = value
    body = """#include <algorithm>
#include <iterator>

#include "core/formats/unicode.h"

namespace stormcell {
namespace {
// The first character of each run of alike characters, times 32, plus 16 if it may stand within a word, plus its class.
// clang-format off
constexpr uint32_t kClassRuns[] = {
""" + lines(f"0x{code << 5 | value:x}" for code, value in runs) + """};
// clang-format on

uint32_t run_of(char32_t code) {
  const uint32_t last_of_code = static_cast<uint32_t>(code) << 5 | 31;
  return *std::prev(std::upper_bound(std::begin(kClassRuns), std::end(kClassRuns), last_of_code));
}
}  // namespace

CharacterClass class_of(char32_t code) { return static_cast<CharacterClass>(run_of(code) & 15); }

bool is_word_character(char32_t code) { return (run_of(code) & 16) != 0; }

}  // namespace stormcell
"""
    write("unicode_classes.cpp", "Classes of characters, as the `tokenizers` library 0.23 knows them (Unicode 16).", body)
    print(len(runs), "runs of classes")


def forms():
    nfd, nfc = normalizers.NFD(), normalizers.NFC()
    rows, composites = [], 0
    for code in CODES:
        if 0xAC00 <= code < 0xD7A4 or nfd.normalize_str(chr(code)) == chr(code):
            continue
        parts = [int(part, 16) for part in unicodedata.decomposition(chr(code)).split()]
        assert parts and len(parts) <= 2, hex(code)
        composed = nfc.normalize_str(chr(code)) == chr(code)
        composites += composed
        more = f", 0x{parts[1]:x}, {int(composed)}" if len(parts) == 2 else ""
        rows.append(f"{{0x{code:x}, 0x{parts[0]:x}{more}}}")
    runs, before = [], 0
    for code in range(0x110000):
        rank = unicodedata.combining(chr(code))
        if rank > 1 and nfd.normalize_str("a" + chr(code) + "\u0334") != "a\u0334" + nfd.normalize_str(chr(code)):
            rank = 0
        if rank != before:
            runs.append(f"0x{code << 8 | rank:x}")
        before = rank
    head = '#include "core/formats/unicode_forms.h"\n\nnamespace stormcell {\nnamespace {\n// clang-format off\n'
    tail = "};\n// clang-format on\n}  // namespace\n\n"
    write("unicode_parts.cpp", "Canonical decompositions of characters.",
          head + "constexpr CharacterParts kCharacterParts[] = {\n" + lines(rows) + tail +
          "std::span<const CharacterParts> character_parts() { return kCharacterParts; }\n\n}  // namespace stormcell\n")
    write("unicode_marks.cpp", "Canonical combining classes of characters.",
          head + "constexpr uint32_t kCombiningRuns[] = {\n" + lines(["0x0"] + runs) + tail +
          "std::span<const uint32_t> combining_runs() { return kCombiningRuns; }\n\n}  // namespace stormcell\n")
    print(len(rows), "decompositions", composites, "composites", len(runs), "runs of classes")


def lower():
    small = normalizers.Lowercase()
    changed = []
    for code in CODES:
        text = small.normalize_str(chr(code))
        if text != chr(code) and len(text) == 1:
            changed.append((code, ord(text)))
        elif len(text) != 1:
            assert code == 0x130 and text == "i\u0307", hex(code)
    runs = []
    for code, to in changed:
        if runs and to - code == runs[-1][3] and code - runs[-1][1] in (1, 2) and runs[-1][2] in (0, code - runs[-1][1]):
            runs[-1][2] = code - runs[-1][1]
            runs[-1][1] = code
        else:
            runs.append([code, code, 0, to - code])
    body = """#include <algorithm>
#include <iterator>

#include "core/formats/unicode_forms.h"

namespace stormcell {
namespace {
// From `first` to `last`, each `step`-th character becomes the one `by` behind it.
struct SmallRun {
  uint32_t first, last, step;
  int32_t by;
};
// clang-format off
constexpr SmallRun kSmallRuns[] = {
""" + lines(f"{{0x{a:x}, 0x{b:x}, {max(step, 1)}, {by}}}" for a, b, step, by in runs) + """};
// clang-format on
}  // namespace

char32_t small_letter(char32_t code) {
  const SmallRun* run = std::upper_bound(std::begin(kSmallRuns), std::end(kSmallRuns), code,
                                         [](char32_t c, const SmallRun& r) { return c < r.first; });
  if (run == std::begin(kSmallRuns)) return code;
  --run;
  if (code > run->last || (code - run->first) % run->step != 0) return code;
  return static_cast<char32_t>(static_cast<int64_t>(code) + run->by);
}

}  // namespace stormcell
"""
    write("unicode_lower.cpp", "Small letters of characters. U+0130, which becomes two, is not among them.", body)
    print(len(runs), "runs of small letters")


classes()
forms()
lower()
