// Finds the data of the demos: made on this machine from Debian packages, which are never part of the project, and a
// few samples that are ours.
#include <cstdlib>
#include <filesystem>

#include "core/base/checkout.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
#include "core/data/sequence_source.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;

/// Data that is made on the machine, and the fields of its lines, if it has lines.
struct MadeData {
  std::string_view demo, file, verb, target, label;
};
constexpr MadeData kMade[] = {
    {"switch-names", "test.jsonl", "./dev data", "target", "language"},
    {"msdnet-digits", "test.safetensors", "./dev data msdnet-digits", "", ""},
    {"swinv2-moe-digits", "test.safetensors", "./dev data swinv2-moe-digits", "", ""},
    {"livesr-street", "test.safetensors", "./dev data livesr-street", "", ""},
    {"dynamic-routing-street", "test.safetensors", "./dev data dynamic-routing-street", "", ""}};

/// Data of our own that come with the program.
struct SampleData {
  std::string_view name, file, label;
  /// a script drew them: the demo whose figures are of real data; empty: they are real
  std::string_view drawn_for = {};
};
constexpr SampleData kSamples[] = {
    {"switch-names-sample", "names.jsonl", "language"},
    {"msdnet-digits-sample", "digits.safetensors", "", "msdnet-digits"},
    {"swinv2-moe-digits-sample", "digits.safetensors", "", "swinv2-moe-digits"},
    {"livesr-street-sample", "street.safetensors", "", "livesr-street"},
    {"dynamic-routing-street-sample", "people.safetensors", "", "dynamic-routing-street"}};
constexpr std::string_view kDemo = "demo:";

/// The folder above the program's; empty if the system does not say.
fs::path installed_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path().parent_path();
}

/// How the data is made: by a script of the package, or in the source tree.
std::string way_to_make(const MadeData& made) {
  if (!checkout_source_folder().empty()) return std::string(made.verb) + " in the source tree";
  return (installed_folder() / "lib/stormcell/make-demo-data").string() + " " + std::string(made.demo);
}

std::vector<fs::path> data_folders(const DataOptions& options) {
  std::vector<fs::path> folders;
  if (const char* named = std::getenv("STORMCELL_DATA"); named && *named) folders.emplace_back(named);
  if (const fs::path installed = installed_folder(); !installed.empty())
    folders.push_back(installed / "share/stormcell/data");
  if (const std::string build = checkout_build_folder(); !build.empty()) folders.push_back(fs::path(build) / "data");
  if (const char* own = std::getenv("XDG_DATA_HOME"); own && *own)
    folders.push_back(fs::path(own) / "stormcell/data");
  else if (const char* home = std::getenv("HOME"); home && *home)
    folders.push_back(fs::path(home) / ".local/share/stormcell/data");
  if (!options.resources.empty()) folders.push_back(fs::path(options.resources) / "data");
  return folders;
}
}  // namespace

std::vector<std::string> demo_data_names() {
  std::vector<std::string> names;
  for (const MadeData& made : kMade) names.push_back("demo:" + std::string(made.demo));
  for (const SampleData& sample : kSamples) names.push_back("demo:" + std::string(sample.name));
  return names;
}

DemoData find_demo_data(const std::string& spec, const DataOptions& options) {
  const std::string_view name = std::string_view(spec).substr(kDemo.size());
  std::error_code error;
  for (const MadeData& made : kMade) {
    if (name != made.demo) continue;
    for (const fs::path& folder : data_folders(options)) {
      const fs::path file = folder / name / made.file;
      if (fs::exists(file, error)) return {file.string(), std::string(made.target), std::string(made.label)};
    }
    bad_input(spec, "its data is not on this machine",
              "run " + way_to_make(made) + ", or set STORMCELL_DATA to the folder that holds " + std::string(name) +
                  "/" + std::string(made.file));
  }
  for (const SampleData& sample : kSamples) {
    if (name != sample.name) continue;
    const fs::path file = fs::path(options.resources) / "sample" / sample.file;
    if (fs::exists(file, error)) return {file.string(), "", std::string(sample.label)};
    bad_input(spec, "is not installed here",
              "set STORMCELL_RESOURCES to the folder that holds sample/" + std::string(sample.file));
  }
  bad_input(spec, "no such demo", advice_on_word(spec, demo_data_names(), "there are "));
}

std::string note_of_demo_data(const std::string& spec) {
  if (!spec.starts_with(kDemo)) return {};
  for (const SampleData& sample : kSamples)
    for (const MadeData& made : kMade)
      if (!sample.drawn_for.empty() && spec.substr(kDemo.size()) == sample.name && made.demo == sample.drawn_for)
        return "drawings for a first look, so figures say little; the demo's own data are real: " + way_to_make(made) +
               ", then --data " + std::string(kDemo) + std::string(made.demo);
  return {};
}

}  // namespace stormcell
