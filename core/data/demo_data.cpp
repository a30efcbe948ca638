// Where the data of the demos is: made on this machine from Debian packages, never part of the project.
#include <array>
#include <cstdlib>
#include <filesystem>

#include "core/base/error.h"
#include "core/data/sequence_source.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;

constexpr std::array<std::string_view, 1> kDemos = {"switch-names"};

std::vector<fs::path> data_folders(const DataOptions& options) {
  std::vector<fs::path> folders;
  if (const char* named = std::getenv("STORMCELL_DATA"); named && *named) folders.emplace_back(named);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path().parent_path() / "share/stormcell/data");
#ifdef STORMCELL_BUILD_DIR
  folders.push_back(fs::path(STORMCELL_BUILD_DIR) / "data");
#endif
  if (!options.resources.empty()) folders.push_back(fs::path(options.resources) / "data");
  return folders;
}
}  // namespace

std::string find_demo_data(const std::string& spec, const DataOptions& options) {
  const std::string_view name = std::string_view(spec).substr(std::string_view("demo:").size());
  bool known = false;
  for (const std::string_view demo : kDemos) known |= demo == name;
  if (!known) bad_input(spec, "no such demo", "there is demo:switch-names");
  std::error_code error;
  for (const fs::path& folder : data_folders(options)) {
    const fs::path file = folder / name / "test.jsonl";
    if (fs::exists(file, error)) return file.string();
  }
  bad_input(spec, "its data is not on this machine",
            "run ./dev data in the source tree, or set STORMCELL_DATA to the folder that holds " + std::string(name) + "/test.jsonl");
}

}  // namespace stormcell
