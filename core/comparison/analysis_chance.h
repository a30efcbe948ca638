// Chance beside the figures of analyze: what even routers with as many tokens give, and which figures are beyond it.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "core/chance/even_pairs.h"
#include "core/chance/even_router.h"
#include "core/chance/random_tokens.h"
#include "core/session/session_reader.h"

namespace stormcell {

struct TransitionsChance {
  std::optional<ChanceFigure> likeliest;
  PairsBesideChance pairs;
};
struct CoactivationChance {
  std::optional<ChanceRange> largest_lift;
  PairsBesideChance pairs;
};

/// Lists are as long as those of AnalyzeFigures (core/comparison/analyze.h).
struct AnalysisChance {
  /// chance_questions(): each gets its part of kFalseCalls, and within a question each router or pair of routers.
  int64_t questions = 1;
  std::vector<LoadsBesideChance> routers;  ///< of loads without padding
  std::vector<bool> beyond;                ///< [routers] called, with regard to their number
  std::vector<TransitionsChance> transitions;
  std::vector<CoactivationChance> coactivation;
  std::optional<RandomTokens> tokens;  ///< null: the recording holds neither ids nor choices of tokens

  int64_t routers_beyond() const;
  int64_t transitions_beyond() const;
  int64_t coactivation_beyond() const;
  bool any_beyond() const { return routers_beyond() + transitions_beyond() + coactivation_beyond() > 0; }
};

/// Fills `questions`, `routers` and `beyond`. `loads`: of each router, without padding.
AnalysisChance judge_loads(const RunLayout& layout, const std::vector<std::span<const int64_t>>& loads);

/// Adds the keys of chance to the routers, transitions, co-activation and drift that `json` has, and `chance` itself.
void add_chance(const AnalysisChance& chance, nlohmann::ordered_json& json);

}  // namespace stormcell
