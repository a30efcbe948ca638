#include "core/imports/recorder_scripts.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_text.h"
#include "core/models/model.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr std::string_view kQuotes = "\"\"\"";

fs::path recorders_folder() { return fs::path(resources_folder()) / "recorders"; }

std::string text_of(const std::string& name) {
  return read_file_text((recorders_folder() / (name + ".py")).string(), kMostBytes);
}

/// The first line, without the quotes that begin a Python file's description.
std::string summary_of(std::string_view text) {
  if (text.starts_with(kQuotes)) text.remove_prefix(kQuotes.size());
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::vector<RecorderScript> recorder_scripts() {
  std::vector<RecorderScript> scripts;
  std::error_code error;
  for (fs::directory_iterator file(recorders_folder(), error), end; !error && file != end; file.increment(error))
    if (const fs::path path = file->path(); path.extension() == ".py") scripts.push_back({path.stem().string(), {}});
  if (scripts.empty())
    bad_input(recorders_folder().string(), "holds no recorders",
              "set STORMCELL_RESOURCES to the folder that holds recorders/");
  std::sort(scripts.begin(), scripts.end(),
            [](const RecorderScript& a, const RecorderScript& b) { return a.name < b.name; });
  for (RecorderScript& script : scripts) script.summary = summary_of(text_of(script.name));
  return scripts;
}

std::string recorder_script(std::string_view name) {
  const std::vector<RecorderScript> scripts = recorder_scripts();
  const bool known =
      std::any_of(scripts.begin(), scripts.end(), [&](const RecorderScript& s) { return s.name == name; });
  if (!known)
    bad_input("NAME", in_quotes(name) + " is not a recorder",
              advice_on_word(name, scripts, [](const RecorderScript& s) { return s.name; }));
  return text_of(std::string(name));
}

}  // namespace stormcell
