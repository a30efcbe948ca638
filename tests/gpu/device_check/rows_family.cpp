// The time of one product over rows, alike for each of its weights: what `stormcell calibrate` takes as a GPU's curve
// of an expert.
#include <cstdio>
#include <string>

#include "tests/gpu/device_check/families.h"
#include "tests/gpu/device_check/layer_case.h"

namespace stormcell::device_check {
namespace {

constexpr int32_t kWeights = 16;  // of a call
constexpr int64_t kRotation = int64_t{512} << 20;
constexpr int64_t kSustainedRows = 512;  // from here on the clock that a card holds counts

struct Product {
  int32_t inputs, outputs;
};

/// Sets of weights that one call after the other multiplies, so that no cache holds them.
class Sets {
 public:
  Sets(const Product& product, const Queue& queue)
      : product_(product),
        bytes_(int64_t{kWeights} * product.inputs * product.outputs * 2),
        sets_(static_cast<int>((kRotation + bytes_ - 1) / bytes_) + 1),
        weights_(bytes_ * sets_) {
    fill_bf16(weights_.as<void>(), bytes_ / 2 * sets_, 0.02f, 2, queue.stream());
  }
  double seconds(int64_t rows, const Queue& queue) const {
    const int64_t slots = rows * kWeights;
    std::vector<int32_t> offsets;
    for (int32_t e = 0; e <= kWeights; ++e) offsets.push_back(static_cast<int32_t>(e * rows));
    const Memory on_card = to_card(offsets), x(slots * product_.inputs * 2), y(slots * product_.outputs * 2),
                 map_memory(static_cast<int64_t>(gpu::kTileMapBytes));
    fill_bf16(x.as<void>(), slots * product_.inputs, 1, 1, queue.stream());
    gpu::GroupedCall call;
    call.offsets = on_card.as<int32_t>(), call.experts = kWeights, call.most_slots = slots, call.most_rows = rows;
    call.n = product_.outputs, call.k = product_.inputs, call.format = gpu::Format::bf16;
    call.x = x.as<void>(), call.y = y.as<void>();
    const gpu::ProductShape shape{call.format, call.n, call.k};
    gpu::TileMap map{map_memory.as<int32_t>(), {}};
    must(gpu::choose_limits(&shape, 1, {rows, static_cast<double>(rows)}, map.limits));
    must(gpu::make_tile_map(call.offsets, call.experts, map, queue.stream()));
    return time_calls(
        queue, sets_,
        [&](int set) {
          call.w = weights_.as<char>() + set * bytes_;
          must(gpu::grouped_product(call, map, queue.stream()));
        },
        rows >= kSustainedRows ? kSustained : 0.02);
  }

 private:
  Product product_;
  int64_t bytes_;
  int sets_;
  Memory weights_;
};

}  // namespace

void bench_rows(const Task&, Report& report) {
  const Queue queue;
  std::vector<Product> products;
  for (const LayerShape& shape : {gated_shape(), switch_shape()}) {
    products.push_back({shape.width, shape.hidden * (shape.gated ? 2 : 1)});
    products.push_back({shape.hidden, shape.width});
  }
  for (const Product& product : products) {
    const Sets sets(product, queue);
    for (int64_t rows = 1; rows <= 2048; rows *= 2) {
      char name[96];
      std::snprintf(name, sizeof name, kRowsName, product.inputs, product.outputs, kWeights, static_cast<int>(rows));
      report.begins(name);
      report.measured(name, sets.seconds(rows, queue) * 1e6, "us");
    }
  }
}

}  // namespace stormcell::device_check
