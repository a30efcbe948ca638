#include "core/traces/slot_loads.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/formats/json_fields.h"

namespace stormcell {
namespace {

/// Whole numbers of a list, all within bounds; empty if one is not.
template <class Number>
std::optional<std::vector<Number>> numbers_at(const nlohmann::json& object, const char* key, Number least) {
  std::vector<Number> numbers;
  for (const nlohmann::json& value : list_at(object, key)) {
    if (!value.is_number_integer() || value < least || value > std::numeric_limits<Number>::max()) return {};
    numbers.push_back(value.get<Number>());
  }
  return numbers;
}

}  // namespace

nlohmann::json json_of(const RecordedSlots& slots) {
  nlohmann::json json;
  for (const SlotLoads& layer : slots.layers)
    json["slots"].push_back({{"experts", layer.expert}, {"loads", layer.load}});
  if (slots.ranks > 0) json["slot_ranks"] = slots.ranks;
  return json;
}

RecordedSlots slots_at(const nlohmann::json& about) {
  RecordedSlots slots;
  for (const nlohmann::json& layer : list_at(about, "slots")) {
    const auto experts = numbers_at<int32_t>(layer, "experts", -1);
    const auto loads = numbers_at<int64_t>(layer, "loads", 0);
    if (!experts || !loads || experts->size() != loads->size() || experts->empty()) return {};
    slots.layers.push_back({*experts, *loads});
  }
  const int64_t ranks = whole_at(about, "slot_ranks");
  if (ranks > 0 && ranks <= std::numeric_limits<int32_t>::max()) slots.ranks = static_cast<int32_t>(ranks);
  return slots;
}

RecordedSlots sum_of(const RecordedSlots& a, const RecordedSlots& b) {
  if (a.layers.size() != b.layers.size() || a.ranks != b.ranks) return {};
  RecordedSlots sum = a;
  for (size_t l = 0; l < a.layers.size(); ++l) {
    if (a.layers[l].expert != b.layers[l].expert) return {};
    for (size_t s = 0; s < b.layers[l].load.size(); ++s) sum.layers[l].load[s] += b.layers[l].load[s];
  }
  return sum;
}

}  // namespace stormcell
