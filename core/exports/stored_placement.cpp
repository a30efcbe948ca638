#include "core/exports/stored_placement.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/session/session_reader.h"

namespace stormcell {

ExportedPlacement find_exported_placement(const ExportOptions& options) {
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  const StoredPlacement stored = session.find_placement(path.run);
  ExportedPlacement out;
  out.where = path.file + "#" + std::to_string(stored.id);
  out.named = parse_placement(stored.layout, out.where);
  out.origin = "stormcell " STORMCELL_VERSION "; date " + stored.created + "; session " + session.summary().id +
               "; placement #" + std::to_string(stored.id) + " (" + stored.solver + ") of run #" +
               std::to_string(stored.run);
  std::replace_if(
      out.origin.begin(), out.origin.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

std::vector<int32_t> layers_of_model(const ExportedPlacement& placement) {
  const NamedPlacement& p = placement.named;
  const int32_t most = *std::max_element(p.numbers.begin(), p.numbers.end());
  if (*std::min_element(p.numbers.begin(), p.numbers.end()) < 0)
    bad_input(placement.where, "it is not known which layers of the model its routers are in",
              "place again: a run of this program says it by the names of its routers, a trace when it is imported "
              "with --model-config "
              "config.json");
  if (p.model_layers > 0 && most >= p.model_layers)
    bad_input(placement.where,
              "has a router in layer " + std::to_string(most) + " of " + std::to_string(p.model_layers),
              "import the trace again and place again");
  std::vector<int32_t> layers(p.model_layers > 0 ? p.model_layers : most + 1, -1);
  for (size_t l = 0; l < p.numbers.size(); ++l) {
    int32_t& at = layers[p.numbers[l]];
    if (at >= 0)
      bad_input(placement.where, "has two routers in layer " + std::to_string(p.numbers[l]),
                "servers place one a layer");
    at = static_cast<int32_t>(l);
  }
  return layers;
}

std::vector<LayerSlots> layers_with_experts(const ExportedPlacement& placement) {
  const std::vector<int32_t>& numbers = placement.named.numbers;
  if (std::find(numbers.begin(), numbers.end(), -1) == numbers.end()) layers_of_model(placement);  // no two share one
  std::vector<LayerSlots> layers;
  for (const size_t l : order_in_model(numbers)) layers.push_back(placement.named.placement.layers[l]);
  return layers;
}

}  // namespace stormcell
