#include "core/comparison/analysis_chance.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/readings/chance_json.h"
#include "core/readings/load_chance.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

nlohmann::ordered_json json_of(const RandomTokens& tokens) {
  return {{"looks_random", or_null(tokens.looks_random)},
          {"judged_by", tokens.source == RandomSource::token_ids ? "token ids" : "choices"},
          {"tokens", tokens.tokens},
          {"uneven", or_null(tokens.uneven)},
          {"related", or_null(tokens.related)},
          {"repeated", or_null(tokens.repeated)}};
}

void add_pairs(const PairsBesideChance& pairs, nlohmann::ordered_json& json) {
  json["pairs_tested"] = pairs.tested, json["pairs_beyond"] = std::ssize(pairs.beyond);
  json["pairs_rarer"] = std::ssize(pairs.rarer);
}

/// Those of a list in JSON that are called, by their `keys`: the value of one key, or an object of several.
template <class Called>
nlohmann::ordered_json called_of(const nlohmann::ordered_json& list, const std::vector<const char*>& keys,
                                 Called called) {
  if (list.is_null()) return nullptr;
  auto names = nlohmann::ordered_json::array();
  for (size_t i = 0; i < list.size(); ++i) {
    if (!called(i)) continue;
    nlohmann::ordered_json name;
    for (const char* key : keys) name[key] = list[i][key];
    names.push_back(keys.size() == 1 ? name[keys[0]] : name);
  }
  return names;
}

template <class List>
int64_t with_pairs_beyond(const List& list) {
  return std::count_if(list.begin(), list.end(), [](const auto& judged) { return !judged.pairs.beyond.empty(); });
}

}  // namespace

int64_t AnalysisChance::routers_beyond() const { return std::count(beyond.begin(), beyond.end(), true); }
int64_t AnalysisChance::transitions_beyond() const { return with_pairs_beyond(transitions); }
int64_t AnalysisChance::coactivation_beyond() const { return with_pairs_beyond(coactivation); }

AnalysisChance judge_loads(const RunLayout& layout, const std::vector<std::span<const int64_t>>& loads) {
  JudgedLoads judged = judge_run_loads(layout, loads);
  AnalysisChance chance;
  chance.questions = judged.questions;
  chance.routers = std::move(judged.routers), chance.beyond = std::move(judged.beyond);
  return chance;
}

void add_chance(const AnalysisChance& chance, nlohmann::ordered_json& json) {
  for (size_t r = 0; r < chance.routers.size(); ++r) {
    const LoadsBesideChance& judged = chance.routers[r];
    nlohmann::ordered_json& router = json["routers"][r];
    router["chance"] = nullptr;
    if (router["touched_real"] > 0)
      router["chance"] = {{"method", to_text(ChanceMethod::draws)},
                          {"imbalance", chance_json(judged.imbalance)},
                          {"entropy_bits", chance_json(judged.entropy_bits)},
                          {"gini", chance_json(judged.gini)},
                          {"p_value", judged.p_value},
                          {"beyond", static_cast<bool>(chance.beyond[r])}};
  }
  for (size_t i = 0; i < chance.transitions.size(); ++i) {
    const TransitionsChance& judged = chance.transitions[i];
    nlohmann::ordered_json& edge = json["transitions"][i];
    edge["likeliest_chance"] = nullptr;
    if (judged.likeliest) {
      edge["likeliest_chance"] = chance_json(*judged.likeliest);
      edge["likeliest_chance"]["method"] = to_text(ChanceMethod::closed_form);
    }
    add_pairs(judged.pairs, edge);
    for (auto& pair : edge["strongest"])
      pair["beyond_chance"] = judged.pairs.is_beyond(pair["branch"].get<int32_t>(), pair["next_branch"].get<int32_t>());
  }
  for (size_t i = 0; i < chance.coactivation.size(); ++i) {
    const CoactivationChance& judged = chance.coactivation[i];
    nlohmann::ordered_json& router = json["coactivation"][i];
    router["lift_chance"] = nullptr;
    if (judged.largest_lift) {
      router["lift_chance"] = chance_json(*judged.largest_lift);
      router["lift_chance"]["method"] = to_text(ChanceMethod::closed_form);
    }
    add_pairs(judged.pairs, router);
    for (auto& pair : router["strongest"])
      pair["beyond_chance"] =
          judged.pairs.is_beyond(pair["branches"][0].get<int32_t>(), pair["branches"][1].get<int32_t>());
  }
  nlohmann::ordered_json whole = {
      {"false_calls", kFalseCalls}, {"routers", std::ssize(chance.routers)}, {"beyond", chance.any_beyond()}};
  whole["routers_beyond"] =
      called_of(json["routers"], {"router"}, [&](size_t r) { return static_cast<bool>(chance.beyond[r]); });
  whole["transitions_beyond"] = called_of(json["transitions"], {"router", "next"},
                                          [&](size_t i) { return !chance.transitions[i].pairs.beyond.empty(); });
  whole["coactivation_beyond"] = called_of(json["coactivation"], {"router"},
                                           [&](size_t i) { return !chance.coactivation[i].pairs.beyond.empty(); });
  whole["drift_beyond"] = nullptr;
  if (!json["drift"].is_null()) whole["drift_beyond"] = json["drift"]["p_value"] <= kFalseCalls;
  whole["random_tokens"] = nullptr;
  if (chance.tokens) whole["random_tokens"] = json_of(*chance.tokens);
  json["chance"] = std::move(whole);
}

}  // namespace stormcell
