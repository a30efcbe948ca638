#include "core/models/demo_names.h"

#include <algorithm>
#include <filesystem>

#include "core/formats/open_file.h"

namespace stormcell {
namespace fs = std::filesystem;

std::vector<std::string> demo_model_names(const std::string& resources) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(fs::path(resources) / "demos", error), end; !error && it != end; it.increment(error))
    if (has_entry((it->path() / "config.json").string()) || has_entry((it->path() / "model" / "config.json").string()))
      names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stormcell
