#include "core/imports/exits_json.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace stormcell {

nlohmann::ordered_json json_of(const std::vector<TracedExits>& traces) {
  using nlohmann::ordered_json;
  const auto or_null = [](const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); };
  ordered_json list = ordered_json::array();
  for (const TracedExits& traced : traces) {
    ordered_json exits = ordered_json::array();
    for (const TracedExit& e : traced.exits)
      exits.push_back({{"confidence", e.confidence}, {"right", or_null(e.right)}, {"ms", or_null(e.ms)}});
    list.push_back({{"items", traced.items}, {"labelled", traced.labelled}, {"exits", exits}});
  }
  return list;
}

}  // namespace stormcell
