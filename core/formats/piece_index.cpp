// Both tables probe one slot after another and are at most half full, so that a search ends after two on average.
#include "core/formats/piece_index.h"

#include <bit>
#include <functional>

namespace stormcell {
namespace {
size_t slots_for(size_t entries) { return std::bit_ceil(2 * entries + 2); }
}  // namespace

PieceIndex::PieceIndex(std::span<const Piece> pieces) : pieces_(pieces), slots_(slots_for(pieces.size()), -1) {
  int32_t id = -1;
  for (const Piece& piece : pieces) {
    ++id;
    if (piece.text.empty()) continue;
    size_t at = std::hash<std::string_view>()(piece.text) & (slots_.size() - 1);
    while (slots_[at] >= 0 && pieces[slots_[at]].text != piece.text) at = (at + 1) & (slots_.size() - 1);
    if (slots_[at] < 0)
      slots_[at] = id;
    else
      twice_ = piece.text;
  }
}

std::optional<int32_t> PieceIndex::find(std::string_view text) const {
  size_t at = std::hash<std::string_view>()(text) & (slots_.size() - 1);
  for (; slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1))
    if (pieces_[slots_[at]].text == text) return slots_[at];
  return {};
}

MergeTable::MergeTable(size_t merges) : slots_(slots_for(merges)) {}

size_t MergeTable::slot_of(int32_t left, int32_t right) const {
  // Multipliers of the finaliser of MurmurHash3.
  uint64_t hash = static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  hash = (hash ^ hash >> 33) * 0xFF51AFD7ED558CCDULL;
  hash = (hash ^ hash >> 33) * 0xC4CEB9FE1A85EC53ULL;
  size_t at = (hash ^ hash >> 33) & (slots_.size() - 1);
  while (slots_[at].left >= 0 && (slots_[at].left != left || slots_[at].right != right))
    at = (at + 1) & (slots_.size() - 1);
  return at;
}

void MergeTable::put(int32_t left, int32_t right, Merge merge) { slots_[slot_of(left, right)] = {left, right, merge}; }

std::optional<MergeTable::Merge> MergeTable::find(int32_t left, int32_t right) const {
  const Slot& slot = slots_[slot_of(left, right)];
  if (slot.left < 0) return {};
  return slot.merge;
}

}  // namespace stormcell
