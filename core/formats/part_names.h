// Names of files that hold a model in parts: "BASE-00002-of-00005.gguf", and of safetensors and PyTorch likewise.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct PartName {
  std::string base, ending;   ///< "BASE" with its folder, ".gguf"
  size_t number = 0, of = 0;  ///< 1 <= number <= of <= 1024
};
/// Nothing: the name is not of a part.
std::optional<PartName> part_name(std::string_view path);

/// The names of all parts of a model by the name of one; the name itself if it is none.
std::vector<std::string> all_parts(const std::string& path);

/// Error(bad_input) that names `path`: some of its parts have no file beside it.
void check_parts_are_there(const std::string& path, const std::vector<std::string>& parts);

/// The name of a file beside the one of `path` that says its download has not ended: "x.gguf.aria2"; empty: there is
/// none.
std::string download_beside(const std::string& path);

}  // namespace stormcell
