#include "core/exports/export_vllm.h"

#include <nlohmann/json.hpp>
#include <span>

#include "core/exports/stored_placement.h"
#include "core/exports/text_output.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

using Json = nlohmann::ordered_json;

void put(const ExportOptions& options, const std::string& text) {
  TextOutput out(options.output);
  out.write(text);
  out.finish();
}

}  // namespace

void write_vllm_mapping(const ExportOptions& options, const Progress&) {
  const ExportedPlacement exported = find_exported_placement(options);
  const Placement& p = exported.named.placement;
  Json layers = Json::object();
  for (const LayerSlots& layer : layers_with_experts(exported)) layers[std::to_string(layers.size())] = layer;
  const Json line = {{"record_type", "eplb_initial_mapping"},
                     {"version", 1},
                     {"num_redundant_experts", p.slot_count() - p.branches},
                     {"num_slots", p.slot_count()},
                     {"initial_global_assignments", layers}};
  put(options, line.dump() + "\n");
}

void write_vllm_list(const ExportOptions& options, const Progress&) {
  put(options, json_text(Json(layers_with_experts(find_exported_placement(options)))));
}

void write_vllm_ascend(const ExportOptions& options, const Progress&) {
  const ExportedPlacement exported = find_exported_placement(options);
  const Placement& p = exported.named.placement;
  Json layers = Json::array();
  const size_t held = p.slots_of_rank();
  for (const LayerSlots& layer : layers_with_experts(exported)) {
    Json devices = Json::array();
    for (int32_t r = 0; r < p.ranks; ++r) {
      const std::span<const int32_t> here = std::span(layer).subspan(r * held, held);
      LayerSlots experts(here.begin(), here.end());
      // With mix_placement, a shared expert is a further entry of the map behind the routed ones, and the server starts
      // with it on every device.
      for (int64_t s = 0; s < options.shared_experts; ++s) experts.push_back(p.branches + static_cast<int32_t>(s));
      devices.push_back({{"device_id", r}, {"device_expert", experts}});
    }
    layers.push_back({{"layer_id", layers.size()}, {"device_count", p.ranks}, {"device_list", devices}});
  }
  put(options, json_text(Json{{"moe_layer_count", p.layers.size()}, {"layer_list", layers}}));
}

}  // namespace stormcell
