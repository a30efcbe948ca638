// The demos' models by name.
#pragma once
#include <string>
#include <vector>

namespace stormcell {

/// Those that `resources`/demos holds, without "demo:", sorted; empty where there is no such folder.
std::vector<std::string> demo_model_names(const std::string& resources);

}  // namespace stormcell
