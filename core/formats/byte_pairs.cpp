#include "core/formats/byte_pairs.h"

#include <algorithm>
#include <cstdio>
#include <queue>

#include "core/formats/unicode.h"

namespace stormcell {
BytePairs::BytePairs(std::span<const Piece> pieces, const BytePairRules& rules)
    : pieces_(pieces),
      ids_(pieces),
      merges_(rules.merges.size()),
      unknown_(rules.unknown),
      fuse_unknown_(rules.fuse_unknown),
      byte_fallback_(rules.byte_fallback),
      whole_words_(rules.whole_words) {
  // A pair that occurs twice in the list has its later rank, as in the reference.
  int32_t rank = 0;
  for (const PiecePair& pair : rules.merges) merges_.put(pair.left, pair.right, {rank++, pair.joined});
  if (rules.by_score) rank_by_score();
}

/// Equal scores have one rank, so that the left one of two is joined first.
void BytePairs::rank_by_score() {
  std::vector<int32_t> order;
  ranks_.assign(pieces_.size(), -1);
  int32_t id = 0;
  for (const Piece& piece : pieces_) {
    if (piece.type == PieceType::normal || piece.type == PieceType::user_defined) order.push_back(id);
    ++id;
  }
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return pieces_[a].score > pieces_[b].score; });
  int32_t rank = -1;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || pieces_[order[i]].score != pieces_[order[i - 1]].score) ++rank;
    ranks_[order[i]] = rank;
  }
}

std::optional<int32_t> BytePairs::find(std::string_view piece) const { return ids_.find(piece); }

std::optional<BytePairs::Merge> BytePairs::merge_of(int32_t left, int32_t right) const {
  if (ranks_.empty()) return merges_.find(left, right);
  const std::optional<int32_t> joined = ids_.find(pieces_[left].text + pieces_[right].text);
  if (!joined || ranks_[*joined] < 0) return {};
  return Merge{ranks_[*joined], *joined};
}

bool BytePairs::add_bytes(std::string_view character, std::vector<Symbol>& symbols) const {
  std::vector<Symbol> bytes;
  for (const char c : character) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(static_cast<unsigned char>(c)));
    const std::optional<int32_t> id = find(name);
    if (!id) return false;
    bytes.push_back({*id, -1, -1});
  }
  symbols.insert(symbols.end(), bytes.begin(), bytes.end());
  return true;
}

/// Makes one symbol of each character; false if a character has none.
bool BytePairs::start(std::string_view word, std::vector<Symbol>& symbols) const {
  bool after_unknown = false;
  while (!word.empty()) {
    const std::string_view character = word.substr(0, first_character(word).size);
    word.remove_prefix(character.size());
    if (const std::optional<int32_t> id = find(character)) {
      symbols.push_back({*id, -1, -1});
    } else if (byte_fallback_ && add_bytes(character, symbols)) {
    } else if (!unknown_) {
      return false;
    } else {
      if (!(after_unknown && fuse_unknown_)) symbols.push_back({*unknown_, -1, -1});
      after_unknown = true;
      continue;
    }
    after_unknown = false;
  }
  for (size_t i = 0; i < symbols.size(); ++i) {
    symbols[i].before = static_cast<int32_t>(i) - 1;
    symbols[i].behind = i + 1 < symbols.size() ? static_cast<int32_t>(i) + 1 : -1;
  }
  return true;
}

/// Orders pairs by rank, the lowest first; equal ranks from left to right.
void BytePairs::join(std::vector<Symbol>& symbols) const {
  struct Candidate {
    int32_t rank, at, joined;
    bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  std::priority_queue<Candidate> queue;
  const auto consider = [&](int32_t at) {
    if (at < 0 || symbols[at].behind < 0) return;
    const Symbol& left = symbols[at];
    if (const std::optional<Merge> merge = merge_of(left.id, symbols[left.behind].id))
      queue.push({merge->rank, at, merge->joined});
  };
  for (size_t i = 0; i < symbols.size(); ++i) consider(static_cast<int32_t>(i));
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[best.at];
    if (left.id < 0 || left.behind < 0) continue;
    Symbol& right = symbols[left.behind];
    const std::optional<Merge> merge = merge_of(left.id, right.id);
    if (!merge || merge->joined != best.joined) continue;  // one of the two pieces was already joined
    left.id = best.joined;
    left.behind = right.behind;
    right.id = -1;
    if (left.behind >= 0) symbols[left.behind].before = best.at;
    consider(left.before);
    consider(best.at);
  }
}

bool BytePairs::encode(std::string_view word, std::vector<int32_t>& ids) const {
  if (whole_words_)
    if (const std::optional<int32_t> id = find(word)) {
      ids.push_back(*id);
      return true;
    }
  std::vector<Symbol> symbols;
  if (!start(word, symbols)) return false;
  join(symbols);
  for (const Symbol& symbol : symbols)
    if (symbol.id >= 0) ids.push_back(symbol.id);
  return true;
}

}  // namespace stormcell
