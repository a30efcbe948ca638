#include "tests/gpu/device_check/product_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace stormcell::device_check {
namespace {
const char* to_text(gpu::Activation activation) {
  switch (activation) {
    case gpu::Activation::relu:
      return ", relu";
    case gpu::Activation::gelu_erf:
      return ", gelu";
    case gpu::Activation::gelu_tanh:
      return ", gelu by tanh";
    case gpu::Activation::silu:
      return ", silu";
    default:
      return "";
  }
}
}  // namespace

std::string ProductCase::name() const {
  std::string of_rows;
  for (size_t e = 0; e < rows.size() && e < 6; ++e) of_rows += (e ? " " : "") + std::to_string(rows[e]);
  return std::string(to_text(format)) + (whole ? ", whole numbers" : "") + (may_be_many ? ", maybe many" : "") +
         (gated ? ", gated" : "") + (gathered ? ", gathered" : "") + to_text(activation) + (bias ? "" : ", no bias") +
         ", n " + std::to_string(n) + ", k " + std::to_string(k) + ", rows " + of_rows;
}

ProductOnCard::ProductOnCard(const ProductCase& product, const gpu::RegimeLimits& limits, const Queue& queue)
    : queue_(queue),
      slots_(std::accumulate(product.rows.begin(), product.rows.end(), int64_t{0})),
      x_rows_(product.gathered ? slots_ / 2 + 1 : slots_),
      map_memory_(static_cast<int64_t>(gpu::kTileMapBytes)),
      x_(kShift + x_rows_ * product.k * 4),
      w_(kShift + static_cast<int64_t>(product.rows.size()) * (product.gated ? 2 : 1) * product.n * product.k * 4),
      y_(kShift + slots_ * product.n * gpu::bytes_of(product.format) + kGuardBytes),
      map_{map_memory_.as<int32_t>(), limits} {
  const auto experts = static_cast<int32_t>(product.rows.size());
  const int64_t panels = product.gated ? 2 : 1, w_numbers = experts * panels * product.n * product.k;
  std::vector<int32_t> offsets = {0};
  for (const int32_t rows : product.rows) offsets.push_back(offsets.back() + rows);
  std::mt19937 random(11);
  std::vector<int32_t> gather, scatter;
  std::vector<float> weight, bias;
  std::normal_distribution<float> normal;
  for (int64_t s = 0; s < slots_; ++s)
    gather.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(x_rows_))),
        scatter.push_back(static_cast<int32_t>(s));
  std::shuffle(scatter.begin(), scatter.end(), random);
  constexpr float kPowers[] = {0.5f, 1, 2, -1};
  for (int64_t s = 0; s < slots_; ++s) weight.push_back(product.whole ? kPowers[random() % 4] : normal(random));
  for (int64_t i = 0; i < experts * panels * product.n; ++i)
    bias.push_back(product.whole ? std::round(normal(random)) : normal(random));
  char *const x = x_.as<char>() + kShift, *const w = w_.as<char>() + kShift;
  const float w_scale = 1 / std::sqrt(static_cast<float>(product.k));
  if (product.whole) {
    fill_whole(x, x_rows_ * product.k, 1, queue.stream());
    fill_whole(w, w_numbers, 2, queue.stream());
  } else if (product.format == gpu::Format::bf16) {
    fill_bf16(x, x_rows_ * product.k, 1, 1, queue.stream());
    fill_bf16(w, w_numbers, w_scale, 2, queue.stream());
  } else {
    std::vector<float> xs(static_cast<size_t>(x_rows_ * product.k)), ws(static_cast<size_t>(w_numbers));
    for (float& v : xs) v = normal(random);
    for (float& v : ws) v = normal(random) * w_scale;
    copy(x, xs.data(), xs.size() * 4);
    copy(w, ws.data(), ws.size() * 4);
  }
  const auto input = [&](const auto& values) {
    inputs_.push_back(to_card(values));
    return inputs_.back().template as<std::remove_const_t<std::remove_reference_t<decltype(values[0])>>>();
  };
  call_.offsets = input(offsets), call_.experts = experts;
  call_.most_rows = *std::max_element(product.rows.begin(), product.rows.end()), call_.most_slots = slots_;
  if (product.may_be_many) {
    call_.most_rows = std::max<int64_t>(call_.most_rows, gpu::row_block(gpu::Regime::swapped) + 1);
    call_.most_slots = std::max(call_.most_slots, call_.most_rows);
  }
  call_.n = product.n, call_.k = product.k, call_.format = product.format, call_.gated = product.gated;
  call_.activation = product.activation;
  call_.x = x, call_.w = w, call_.y = y_.as<char>() + kShift;
  if (product.bias) call_.bias = input(bias);
  if (product.gathered) call_.gather = input(gather), call_.scatter = input(scatter), call_.weight = input(weight);
}

std::string ProductOnCard::kernels() const {
  std::string names;
  for (const gpu::Launch launch : gpu::launches(map_.limits, call_.most_rows)) {
    if (!names.empty()) names += " + ";
    names += to_text(launch);
  }
  return names;
}

void ProductOnCard::make_map() { must(gpu::make_tile_map(call_.offsets, call_.experts, map_, queue_.stream())); }
void ProductOnCard::run() const { must(gpu::grouped_product(call_, map_, queue_.stream())); }

}  // namespace stormcell::device_check
