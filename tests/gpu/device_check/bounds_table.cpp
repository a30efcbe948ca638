#include "tests/gpu/device_check/bounds_table.h"

#include <cstdio>

namespace stormcell::device_check {
namespace {

/// The table of docs/benchmarks/gpu.md, "Counted, not measured", by gate. With a gate a pair takes more than without;
/// what is not counted stays out of a lower bound. Of `joined` its tiles of few rows and those of many.
constexpr KernelCounts kSwappedCounts[] = {{4 * 57 + 37.8, 111.5, 7.3}, {4 * 57.5 + 61.8, 192, 7.3}};
constexpr KernelCounts kNarrowCounts[] = {{4 * 121, 73, 7.3}, {4 * 111, 94, 7.3}};
constexpr KernelCounts kLargeCounts[] = {{4 * 133, 64, 8}, {4 * 134, 64, 8}};

template <class Shape>
TiledProduct tiled(int32_t n, int32_t k, bool swapped) {
  TiledProduct p;
  p.n = n, p.k = k, p.panels = Shape::kPanels, p.rows_a_tile = Shape::kRows, p.columns = Shape::kColumns;
  p.consumers = Shape::kConsumers, p.swapped = swapped, p.depth = Shape::kDepth;
  return p;
}

template <int kPanels>
ProductBound bound_of(const std::vector<int32_t>& rows, int32_t n, int32_t k, int32_t slots_a_row, bool joined,
                      const CardRates& rates) {
  constexpr int kGate = kPanels == 2 ? 1 : 0;
  TiledProduct few = joined ? tiled<gpu::JoinedNarrowShape<kPanels>>(n, k, true)
                            : tiled<gpu::SwappedShape<kPanels>>(n, k, true),
               many = tiled<gpu::LargeShape<kPanels>>(n, k, false);
  few.slots_a_row = many.slots_a_row = slots_a_row;
  few.row_reads = kPanels;
  for (const int32_t r : rows)
    if (r > 0) (r <= gpu::row_block(gpu::Regime::swapped) ? few : many).rows.push_back(r);
  Demand demand = demand_of(few, (joined ? kNarrowCounts : kSwappedCounts)[kGate]);
  demand += demand_of(many, kLargeCounts[kGate]);
  const Bounds b = bounds_of(demand, rates);
  return {b.seconds(), b.l2, b.what()};
}

/// Few rows go without tensor cores and shared memory: their weights' bytes and the start are left.
ProductBound gemv_bound(const LayerShape& shape, const std::vector<int32_t>& rows, bool first, const CardRates& rates) {
  TiledProduct p =
      tiled<gpu::SwappedShape<1>>(first ? shape.hidden : shape.width, first ? shape.width : shape.hidden, true);
  p.panels = first && shape.gated ? 2 : 1, p.rows = rows;
  p.slots_a_row = first ? shape.protocol.k : 1;
  const Bounds all = bounds_of(p, {}, rates);
  return {std::max(all.dram, all.start), 0, all.dram > all.start ? "DRAM" : "start"};
}

std::string microseconds(double seconds) {
  if (seconds == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", seconds * 1e6);
  return text;
}

}  // namespace

ProductBound product_bound(const LayerShape& shape, int64_t cells, const std::vector<int32_t>& offsets, bool first,
                           const CardRates& rates) {
  std::vector<int32_t> rows;
  for (size_t e = 0; e + 1 < offsets.size(); ++e) rows.push_back(offsets[e + 1] - offsets[e]);
  const double mean = static_cast<double>(offsets.back()) / static_cast<double>(rows.size());
  const gpu::RegimeLimits limits = gpu::choose_limits(true, nullptr, 0, {cells, mean});
  if (limits.gemv_rows > 0) return gemv_bound(shape, rows, first, rates);
  const bool joined = gpu::may_occur(gpu::Regime::large, limits, cells);
  if (!first) return bound_of<1>(rows, shape.width, shape.hidden, 1, joined, rates);
  return shape.gated ? bound_of<2>(rows, shape.hidden, shape.width, shape.protocol.k, joined, rates)
                     : bound_of<1>(rows, shape.hidden, shape.width, shape.protocol.k, joined, rates);
}

std::vector<Point> bench_points(const LayerShape& shape) {
  std::vector<Point> points = {{16384 / shape.protocol.k, 8, Load::uniform}};
  for (const int64_t tokens : {int64_t{64}, int64_t{4096}, int64_t{512}, int64_t{8}, int64_t{1}})
    for (const int32_t experts : {128, 8, 64, 256})
      for (const Load load : {Load::uniform, Load::zipf}) points.push_back({tokens, experts, load});
  return points;
}

void print_bounds() {
  std::printf(
      "| layer | tokens x experts | load | product 1, us | by | L2, unmerged | product 2, us | by | L2, unmerged "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  const CardRates rates = h200_rates();
  for (const LayerShape& shape : {switch_shape(), gated_shape()})
    for (const Point& point : bench_points(shape)) {
      const auto scores = make_scores(point.tokens, point.experts, point.load, 100);  // those of the bench's first call
      const HostDecision decision = decide(scores, point.tokens, point.experts, shape.protocol);
      const std::vector<int32_t> offsets(decision.view.offsets, decision.view.offsets + point.experts + 1);
      const ProductBound first = product_bound(shape, point.tokens, offsets, true, rates),
                         second = product_bound(shape, point.tokens, offsets, false, rates);
      std::printf("| %s | %lld x %d | %s | %.1f | %s | %s | %.1f | %s | %s |\n", shape.name,
                  static_cast<long long>(point.tokens), point.experts, to_text(point.load), first.seconds * 1e6,
                  first.what, microseconds(first.unmerged).c_str(), second.seconds * 1e6, second.what,
                  microseconds(second.unmerged).c_str());
    }
}

}  // namespace stormcell::device_check
