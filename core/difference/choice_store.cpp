#include "core/difference/choice_store.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/cell/decision.h"
#include "core/cell/margins.h"

namespace stormcell {
namespace {

constexpr int64_t kChunkCells = 1024;

uint64_t mixed(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

CellSample::CellSample(double share)
    : all_(share >= 1), limit_(all_ ? 0 : static_cast<uint64_t>(std::max(share, 0.0) * 0x1p63)) {}

bool CellSample::holds(int64_t request, int32_t position) const {
  return all_ || mixed(mixed(static_cast<uint64_t>(request)) + static_cast<uint64_t>(position)) >> 1 < limit_;
}

ChoiceStore::ChoiceStore(const TraceHeader& header, const std::vector<RouterParts>& parts)
    : header_(header), routers_(header.routers.size()), stacks_(header.stacks.size()) {
  int32_t branches = 1;
  for (size_t r = 0; r < routers_.size(); ++r) {
    const TraceRouter& of = header.routers[r];
    Stack& stack = stacks_[of.stack];
    routers_[r] = {of.stack, stack.row, of.fan_out, parts[r].score_columns, stack.score_row, parts[r].weights, {}};
    stack.row += of.fan_out;
    stack.score_row += parts[r].score_columns;
    branches = std::max(branches, of.branches);
  }
  width_ = branches <= 253 ? 1 : branches <= 65533 ? 2 : 4;
  none_ = branches;
}

uint8_t* ChoiceStore::place(const Stack& stack, int64_t cell, int32_t offset) const {
  return stack.chunks[cell / kChunkCells].get() + (cell % kChunkCells * stack.row + offset) * width_;
}

int32_t ChoiceStore::value(const uint8_t* at) const {
  if (width_ == 1) return *at;
  if (width_ == 2) {
    uint16_t v;
    std::memcpy(&v, at, sizeof v);
    return v;
  }
  int32_t v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

void ChoiceStore::put(uint8_t* at, int32_t value) const {
  if (width_ == 1) {
    *at = static_cast<uint8_t>(value);
  } else if (width_ == 2) {
    const auto v = static_cast<uint16_t>(value);
    std::memcpy(at, &v, sizeof v);
  } else {
    std::memcpy(at, &value, sizeof value);
  }
}

int64_t ChoiceStore::add(int32_t stack, int64_t cells) {
  Stack& of = stacks_[stack];
  const int64_t first = of.cells;
  of.cells += cells;
  while (std::ssize(of.chunks) * kChunkCells < of.cells) {
    const int64_t ids = kChunkCells * of.row;
    of.chunks.push_back(std::make_unique<uint8_t[]>(ids * width_));
    for (int64_t i = 0; i < ids; ++i) put(of.chunks.back().get() + i * width_, none_ + 1);
  }
  return first;
}

void ChoiceStore::set(int32_t router, int64_t cell, std::span<const int32_t> choice) {
  const Router& r = routers_[router];
  uint8_t* at = place(stacks_[r.stack], cell, r.offset);
  for (int32_t j = 0; j < r.k; ++j, at += width_) {
    const int32_t branch = branch_of(choice[j]);
    put(at, branch >= 0 && branch < none_ ? branch : none_);
  }
}

void ChoiceStore::ids(int32_t router, int64_t cell, std::vector<int32_t>& out) const {
  const Router& r = routers_[router];
  const uint8_t* at = place(stacks_[r.stack], cell, r.offset);
  out.clear();
  for (int32_t j = 0; j < r.k; ++j, at += width_)
    if (const int32_t v = value(at); v < none_) out.push_back(v);
}

void ChoiceStore::keep_details(int32_t stack, int64_t cell, bool scores) {
  Stack& of = stacks_[stack];
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  if (of.kept.emplace(cell, std::ssize(of.kept)).second) of.weights.resize(of.kept.size() * of.row, kUnknown);
  if (!scores || of.score_row == 0) return;
  if (of.kept_scores.emplace(cell, std::ssize(of.kept_scores)).second)
    of.scores.resize(of.kept_scores.size() * of.score_row, kUnknown);
}

void ChoiceStore::set_details(int32_t router, int64_t cell, std::span<const float> weights,
                              std::span<const float> scores) {
  const Router& r = routers_[router];
  Stack& stack = stacks_[r.stack];
  if (const auto at = stack.kept.find(cell); at != stack.kept.end() && std::ssize(weights) == r.k)
    std::copy(weights.begin(), weights.end(), stack.weights.begin() + at->second * stack.row + r.offset);
  if (const auto at = stack.kept_scores.find(cell); at != stack.kept_scores.end() && std::ssize(scores) == r.columns)
    std::copy(scores.begin(), scores.end(), stack.scores.begin() + at->second * stack.score_row + r.score_offset);
}

void ChoiceStore::set_margin(int32_t router, int64_t cell, float margin) {
  constexpr uint16_t kUnknown = 0x7fc0;
  Router& r = routers_[router];
  if (std::ssize(r.margins) <= cell) r.margins.resize(stacks_[r.stack].cells, kUnknown);
  r.margins[cell] = static_cast<uint16_t>(std::bit_cast<uint32_t>(margin) >> 16);
}

float ChoiceStore::margin(int32_t router, int64_t cell) const {
  const std::vector<uint16_t>& margins = routers_[router].margins;
  if (cell >= std::ssize(margins)) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(static_cast<uint32_t>(margins[cell]) << 16);
}

std::vector<float> scores_of(const DecisionRecord& d, int64_t i, int32_t branches, std::span<const int32_t> wanted) {
  if (d.scores.empty() || (d.score_columns > 0 && d.score_columns != branches)) return {};
  std::vector<float> scores;
  for (const int32_t branch : wanted) {
    if (branch < 0 || branch >= branches) return {};  // only the other side has it
    scores.push_back(d.scores[i * branches + branch]);
  }
  return scores;
}

std::span<const float> ChoiceStore::weights(int32_t router, int64_t cell) const {
  const Router& r = routers_[router];
  const Stack& stack = stacks_[r.stack];
  const auto at = stack.kept.find(cell);
  if (at == stack.kept.end() || !r.weights) return {};
  const std::span<const float> all = std::span(stack.weights).subspan(at->second * stack.row + r.offset, r.k);
  return std::isnan(all[0]) ? std::span<const float>() : all;
}

std::span<const float> ChoiceStore::scores(int32_t router, int64_t cell) const {
  const Router& r = routers_[router];
  const Stack& stack = stacks_[r.stack];
  const auto at = stack.kept_scores.find(cell);
  if (at == stack.kept_scores.end() || r.columns == 0) return {};
  const std::span<const float> all =
      std::span(stack.scores).subspan(at->second * stack.score_row + r.score_offset, r.columns);
  return std::isnan(all[0]) ? std::span<const float>() : all;
}

int64_t ChoiceStore::bytes() const {
  int64_t sum = 0;
  for (const Stack& s : stacks_)
    sum += std::ssize(s.chunks) * kChunkCells * s.row * width_ +
           static_cast<int64_t>((s.weights.capacity() + s.scores.capacity()) * sizeof(float));
  return sum;
}

void ChoiceReader::batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) {
  for (const TraceCells& table : cells) {
    const int64_t first = store_.add(table.stack, table.cells.cells());
    for (int64_t row = 0; row < table.cells.cells(); ++row) {
      const int64_t request = table.cells.sequence(row / table.cells.per_sequence);
      const int32_t position = table.cells.position(row);
      if (details_.holds(request, position))
        store_.keep_details(table.stack, first + row, scores_.holds(request, position));
    }
    for (const DecisionRecord& d : decisions) {
      const TraceRouter& router = store_.router(d.router);
      if (router.stack != table.stack || d.choice.empty()) continue;
      const auto k = static_cast<size_t>(router.fan_out);
      const auto columns = static_cast<size_t>(d.score_columns > 0 ? d.score_columns : router.branches);
      for (size_t i = 0; i < d.choice.size() / k; ++i) {
        const int64_t cell = first + row_of_cell(d, static_cast<int64_t>(i));
        store_.set(d.router, cell, d.choice.subspan(i * k, k));
        if (margins_ == KeepMargins::yes)
          store_.set_margin(d.router, cell,
                            margin_of_cell(d, static_cast<int64_t>(i), router.branches, router.fan_out));
        if (d.weight.empty() && d.scores.empty()) continue;
        store_.set_details(d.router, cell, d.weight.empty() ? d.weight : d.weight.subspan(i * k, k),
                           d.scores.empty() ? d.scores : d.scores.subspan(i * columns, columns));
      }
    }
  }
}

}  // namespace stormcell
