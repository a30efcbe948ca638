// Benchmarks: routing, dispatch and combine; the two products of a layer alone and the whole layer, with the rivals of cuBLAS in the same
// process. Weights rotate over at least 512 MB and routings change from call to call, so no cache helps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "tests/gpu/device_check/cublas.h"
#include "tests/gpu/device_check/families.h"
#include "tests/gpu/device_check/layer_case.h"

namespace stormcell::device_check {
namespace {

constexpr int64_t kRotation = int64_t{512} << 20;
constexpr int kVariants = 8;

struct Point {
  int64_t tokens;
  int32_t experts;
  Load load;
};

/// Bytes and FLOP of one product, and the time that the card's limits allow it.
struct Bound {
  double bytes = 0, flop = 0;
  double seconds(const Task& task) const {
    const double by_bytes = task.read_bandwidth > 0 ? bytes / task.read_bandwidth : 0,
                 by_flop = task.bf16_rate > 0 ? flop / task.bf16_rate : 0;
    return std::max(by_bytes, by_flop);
  }
  const char* what(const Task& task) const {
    return task.read_bandwidth > 0 && task.bf16_rate > 0 && bytes / task.read_bandwidth < flop / task.bf16_rate ? "of the bf16 rate"
                                                                                                                : "of read bandwidth";
  }
};

class LayerBench {
 public:
  LayerBench(const Task& task, Report& report, const LayerShape& shape, const Weights& weights, const Queue& queue, const Cublas& cublas)
      : task_(task), report_(report), shape_(shape), weights_(weights), queue_(queue), cublas_(cublas) {}

  void measure(const Point& point) {
    const int64_t rows = point.tokens * shape_.protocol.k;
    LayerCalls calls(shape_, weights_, point.tokens, point.experts, point.load, kVariants);
    for (int v = 0; v < kVariants; ++v) calls.run(v, queue_);
    queue_.wait();
    const double touched = calls.touched();
    char name[96];
    std::snprintf(name, sizeof name, "%s, %lld x %d, %s", shape_.name, static_cast<long long>(point.tokens), point.experts,
                  to_text(point.load));
    const std::string at = name;

    double products = 0;
    for (const bool first : {true, false}) {
      const double seconds = time_calls(queue_, kVariants, [&](int v) { product(calls, v, first); });
      products += seconds;
      Bound bound;
      bound.bytes = touched * static_cast<double>(first ? shape_.first_numbers() : shape_.second_numbers()) * 2;
      bound.flop = 2.0 * static_cast<double>(rows) * static_cast<double>(first ? shape_.first_numbers() : shape_.second_numbers());
      report_.measured(at + (first ? ", product 1" : ", product 2"), seconds * 1e6, "us", bound.seconds(task_) / seconds,
                       bound.what(task_));
      rivals(calls, rows, at + (first ? ", product 1" : ", product 2"), first);
    }
    const double whole = time_calls(queue_, kVariants, [&](int v) { calls.run(v, queue_); });
    char note[96];
    std::snprintf(note, sizeof note, "%.2f times its products; %.0f MB of weights", whole / products,
                  touched * static_cast<double>(shape_.expert_bytes()) / 1e6);
    report_.measured(at + ", layer", whole * 1e6, "us", 0, note);
  }

 private:
  void product(const LayerCalls& calls, int v, bool first) const {
    const gpu::LayerParts parts = gpu::layer_parts(calls.call(v), calls.workspace(v));
    must(gpu::grouped_product(first ? parts.first : parts.second, calls.limits(), parts.map, queue_.stream()));
  }

  /// cuBLAS gets what it needs and our kernels do not: the loads on the host, rows laid out, pointers made. It is spared bias, activation
  /// and gate.
  void rivals(const LayerCalls& calls, int64_t rows, const std::string& at, bool first) const {
    if (!cublas_.found()) return;
    const int n = first ? shape_.hidden * (shape_.gated ? 2 : 1) : shape_.width, k = first ? shape_.width : shape_.hidden;
    const Memory x(rows * k * 2), y(rows * n * 2);
    fill_bf16(x.as<void>(), rows * k, 1, 8, queue_.stream());
    std::vector<Cublas::Grouped> grouped(kVariants);
    std::vector<std::vector<const void*>> xs(kVariants), ws(kVariants);
    std::vector<std::vector<void*>> ys(kVariants);
    std::vector<Memory> pointers;
    for (int v = 0; v < kVariants; ++v) {
      const auto offsets = calls.offsets(v);
      const auto at_v = static_cast<size_t>(v);
      const auto* w = static_cast<const uint16_t*>(first ? calls.call(v).w1 : calls.call(v).w2);
      for (size_t e = 0; e + 1 < offsets.size(); ++e) {
        const int mine = offsets[e + 1] - offsets[e];
        if (mine == 0) continue;
        grouped[at_v].rows.push_back(mine);
        xs[at_v].push_back(x.as<uint16_t>() + int64_t{offsets[e]} * k);
        ws[at_v].push_back(w + static_cast<int64_t>(e) * n * k);
        ys[at_v].push_back(y.as<uint16_t>() + int64_t{offsets[e]} * n);
      }
      grouped[at_v].n = n, grouped[at_v].k = k;
      pointers.push_back(to_card(xs[at_v])), pointers.push_back(to_card(ws[at_v])), pointers.push_back(to_card(ys[at_v]));
      grouped[at_v].x = pointers[at_v * 3].as<const void*>(), grouped[at_v].w = pointers[at_v * 3 + 1].as<const void*>();
      grouped[at_v].y = pointers[at_v * 3 + 2].as<void*>();
    }
    queue_.wait();
    try {
      const double loop = time_calls(queue_, kVariants, [&](int v) {
        const auto at_v = static_cast<size_t>(v);
        for (size_t g = 0; g < grouped[at_v].rows.size(); ++g)
          cublas_.product(grouped[at_v].rows[g], n, k, xs[at_v][g], ws[at_v][g], ys[at_v][g]);
      });
      report_.measured(at + ", cuBLAS loop", loop * 1e6, "us", 0, "rival, in graph replay");
    } catch (const Failure& failure) {
      report_.absent(at + ", cuBLAS loop", failure.what());
    }
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    const double together = time_calls_plainly(queue_, kVariants, [&](int v) {
      const cublasStatus_t s = cublas_.grouped(grouped[static_cast<size_t>(v)]);
      if (s != CUBLAS_STATUS_SUCCESS) status = s;
    });
    if (status == CUBLAS_STATUS_SUCCESS)
      report_.measured(at + ", cublasGemmGroupedBatchedEx", together * 1e6, "us", 0, "rival, without a graph");
    else
      report_.absent(at + ", cublasGemmGroupedBatchedEx", "cuBLAS status " + std::to_string(static_cast<int>(status)));
  }

  const Task& task_;
  Report& report_;
  const LayerShape& shape_;
  const Weights& weights_;
  const Queue& queue_;
  const Cublas& cublas_;
};

/// Points by value: where the targets are first, so that a lack of time costs the least.
void bench_layer(const Task& task, Report& report, const LayerShape& shape) {
  const Queue queue;
  std::string why;
  const Cublas cublas(queue, why);
  if (!cublas.found()) report.absent("cuBLAS", why);
  const auto rotating = static_cast<int32_t>(kRotation / shape.expert_bytes() + 1);
  const Weights weights(shape, std::max(256, (rotating + 7) / 8 * 8));
  LayerBench bench(task, report, shape, weights, queue, cublas);
  bench.measure({16384 / shape.protocol.k, 8, Load::uniform});
  for (const int64_t tokens : {int64_t{64}, int64_t{4096}, int64_t{512}, int64_t{8}, int64_t{1}})
    for (const int32_t experts : {128, 8, 64, 256})
      for (const Load load : {Load::uniform, Load::zipf}) bench.measure({tokens, experts, load});
}

}  // namespace

void bench_switch(const Task& task, Report& report) { bench_layer(task, report, switch_shape()); }
void bench_gated(const Task& task, Report& report) { bench_layer(task, report, gated_shape()); }

// Where gemv should end and swapped begin (grouped/choice.cpp): both products of a layer with gemv up to eight rows, up to four, and never.
void bench_few_rows(const Task&, Report& report) {
  const Queue queue;
  for (const LayerShape& shape : {gated_shape(), switch_shape()}) {
    const Weights weights(shape, 128);
    for (const int64_t tokens : {1, 2, 4, 8, 16, 32, 64}) {
      LayerCalls calls(shape, weights, tokens, shape.gated ? 128 : 8, Load::uniform, kVariants);
      if (!calls.limits().tensor_cores) return report.absent("all", "no tensor cores that swapped could use");
      for (const int32_t gemv_rows : {0, 4, 8}) {
        calls.set_limits({gemv_rows, 64, true});
        for (int v = 0; v < kVariants; ++v) calls.run(v, queue);
        queue.wait();
        const double seconds = time_calls(queue, kVariants, [&](int v) {
          const gpu::LayerParts parts = gpu::layer_parts(calls.call(v), calls.workspace(v));
          must(gpu::grouped_product(parts.first, calls.limits(), parts.map, queue.stream()));
          must(gpu::grouped_product(parts.second, calls.limits(), parts.map, queue.stream()));
        });
        report.measured(std::string(shape.name) + ", " + std::to_string(tokens) + " tokens, gemv to " + std::to_string(gemv_rows) + " rows",
                        seconds * 1e6, "us", 0, "both products");
      }
    }
  }
}

void bench_routing(const Task& task, Report& report) {
  const Queue queue;
  for (const LayerShape& shape : {switch_shape(), gated_shape()})
    for (const int64_t cells : {int64_t{64}, int64_t{4096}, shape.protocol.k == 1 ? int64_t{131072} : int64_t{16384}}) {
      const int32_t branches = 64, k = shape.protocol.k;
      const int64_t slots = cells * k;
      const Memory scores = to_card(make_scores(cells, branches, Load::zipf, 21)), x(cells * shape.width * 2),
                   rows(slots * shape.width * 2), y(cells * shape.width * 2);
      fill_bf16(x.as<void>(), cells * shape.width, 1, 1, queue.stream());
      const CardDecision card(cells, k, branches);
      gpu::RouteCall route;
      route.scores = scores.as<float>(), route.cells = cells, route.branches = branches;
      route.rule = gpu::rule_of(shape.protocol, branches);
      route.decision = card.view;
      const size_t bytes = gpu::route_workspace(cells, branches, route.rule);
      const Memory workspace(static_cast<int64_t>(bytes));
      gpu::DispatchCall out;
      out.decision = card.view, out.cells = cells, out.width = shape.width, out.format = gpu::Format::bf16, out.from = x.as<void>(),
      out.to = rows.as<void>();
      gpu::CombineCall back;
      back.decision = card.view, back.cells = cells, back.width = shape.width, back.format = gpu::Format::bf16, back.from = rows.as<void>(),
      back.to = y.as<void>();
      const auto only_route = [&](int) { must(gpu::route(route, workspace.as<void>(), bytes, queue.stream())); };
      const auto all = [&](int i) {
        only_route(i);
        must(gpu::dispatch(out, queue.stream()));
        must(gpu::combine(back, queue.stream()));
      };
      // Scores read; rows read once a cell (the caches have them for its other slots) and written once a slot; read and summed back.
      const double moved =
          4.0 * static_cast<double>(cells) * branches + 2.0 * static_cast<double>(shape.width) * static_cast<double>(2 * cells + 2 * slots);
      char name[96];
      std::snprintf(name, sizeof name, "%lld cells, width %d, top-%d of %d", static_cast<long long>(cells), shape.width, k, branches);
      report.measured(std::string("route, ") + name, time_calls(queue, 8, only_route) * 1e6, "us");
      const double seconds = time_calls(queue, 8, all);
      char note[96];
      std::snprintf(note, sizeof note, "of copy bandwidth, %.0f MB moved%s", moved / 1e6, moved < 200e6 ? ", caches help" : "");
      report.measured(std::string("route, dispatch, combine, ") + name, seconds * 1e6, "us",
                      task.copy_bandwidth > 0 ? moved / seconds / task.copy_bandwidth : 0, note);
    }
}

}  // namespace stormcell::device_check
