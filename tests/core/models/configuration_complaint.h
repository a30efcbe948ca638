// The message of a refused configuration.
#pragma once
#include <string>

#include "core/models/model.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"

namespace stormcell::testing {

/// Returns what opening a folder with this configuration and no tensor says: configurations are read before weights.
/// `config`: the inside of a JSON object, without model_type.
inline std::string configuration_complaint(const std::string& family, const std::string& config) {
  Scratch scratch;
  scratch.write("config.json", R"({"model_type": ")" + family + "\", " + config + "}");
  scratch.write("model.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  return complaint([&] { open_model(scratch.path("")); });
}

}  // namespace stormcell::testing
