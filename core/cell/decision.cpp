#include "core/cell/decision.h"

#include <algorithm>
#include <cstring>

namespace stormcell {

size_t decision_bytes(const DecisionShape& shape) {
  MemoryParts<64> parts;
  lay_decision(parts, shape);
  return parts.bytes();
}
DecisionView decision_view(void* memory, const DecisionShape& shape) {
  MemoryParts<64> parts(memory);
  return lay_decision(parts, shape);
}

void index_decision(DecisionView& d, int64_t cells) {
  *d.cells = static_cast<int32_t>(cells);
  std::fill_n(d.wanted, d.branches, 0);
  std::fill_n(d.offsets, d.branches + 1, 0);
  const int64_t choices = cells * d.fan_out;
  for (int64_t i = 0; i < choices; ++i) {
    const int32_t choice = d.choice[i];
    if (is_kept(choice)) {
      ++d.offsets[choice + 1];
      ++d.wanted[choice];
    } else if (is_dropped(choice)) {
      ++d.wanted[branch_of(choice)];
    }
  }
  for (int32_t b = 0; b < d.branches; ++b) d.offsets[b + 1] += d.offsets[b];
  // A stable counting sort: the counters are the running positions.
  int32_t* next = d.counters();
  std::copy_n(d.offsets, d.branches, next);
  for (int64_t i = 0; i < choices; ++i) {
    const int32_t choice = d.choice[i];
    if (!is_kept(choice)) {
      d.slot[i] = -1;
      continue;
    }
    const int32_t slot = next[choice]++;
    d.slot[i] = slot;
    d.cell[slot] = static_cast<int32_t>(i / d.fan_out);
    d.weight[slot] = d.choice_weight[i];
  }
  for (int32_t b = 0; b < d.branches; ++b) d.padded[b] = d.load(b);
}

void dispatch(const DecisionView& d, const float* from, int64_t width, float* to) {
  for (int32_t s = 0; s < d.offsets[d.branches]; ++s) std::copy_n(from + d.cell[s] * width, width, to + s * width);
}

void combine(const DecisionView& d, int64_t cells, const float* from, int64_t width, bool weighted, float* to) {
  for (int64_t c = 0; c < cells; ++c) {
    float* out = to + c * width;
    std::fill_n(out, width, 0.0f);
    for (int32_t j = 0; j < d.fan_out; ++j) {
      const int64_t i = c * d.fan_out + j;
      if (d.slot[i] < 0) continue;
      const float w = weighted ? d.choice_weight[i] : 1.0f;
      const float* in = from + d.slot[i] * width;
      for (int64_t x = 0; x < width; ++x) out[x] += w * in[x];
    }
  }
}

}  // namespace stormcell
