#include "tests/gpu/device_check/data.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "core/cell/protocol_row.h"
#include "core/cell/route.h"
#include "gpu/base/number.h"
#include "tests/gpu/exact_activation.h"

namespace stormcell::device_check {

std::vector<float> make_scores(int64_t cells, int32_t branches, Load load, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> share(static_cast<size_t>(branches), 0.0f);
  if (load == Load::zipf) {
    for (int32_t b = 0; b < branches; ++b) share[static_cast<size_t>(b)] = -std::log(1.0f + static_cast<float>(b));
    std::shuffle(share.begin(), share.end(), random);
  }
  std::vector<float> scores(static_cast<size_t>(cells * branches));
  std::uniform_real_distribution<float> uniform(1e-6f, 1 - 1e-6f);
  // With Gumbel noise the largest score falls on a branch as often as exp(share) says.
  for (size_t i = 0; i < scores.size(); ++i)
    scores[i] = share[i % static_cast<size_t>(branches)] - std::log(-std::log(uniform(random)));
  return scores;
}

HostDecision make_decision(const DecisionShape& shape) {
  HostDecision d;
  d.memory.resize(decision_bytes(shape) + 64);
  d.view = decision_view(reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(d.memory.data()) + 63) / 64 * 64), shape);
  return d;
}

HostDecision decide(const std::vector<float>& scores, int64_t cells, int32_t branches, const Protocol& protocol,
                    const ParentMap& parents, const std::vector<float>& bias) {
  HostDecision d = make_decision({cells, fan_out_of(protocol, branches), branches});
  ScoreView view{scores.data(), cells, branches};
  view.parents = parents;
  view.bias = bias.empty() ? nullptr : bias.data();
  route(view, protocol, d.view);
  return d;
}

CardDecision::CardDecision(int64_t cells, int32_t fan_out, int32_t branches)
    : memory(static_cast<int64_t>(decision_bytes({cells, fan_out, branches}))),
      view(decision_view(memory.as<void>(), {cells, fan_out, branches})) {}

std::string DecisionDifference::note() const {
  std::string text = other;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (flips > explained) add(std::to_string(flips - explained) + " cells chose otherwise");
  if (explained > 0) add(std::to_string(explained) + " explained flips");
  return text;
}

DecisionDifference decision_difference(const DecisionView& want, const DecisionView& card, int64_t cells,
                                       bool by_exponential) {
  constexpr float kRounding = 1e-5f;
  const int32_t k = want.fan_out, branches = want.branches;
  const int64_t choices = cells * k;
  // The index that core makes of the card's choices.
  HostDecision index = make_decision({cells, k, branches});
  const DecisionView& mine = index.view;
  const auto choice = from_card(card.choice, choices);
  const auto choice_weight = from_card(card.choice_weight, choices), margin = from_card(card.margin, cells);
  std::copy(choice.begin(), choice.end(), mine.choice);
  std::copy(choice_weight.begin(), choice_weight.end(), mine.choice_weight);

  DecisionDifference d;
  const auto differs = [&](const char* what, int64_t i) {
    if (d.other.empty()) d.other = std::string(what) + " " + std::to_string(i);
  };
  const auto close = [](float a, float b) {
    return a == b || (a != a && b != b) || std::fabs(a - b) <= 4e-6f * std::max(1.0f, std::fabs(b));
  };
  for (int64_t c = 0; c < cells; ++c) {
    if (!std::equal(mine.choice + c * k, mine.choice + (c + 1) * k, want.choice + c * k)) {
      ++d.flips;
      if (by_exponential && want.margin[c] < kRounding) ++d.explained;
      continue;
    }
    for (int64_t i = c * k; i < (c + 1) * k; ++i)
      if (!close(mine.choice_weight[i], want.choice_weight[i])) differs("weight of choice", i);
    if (!close(margin[static_cast<size_t>(c)], want.margin[c])) differs("margin", c);
  }
  for (const int32_t of : choice)
    if (of >= branches || (is_dropped(of) && dropped_from(of) >= branches)) {
      differs("a choice beyond the branches:", of);
      return d;
    }

  index_decision(index.view, cells);
  const auto same = [&](const char* what, const auto* host, const auto* on_card, int64_t n) {
    const auto got = from_card(on_card, n);
    for (int64_t i = 0; i < n; ++i)
      if (std::memcmp(&got[static_cast<size_t>(i)], host + i, sizeof *host) != 0) return differs(what, i);
  };
  same("cells", mine.cells, card.cells, 1);
  same("offset", mine.offsets, card.offsets, branches + 1);
  same("wanted", mine.wanted, card.wanted, branches);
  same("padded", mine.padded, card.padded, branches);
  same("slot of choice", mine.slot, card.slot, choices);
  same("cell of slot", mine.cell, card.cell, mine.offsets[branches]);
  same("weight of slot", mine.weight, card.weight, mine.offsets[branches]);
  return d;
}

std::vector<float> to_floats(const void* on_card, int64_t n, gpu::Format format) {
  if (format == gpu::Format::f32) return from_card(static_cast<const float*>(on_card), n);
  const auto raw = from_card(static_cast<const gpu::Bf16*>(on_card), n);
  std::vector<float> values(raw.size());
  std::transform(raw.begin(), raw.end(), values.begin(), [](gpu::Bf16 v) { return gpu::to_float(v); });
  return values;
}

void on_all_cores(int64_t n, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (int64_t i = next++; i < n; i = next++) body(i);
    });
  for (std::thread& t : threads) t.join();
}

Difference product_difference(const gpu::GroupedCall& call, int64_t slots, int64_t x_rows, int64_t y_rows,
                              int columns) {
  const int panels = call.gated ? 2 : 1;
  const auto offsets = from_card(call.offsets, call.experts + 1);
  const auto x = to_floats(call.x, x_rows * call.k, call.format), y = to_floats(call.y, y_rows * call.n, call.format);
  const auto w = to_floats(call.w, int64_t{call.experts} * panels * call.n * call.k, call.format);
  const auto gather = call.gather ? from_card(call.gather, slots) : std::vector<int32_t>();
  const auto scatter = call.scatter ? from_card(call.scatter, slots) : std::vector<int32_t>();
  const auto weight = call.weight ? from_card(call.weight, slots) : std::vector<float>();
  const auto bias = call.bias ? from_card(call.bias, int64_t{call.experts} * panels * call.n) : std::vector<float>();
  const int step = std::max(1, call.n / std::max(1, columns) | 1);  // odd, so that all places within a tile come up
  std::vector<double> largest(static_cast<size_t>(slots)), wrong(static_cast<size_t>(slots));
  std::atomic<int64_t> numbers{0}, unlike{0};
  on_all_cores(slots, [&](int64_t s) {
    const auto at = static_cast<size_t>(s);
    const auto e = static_cast<int64_t>(std::upper_bound(offsets.begin(), offsets.end(), static_cast<int32_t>(s)) -
                                        offsets.begin()) -
                   1;
    const float* row = x.data() + (gather.empty() ? s : gather[at]) * call.k;
    const float* out = y.data() + (scatter.empty() ? s : scatter[at]) * call.n;
    for (int64_t c = s % step; c < call.n; c += step) {
      double sum[2] = {};
      for (int p = 0; p < panels; ++p) {
        const int64_t line = (e * panels + p) * call.n + c;
        const float* weights = w.data() + line * call.k;
        for (int64_t d = 0; d < call.k; ++d) sum[p] += static_cast<double>(row[d]) * static_cast<double>(weights[d]);
        if (!bias.empty()) sum[p] += static_cast<double>(bias[static_cast<size_t>(line)]);
      }
      double want = testing::exact_activation(call.activation, sum[0]) * (panels == 2 ? sum[1] : 1.0);
      if (!weight.empty()) want *= static_cast<double>(weight[at]);
      const double off = std::fabs(static_cast<double>(out[c]) - want);
      largest[at] = std::max(largest[at], std::fabs(want));
      wrong[at] = std::isnan(off) ? INFINITY : std::max(wrong[at], off);
      const auto single = static_cast<float>(want);
      unlike += out[c] != (call.format == gpu::Format::bf16 ? gpu::to_float(gpu::to_bf16(single)) : single);
      ++numbers;
    }
  });
  Difference difference;
  const double most = slots > 0 ? *std::max_element(largest.begin(), largest.end()) : 0;
  difference.relative = slots > 0 ? *std::max_element(wrong.begin(), wrong.end()) / std::max(most, 1e-30) : 0;
  difference.numbers = numbers, difference.unlike = unlike;
  return difference;
}

}  // namespace stormcell::device_check
