#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "core/base/blocking.h"
#include "core/experiment/experiment.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) {
  struct stat s {};
  if (::stat(file.c_str(), &s) != 0) return {};
  return file.string() + ":" + std::to_string(s.st_ino) + ":" + std::to_string(s.st_size) + ":" +
         std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec) + ";";
}

/// `named` is a folder of files, a file, or neither ("demo:switch-names").
std::string revision_of(const std::string& named) {
  std::error_code error;
  if (!fs::is_directory(named, error)) return line_of(named);
  std::vector<std::string> lines;
  for (const fs::directory_entry& entry : fs::directory_iterator(named, error))
    if (entry.is_regular_file(error)) lines.push_back(line_of(entry.path()));
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

}  // namespace

std::string files_revision(const ExperimentOptions& options) {
  may_block("files_revision");
  std::string revision = revision_of(options.model) + revision_of(options.data) + revision_of(options.tokenizer);
  // A single file of weights has its description beside it.
  std::error_code error;
  if (fs::is_regular_file(options.model, error))
    for (const char* name : {"config.json", "generation_config.json", "tokenizer.json", "tokenizer.model",
                             "spiece.model", "tokenizer_config.json", "special_tokens_map.json"})
      revision += line_of(fs::path(options.model).parent_path() / name);
  return revision;
}

}  // namespace stormcell
