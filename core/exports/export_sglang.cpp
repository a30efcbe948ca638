#include "core/exports/export_sglang.h"

#include <nlohmann/json.hpp>

#include "core/exports/stored_placement.h"
#include "core/exports/text_output.h"
#include "core/summary/summary_json.h"

namespace stormcell {

void write_sglang_placement(const ExportOptions& options, const Progress&) {
  const ExportedPlacement exported = find_exported_placement(options);
  const Placement& p = exported.named.placement;
  const LayerSlots begin = contiguous_placement(1, p.branches, p.slot_count(), p.ranks).layers[0];
  nlohmann::ordered_json map = nlohmann::ordered_json::array();
  for (const int32_t layer : layers_of_model(exported)) map.push_back(layer < 0 ? begin : p.layers[layer]);
  TextOutput out(options.output);
  out.write(json_text({{"physical_to_logical_map", map}}));
  out.finish();
}

}  // namespace stormcell
