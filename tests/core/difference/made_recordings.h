// Recordings made up of logits: choices, weights and scores follow from them by a rule, as a router makes them. Faults
// are planted by changing the rule, or what is written.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/formats/safetensors_writer.h"

namespace stormcell::testing {

/// A router's rule from logits to choices and weights.
struct MadeRule {
  int32_t k = 2;
  bool sigmoid = false, renormalise = true, softmax_twice = false;
  double scale = 1;
  int32_t groups = 1, kept_groups = 1;  ///< choices stay within the best groups
  bool bias_chooses = false, bias_weighs = false;
  int32_t dropped_bits = 0;  ///< of f32 that the scores are rounded by
};

struct MadeChoice {
  std::vector<int32_t> ids;
  std::vector<float> weights, scores;
  float margin = 0;
};

inline float short_float(double value, int32_t dropped_bits) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  const uint32_t mask = (uint32_t{1} << dropped_bits) - 1;
  return std::bit_cast<float>((bits + (dropped_bits > 0 ? uint32_t{1} << (dropped_bits - 1) : 0)) & ~mask);
}

inline MadeChoice choose_by(const MadeRule& rule, const std::vector<double>& logits, const std::vector<double>& bias) {
  const auto n = static_cast<int32_t>(logits.size());
  std::vector<double> scores(logits.size()), keys;
  double sum = 0;
  for (int32_t i = 0; i < n; ++i) {
    scores[i] = rule.sigmoid ? 1 / (1 + std::exp(-logits[i])) : std::exp(logits[i]);
    sum += scores[i];
  }
  MadeChoice made;
  for (double& s : scores) {
    if (!rule.sigmoid) s /= sum;
    if (rule.dropped_bits > 0) s = static_cast<double>(short_float(s, rule.dropped_bits));
    made.scores.push_back(static_cast<float>(s));
  }
  keys = scores;
  if (rule.bias_chooses)
    for (int32_t i = 0; i < n; ++i) keys[i] += bias[i];
  if (rule.groups > 1) {
    const int32_t size = n / rule.groups;
    std::vector<std::pair<double, int32_t>> best;
    for (int32_t g = 0; g < rule.groups; ++g)
      best.emplace_back(-*std::max_element(keys.begin() + g * size, keys.begin() + (g + 1) * size), g);
    std::sort(best.begin(), best.end());
    for (int32_t at = rule.kept_groups; at < rule.groups; ++at)
      for (int32_t i = 0; i < size; ++i) keys[best[at].second * size + i] = -1e9;
  }
  std::vector<int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t x, int32_t y) { return keys[x] > keys[y]; });
  made.margin = static_cast<float>(keys[order[rule.k - 1]] - keys[order[rule.k]]);
  double total = 0;
  for (int32_t j = 0; j < rule.k; ++j) {
    made.ids.push_back(order[j]);
    double w = scores[order[j]] + (rule.bias_weighs ? bias[order[j]] : 0);
    if (rule.softmax_twice) w = std::exp(w);
    made.weights.push_back(static_cast<float>(w));
    total += w;
  }
  for (float& w : made.weights)
    w = static_cast<float>(static_cast<double>(w) / (rule.renormalise ? total : 1) * rule.scale);
  return made;
}

struct MadeSize {
  int32_t requests = 8, tokens = 40, layers = 6, branches = 16, seed = 1;
  bool ragged = false;  ///< request r has 3 r tokens fewer
  int32_t length(int32_t request) const { return ragged ? std::max(8, tokens - 3 * request) : tokens; }
};

/// Logits of cells, the same for the same size; `noise` is added afresh, and grows with the layer as in a model.
class MadeModel {
 public:
  MadeModel(const MadeSize& size, double noise = 0, uint32_t noise_seed = 7) : size_(size), noise_(noise) {
    noise_seed_ = noise_seed;
    std::mt19937 random(static_cast<uint32_t>(size.seed));
    std::normal_distribution<double> normal;
    for (int32_t l = 0; l < size.layers; ++l) {
      biases_.emplace_back();
      for (int32_t b = 0; b < size.branches; ++b) biases_.back().push_back(.05 * normal(random));
    }
  }
  const MadeSize& size() const { return size_; }
  const std::vector<double>& bias(int32_t layer) const { return biases_[layer]; }
  std::vector<double> logits(int32_t request, int32_t position, int32_t layer) const {
    std::mt19937 random(seed_of(size_.seed, request, position, layer));
    std::mt19937 extra(seed_of(static_cast<int32_t>(noise_seed_) + 1000, request, position, layer));
    std::normal_distribution<double> normal;
    std::vector<double> logits;
    for (int32_t b = 0; b < size_.branches; ++b)
      // Some branches are chosen more often, as in trained models.
      logits.push_back(1.2 * normal(random) + .3 * std::sin(b * 1.7 + layer));
    normal.reset();
    for (double& z : logits) z += noise_ * normal(extra) * (1 + .2 * layer);
    return logits;
  }

 private:
  static uint32_t seed_of(int32_t seed, int32_t request, int32_t position, int32_t layer) {
    std::seed_seq sequence{seed, request, position, layer};
    uint32_t out = 0;
    sequence.generate(&out, &out + 1);
    return out;
  }
  MadeSize size_;
  double noise_;
  uint32_t noise_seed_;
  std::vector<std::vector<double>> biases_;
};

/// Parts that a recorder keeps.
struct MadeParts {
  bool weights = true, margins = true, scores = false, tokens = false, real = false;
};

/// Cells in the order in which they are written; any of its numbers may be changed before that.
struct MadeRecording {
  struct Cell {
    int32_t request = 0, position = 0, phase = 0, token = 0, real = 1;
    std::vector<MadeChoice> layers;
  };
  std::vector<Cell> cells;
  int32_t branches = 16;
  std::string model = "made";
  std::vector<int32_t> layer_numbers;  ///< empty: not stated
  bool state_branches = true;
  std::vector<std::string> pieces;  ///< text of each token, written where tokens are; empty: none is known

  int32_t layers() const { return cells.empty() ? 0 : static_cast<int32_t>(cells[0].layers.size()); }

  std::string write(const std::string& path, const MadeParts& parts = {}) const {
    const auto n = static_cast<int64_t>(cells.size());
    std::vector<std::vector<int32_t>> ints;
    std::vector<std::vector<float>> floats;
    ints.reserve(6 + layers()), floats.reserve(3 * layers());
    std::vector<TensorToWrite> tensors;
    const auto column = [&](const char* name, auto value) {
      ints.emplace_back();
      for (const Cell& c : cells) ints.back().push_back(value(c));
      tensors.push_back({name, DType::i32, {n}, ints.back().data()});
    };
    column("cell.request", [](const Cell& c) { return c.request; });
    column("cell.position", [](const Cell& c) { return c.position; });
    column("cell.phase", [](const Cell& c) { return c.phase; });
    if (parts.tokens) column("cell.token", [](const Cell& c) { return c.token; });
    if (parts.real) column("cell.real", [](const Cell& c) { return c.real; });
    SafetensorsMetadata about = {{"model", model}, {"layers", std::to_string(layers())}};
    if (state_branches) about["branches"] = std::to_string(branches);
    for (int32_t l = 0; l < layers(); ++l) {
      const std::string name = "layer." + std::to_string(l);
      if (!layer_numbers.empty()) about[name + ".layer"] = std::to_string(layer_numbers[l]);
      int64_t k = 0, columns = 0;
      for (const Cell& c : cells) k = std::max<int64_t>(k, std::ssize(c.layers[l].ids));
      columns = std::ssize(cells[0].layers[l].scores);
      ints.emplace_back();
      std::vector<float> weights, margins, scores;
      for (const Cell& c : cells) {
        const MadeChoice& made = c.layers[l];
        for (int64_t j = 0; j < k; ++j) {
          ints.back().push_back(j < std::ssize(made.ids) ? made.ids[j] : -1);
          weights.push_back(j < std::ssize(made.weights) ? made.weights[j] : 0);
        }
        margins.push_back(made.margin);
        scores.insert(scores.end(), made.scores.begin(), made.scores.end());
      }
      tensors.push_back({name + ".indices", DType::i32, {n, k}, ints.back().data()});
      const auto put = [&](const char* part, std::vector<float> values, const std::vector<int64_t>& shape) {
        floats.push_back(std::move(values));
        tensors.push_back({name + part, DType::f32, shape, floats.back().data()});
      };
      if (parts.weights) put(".weights", std::move(weights), {n, k});
      if (parts.margins) put(".margins", std::move(margins), {n});
      if (parts.scores) put(".scores", std::move(scores), {n, columns});
    }
    std::vector<int32_t> piece_ids(pieces.size());
    std::vector<int64_t> piece_ends;
    std::string piece_text;
    std::iota(piece_ids.begin(), piece_ids.end(), 0);
    for (const std::string& piece : pieces) piece_ends.push_back(std::ssize(piece_text += piece));
    if (parts.tokens && !pieces.empty()) {
      tensors.push_back({"token.id", DType::i32, {std::ssize(pieces)}, piece_ids.data()});
      tensors.push_back({"token.end", DType::i64, {std::ssize(pieces)}, piece_ends.data()});
      tensors.push_back({"token.text", DType::u8, {std::ssize(piece_text)}, piece_text.data()});
    }
    write_safetensors(path, tensors, about);
    return path;
  }
};

using RuleOfLayer = std::function<MadeRule(int32_t layer)>;
inline MadeRecording record(const MadeModel& model, const RuleOfLayer& rule) {
  MadeRecording made;
  made.branches = model.size().branches;
  for (int32_t r = 0; r < model.size().requests; ++r)
    for (int32_t p = 0; p < model.size().length(r); ++p) {
      MadeRecording::Cell cell{r, p, p >= model.size().length(r) / 2, (r * 31 + p * 7) % 97, 1, {}};
      for (int32_t l = 0; l < model.size().layers; ++l)
        cell.layers.push_back(choose_by(rule(l), model.logits(r, p, l), model.bias(l)));
      made.cells.push_back(std::move(cell));
    }
  return made;
}
inline MadeRecording record(const MadeModel& model, const MadeRule& rule = {}) {
  return record(model, [&](int32_t) { return rule; });
}

}  // namespace stormcell::testing
