#include "core/exports/export_trtllm.h"

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/exports/stored_placement.h"
#include "core/exports/text_output.h"
#include "core/formats/file_text.h"

namespace stormcell {

void write_trtllm_placement(const ExportOptions& options, const Progress&) {
  if (!options.what.empty() && options.what != "static" && options.what != "dynamic")
    bad_input("--what", in_quotes(options.what) + " is not a way of TensorRT-LLM",
              advice_on_word(options.what, {"static", "dynamic"}, ""));
  const ExportedPlacement exported = find_exported_placement(options);
  const Placement& p = exported.named.placement;
  TextOutput out(options.output);
  out.write("# " + exported.origin + "\nnum_slots: " + std::to_string(p.slot_count()) +
            "\ninitial_global_assignments:\n");
  const std::vector<int32_t> layers = layers_of_model(exported);
  for (size_t l = 0; l < layers.size(); ++l) {
    if (layers[l] < 0) continue;
    std::string list;
    for (const int32_t branch : p.layers[layers[l]]) list += (list.empty() ? "" : ", ") + std::to_string(branch);
    out.write("  " + std::to_string(l) + ": [" + list + "]\n");
  }
  out.write("layer_updates_per_iter: " + std::string(options.what == "dynamic" ? "1" : "0") + "\n");
  out.finish();
}

}  // namespace stormcell
