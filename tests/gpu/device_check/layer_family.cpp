// Whole layers: against a reference in double, twice the same to the bit, and captured once and replayed for other
// routings.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "gpu/launch/device.h"
#include "tests/gpu/device_check/families.h"
#include "tests/gpu/device_check/layer_case.h"

namespace stormcell::device_check {
namespace {

/// Relative difference of y from the sum over the card's own decision, which is compared with the host's apart.
double layer_difference(const LayerShape& shape, const LayerCalls& calls, int v) {
  const gpu::LayerCall& call = calls.call(v);
  const DecisionView d = gpu::layer_decision(call, calls.workspace(v));
  const int32_t k = d.fan_out;
  const auto choice = from_card(d.choice, call.cells * k);
  const auto weight = from_card(d.choice_weight, call.cells * k);
  const auto x = to_floats(call.x, call.cells * shape.width, gpu::Format::bf16),
             y = to_floats(call.y, call.cells * shape.width, gpu::Format::bf16);
  const auto w1 = to_floats(call.w1, call.experts * shape.first_numbers(), gpu::Format::bf16),
             w2 = to_floats(call.w2, call.experts * shape.second_numbers(), gpu::Format::bf16);
  const int64_t cells = std::min<int64_t>(call.cells, 48), step = std::max<int64_t>(1, call.cells / cells);
  std::vector<double> largest(static_cast<size_t>(cells)), wrong(static_cast<size_t>(cells));
  on_all_cores(cells, [&](int64_t i) {
    const int64_t c = i * step;
    std::vector<double> sum(static_cast<size_t>(shape.width)), hidden(static_cast<size_t>(shape.hidden));
    const auto dot = [](const float* a, const float* b, int64_t n) {
      double s = 0;
      for (int64_t j = 0; j < n; ++j) s += static_cast<double>(a[j]) * static_cast<double>(b[j]);
      return s;
    };
    for (int32_t j = 0; j < k; ++j) {
      const int32_t e = choice[static_cast<size_t>(c * k + j)];
      if (e < 0) continue;
      const float *first = w1.data() + e * shape.first_numbers(), *second = w2.data() + e * shape.second_numbers(),
                  *row = x.data() + c * shape.width;
      for (int64_t h = 0; h < shape.hidden; ++h) {
        const double gate = dot(row, first + h * shape.width, shape.width);
        hidden[static_cast<size_t>(h)] =
            shape.gated ? gate / (1 + std::exp(-gate)) * dot(row, first + (shape.hidden + h) * shape.width, shape.width)
                        : std::max(gate, 0.0);
      }
      for (int64_t o = 0; o < shape.width; ++o) {
        double s = 0;
        for (int64_t h = 0; h < shape.hidden; ++h)
          s += hidden[static_cast<size_t>(h)] * static_cast<double>(second[o * shape.hidden + h]);
        sum[static_cast<size_t>(o)] += static_cast<double>(weight[static_cast<size_t>(c * k + j)]) * s;
      }
    }
    for (int64_t o = 0; o < shape.width; ++o) {
      const double off =
          std::fabs(sum[static_cast<size_t>(o)] - static_cast<double>(y[static_cast<size_t>(c * shape.width + o)]));
      largest[static_cast<size_t>(i)] =
          std::max(largest[static_cast<size_t>(i)], std::fabs(sum[static_cast<size_t>(o)]));
      wrong[static_cast<size_t>(i)] = std::isnan(off) ? INFINITY : std::max(wrong[static_cast<size_t>(i)], off);
    }
  });
  return *std::max_element(wrong.begin(), wrong.end()) /
         std::max(1e-30, *std::max_element(largest.begin(), largest.end()));
}

/// Returns what the host decides for the scores that a call points to.
HostDecision decided(const LayerShape& shape, const gpu::LayerCall& call) {
  return decide(from_card(call.scores, call.cells * call.experts), call.cells, call.experts, shape.protocol);
}
bool is_same_choice(const DecisionView& a, const DecisionView& b, int64_t cells) {
  return std::equal(a.choice, a.choice + cells * a.fan_out, b.choice);
}

void check_one(Report& report, const Queue& queue, const LayerShape& shape, const Weights& weights, int64_t cells,
               int32_t experts, bool tensor_cores) {
  LayerCalls calls(shape, weights, cells, experts, Load::zipf, 3);
  if (!tensor_cores) calls.set_limits({8, 0, false});
  const gpu::LayerCall& call = calls.call(0);
  const int64_t bytes = calls.y_bytes();
  const auto y = [&] {
    queue.wait();
    return from_card(static_cast<const char*>(call.y), bytes);
  };
  const std::string name = std::string(shape.name) + ", " + std::to_string(cells) + " cells, " +
                           std::to_string(experts) + " experts" + (tensor_cores ? "" : ", without tensor cores");
  report.begins(name);
  const auto poison_y = [&] { poison(call.y, static_cast<size_t>(bytes)); };
  poison_y();
  calls.run(0, queue);
  const auto once = y();
  HostDecision want = decided(shape, call);
  // The bytes of the decision and the numbers that variant 0 has left; no rule of a layer here decides by an
  // exponential.
  const auto check = [&](const std::string& what, bool is_other) {
    const DecisionDifference decision =
        decision_difference(want.view, gpu::layer_decision(call, calls.workspace(0)), cells, false);
    const double difference = layer_difference(shape, calls, 0);
    const int64_t past = calls.written_past();
    const gpu::Status rows = gpu::check_most_rows(calls.map(0), gpu::most_rows(call), queue.stream());
    char text[64];
    std::snprintf(text, sizeof text, "relative difference %.2e", difference);
    std::string note = text;
    if (!decision.note().empty()) note += "; " + decision.note();
    if (!is_other) note += "; the routing before once more";
    if (past > 0) note += "; " + std::to_string(past) + " bytes behind y were written";
    if (!rows.ok()) note += std::string("; ") + rows.text();
    report.check(
        difference <= tolerance(gpu::Format::bf16) && decision.holds(cells) && is_other && past == 0 && rows.ok(), what,
        note);
  };
  check(name, true);

  // Captured with one routing, replayed with others: their scores are put where the graph reads them.
  report.begins(name + ", 20 replays");
  const Graph graph(queue, [&] { calls.run(0, queue); });
  bool same = true;
  for (int i = 0; i < 20; ++i) {
    poison_y();
    graph.replay();
    same = same && y() == once;
  }
  report.check(same, name + ", 20 replays", same ? "" : "not the same to the bit");
  const size_t score_bytes = static_cast<size_t>(cells * experts) * 4;
  for (int v = 1; v < calls.variants(); ++v) {
    const std::string replayed = name + ", replayed for routing " + std::to_string(v);
    report.begins(replayed);
    copy(const_cast<float*>(call.scores), calls.call(v).scores, score_bytes);
    poison_y();
    graph.replay();
    queue.wait();
    const HostDecision before = std::move(want);
    want = decided(shape, call);
    check(replayed, cells == 1 || !is_same_choice(want.view, before.view, cells));
  }
}

}  // namespace

void check_layer_calls(const Task& task, Report& report) {
  const Queue queue;
  const gpu::Device* device = nullptr;
  must(gpu::current_device(device));
  LayerShape little = switch_shape(), little_gated = gated_shape();
  little.name = "128/192 relu top-1", little.width = 128, little.hidden = 192;
  little_gated.name = "64/128 gated top-4", little_gated.width = 64, little_gated.hidden = 128,
  little_gated.protocol.k = 4;
  LayerShape limited = little;
  limited.name = "128/192 relu, capacity 5", limited.protocol = {.kind = ProtocolKind::switch_top1, .capacity = 5};
  for (const LayerShape& shape : {little, little_gated, limited}) {
    const Weights weights(shape, 8);
    for (const int64_t cells : {int64_t{1}, int64_t{40}, int64_t{700}}) {
      if (task.small && cells > 40) continue;
      check_one(report, queue, shape, weights, cells, 8, false);
      if (device->has_wgmma()) check_one(report, queue, shape, weights, cells, 8, true);
    }
  }
  if (task.small) return;
  LayerShape many = little_gated;
  many.name = "64/64 gated top-4", many.hidden = 64;
  const Weights of_many(many, gpu::kMostExperts);
  for (const int64_t cells : {int64_t{40}, int64_t{700}})
    check_one(report, queue, many, of_many, cells, gpu::kMostExperts, device->has_wgmma());
  for (const LayerShape& shape : {switch_shape(), gated_shape()}) {
    const Weights weights(shape, 32);
    for (const int64_t cells : {int64_t{8}, int64_t{512}})
      check_one(report, queue, shape, weights, cells, 32, device->has_wgmma());
  }
}

}  // namespace stormcell::device_check
