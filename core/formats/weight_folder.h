// Which files of a model folder hold its weights, by the rules of vLLM and SGLang: what the index names, else model.safetensors.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct WeightFolder {
  std::vector<std::string> files;               ///< paths
  std::string index;                            ///< path of the index; empty: the weights are one file without one
  std::map<std::string, std::string> shard_of;  ///< by the index: the name of the file that holds a tensor
  std::vector<std::string> warnings;            ///< files beside them that are not used, a sentence each
};

/// Reads the index, no weights. Error(bad_input): the folder has no weights, an index is no index, or shards are missing or empty.
WeightFolder find_weight_files(const std::string& folder);

/// The shard of each tensor by the text of a model.safetensors.index.json; `path` names it in errors. Names of shards lead to no other
/// folder.
std::map<std::string, std::string> parse_weight_index(std::string_view json, const std::string& path);

}  // namespace stormcell
