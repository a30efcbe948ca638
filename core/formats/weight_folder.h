// Chooses the files of a model folder that hold its weights, by the rules of vLLM and SGLang: the files that the index
// names, else model.safetensors.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct WeightFolder {
  std::vector<std::string> files;               ///< paths
  std::string index;                            ///< path of the index; empty: the weights are one file without an index
  std::map<std::string, std::string> shard_of;  ///< the name of the file that holds a tensor, by the index
  std::vector<std::string> warnings;            ///< a sentence for each file beside them that is not used
};

/// Reads the index, not the weights. Error(bad_input) if the folder has no weights, the index is not valid, or shards
/// are missing or empty.
WeightFolder find_weight_files(const std::string& folder);

/// Reads the shard of each tensor from the text of a model.safetensors.index.json; `path` names it in errors. Names of
/// shards must not lead to another folder.
std::map<std::string, std::string> parse_weight_index(std::string_view json, const std::string& path);

}  // namespace stormcell
