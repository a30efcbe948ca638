// Benchmarks: routing, dispatch and combine; the two products of a layer alone and the whole layer, with the rivals of
// cuBLAS in the same process. Weights rotate over at least 512 MB and routings change from call to call, so no cache
// helps.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string_view>

#include "gpu/launch/device.h"
#include "tests/gpu/device_check/bounds_table.h"
#include "tests/gpu/device_check/cublas.h"
#include "tests/gpu/device_check/families.h"
#include "tests/gpu/device_check/layer_case.h"

namespace stormcell::device_check {
namespace {

constexpr int64_t kRotation = int64_t{512} << 20;
constexpr double kShort = 0.04;
constexpr int64_t kComputeRows = 512;  // an expert: from here on the clock that a card holds counts
constexpr int kVariants = 8, kMostVariants = 128;

/// Calls enough that the weights which one product touches in all of them are beyond the caches; each has run once.
LayerCalls rotating_calls(const LayerShape& shape, const Weights& weights, int64_t tokens, int32_t experts, Load load,
                          const Queue& queue) {
  int variants = kVariants;
  for (;;) {
    LayerCalls calls(shape, weights, tokens, experts, load, variants);
    for (int v = 0; v < variants; ++v) calls.run(v, queue);
    queue.wait();
    const double touched = calls.touched() * static_cast<double>(shape.second_numbers() * 2);  // the smaller product
    const int needed = static_cast<int>(
        std::min<double>(kMostVariants, std::ceil(static_cast<double>(kRotation) / std::max(1.0, touched))));
    if (needed <= variants) return calls;
    variants = std::min(kMostVariants, needed + needed / 8);  // other routings may touch fewer
  }
}

/// Bytes and FLOP of one product, and the time that the card's limits allow it.
struct Bound {
  double bytes = 0, flop = 0;
  double seconds(const Task& task) const {
    const double by_bytes = task.read_bandwidth > 0 ? bytes / task.read_bandwidth : 0,
                 by_flop = task.bf16_rate > 0 ? flop / task.bf16_rate : 0;
    return std::max(by_bytes, by_flop);
  }
  const char* what(const Task& task) const {
    return task.read_bandwidth > 0 && task.bf16_rate > 0 && bytes / task.read_bandwidth < flop / task.bf16_rate
               ? "of the bf16 rate"
               : "of read bandwidth";
  }
};

CardRates card_rates(const Task& task) {
  const gpu::Device* device = nullptr;
  must(gpu::current_device(device));
  CardRates rates = std::string_view(device->name).find("H200") == std::string_view::npos ? CardRates() : h200_rates();
  rates.multiprocessors = device->multiprocessors;
  rates.dram_bytes = std::max(rates.dram_bytes, task.read_bandwidth);  // other cards of this chip have faster memory
  return rates;
}

class LayerBench {
 public:
  LayerBench(const Task& task, Report& report, const LayerShape& shape, const Weights& weights, const Queue& queue,
             const Cublas& cublas)
      : task_(task), report_(report), shape_(shape), weights_(weights), queue_(queue), cublas_(cublas) {}

  void measure(const Point& point) {
    const int64_t rows = point.tokens * shape_.protocol.k;
    char name[96];
    std::snprintf(name, sizeof name, "%s, %lld x %d, %s", shape_.name, static_cast<long long>(point.tokens),
                  point.experts, to_text(point.load));
    const std::string at = name;
    report_.begins(at);
    LayerCalls calls = rotating_calls(shape_, weights_, point.tokens, point.experts, point.load, queue_);
    const double touched = calls.touched();

    // One for all that is compared at this point: a card that computes comes down from its highest clock.
    const double window = rows / point.experts >= kComputeRows ? kSustained : kShort;
    double products = 0;
    for (const bool first : {true, false}) {
      const std::string of_product = at + (first ? ", product 1" : ", product 2");
      report_.begins(of_product);
      const double seconds = time_calls(
          queue_, calls.variants(), [&](int v) { product(calls, v, first); }, window);
      products += seconds;
      Bound bound;
      bound.bytes = touched * static_cast<double>(first ? shape_.first_numbers() : shape_.second_numbers()) * 2;
      bound.flop = 2.0 * static_cast<double>(rows) *
                   static_cast<double>(first ? shape_.first_numbers() : shape_.second_numbers());
      ProductBound least;  // of the calls on average, as the time is
      for (int v = 0; v < calls.variants(); ++v) {
        const ProductBound of_call = product_bound(shape_, point.tokens, calls.offsets(v), first, rates_);
        least.seconds += of_call.seconds / calls.variants(), least.what = of_call.what;
      }
      char note[128];
      std::snprintf(note, sizeof note, "%s; %.2f times its lower bound of %.1f us by %s; launches: %d",
                    bound.what(task_), seconds / least.seconds, least.seconds * 1e6, least.what,
                    gpu::launches(calls.limits(), gpu::most_rows(calls.call(0))).count);
      report_.measured(of_product, seconds * 1e6, "us", bound.seconds(task_) / seconds, note);
      rivals(calls, rows, of_product, first, window);
    }
    report_.begins(at + ", layer");
    const double whole = time_calls(
        queue_, calls.variants(), [&](int v) { calls.run(v, queue_); }, window);
    char note[96];
    std::snprintf(note, sizeof note, "%.2f times its products; %.0f MB of weights", whole / products,
                  touched * static_cast<double>(shape_.expert_bytes()) / 1e6);
    report_.measured(at + ", layer", whole * 1e6, "us", 0, note);
  }

 private:
  void product(const LayerCalls& calls, int v, bool first) const {
    const gpu::LayerParts parts = gpu::layer_parts(calls.call(v), calls.workspace(v));
    must(gpu::grouped_product(first ? parts.first : parts.second, calls.map(v), queue_.stream()));
  }

  /// cuBLAS gets what it needs and our kernels do not: the loads on the host, rows laid out, pointers made. It is
  /// spared bias, activation and gate.
  void rivals(const LayerCalls& calls, int64_t rows, const std::string& at, bool first, double window) const {
    if (!cublas_.found()) return;
    const int n = first ? shape_.hidden * (shape_.gated ? 2 : 1) : shape_.width,
              k = first ? shape_.width : shape_.hidden;
    const Memory x(rows * k * 2), y(rows * n * 2);
    fill_bf16(x.as<void>(), rows * k, 1, 8, queue_.stream());
    const auto variants = static_cast<size_t>(calls.variants());
    std::vector<Cublas::Grouped> grouped(variants, Cublas::Grouped(n, k));
    std::vector<std::vector<const void*>> xs(variants), ws(variants);
    std::vector<std::vector<void*>> ys(variants);
    std::vector<Memory> pointers;
    for (size_t v = 0; v < variants; ++v) {
      const auto offsets = calls.offsets(static_cast<int>(v));
      const gpu::LayerCall& call = calls.call(static_cast<int>(v));
      const auto* w = static_cast<const uint16_t*>(first ? call.w1 : call.w2);
      for (size_t e = 0; e + 1 < offsets.size(); ++e) {
        const int mine = offsets[e + 1] - offsets[e];
        if (mine == 0) continue;
        grouped[v].add(mine);
        xs[v].push_back(x.as<uint16_t>() + int64_t{offsets[e]} * k);
        ws[v].push_back(w + static_cast<int64_t>(e) * n * k);
        ys[v].push_back(y.as<uint16_t>() + int64_t{offsets[e]} * n);
      }
      pointers.push_back(to_card(xs[v])), pointers.push_back(to_card(ws[v])), pointers.push_back(to_card(ys[v]));
      grouped[v].x = pointers[v * 3].as<const void*>(), grouped[v].w = pointers[v * 3 + 1].as<const void*>();
      grouped[v].y = pointers[v * 3 + 2].as<void*>();
    }
    queue_.wait();
    rival(at + ", cuBLAS loop", calls.variants(), window, [&](int call) {
      const auto v = static_cast<size_t>(call);
      for (size_t g = 0; g < grouped[v].rows.size(); ++g)
        cublas_.product(grouped[v].rows[g], n, k, xs[v][g], ws[v][g], ys[v][g]);
    });
    rival(at + ", cublasGemmGroupedBatchedEx", calls.variants(), window,
          [&](int call) { cublas_.grouped(grouped[static_cast<size_t>(call)]); });
  }

  /// A rival is timed as our kernels are, in graph replay, or without where it cannot be captured; one that cannot at
  /// all is named.
  void rival(const std::string& name, int calls, double window, const std::function<void(int)>& call) const {
    report_.begins(name);
    try {
      return report_.measured(name, time_calls(queue_, calls, call, window) * 1e6, "us", 0, "rival, in graph replay");
    } catch (const Failure&) {
    }
    try {
      report_.measured(name, time_calls_plainly(queue_, calls, call, window) * 1e6, "us", 0, "rival, without a graph");
    } catch (const Failure& failure) {
      report_.absent(name, failure.what());
    }
  }

  const Task& task_;
  Report& report_;
  const LayerShape& shape_;
  const Weights& weights_;
  const Queue& queue_;
  const Cublas& cublas_;
  const CardRates rates_ = card_rates(task_);
};

void bench_layer(const Task& task, Report& report, const LayerShape& shape) {
  // A point takes a few seconds at most; to be killed for the time would be a failure.
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::max(1.0, task.seconds - 8));
  const Queue queue;
  std::string why;
  const Cublas cublas(queue, why);
  if (!cublas.found()) report.absent("cuBLAS", why);
  const auto rotating = static_cast<int32_t>(kRotation / shape.expert_bytes() + 1);
  const Weights weights(shape, std::max(256, (rotating + 7) / 8 * 8));
  LayerBench bench(task, report, shape, weights, queue, cublas);
  const std::vector<Point> points = bench_points(shape);
  const int last = std::min(task.last_point, static_cast<int>(points.size()));
  for (int i = task.first_point; i <= last; ++i) {
    if (std::chrono::steady_clock::now() > until)
      return report.absent("points left",
                           "no time left for " + std::to_string(last - i + 1) + " of " + std::to_string(points.size()));
    bench.measure(points[static_cast<size_t>(i - 1)]);
  }
}

/// Switch routing of a million cells, whose capacity is counted over sequences or over all of them.
void bench_capacity(const Queue& queue, Report& report) {
  constexpr int64_t kCells = 1000000;
  constexpr int32_t kBranches = 8;
  const Memory scores = to_card(make_scores(kCells, kBranches, Load::zipf, 22));
  const CardDecision card(kCells, 1, kBranches);
  for (const int64_t per_parent : {512, 0}) {
    gpu::RouteCall route;
    route.scores = scores.as<float>(), route.cells = kCells, route.branches = kBranches;
    route.parents.per_parent = per_parent;
    route.rule =
        gpu::rule_of(Protocol{.kind = ProtocolKind::switch_top1, .capacity = per_parent ? 80 : 150000}, kBranches);
    route.decision = card.view;
    const std::string name =
        "route, 1000000 cells, switch of 8, capacity over " + (per_parent ? std::to_string(per_parent) : "all");
    report.begins(name);
    const size_t bytes = gpu::route_workspace(kCells, kBranches, route.rule);
    const Memory workspace(static_cast<int64_t>(bytes));
    const double seconds =
        time_calls(queue, 4, [&](int) { must(gpu::route(route, workspace.as<void>(), bytes, queue.stream())); });
    report.measured(name, seconds * 1e6, "us");
  }
}

}  // namespace

void bench_switch(const Task& task, Report& report) { bench_layer(task, report, switch_shape()); }
void bench_gated(const Task& task, Report& report) { bench_layer(task, report, gated_shape()); }

// The place at which gemv should end and swapped begin (grouped/choice.cpp): both products of a layer with gemv up to eight rows, up
// to four, and never.
void bench_few_rows(const Task&, Report& report) {
  const Queue queue;
  for (const LayerShape& shape : {gated_shape(), switch_shape()}) {
    const Weights weights(shape, 128);
    for (const int64_t tokens : {1, 2, 4, 8, 16, 32, 64}) {
      const std::string at = std::string(shape.name) + ", " + std::to_string(tokens) + " tokens";
      report.begins(at);
      LayerCalls calls = rotating_calls(shape, weights, tokens, shape.gated ? 128 : 8, Load::uniform, queue);
      if (!calls.limits().tensor_cores) return report.absent("all", "no tensor cores that swapped could use");
      for (const int32_t gemv_rows : {0, 4, 8}) {
        const std::string name = at + ", gemv to " + std::to_string(gemv_rows) + " rows";
        report.begins(name);
        calls.set_limits({gemv_rows, 64, true});
        for (int v = 0; v < calls.variants(); ++v) calls.run(v, queue);  // the map of these limits
        queue.wait();
        const double seconds = time_calls(queue, calls.variants(), [&](int v) {
          const gpu::LayerParts parts = gpu::layer_parts(calls.call(v), calls.workspace(v));
          must(gpu::grouped_product(parts.first, calls.map(v), queue.stream()));
          must(gpu::grouped_product(parts.second, calls.map(v), queue.stream()));
        });
        report.measured(name, seconds * 1e6, "us", 0, "both products");
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
      out.decision = card.view, out.cells = cells, out.width = shape.width, out.format = gpu::Format::bf16,
      out.from = x.as<void>(), out.to = rows.as<void>();
      gpu::CombineCall back;
      back.decision = card.view, back.cells = cells, back.width = shape.width, back.format = gpu::Format::bf16,
      back.from = rows.as<void>(), back.to = y.as<void>();
      const auto only_route = [&](int) { must(gpu::route(route, workspace.as<void>(), bytes, queue.stream())); };
      const auto all = [&](int i) {
        only_route(i);
        must(gpu::dispatch(out, queue.stream()));
        must(gpu::combine(back, queue.stream()));
      };
      // Scores read; rows read once a cell (the caches have them for its other slots) and written once a slot; read and
      // summed back.
      const double moved = 4.0 * static_cast<double>(cells) * branches +
                           2.0 * static_cast<double>(shape.width) * static_cast<double>(2 * cells + 2 * slots);
      char name[96];
      std::snprintf(name, sizeof name, "%lld cells, width %d, top-%d of %d", static_cast<long long>(cells), shape.width,
                    k, branches);
      report.begins(std::string("route, ") + name);
      report.measured(std::string("route, ") + name, time_calls(queue, 8, only_route) * 1e6, "us");
      report.begins(std::string("route, dispatch, combine, ") + name);
      const double seconds = time_calls(queue, 8, all);
      char note[96];
      std::snprintf(note, sizeof note, "of copy bandwidth, %.0f MB moved%s", moved / 1e6,
                    moved < 200e6 ? ", caches help" : "");
      report.measured(std::string("route, dispatch, combine, ") + name, seconds * 1e6, "us",
                      task.copy_bandwidth > 0 ? moved / seconds / task.copy_bandwidth : 0, note);
    }
  bench_capacity(queue, report);
}

}  // namespace stormcell::device_check
