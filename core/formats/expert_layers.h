// A model's experts by its config.json in the Hugging Face layout: which layers have them, how many there are, to how many a token goes.
// The rules of the families are a table (expert_families.cpp), which importers of traces and the models share.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stormcell {

inline constexpr int64_t kMostTracedLayers = 4096, kMostTracedBranches = 65536, kMostTracedChoices = 1024, kMostSharedExperts = 64;

struct ExpertLayers {
  std::string family;                    ///< "model_type" of the part that names the experts; empty: it has none
  const nlohmann::json* part = nullptr;  ///< that part, within the configuration: the whole of it, its "text_config", ...
  int32_t experts = 0;                   ///< of the layer that has most
  int32_t per_token = 0;                 ///< experts that a token goes to, of the layer that has most; 0: not known
  int32_t shared = 0;                    ///< experts that every token goes to
  int32_t layers = 0;                    ///< with and without experts; 0: not known. Those that predict further tokens are not among them
  int32_t further = 0;                   ///< layers that predict further tokens
  std::vector<int32_t> with_experts;     ///< their numbers, from 0
  int32_t decoder_layers = 0;            ///< of the second stack of an encoder and decoder; 0: there is one stack
  std::vector<int32_t> decoder_with_experts;
  std::string keys;  ///< that said which layers: "first_k_dense_replace" in quotes; empty: the family has no such key
  /// One sentence where the family is not in the table, or its default leaves no layer with experts. Empty: the layers are certain.
  std::string doubt;
};

/// `where` is the file, for errors. Error(bad_input) names the key: no experts, a value out of its range, lists that are too short or too
/// long, two keys that contradict each other. `with_experts` is empty where only a recording can say which layers they are.
ExpertLayers read_expert_layers(const nlohmann::json& config, const std::string& where);

}  // namespace stormcell
