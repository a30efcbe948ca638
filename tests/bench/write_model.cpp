// Writes the weights of a preset into a folder that Stormcell opens: for measurements of models that lie in files, such
// as a run under a budget for weights. Tensor by tensor, so that the model need not fit in memory.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/formats/safetensors_writer.h"
#include "core/graph/graph.h"
#include "core/models/model.h"
#include "core/models/presets.h"
#include "core/weights/recipe.h"

using namespace stormcell;

namespace {

void write_model(const std::string& preset, const std::string& folder) {
  const auto model = open_model("preset:" + preset);
  std::set<std::string> stored;
  for (const Value& v : model->forward->values)
    if (v.kind == ValueKind::weight)
      for (std::string& name : tensors_of(recipe_of(v))) stored.insert(std::move(name));
  std::vector<TensorDeclaration> tensors;
  for (const std::string& name : stored) {
    const WeightInfo* info = model->weights->find(name);
    if (!info) bad_input(preset, "has no tensor " + name);
    tensors.push_back({name, info->dtype, info->shape});
  }
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/config.json") << preset_config(preset).dump(2) << '\n';
  SafetensorsWriter writer(folder + "/model.safetensors", tensors);
  for (const TensorDeclaration& t : tensors) {
    const auto bytes = model->weights->bytes(t.name);
    writer.append(t.name, bytes.get(), static_cast<size_t>(model->weights->find(t.name)->bytes()));
  }
  writer.finish();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: write_model PRESET FOLDER\n");
    return 2;
  }
  try {
    write_model(arguments[1], arguments[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "write_model: %s\n", e.what());
    return 1;
  }
  return 0;
}
