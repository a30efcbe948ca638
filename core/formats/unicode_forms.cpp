// The algorithms of Unicode's chapter 3.11: canonical ordering, composition, and the syllables of Hangul.
#include "core/formats/unicode_forms.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/formats/unicode.h"

namespace stormcell {
namespace {
// A syllable is composed of a leading consonant, a vowel, and perhaps a trailing consonant.
constexpr char32_t kSyllables = 0xAC00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11A7;
constexpr char32_t kLeadingCount = 19, kVowelCount = 21, kTrailingCount = 28,
                   kSyllableCount = kLeadingCount * kVowelCount * kTrailingCount;

/// Characters below have no parts that a composition would change, and do not combine.
constexpr char32_t kFirstOfInterest = 0xC0, kFirstThatComposes = 0x300;

bool all_below(std::string_view text, char32_t limit) {
  for (size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    if (c.code >= limit) return false;
    at += c.size;
  }
  return true;
}

uint32_t combining_class(char32_t code) {
  const std::span<const uint32_t> runs = combining_runs();
  const uint32_t last_of_code = static_cast<uint32_t>(code) << 8 | 255;
  return *std::prev(std::upper_bound(runs.begin(), runs.end(), last_of_code)) & 255;
}

const CharacterParts* parts_of(char32_t code) {
  const std::span<const CharacterParts> rows = character_parts();
  const auto row = std::lower_bound(rows.begin(), rows.end(), code,
                                    [](const CharacterParts& r, char32_t wanted) { return r.code < wanted; });
  return row == rows.end() || row->code != code ? nullptr : &*row;
}

/// The characters that are composed of two, in the order of the two.
const std::vector<CharacterParts>& by_parts() {
  static const std::vector<CharacterParts> rows = [] {
    std::vector<CharacterParts> found;
    for (const CharacterParts& row : character_parts())
      if (row.composes) found.push_back(row);
    std::sort(found.begin(), found.end(), [](const CharacterParts& a, const CharacterParts& b) {
      return a.first != b.first ? a.first < b.first : a.second < b.second;
    });
    return found;
  }();
  return rows;
}

/// 0: the two do not compose.
char32_t composite(char32_t first, char32_t second) {
  if (first >= kLeading && first < kLeading + kLeadingCount && second >= kVowels && second < kVowels + kVowelCount)
    return kSyllables + ((first - kLeading) * kVowelCount + (second - kVowels)) * kTrailingCount;
  if (first >= kSyllables && first < kSyllables + kSyllableCount && (first - kSyllables) % kTrailingCount == 0 &&
      second > kTrailing && second < kTrailing + kTrailingCount)
    return first + (second - kTrailing);
  const std::vector<CharacterParts>& rows = by_parts();
  const auto row =
      std::lower_bound(rows.begin(), rows.end(), std::pair(first, second),
                       [](const CharacterParts& r, const std::pair<char32_t, char32_t>& wanted) {
                         return r.first != wanted.first ? r.first < wanted.first : r.second < wanted.second;
                       });
  return row == rows.end() || row->first != first || row->second != second ? 0 : row->code;
}

void add_parts(char32_t code, std::vector<char32_t>& codes) {
  if (code >= kSyllables && code < kSyllables + kSyllableCount) {
    const char32_t index = code - kSyllables;
    codes.push_back(kLeading + index / (kVowelCount * kTrailingCount));
    codes.push_back(kVowels + index % (kVowelCount * kTrailingCount) / kTrailingCount);
    if (index % kTrailingCount != 0) codes.push_back(kTrailing + index % kTrailingCount);
    return;
  }
  const CharacterParts* parts = code < kFirstOfInterest ? nullptr : parts_of(code);
  if (!parts) {
    codes.push_back(code);
    return;
  }
  add_parts(parts->first, codes);
  if (parts->second != 0) codes.push_back(parts->second);
}

std::vector<char32_t> decomposed_codes(std::string_view text) {
  std::vector<char32_t> codes;
  codes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    add_parts(c.code, codes);
    at += c.size;
  }
  // Marks between two characters of class 0 are ordered by their class.
  for (size_t begin = 0; begin < codes.size();) {
    size_t end = begin;
    while (end < codes.size() && combining_class(codes[end]) != 0) ++end;
    std::stable_sort(codes.begin() + begin, codes.begin() + end,
                     [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    begin = std::max(end, begin + 1);
  }
  return codes;
}

/// A character joins the last one of class 0 unless another one between them blocks it.
void compose(std::vector<char32_t>& codes) {
  size_t kept = 0;
  constexpr size_t kNone = SIZE_MAX;
  size_t starter = kNone;
  uint32_t before = 0;  // class of the last character kept behind the starter
  for (const char32_t code : codes) {
    const uint32_t rank = combining_class(code);
    const bool blocked = starter == kNone || (kept > starter + 1 && before >= rank);
    if (const char32_t joined = blocked ? 0 : composite(codes[starter], code); joined != 0) {
      codes[starter] = joined;
      continue;
    }
    if (rank == 0) starter = kept;
    before = rank;
    codes[kept++] = code;
  }
  codes.resize(kept);
}

std::string text_of_codes(const std::vector<char32_t>& codes) {
  std::string text;
  text.reserve(codes.size() * 2);
  for (const char32_t code : codes) append_character(text, code);
  return text;
}
}  // namespace

std::string decomposed(std::string_view text) {
  return all_below(text, kFirstOfInterest) ? std::string(text) : text_of_codes(decomposed_codes(text));
}

std::string composed(std::string_view text) {
  if (all_below(text, kFirstThatComposes)) return std::string(text);
  std::vector<char32_t> codes = decomposed_codes(text);
  compose(codes);
  return text_of_codes(codes);
}

std::string small_letters(std::string_view text) {
  std::string small;
  small.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    // The capital I with a dot is the only character that becomes two.
    if (c.code == 0x130)
      small += "i\u0307";
    else
      append_character(small, small_letter(c.code));
    at += c.size;
  }
  return small;
}

}  // namespace stormcell
