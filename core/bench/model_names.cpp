#include "core/bench/model_names.h"

#include "core/data/sequence_source.h"
#include "core/models/demo_names.h"
#include "core/models/model.h"
#include "core/models/presets.h"

namespace stormcell {

std::vector<std::string> list_models() {
  std::vector<std::string> names;
  for (const std::string_view preset : preset_names()) names.push_back("preset:" + std::string(preset));
  for (const std::string& demo : demo_model_names(resources_folder())) names.push_back("demo:" + demo);
  return names;
}

std::vector<std::string> list_demo_data() { return demo_data_names(); }

}  // namespace stormcell
