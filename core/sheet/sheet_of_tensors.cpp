// Weights without a configuration: what their names and shapes show.
#include <algorithm>
#include <array>
#include <map>

#include "core/base/listed_words.h"
#include "core/formats/file_text.h"
#include "core/sheet/lacks.h"
#include "core/sheet/routing_rule.h"
#include "core/sheet/sheet_parts.h"

namespace stormcell {
namespace {

/// Networks whose authors publish state dicts alone, by parts of names that all occur.
struct KnownNetwork {
  std::array<std::string_view, 2> marks;
  std::string_view name, family;          ///< family: of this program; empty: it has none
  std::string_view recorder = "pytorch";  ///< the one that sees its decisions
};
constexpr std::array kNetworks = {
    KnownNetwork{{"conv_normal.net.", "classifier."}, "MSDNet-PyTorch", "msdnet", "exits"},
    KnownNetwork{
        {"_moe_layer.experts.", "_moe_layer.gates."}, "Swin Transformer V2 with Tutel's experts", "swinv2_moe"},
    KnownNetwork{{"all_cell_list.", "gate_conv"}, "DynamicRouting", "dynamic_routing"},
    KnownNetwork{{"Classifier.", "net1."}, "ClassSR", "livesr"},
    KnownNetwork{{"classifier.CondNet", "net1."}, "ClassSR", "livesr"},
    KnownNetwork{{"score_predictor.", "blocks."}, "DynamicViT", ""},
};

/// Marks the networks whose parts occur in names.
class NetworkMarks {
 public:
  void add(std::string_view name) {
    for (size_t n = 0; n < kNetworks.size(); ++n)
      for (size_t m = 0; m < seen_[n].size(); ++m)
        seen_[n][m] = seen_[n][m] || name.find(kNetworks[n].marks[m]) != std::string_view::npos;
  }
  const KnownNetwork* found() const {
    for (size_t n = 0; n < kNetworks.size(); ++n)
      if (seen_[n][0] && seen_[n][1]) return &kNetworks[n];
    return nullptr;
  }

 private:
  std::array<std::array<bool, 2>, kNetworks.size()> seen_{};
};

/// Adapters of PEFT: "...lora_A.weight".
bool is_adapter(const DescribedTensor& tensor) { return tensor.name.find("lora_A") != std::string::npos; }

}  // namespace

void fill_from_tensors(const ModelPlace& place, ModelSheet& sheet) {
  TensorTally tally;
  NetworkMarks marks;
  int64_t adapters = 0;
  const auto see = [&](const DescribedTensor& tensor) {
    tally.add(tensor), marks.add(tensor.name), adapters += is_adapter(tensor) ? 1 : 0;
  };
  TorchOutline outline;
  for (const std::string& path : place.files) {
    if (place.form == SheetForm::safetensors) {
      see_safetensors(path, see, sheet);
      continue;
    }
    TorchOutline part = see_torch(path, see, sheet);
    part.tensors += outline.tensors, part.whole_module |= outline.whole_module;
    outline = std::move(part);
  }
  if (place.form == SheetForm::torch)
    sheet.lacks.push_back(
        {outline.whole_module
             ? "the file is a whole module, which only its Python classes make whole: " + listed(outline.classes, 3)
         : outline.tensors > 0 ? "a state dict holds weights and no program"
                               : "the file holds no tensors",
         "", 0});
  sheet.layers = tally.layers(), sheet.experts = tally.experts(),
  sheet.layers_with_experts = tally.layers_with_experts();
  set_weights(tally, sheet);
  sheet.routing = routing_text({}, sheet.experts, 0, 0);
  if (adapters > 0) sheet.lacks.push_back({"an adapter changes a model and is not a model itself", "", adapters});
  if (place.form == SheetForm::safetensors)
    sheet.lacks.push_back({"no config.json is beside the weights: it names the family and its sizes", "", 0});
  if (sheet.experts > 0) sheet.recorder = "pytorch";
  if (const KnownNetwork* network = marks.found()) {
    sheet.recorder = network->recorder;
    sheet.family = network->family;
    std::string text = "looks like " + std::string(network->name);
    if (!network->family.empty())
      text += ": the program under " + sheet.family + " on the page of our own layouts writes the folder that opens";
    sheet.lacks.push_back({text, "", 0});
  }
  add_lacks(sheet, lacking_operations(tally, sheet.layers));
}

}  // namespace stormcell
