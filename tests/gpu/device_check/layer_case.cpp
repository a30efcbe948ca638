#include "tests/gpu/device_check/layer_case.h"

#include <cmath>

namespace stormcell::device_check {

LayerShape switch_shape() {
  return {"768/3072 relu top-1", 768, 3072, false, {.k = 1, .softmax = SoftmaxPlace::before}};
}
LayerShape gated_shape() {
  return {"2048/768 gated top-8", 2048, 768, true, {.k = 8, .softmax = SoftmaxPlace::before, .renormalize = true}};
}

Weights::Weights(const LayerShape& shape, int32_t n)
    : first(n * shape.first_numbers() * 2), second(n * shape.second_numbers() * 2), experts(n) {
  fill_bf16(first.as<void>(), n * shape.first_numbers(), 1 / std::sqrt(static_cast<float>(shape.width)), 1, nullptr);
  fill_bf16(second.as<void>(), n * shape.second_numbers(), 1 / std::sqrt(static_cast<float>(shape.hidden)), 2, nullptr);
  must(cudaDeviceSynchronize(), "fill weights");
}

LayerCalls::LayerCalls(const LayerShape& shape, const Weights& weights, int64_t cells, int32_t experts, Load load,
                       int variants)
    : x_(cells * shape.width * 2), y_bytes_(cells * shape.width * 2), y_(y_bytes_ + kGuardBytes) {
  fill_bf16(x_.as<void>(), cells * shape.width, 1, 3, nullptr);
  must(cudaDeviceSynchronize(), "fill x");
  const int sets = std::max(1, weights.experts / experts);
  for (int v = 0; v < variants; ++v) {
    scores_.push_back(to_card(make_scores(cells, experts, load, static_cast<uint32_t>(100 + v))));
    gpu::LayerCall call;
    call.scores = scores_.back().as<float>();
    call.rule = gpu::rule_of(shape.protocol, experts);
    call.cells = cells, call.experts = experts, call.width = shape.width, call.hidden = shape.hidden;
    call.gated = shape.gated, call.activation = shape.activation();
    call.x = x_.as<void>(), call.y = y_.as<void>();
    const int64_t expert = int64_t{v % sets} * experts;
    call.w1 = weights.first.as<uint16_t>() + expert * shape.first_numbers();
    call.w2 = weights.second.as<uint16_t>() + expert * shape.second_numbers();
    workspace_bytes_ = gpu::layer_workspace(call);
    workspaces_.emplace_back(static_cast<int64_t>(workspace_bytes_));
    calls_.push_back(call);
  }
  const gpu::ProductShape products[] = {{gpu::Format::bf16, shape.hidden, shape.width},
                                        {gpu::Format::bf16, shape.width, shape.hidden}};
  const double mean = static_cast<double>(cells * shape.protocol.k) / experts;
  must(gpu::choose_limits(products, 2, {gpu::most_rows(calls_[0]), mean}, limits_));
  maps_.resize(calls_.size());
}

void LayerCalls::run(int v, const Queue& queue) {
  must(gpu::layer(call(v), limits_, workspace(v), workspace_bytes_, queue.stream()));
  maps_[static_cast<size_t>(v)] = {gpu::layer_parts(call(v), workspace(v)).map, limits_};
}

std::vector<int32_t> LayerCalls::offsets(int v) const {
  return from_card(gpu::layer_decision(call(v), workspace(v)).offsets, call(v).experts + 1);
}

double LayerCalls::touched() const {
  double sum = 0;
  for (int v = 0; v < variants(); ++v) {
    const auto at = offsets(v);
    for (size_t e = 0; e + 1 < at.size(); ++e) sum += at[e + 1] > at[e];
  }
  return sum / variants();
}

}  // namespace stormcell::device_check
