// How routers of known families choose experts and weigh them, as data, and the rule in words.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stormcell {

struct RoutingRule {
  enum class Score : uint8_t {
    unknown,
    softmax,            ///< over all experts
    softmax_of_chosen,  ///< over the experts that were chosen
    sigmoid,
    sigmoid_of_input,  ///< the weight multiplies what the expert is given
    sparsemixer,
  };
  enum class Sum : uint8_t { unknown, as_scored, one };

  Score score = Score::unknown;
  Sum sum = Sum::unknown;    ///< whether the weights of a token are made to sum to one
  bool choice_bias = false;  ///< a bias of each expert counts for the choice, not for the weight
  int64_t groups = 0, kept_groups = 0;
  double scale = 1;  ///< of the weights
};

/// The rule of a family, "model_type" of config.json, with the keys of this model. Unknown where the family is in no
/// table.
RoutingRule routing_rule(std::string_view family, const nlohmann::json& config);

/// "each token takes the 8 of 128 experts with the largest softmax; their weights are made to sum to 1". Numbers that are
/// 0 are not known.
std::string routing_text(const RoutingRule& rule, int64_t experts, int64_t k, int64_t shared);

/// The rule of a family of this program that routes otherwise: exits, patches, paths; empty: it is none of these.
std::string_view own_rule(std::string_view family);

}  // namespace stormcell
