// A config.json as importers read it, of any family; and its keys as the families that run here see them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/formats/json_file.h"
#include "core/models/family.h"
#include "core/traces/trace.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(model_configs) {
  static const fuzz::MemoryFile file;
  const std::string& path = file.holding(data, size);
  fuzz::refused_or_done([&] {
    const TracedModel model = read_traced_model(path);
    const std::vector<int32_t>& layers = model.moe_layers;
    fuzz::require(model.branches >= 1 && model.k >= 0 && model.layers >= 0, "a model has branches");
    fuzz::require(std::is_sorted(layers.begin(), layers.end()) &&
                      std::adjacent_find(layers.begin(), layers.end()) == layers.end(),
                  "layers ascend");
    fuzz::require(layers.empty() || (layers.front() >= 0 && layers.back() < model.layers),
                  "layers are those of the model");
  });
  fuzz::refused_or_done([&] {
    const nlohmann::json config = read_json_file(path);
    if (!config.is_object()) return;
    fuzz::require(check_keys(family_of({config, path}), {config, path}).size() <= 1, "there is one warning");
  });
  return 0;
}
