#include "core/placement/placement_text.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {

constexpr const char* kAgain = "place it again";

int32_t number_at(const nlohmann::json& of, const char* key, const std::string& where) {
  const int64_t value = whole_at(of, key);
  if (value < -1 || value > std::numeric_limits<int32_t>::max())
    bad_input(where, std::string(key) + " is out of range", kAgain);
  return static_cast<int32_t>(value);
}

}  // namespace

std::vector<size_t> order_in_model(const std::vector<int32_t>& numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (std::find(numbers.begin(), numbers.end(), -1) == numbers.end())
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  return order;
}

std::string to_json(const NamedPlacement& p) {
  nlohmann::ordered_json json = {{"schema", "stormcell.placement/1"},
                                 {"nodes", p.nodes},
                                 {"ranks", p.placement.ranks},
                                 {"branches", p.placement.branches}};
  json["model_layers"] = p.model_layers > 0 ? nlohmann::ordered_json(p.model_layers) : nlohmann::ordered_json();
  json["layers"] = nlohmann::ordered_json::array();
  for (size_t l = 0; l < p.placement.layers.size(); ++l)
    json["layers"].push_back({{"router", p.routers[l]}, {"layer", p.numbers[l]}, {"slots", p.placement.layers[l]}});
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

NamedPlacement parse_placement(const std::string& text, const std::string& where) {
  const nlohmann::json json = parse_json_text(text, where);
  if (text_at(json, "schema") != "stormcell.placement/1") bad_input(where, "is not stormcell.placement/1", kAgain);
  NamedPlacement out;
  out.nodes = number_at(json, "nodes", where);
  out.placement.ranks = number_at(json, "ranks", where);
  out.placement.branches = number_at(json, "branches", where);
  out.model_layers = number_at(json, "model_layers", where);
  for (const nlohmann::json& layer : list_at(json, "layers")) {
    out.routers.push_back(text_at(layer, "router"));
    out.numbers.push_back(number_at(layer, "layer", where));
    LayerSlots& slots = out.placement.layers.emplace_back();
    for (const nlohmann::json& slot : list_at(layer, "slots"))
      slots.push_back(slot.is_number_integer() && slot >= 0 && slot < out.placement.branches ? slot.get<int32_t>()
                                                                                             : -1);
  }
  if (const std::string fault = placement_fault(out.placement); !fault.empty()) bad_input(where, fault, kAgain);
  return out;
}

}  // namespace stormcell
