// The rules of transformers' modelling files; of families that only vLLM or SGLang have, those of their files.
#include "core/sheet/routing_rule.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "core/formats/json_fields.h"

namespace stormcell {
namespace {

using Score = RoutingRule::Score;

enum class Renormalise : uint8_t {
  never,
  always,
  by_key_false,  ///< "norm_topk_prob", false where the file has no such key
  by_key_true
};
struct RuleRow {
  std::string_view family;
  Score score;
  Renormalise renormalise;
  bool groups = false;  ///< the keys of groups and of the scale apply
};
constexpr std::array kRules = {
    RuleRow{"mixtral", Score::softmax, Renormalise::always},
    RuleRow{"qwen2_moe", Score::softmax, Renormalise::by_key_false},
    RuleRow{"qwen3_moe", Score::softmax, Renormalise::by_key_false},
    RuleRow{"qwen3_vl_moe_text", Score::softmax, Renormalise::always},
    RuleRow{"qwen3_next", Score::softmax, Renormalise::by_key_true},
    RuleRow{"qwen3_5_moe_text", Score::softmax, Renormalise::always},
    RuleRow{"olmoe", Score::softmax, Renormalise::by_key_false},
    RuleRow{"flex_olmo", Score::softmax, Renormalise::by_key_false},
    RuleRow{"deepseek_v2", Score::softmax, Renormalise::never, true},
    RuleRow{"deepseek_v3", Score::sigmoid, Renormalise::by_key_true, true},
    RuleRow{"deepseek_v32", Score::sigmoid, Renormalise::by_key_true, true},
    RuleRow{"kimi_k2", Score::sigmoid, Renormalise::by_key_true, true},
    RuleRow{"kimi_linear", Score::sigmoid, Renormalise::by_key_true, true},
    RuleRow{"glm4_moe", Score::sigmoid, Renormalise::by_key_true, true},
    RuleRow{"glm4_moe_lite", Score::sigmoid, Renormalise::by_key_true, true},
    RuleRow{"glm_moe_dsa", Score::sigmoid, Renormalise::by_key_true, true},
    RuleRow{"dots1", Score::sigmoid, Renormalise::by_key_false, true},
    RuleRow{"nemotron_h", Score::sigmoid, Renormalise::by_key_true, true},
    RuleRow{"gpt_oss", Score::softmax_of_chosen, Renormalise::never},
    RuleRow{"openai_privacy_filter", Score::softmax_of_chosen, Renormalise::never},
    RuleRow{"granitemoe", Score::softmax_of_chosen, Renormalise::never},
    RuleRow{"granitemoeshared", Score::softmax_of_chosen, Renormalise::never},
    RuleRow{"granitemoehybrid", Score::softmax_of_chosen, Renormalise::never},
    RuleRow{"ernie4_5_moe", Score::softmax, Renormalise::always},
    RuleRow{"hunyuan_v1_moe", Score::softmax, Renormalise::always},
    RuleRow{"llama4_text", Score::sigmoid_of_input, Renormalise::never},
    RuleRow{"phimoe", Score::sparsemixer, Renormalise::never},
    RuleRow{"minimax_m2", Score::sigmoid, Renormalise::always},
    RuleRow{"lfm2_moe", Score::sigmoid, Renormalise::by_key_true},
    RuleRow{"gemma4_text", Score::softmax, Renormalise::always},
    RuleRow{"jamba", Score::softmax, Renormalise::never},
    RuleRow{"switch_transformers", Score::softmax, Renormalise::never},
};

struct OwnRule {
  std::string_view family, words;
};
constexpr std::array kOwnRules = {
    OwnRule{"msdnet",
            "each picture leaves at the first exit that is confident enough; all that follows is not computed"},
    OwnRule{"livesr", "a classifier sends each patch of a picture to one of several networks"},
    OwnRule{"dynamic_routing", "at each place of the picture's grid a gate opens the paths to other scales"},
    OwnRule{"task_moe", "the task of an item says which experts it takes"},
};

/// Text of a number without zeros at its end.
std::string short_number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

double number_or(const nlohmann::json& config, const char* key, double otherwise) {
  return known_at(config, key).value_or(otherwise);
}

RoutingRule::Sum sum_of(Renormalise rule, const nlohmann::json& config) {
  const auto sum = [](bool one) { return one ? RoutingRule::Sum::one : RoutingRule::Sum::as_scored; };
  const nlohmann::json& key = value_at(config, "norm_topk_prob");
  if (rule == Renormalise::never || rule == Renormalise::always) return sum(rule == Renormalise::always);
  return sum(key.is_boolean() ? key.get<bool>() : rule == Renormalise::by_key_true);
}

std::string_view score_text(Score score) {
  switch (score) {
    case Score::softmax:
      return " with the largest softmax over all of them";
    case Score::softmax_of_chosen:
      return " with the largest scores, weighted by the softmax over these";
    case Score::sigmoid:
      return " with the largest sigmoid";
    case Score::sigmoid_of_input:
      return " with the largest scores, whose sigmoid multiplies the expert's input";
    case Score::sparsemixer:
      return " by sparsemixer: the largest score, then the largest of the others, each weighed against near scores "
             "alone";
    default:
      return " with the largest scores";
  }
}

}  // namespace

RoutingRule routing_rule(std::string_view family, const nlohmann::json& config) {
  const auto row = std::find_if(kRules.begin(), kRules.end(), [&](const RuleRow& r) { return r.family == family; });
  RoutingRule rule;
  if (row == kRules.end()) {
    const std::string scoring = text_at(config, "scoring_func");
    if (scoring == "softmax") rule.score = Score::softmax;
    if (scoring == "sigmoid") rule.score = Score::sigmoid;
    if (const nlohmann::json& key = value_at(config, "norm_topk_prob"); key.is_boolean())
      rule.sum = key.get<bool>() ? RoutingRule::Sum::one : RoutingRule::Sum::as_scored;
    return rule;
  }
  rule.score = row->score, rule.sum = sum_of(row->renormalise, config);
  if (!row->groups) return rule;
  rule.groups = whole_at(config, "n_group"), rule.kept_groups = whole_at(config, "topk_group");
  rule.scale = number_or(config, "routed_scaling_factor", 1);
  return rule;
}

std::string routing_text(const RoutingRule& rule, int64_t experts, int64_t k, int64_t shared) {
  if (experts <= 0) return {};
  std::string text = "each token takes the ";
  text += k > 0 ? std::to_string(k) : "k";
  text += " of " + std::to_string(experts) + " experts";
  if (rule.groups > 1 && rule.kept_groups > 0)
    text += ", out of the " + std::to_string(rule.kept_groups) + " best of " + std::to_string(rule.groups) + " groups,";
  text += score_text(rule.score);
  if (rule.choice_bias) text += ", to which a bias is added for the choice";
  if (rule.score != Score::softmax_of_chosen && rule.score != Score::sigmoid_of_input &&
      rule.score != Score::sparsemixer && k != 1) {
    if (rule.sum == RoutingRule::Sum::one) text += "; their weights are made to sum to 1";
    if (rule.sum == RoutingRule::Sum::as_scored) text += "; their weights stay as they are";
  }
  if (rule.score == Score::unknown) text += "; how these become weights is not known";
  if (rule.scale != 1) text += ", times " + short_number(rule.scale);
  if (shared > 0)
    text += std::string("; ") + (shared == 1 ? "one expert is" : std::to_string(shared) + " experts are") +
            " shared by all tokens";
  return text;
}

std::string_view own_rule(std::string_view family) {
  const auto row =
      std::find_if(kOwnRules.begin(), kOwnRules.end(), [&](const OwnRule& r) { return r.family == family; });
  return row == kOwnRules.end() ? std::string_view() : row->words;
}

}  // namespace stormcell
