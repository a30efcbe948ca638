#include "core/exports/export_sglang.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/exports/text_output.h"
#include "core/placement/placement_text.h"
#include "core/session/session_reader.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

/// [layers of the model] which of the placement's layers stands there, -1: one without experts.
std::vector<int32_t> layers_of_model(const NamedPlacement& p, const std::string& where) {
  const int32_t most = *std::max_element(p.numbers.begin(), p.numbers.end());
  if (*std::min_element(p.numbers.begin(), p.numbers.end()) < 0)
    bad_input(where, "nobody said which layers of the model its routers are in",
              "place again: a run of this program says it by the names of its routers, a trace when it is imported with --model-config "
              "config.json");
  if (p.model_layers > 0 && most >= p.model_layers)
    bad_input(where, "has a router in layer " + std::to_string(most) + " of " + std::to_string(p.model_layers),
              "import the trace again and place again");
  std::vector<int32_t> layers(static_cast<size_t>(p.model_layers > 0 ? p.model_layers : most + 1), -1);
  for (size_t l = 0; l < p.numbers.size(); ++l) {
    int32_t& at = layers[static_cast<size_t>(p.numbers[l])];
    if (at >= 0) bad_input(where, "has two routers in layer " + std::to_string(p.numbers[l]), "SGLang places one a layer");
    at = static_cast<int32_t>(l);
  }
  return layers;
}

}  // namespace

void write_sglang_placement(const ExportOptions& options, const Progress&) {
  const SessionPath path = parse_session_path(options.session);
  const StoredPlacement stored = SessionReader(path.file).find_placement(path.run);
  const std::string where = path.file + "#" + std::to_string(stored.id);
  const NamedPlacement named = parse_placement(stored.layout, where);
  const LayerSlots begin = contiguous_placement(1, named.placement.branches, named.placement.slot_count(), named.placement.ranks).layers[0];
  nlohmann::ordered_json map = nlohmann::ordered_json::array();
  for (const int32_t layer : layers_of_model(named, where))
    map.push_back(layer < 0 ? begin : named.placement.layers[static_cast<size_t>(layer)]);
  TextOutput out(options.output);
  out.write(json_text({{"physical_to_logical_map", map}}));
  out.finish();
}

}  // namespace stormcell
