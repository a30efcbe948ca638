// Grouped products, one regime a family, against a reference in double.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "gpu/grouped/grouped.h"
#include "gpu/launch/device.h"
#include "tests/gpu/device_check/data.h"
#include "tests/gpu/device_check/families.h"

namespace stormcell::device_check {
namespace {

struct Shape {
  int32_t n, k;
  std::vector<int32_t> rows;  // of each expert
};

std::string describe(const Shape& s, gpu::Format format, bool gated, bool gathered) {
  std::string rows;
  for (size_t e = 0; e < s.rows.size() && e < 6; ++e) rows += (e ? " " : "") + std::to_string(s.rows[e]);
  return std::string(to_text(format)) + (gated ? ", gated" : "") + (gathered ? ", gathered" : "") + ", n " + std::to_string(s.n) + ", k " +
         std::to_string(s.k) + ", rows " + rows;
}

void check_product(Report& report, const Queue& queue, const Shape& shape, gpu::Format format, bool gated, bool gathered,
                   gpu::Activation activation, const gpu::RegimeLimits& limits) {
  report.begins(describe(shape, format, gated, gathered));
  const auto experts = static_cast<int32_t>(shape.rows.size());
  std::vector<int32_t> offsets = {0};
  for (const int32_t rows : shape.rows) offsets.push_back(offsets.back() + rows);
  const int64_t all = offsets.back(), panels = gated ? 2 : 1, x_rows = gathered ? all / 2 + 1 : all;
  std::mt19937 random(11);
  std::vector<int32_t> gather, scatter;
  std::vector<float> weight, bias;
  std::normal_distribution<float> normal;
  for (int64_t s = 0; s < all; ++s)
    gather.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(x_rows))), scatter.push_back(static_cast<int32_t>(s));
  std::shuffle(scatter.begin(), scatter.end(), random);
  for (int64_t s = 0; s < all; ++s) weight.push_back(normal(random));
  for (int64_t i = 0; i < experts * panels * shape.n; ++i) bias.push_back(normal(random));
  const Memory offsets_on_card = to_card(offsets), gather_on_card = to_card(gather), scatter_on_card = to_card(scatter),
               weight_on_card = to_card(weight), bias_on_card = to_card(bias), map(static_cast<int64_t>(gpu::kTileMapBytes));
  const int64_t w_numbers = experts * panels * shape.n * shape.k;
  const Memory x(x_rows * shape.k * 4), w(w_numbers * 4), y(all * shape.n * 4);
  const float w_scale = 1 / std::sqrt(static_cast<float>(shape.k));
  if (format == gpu::Format::bf16) {
    fill_bf16(x.as<void>(), x_rows * shape.k, 1, 1, queue.stream());
    fill_bf16(w.as<void>(), w_numbers, w_scale, 2, queue.stream());
  } else {
    std::vector<float> xs(static_cast<size_t>(x_rows * shape.k)), ws(static_cast<size_t>(w_numbers));
    for (float& v : xs) v = normal(random);
    for (float& v : ws) v = normal(random) * w_scale;
    copy(x.as<void>(), xs.data(), xs.size() * 4);
    copy(w.as<void>(), ws.data(), ws.size() * 4);
  }
  gpu::GroupedCall call;
  call.offsets = offsets_on_card.as<int32_t>(), call.experts = experts, call.most_slots = call.most_rows = all;
  call.n = shape.n, call.k = shape.k, call.format = format, call.gated = gated, call.activation = activation;
  call.x = x.as<void>(), call.w = w.as<void>(), call.y = y.as<void>(), call.bias = bias_on_card.as<float>();
  if (gathered) {
    call.gather = gather_on_card.as<int32_t>(), call.scatter = scatter_on_card.as<int32_t>(), call.weight = weight_on_card.as<float>();
  }
  must(gpu::make_tile_map(call.offsets, experts, limits, map.as<int32_t>(), queue.stream()));
  must(gpu::grouped_product(call, limits, map.as<int32_t>(), queue.stream()));
  queue.wait();
  const Difference difference = product_difference(call, all, x_rows, all, all * shape.n * int64_t{shape.k} > 40000000 ? 96 : shape.n);
  char note[96];
  std::snprintf(note, sizeof note, "relative difference %.2e over %lld numbers", difference.relative,
                static_cast<long long>(difference.numbers));
  report.check(difference.relative <= tolerance(format), describe(shape, format, gated, gathered), note);
}

/// Every combination on small shapes, then real ones.
void check_regime(const Task& task, Report& report, gpu::RegimeLimits limits, const std::vector<Shape>& small,
                  const std::vector<Shape>& real, bool f32_too) {
  const gpu::Device* device = nullptr;
  must(gpu::current_device(device));
  if (limits.tensor_cores && !device->has_wgmma()) return report.absent("all", std::string(device->name) + " has no wgmma");
  limits.variants = task.variants;
  const Queue queue;
  int turn = 0;
  for (const gpu::Format format : {gpu::Format::bf16, gpu::Format::f32}) {
    if (format == gpu::Format::f32 && !f32_too) continue;
    for (const Shape& shape : small)
      for (const bool gated : {false, true})
        for (const bool gathered : {false, true})
          check_product(report, queue, shape, format, gated, gathered, static_cast<gpu::Activation>(turn++ % 5), limits);
  }
  if (task.small) return;
  for (const Shape& shape : real)
    for (const bool gated : {false, true})
      check_product(report, queue, shape, gpu::Format::bf16, gated, true, gpu::Activation::silu, limits);
}

}  // namespace

void check_plain(const Task& task, Report& report) {
  check_regime(task, report, {0, 0, false}, {{5, 3, {1, 0, 2}}, {70, 33, {65, 0, 3, 130}}}, {{768, 512, {100, 0, 300, 7}}}, true);
}
void check_gemv(const Task& task, Report& report) {
  check_regime(task, report, {8, 0, false}, {{5, 8, {1, 0, 2}}, {34, 264, {1, 2, 3, 4, 5, 0, 8}}},
               {{3072, 768, {1, 1, 1, 1, 0, 0, 1, 1}}, {768, 3072, {2, 4, 8, 1}}, {2048, 768, {3, 7}}}, true);
}
// What goes wrong first in a tensor-core kernel shows in the first of these: one tile, one stage; then several stages, tiles, experts.
void check_swapped(const Task& task, Report& report) {
  check_regime(task, report, {0, 64, true}, {{64, 64, {8}}, {64, 64, {3}}, {64, 1024, {16}}, {200, 136, {33, 0, 64, 1, 9}}},
               {{3072, 768, {64, 5, 0, 17, 33, 1, 8, 16}}, {768, 3072, {9, 64}}, {768, 2048, std::vector<int32_t>(128, 6)}}, false);
}
void check_large(const Task& task, Report& report) {
  check_regime(task, report, {0, 0, true}, {{256, 64, {128}}, {256, 64, {256}}, {256, 64, {3}}, {256, 1024, {65}}, {200, 136, {129, 0, 64, 300}}},
               {{3072, 768, {512, 65, 0, 700}}, {768, 3072, {129, 2048}}, {2048, 768, std::vector<int32_t>(64, 130)}}, false);
}

// All regimes in one map and one product.
void check_mixed(const Task& task, Report& report) {
  check_regime(task, report, {4, 64, true}, {{200, 136, {1, 65, 0, 5, 64, 3, 300}}}, {{768, 3072, {2, 900, 40, 0, 4, 128, 9}}}, false);
}

}  // namespace stormcell::device_check
