#include "core/formats/charsmap.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {
// A unit of the double array. A node's children are at (its base) ^ byte and carry the byte as label; if a rule ends in
// a node, the unit at its base holds the value, marked by bit 31.
constexpr uint32_t kValueBit = uint32_t{1} << 31, kNone = std::numeric_limits<uint32_t>::max();
uint32_t base_of(uint32_t index, uint32_t unit) { return index ^ ((unit >> 10) << ((unit & (uint32_t{1} << 9)) >> 6)); }
uint32_t label_of(uint32_t unit) { return unit & (kValueBit | 0xFF); }
bool ends_rule(uint32_t unit) { return (unit >> 8 & 1) != 0; }

constexpr std::string_view kGetRulesAgain = "get the tokenizer file again";
// The room for matches in the SentencePiece library; more would overrun it.
constexpr int kMaxRulesOnPath = 32;
// No rule of Unicode's NFKC gives more than 36 bytes; a limit keeps normalised text within a bounded multiple of the
// text.
constexpr size_t kMaxReplacement = 256;
}  // namespace

std::string CharsMap::without_rules() {
  std::string table(sizeof(uint32_t) + 256 * sizeof(uint32_t) + 1, '\0');
  const uint32_t size = 256 * sizeof(uint32_t);
  std::memcpy(table.data(), &size, sizeof size);
  // Labels that no byte reaches: unit i would be reached by byte i.
  for (uint32_t i = 0; i < 256; ++i) {
    const uint32_t unit = i == 0 ? 1 : 0;
    std::memcpy(table.data() + sizeof size + i * sizeof unit, &unit, sizeof unit);
  }
  return table;
}

CharsMap::CharsMap(std::string_view table, const std::string& where) {
  if (table.empty()) return;
  uint32_t trie_bytes = 0;
  if (table.size() > sizeof trie_bytes) std::memcpy(&trie_bytes, table.data(), sizeof trie_bytes);
  if (trie_bytes == 0 || trie_bytes % sizeof(uint32_t) != 0 || trie_bytes >= table.size() - sizeof trie_bytes)
    bad_input(where, "the table of its normalisation rules (precompiled_charsmap) is truncated or broken",
              kGetRulesAgain);
  units_.resize(trie_bytes / sizeof(uint32_t));
  std::memcpy(units_.data(), table.data() + sizeof trie_bytes, trie_bytes);
  replacements_ = table.substr(sizeof trie_bytes + trie_bytes);
  if (replacements_.back() != '\0' || find_invalid_utf8(replacements_) != std::string_view::npos)
    bad_input(where, "the replacements of its normalisation rules are not ended or not valid UTF-8", kGetRulesAgain);
  check_trie(where);
}

void CharsMap::check_trie(const std::string& where) const {
  const auto refuse = [&](const char* what) {
    bad_input(where, std::string("its normalisation rules (precompiled_charsmap): ") + what, kGetRulesAgain);
  };
  const size_t size = units_.size();
  // Depth first with an explicit stack; `rules` is the most rules on any path from a node down, kNone while its path is
  // open.
  constexpr int kUnseen = -1, kOpen = -2;
  std::vector<int> rules(size, kUnseen);
  struct Visit {
    uint32_t node;
    uint32_t byte;
  };
  std::vector<Visit> stack;
  const auto enter = [&](uint32_t node) {
    const uint32_t unit = units_[node], base = base_of(node, unit);
    if ((base | 0xFF) >= size && size % 256 == 0) refuse("a transition leads outside");
    if (size % 256 != 0) refuse("its size is not a multiple of a block");
    if (ends_rule(unit)) {
      const uint32_t value = units_[base] & ~kValueBit;
      if (!(units_[base] & kValueBit) || value >= replacements_.size()) refuse("a replacement is missing");
      if ((static_cast<unsigned char>(replacements_[value]) & 0xC0) == 0x80)
        refuse("a replacement begins inside a character");
      if (std::strlen(replacements_.data() + value) > kMaxReplacement) refuse("a replacement is longer than 256 bytes");
    }
    rules[node] = kOpen;
    stack.push_back({node, 0});
  };
  enter(0);
  if (ends_rule(units_[0])) refuse("a rule for no text at all");
  std::vector<int> deepest(1, 0);  // of the children seen so far, one a visit
  while (!stack.empty()) {
    Visit& visit = stack.back();
    if (visit.byte == 256) {
      const int total = deepest.back() + (ends_rule(units_[visit.node]) ? 1 : 0);
      if (total > kMaxRulesOnPath) refuse("more than 32 rules begin alike");
      rules[visit.node] = total;
      stack.pop_back();
      deepest.pop_back();
      if (!deepest.empty()) deepest.back() = std::max(deepest.back(), total);
      continue;
    }
    const uint32_t child = next(visit.node, static_cast<unsigned char>(visit.byte++));
    if (child == kNone) continue;
    if (rules[child] == kOpen) refuse("a path without end");
    if (rules[child] == kUnseen) {
      enter(child);
      deepest.push_back(0);
    } else {
      deepest.back() = std::max(deepest.back(), rules[child]);
    }
  }
}

uint32_t CharsMap::next(uint32_t node, unsigned char byte) const {
  const uint32_t child = base_of(node, units_[node]) ^ byte;
  return label_of(units_[child]) == byte ? child : kNone;
}

std::optional<std::string_view> CharsMap::shortest_match(std::string_view text) const {
  if (units_.empty()) return {};
  uint32_t node = 0;
  for (const char c : text) {
    node = next(node, static_cast<unsigned char>(c));
    if (node == kNone) return {};
    if (!ends_rule(units_[node])) continue;
    const uint32_t value = units_[base_of(node, units_[node])] & ~kValueBit;
    return std::string_view(replacements_.data() + value);  // ended by a zero, as checked
  }
  return {};
}

}  // namespace stormcell
