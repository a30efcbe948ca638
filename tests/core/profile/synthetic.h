// Runs made up from a seed: layouts and batches with padding, drops, several branches a cell and a nested router.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "core/profile/record.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {

/// Two stacks over two spaces; the second one has a nested router that sees the cells of one branch: the others go past
/// it.
inline RunLayout two_stacks(int32_t branches = 8) {
  RunLayout layout;
  layout.spaces = {"encoder", "decoder"};
  layout.routers = {{"encoder.0.mlp", branches, 1, "switch-top1", 0, "encoder"},
                    {"encoder.1.mlp", branches, 1, "switch-top1", 0, "encoder"},
                    {"decoder.0.mlp", branches, 2, "top-k", 1, "decoder"},
                    {"decoder.0.mlp.inner", 3, 1, "top-k", 1, "decoder", 2, 1},
                    {"decoder.1.mlp", branches + 2, 2, "top-k", 1, "decoder"}};
  layout.steps = {{"encoder.0.scatter", "scatter", 0, -1, 0, 0},
                  {"encoder.0.expert", "grouped_product", 0, 3, 1e6, 2e5},
                  {"head", "product", -1, -1, 5e6, 1e6}};
  layout.edges = {{0, 1, {}}, {2, 3, {1}}, {2, 4, {0}}, {3, 4, {}}};
  for (int32_t b = 2; b < branches; ++b) layout.edges[2].branches.push_back(b);
  return layout;
}

struct BatchSize {
  int32_t sequences = 4, per_sequence = 12;
};

inline int32_t choose(std::mt19937& random, int32_t branches) {
  const uint32_t dice = random() % 16;
  // Low branches are favoured, so that loads differ.
  const auto branch = static_cast<int32_t>(
      std::min(random() % static_cast<uint32_t>(branches), random() % static_cast<uint32_t>(branches)));
  return dice == 0 ? dropped_from(branch) : dice == 1 ? kNoBranch : branch;
}

/// Batch `number` of the run of a seed: always the same.
inline void fill(const RunLayout& layout, int64_t number, const BatchSize& size, BatchRecord& out,
                 bool scores = false) {
  testing::Drawn<std::mt19937> random(static_cast<uint32_t>(number * 7919 + 17));
  out.number = number;
  out.latency_ms = 1 + static_cast<double>(number % 10);
  const int64_t cells = int64_t{size.sequences} * size.per_sequence;
  std::vector<int32_t> mask(static_cast<size_t>(cells)), tokens(static_cast<size_t>(cells)), choice, ancestor;
  std::vector<float> weight, score, margin;
  for (int32_t s = 0; s < static_cast<int32_t>(layout.spaces.size()); ++s) {
    for (int32_t q = 0; q < size.sequences; ++q) {
      const auto length = static_cast<int32_t>(1 + random() % static_cast<uint32_t>(size.per_sequence));
      for (int32_t p = 0; p < size.per_sequence; ++p) {
        const auto at = static_cast<size_t>(q * size.per_sequence + p);
        mask[at] = p < length;
        tokens[at] = p < length ? static_cast<int32_t>(random() % 50) : 0;
      }
    }
    out.add_space(s, {number * size.sequences, size.sequences, size.per_sequence, 0, Phase::forward}, mask, tokens);
  }
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    const RouterInfo& info = layout.routers[r];
    ancestor.clear();
    if (info.parent >= 0)
      for (int32_t row = 0; row < cells; ++row)
        if (random() % 3 == 0) ancestor.push_back(row);
    const size_t n = info.parent >= 0 ? ancestor.size() : static_cast<size_t>(cells),
                 k = static_cast<size_t>(info.fan_out);
    choice.resize(n * k);
    weight.resize(n * k);
    for (size_t c = 0; c < n; ++c)
      for (size_t j = 0; j < k; ++j) {
        int32_t branch;
        do {
          branch = choose(random, info.branches);
        } while (j > 0 && branch == choice[c * k]);
        choice[c * k + j] = branch;
        weight[c * k + j] = static_cast<float>(random() % 1000) / 1000;
      }
    score.assign(scores ? n * static_cast<size_t>(info.branches) : 0, 0.25f * static_cast<float>(r));
    margin.assign(scores ? n : 0, 0.5f);
    DecisionRecord d;
    d.router = static_cast<int32_t>(r);
    d.choice = choice;
    d.weight = weight;
    d.ancestor = ancestor;
    d.scores = score;
    d.margin = margin;
    out.add_decision(d);
  }
  uint64_t time = 1000000 + static_cast<uint64_t>(number) * 5000000;
  for (uint32_t s = 0; s < layout.steps.size(); ++s, time += 700)
    out.events.push_back({time, time + 650 + s, s, static_cast<uint16_t>(s % 2)});
  out.guards.push_back({0, 3, number % 7 == 0 ? 1 : 0});
  static const char* const kLabels[] = {"", "de", "fr", "el"};
  for (int32_t q = 0; q < size.sequences; ++q)
    out.add_sequence(kLabels[random() % 4], "text " + std::to_string(number * size.sequences + q));
}

}  // namespace stormcell::testing
