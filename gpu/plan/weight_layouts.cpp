#include "gpu/plan/weight_layouts.h"

#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/runtime/kernel_build_context.h"

namespace stormcell::gpu {
namespace {

void check_layout(const WeightKey& key) {
  if (key.layout != kPlainLayout && key.layout != kPlainF32Layout)
    failed("weights", "no layout \"" + key.layout + "\" on a card");
}

}  // namespace

int64_t planned_weight_bytes(const WeightKey& key, const WeightInfo& info) {
  check_layout(key);
  return tensor_bytes(key.dtype, info.shape);
}

void write_planned_weight(const WeightKey& key, const WeightSource& source, std::byte* to) {
  check_layout(key);
  const WeightInfo* info = source.find(key.tensor);
  if (!info) failed("weights", "no tensor " + key.tensor);
  const std::shared_ptr<const std::byte> from = source.bytes(key.tensor);
  if (key.dtype == info->dtype) {
    std::memcpy(to, from.get(), static_cast<size_t>(info->bytes()));
    return;
  }
  const auto elements = static_cast<size_t>(info->elements());
  if (key.dtype == DType::f32) return to_f32(from.get(), info->dtype, reinterpret_cast<float*>(to), elements);
  std::vector<float> wide(elements);
  to_f32(from.get(), info->dtype, wide.data(), elements);
  from_f32(wide.data(), to, key.dtype, elements);
}

}  // namespace stormcell::gpu
