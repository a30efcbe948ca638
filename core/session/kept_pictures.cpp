#include "core/session/kept_pictures.h"

#include <algorithm>
#include <string_view>

namespace stormcell {
namespace {

/// Multiples of the golden ratio, modulo 1: the first items, however many, are spread evenly over all.
uint64_t rank_of(int64_t item) { return static_cast<uint64_t>(item) * 0x9E3779B97F4A7C15U; }

/// FNV-1a, a byte at a time.
void mix(uint64_t& hash, uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (value >> (8 * byte) & 0xff)) * 0x100000001B3U;
}

const SpaceRecord* find_space(const std::vector<SpaceRecord>& spaces, int32_t space) {
  const auto at = std::find_if(spaces.begin(), spaces.end(), [&](const SpaceRecord& s) { return s.space == space; });
  return at == spaces.end() ? nullptr : &*at;
}

}  // namespace

int64_t KeptPictures::drop_one() {
  const uint64_t key = std::get<2>(*sizes_.rbegin());
  sizes_.erase(std::prev(sizes_.end()));
  const auto group = groups_.find(key);
  const auto last = std::prev(group->second.end());
  const Picture gone = last->second;
  group->second.erase(last);
  if (group->second.empty())
    groups_.erase(group);
  else
    sizes_.insert(size_of(key, group->second));
  bytes_ -= gone.bytes;
  items_.erase(gone.item);
  return gone.item;
}

std::vector<int64_t> KeptPictures::add(int64_t item, uint64_t group, int64_t bytes) {
  Group& of = groups_[group];
  if (!of.empty()) sizes_.erase(size_of(group, of));
  of.emplace(rank_of(item), Picture{item, bytes});
  sizes_.insert(size_of(group, of));
  bytes_ += bytes;
  items_.insert(item);
  std::vector<int64_t> gone;
  while (std::ssize(items_) > most_ || bytes_ > most_bytes_) gone.push_back(drop_one());
  return gone;
}

std::vector<uint64_t> picture_groups(const BatchRecord& batch, const RunLayout& layout) {
  std::vector<SpaceRecord> spaces;
  size_t sequences = 0;
  for (size_t i = 0; i < batch.spaces(); ++i) {
    spaces.push_back(batch.space(i));
    sequences = std::max(sequences, static_cast<size_t>(spaces.back().cells.sequences));
  }
  std::vector<uint64_t> groups(sequences, 0xCBF29CE484222325U);
  for (size_t s = 0; s < std::min(sequences, batch.sequences()); ++s)
    for (const char c : batch.label(s)) mix(groups[s], static_cast<uint8_t>(c));
  std::vector<bool> got;
  for (size_t i = 0; i < batch.decisions(); ++i) {
    const DecisionRecord d = batch.decision(i);
    const RouterInfo& router = layout.routers[d.router];
    const SpaceRecord* space = find_space(spaces, router.space);
    if (!space || space->cells.per_sequence == 0) continue;
    const auto branches = static_cast<size_t>(router.branches), fan_out = static_cast<size_t>(router.fan_out);
    got.assign(sequences * branches, false);
    for (size_t c = 0; c < d.choice.size(); ++c) {
      const size_t row = d.ancestor.empty() ? c / fan_out : static_cast<size_t>(d.ancestor[c / fan_out]);
      if (d.choice[c] >= 0) got[row / space->cells.per_sequence * branches + d.choice[c]] = true;
    }
    for (size_t b = 0; b < got.size(); ++b)
      if (got[b]) mix(groups[b / branches], static_cast<uint64_t>(d.router) << 32 | b % branches);
  }
  return groups;
}

std::vector<size_t> take_in(KeptPictures& kept, const BatchRecord& batch, const RunLayout& layout,
                            std::span<const int64_t> items, int64_t bytes) {
  const std::vector<uint64_t> groups = picture_groups(batch, layout);
  std::vector<size_t> changing;
  for (size_t i = 0; i < items.size(); ++i) {
    if (kept.has(items[i])) continue;
    const std::vector<int64_t> gone = kept.add(items[i], i < groups.size() ? groups[i] : 0, bytes);
    // A picture that must go may itself have replaced another one before.
    if (kept.has(items[i]) || gone.size() > 1) changing.push_back(i);
  }
  return changing;
}

}  // namespace stormcell
