// Reads a model's experts from its config.json in the Hugging Face layout: which layers have them, how many there are,
// and how many a token chooses. The rules of the families are a table (expert_families.cpp), which importers of traces
// and the models share.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stormcell {

inline constexpr int64_t kMostTracedLayers = 4096, kMostTracedBranches = 65536, kMostTracedChoices = 1024,
                         kMostSharedExperts = 64;

struct ExpertLayers {
  std::string family;  ///< "model_type" of the part that names the experts; empty: it has none
  /// that part, within the configuration: the whole of it, its "text_config", ...
  const nlohmann::json* part = nullptr;
  int32_t experts = 0;    ///< experts of the layer with most
  int32_t per_token = 0;  ///< experts that a token chooses, in the layer with most; 0: not known
  int32_t shared = 0;     ///< shared experts: every token goes to them
  int32_t layers = 0;     ///< layers with and without experts, without those that predict further tokens; 0: not known
  int32_t further = 0;    ///< layers that predict further tokens
  std::vector<int32_t> with_experts;  ///< their numbers, from 0
  int32_t decoder_layers = 0;         ///< layers of the second stack of an encoder and decoder; 0: there is one stack
  std::vector<int32_t> decoder_with_experts;
  std::string keys;  ///< the keys that say which layers, in quotes: "first_k_dense_replace"; empty: the family has none
  /// A sentence if the family is not in the table, or if its default leaves no layer with experts. Empty: the layers
  /// are certain.
  std::string doubt;
  std::string unlike;  ///< a sentence if the number of experts differs between layers, since only one is used; empty:
                       ///< it does not
};

/// `where` is the file, for errors. Error(bad_input) names the key: no experts, a value out of its range, a list of the
/// wrong length, two keys that contradict each other. `with_experts` is empty if only a recording can say which layers
/// they are.
ExpertLayers read_expert_layers(const nlohmann::json& config, const std::string& where);

}  // namespace stormcell
