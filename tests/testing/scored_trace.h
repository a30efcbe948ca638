// A native trace with the scores of its routers, so that the next best branch of each cell is known.
#pragma once
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/formats/safetensors_writer.h"

namespace stormcell::testing {

/// Two requests of three tokens, the second one first. Scores are planted; the two best of each cell are its choices.
/// Its routers are "first" and "second".
struct ScoredTrace {
  static constexpr int kLayers = 2, kBranches = 4, kCells = 6;
  /// Rows of the trace by request and position.
  static constexpr int kOrder[kCells] = {3, 4, 5, 0, 1, 2};
  std::vector<int32_t> request = {1, 1, 1, 0, 0, 0}, position = {0, 1, 2, 0, 1, 2}, phase = std::vector<int32_t>(6, 0);
  std::vector<std::vector<float>> scores = {{4, 3, 2, 1, 1, 4, 3, 2, 2, 1, 4, 3, 3, 2, 1, 4, 4, 1, 3, 2, 1, 2, 3, 4},
                                            {1, 2, 3, 4, 1, 2, 3, 4, 4, 3, 2, 1, 4, 3, 2, 1, 1, 3, 2, 4, 3, 1, 4, 2}};

  std::vector<int32_t> best(int layer, int cell, size_t k, const std::set<int32_t>& off = {}) const {
    std::vector<int32_t> order;
    for (int32_t b = 0; b < kBranches; ++b)
      if (!off.contains(b)) order.push_back(b);
    std::sort(order.begin(), order.end(),
              [&](int32_t a, int32_t b) { return score(layer, cell, a) > score(layer, cell, b); });
    order.resize(k);
    return order;
  }
  /// [branches]: choices of all cells.
  std::vector<int64_t> loads(int layer, size_t k, const std::set<int32_t>& off = {}) const {
    std::vector<int64_t> loads(kBranches, 0);
    for (int c = 0; c < kCells; ++c)
      for (const int32_t b : best(layer, c, k, off)) ++loads[static_cast<size_t>(b)];
    return loads;
  }
  float score(int layer, int cell, int32_t branch) const {
    return scores[static_cast<size_t>(layer)][static_cast<size_t>(cell * kBranches + branch)];
  }
  std::string write(const std::string& path, bool with_scores) const {
    std::vector<std::vector<int32_t>> indices(kLayers);
    std::vector<std::vector<float>> weights(kLayers);
    for (int l = 0; l < kLayers; ++l)
      for (int c = 0; c < kCells; ++c)
        for (const int32_t b : best(l, c, 2)) {
          indices[static_cast<size_t>(l)].push_back(b);
          weights[static_cast<size_t>(l)].push_back(score(l, c, b) / 8);
        }
    std::vector<TensorToWrite> tensors = {{"cell.request", DType::i32, {kCells}, request.data()},
                                          {"cell.position", DType::i32, {kCells}, position.data()},
                                          {"cell.phase", DType::i32, {kCells}, phase.data()}};
    for (size_t l = 0; l < kLayers; ++l) {
      const std::string layer = "layer." + std::to_string(l);
      tensors.push_back({layer + ".indices", DType::i32, {kCells, 2}, indices[l].data()});
      tensors.push_back({layer + ".weights", DType::f32, {kCells, 2}, weights[l].data()});
      if (with_scores) tensors.push_back({layer + ".scores", DType::f32, {kCells, kBranches}, scores[l].data()});
    }
    write_safetensors(path, tensors,
                      {{"model", "scored"},
                       {"layers", "2"},
                       {"branches", "4"},
                       {"k", "2"},
                       {"layer.0.router", "first"},
                       {"layer.1.router", "second"}});
    return path;
  }
};

}  // namespace stormcell::testing
