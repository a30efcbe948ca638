#include "core/profile/record.h"

#include <algorithm>
#include <utility>

namespace stormcell {
namespace {
template <class T>
std::span<const T> slice(const std::vector<T>& all, size_t begin, size_t count) {
  return {all.data() + begin, count};
}
}  // namespace

/// Behind what is kept of its kind.
template <class T>
BatchRecord::Part BatchRecord::keep(std::vector<T>& kept, std::span<const T> values) {
  const Part part{kept.size(), values.size()};
  kept.insert(kept.end(), values.begin(), values.end());
  return part;
}

DecisionRecord record_of(int32_t router, const DecisionView& d) {
  const auto choices = static_cast<size_t>(*d.cells) * static_cast<size_t>(d.fan_out);
  DecisionRecord r;
  r.router = router;
  r.choice = {d.choice, choices};
  r.weight = {d.choice_weight, choices};
  r.padded = {d.padded, static_cast<size_t>(d.branches)};
  return r;
}

void BatchRecord::clear() {
  number = 0;
  latency_ms = 0;
  part = kNoPart;
  server_step = -1;
  rank = -1;
  events.clear();
  guards.clear();
  items_.clear();
  spaces_.clear();
  decisions_.clear();
  loads_.clear();
  sequences_.clear();
  thumbnails_.clear();
  ints_.clear();
  floats_.clear();
  bits_.clear();
  longs_.clear();
  chars_.clear();
}

void BatchRecord::set_items(std::span<const int64_t> items) { items_.assign(items.begin(), items.end()); }

void BatchRecord::add_space(int32_t space, const CellTable& cells, std::span<const int32_t> mask,
                            std::span<const int32_t> tokens) {
  const Part bits{bits_.size(), mask.size()};
  bits_.resize(bits.begin + mask.size());
  for (size_t i = 0; i < mask.size(); ++i) bits_[bits.begin + i] = mask[i] != 0;
  spaces_.push_back({space, cells, bits, keep(ints_, tokens), {}});
  CellTable& kept = spaces_.back().cells;
  kept.items = {}, kept.starts = {};  // the caller's memory
  if (cells.starts.empty()) return;
  const auto [least, most] = std::minmax_element(cells.starts.begin(), cells.starts.end());
  kept.step = *least;
  if (*least != *most) spaces_.back().starts = keep(ints_, cells.starts);
}

void BatchRecord::add_decision(const DecisionRecord& d) {
  decisions_.push_back({d.router, keep(ints_, d.choice), keep(ints_, d.padded), keep(ints_, d.ancestor),
                        keep(floats_, d.weight), keep(floats_, d.scores), keep(floats_, d.margin),
                        keep(bits_, d.residency), keep(longs_, d.bytes_read), d.score_columns});
}

void BatchRecord::add_loads(const LoadRecord& loads) { loads_.push_back({loads.router, keep(longs_, loads.load)}); }

LoadRecord BatchRecord::load_record(size_t i) const {
  return {loads_[i].router, slice(longs_, loads_[i].load.begin, loads_[i].load.count)};
}

void BatchRecord::add_sequence(std::string_view label, std::string_view text) {
  const Part first = keep(chars_, std::span<const char>(label));
  sequences_.push_back({first, keep(chars_, std::span<const char>(text))});
}

void BatchRecord::add_thumbnail(size_t sequence, Thumbnail thumbnail) {
  thumbnails_.push_back({sequence, std::move(thumbnail)});
}

SpaceRecord BatchRecord::space(size_t i) const {
  const Space& s = spaces_[i];
  CellTable cells = s.cells;
  cells.items = items_;
  cells.starts = slice(ints_, s.starts.begin, s.starts.count);
  return {s.space, cells, slice(bits_, s.mask.begin, s.mask.count), slice(ints_, s.tokens.begin, s.tokens.count)};
}

DecisionRecord BatchRecord::decision(size_t i) const {
  const Decision& d = decisions_[i];
  return {d.router,
          slice(ints_, d.choice.begin, d.choice.count),
          slice(floats_, d.weight.begin, d.weight.count),
          slice(ints_, d.padded.begin, d.padded.count),
          slice(ints_, d.ancestor.begin, d.ancestor.count),
          slice(floats_, d.scores.begin, d.scores.count),
          slice(floats_, d.margin.begin, d.margin.count),
          slice(bits_, d.residency.begin, d.residency.count),
          slice(longs_, d.bytes_read.begin, d.bytes_read.count),
          d.score_columns};
}

std::string_view BatchRecord::label(size_t i) const {
  return {chars_.data() + sequences_[i].label.begin, sequences_[i].label.count};
}
std::string_view BatchRecord::text(size_t i) const {
  return {chars_.data() + sequences_[i].text.begin, sequences_[i].text.count};
}

size_t BatchRecord::bytes() const {
  size_t pixels = 0;
  for (const SequenceThumbnail& t : thumbnails_) pixels += t.thumbnail.pixels.capacity();
  return pixels + events.capacity() * sizeof(StepEvent) + guards.capacity() * sizeof(GuardCount) +
         items_.capacity() * sizeof(int64_t) + spaces_.capacity() * sizeof(Space) +
         decisions_.capacity() * sizeof(Decision) + loads_.capacity() * sizeof(Loads) +
         sequences_.capacity() * sizeof(Sequence) + thumbnails_.capacity() * sizeof(SequenceThumbnail) +
         (ints_.capacity() + floats_.capacity()) * 4 + bits_.capacity() + longs_.capacity() * sizeof(int64_t) +
         chars_.capacity();
}

}  // namespace stormcell
