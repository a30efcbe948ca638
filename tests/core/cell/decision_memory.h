// A decision with memory of its own, and what must hold for every decision.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/cell/protocol.h"

namespace stormcell::testing {

class Decision {
 public:
  explicit Decision(const DecisionShape& shape) : memory_(decision_bytes(shape) + 64, std::byte{0x5a}) {
    auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(memory_.data()) + 63) / 64 * 64);
    view_ = decision_view(aligned, shape);
  }
  Decision(int64_t cells, int32_t fan_out, int32_t branches) : Decision(DecisionShape{cells, fan_out, branches}) {}
  DecisionView& operator*() { return view_; }
  DecisionView* operator->() { return &view_; }
  std::vector<int32_t> choices(int64_t cells) const { return {view_.choice, view_.choice + cells * view_.fan_out}; }
  std::vector<float> weights(int64_t cells) const {
    return {view_.choice_weight, view_.choice_weight + cells * view_.fan_out};
  }
  std::vector<int32_t> loads() const {
    std::vector<int32_t> loads;
    for (int32_t b = 0; b < view_.branches; ++b) loads.push_back(view_.load(b));
    return loads;
  }
  std::vector<int32_t> cells_of(int32_t branch) const {
    return {view_.cell + view_.offsets[branch], view_.cell + view_.offsets[branch + 1]};
  }

 private:
  std::vector<std::byte> memory_;
  DecisionView view_;
};

/// The first choices, and weights from 1 up.
inline void set_choices(Decision& d, const std::vector<int32_t>& choices) {
  for (size_t i = 0; i < choices.size(); ++i) {
    d->choice[i] = choices[i];
    d->choice_weight[i] = 1 + static_cast<float>(i);
  }
}

/// Empty when every invariant of a decision holds, else the first that does not.
inline std::string broken_invariant(const DecisionView& d, int64_t cells) {
  if (*d.cells != cells) return "the number of cells";
  if (d.offsets[0] != 0) return "the first offset";
  int64_t kept = 0, dropped = 0, none = 0;
  for (int64_t c = 0; c < cells; ++c) {
    std::set<int32_t> branches;
    for (int32_t j = 0; j < d.fan_out; ++j) {
      const int64_t i = c * d.fan_out + j;
      const int32_t choice = d.choice[i];
      if (choice == kNoBranch) {
        ++none;
        if (d.slot[i] != -1) return "no branch, but a slot";
        continue;
      }
      const int32_t branch = branch_of(choice);
      if (branch < 0 || branch >= d.branches) return "a choice is not a branch";
      if (!branches.insert(branch).second) return "a cell has a branch twice";
      if (is_dropped(choice)) {
        ++dropped;
        if (d.slot[i] != -1) return "dropped, but a slot";
        continue;
      }
      ++kept;
      const int32_t slot = d.slot[i];
      if (slot < d.offsets[branch] || slot >= d.offsets[branch + 1]) return "a slot outside its branch";
      if (d.cell[slot] != c) return "a slot of another cell";
      const float w = d.weight[slot], v = d.choice_weight[i];
      if (w != v && !(w != w && v != v)) return "a slot with another weight";
    }
  }
  for (int32_t b = 0; b < d.branches; ++b) {
    if (d.offsets[b + 1] < d.offsets[b]) return "offsets descend";
    if (d.dropped(b) < 0) return "negative drops";
    dropped -= d.dropped(b);
    for (int32_t s = d.offsets[b] + 1; s < d.offsets[b + 1]; ++s)
      if (d.cell[s] <= d.cell[s - 1]) return "cells of a branch do not ascend";
  }
  if (dropped != 0) return "drops of branches and of cells differ";
  if (kept != d.offsets[d.branches]) return "loads do not sum to the hot count";
  int64_t wanted = 0;
  for (int32_t b = 0; b < d.branches; ++b) wanted += d.wanted[b];
  if (wanted + none != cells * d.fan_out) return "a choice is not accounted for";
  return {};
}

}  // namespace stormcell::testing
