#include "core/experiment/converted_weights.h"

#include <algorithm>
#include <map>

namespace stormcell {
namespace {

class ConvertingWeights : public WeightSource {
 public:
  ConvertingWeights(std::shared_ptr<const WeightSource> stored, const Graph& graph, DType to) : stored_(std::move(stored)) {
    for (const Value& v : graph.values)
      if (v.kind == ValueKind::weight)
        if (const WeightInfo* info = stored_->find(v.name)) {
          WeightInfo changed = *info;
          if (v.type.dtype == to) changed.dtype = to;
          infos_.emplace(v.name, std::move(changed));
        }
  }
  const WeightInfo* find(std::string_view name) const override {
    const auto at = infos_.find(name);
    return at == infos_.end() ? nullptr : &at->second;
  }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    const WeightInfo *now = find(name), *stored = stored_->find(name);
    auto from = stored_->bytes(name);
    if (!now || now->dtype == stored->dtype) return from;
    const auto n = static_cast<size_t>(stored->elements());
    auto memory = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(now->bytes()));
    // Block by block, so that an f32 copy of a whole tensor is never held beside it.
    std::vector<float> block(std::min<size_t>(n, 1 << 16));
    for (size_t i = 0; i < n; i += block.size()) {
      const size_t count = std::min(block.size(), n - i);
      to_f32(from.get() + i * element_size(stored->dtype), stored->dtype, block.data(), count);
      from_f32(block.data(), memory->data() + i * element_size(now->dtype), now->dtype, count);
    }
    return {memory, memory->data()};
  }

 private:
  std::shared_ptr<const WeightSource> stored_;
  std::map<std::string, WeightInfo, std::less<>> infos_;
};

}  // namespace

ConvertedModel convert_weights(std::shared_ptr<const Graph> graph, std::shared_ptr<const WeightSource> weights, DType to) {
  auto changed = std::make_shared<Graph>(*graph);
  for (Value& v : changed->values)
    if (v.kind == ValueKind::weight && is_engine_float(v.type.dtype) && v.type.content.size() >= 2) v.type.dtype = to;
  auto source = std::make_shared<ConvertingWeights>(std::move(weights), *changed, to);
  return {std::move(changed), std::move(source)};
}

}  // namespace stormcell
