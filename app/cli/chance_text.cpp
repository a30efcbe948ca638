#include "app/cli/chance_text.h"

#include <vector>

#include "app/cli/numbers_text.h"
#include "core/base/counted.h"

namespace stormcell::cli {
namespace {

std::string beyond_text(const char* question, int64_t beyond, int64_t of, const char* what) {
  return std::string(question) + ": " + count_text(beyond) + " of " + counted(of, what) + " beyond chance\n";
}

/// "0.21 (0.15 to 0.32)": a figure with the range of even routers.
std::string beside_text(double value, const ChanceFigure& judged) {
  return number_text(value) + " (" + number_text(judged.range.low) + " to " + number_text(judged.range.high) + ")";
}

std::string router_verdict(const LoadsBesideChance& judged, bool beyond) {
  if (beyond) return "beyond chance";
  for (const ChanceFigure* figure : {&judged.imbalance, &judged.entropy_bits, &judged.gini})
    if (figure->beside != BesideChance::within) return "beyond alone, not among so many";
  return "within chance";
}

}  // namespace

std::string chance_text(const AnalyzeFigures& f) {
  constexpr size_t kShown = 16;
  const AnalysisChance& chance = f.chance;
  std::string text = beyond_text("loads", chance.routers_beyond(), std::ssize(chance.routers), "router");
  if (!chance.transitions.empty())
    text += beyond_text("transitions", chance.transitions_beyond(), std::ssize(chance.transitions), "pair of routers");
  if (!chance.coactivation.empty())
    text += beyond_text("co-activation", chance.coactivation_beyond(), std::ssize(chance.coactivation), "router");
  std::vector<std::vector<std::string>> rows = {{"router", "imbalance", "entropy", "gini", ""}};
  for (size_t r = 0; r < chance.routers.size() && r < kShown; ++r) {
    const RouterAnalysis& router = f.routers[r];
    const LoadsBesideChance& judged = chance.routers[r];
    if (router.touched_real == 0) continue;
    rows.push_back({router.router, beside_text(router.imbalance_real, judged.imbalance),
                    beside_text(router.entropy_bits_real, judged.entropy_bits),
                    beside_text(router.gini_real, judged.gini), router_verdict(judged, chance.beyond[r])});
  }
  if (rows.size() > 1)
    text += "\n" + table_text(rows, {1, 2, 3}) + (chance.routers.size() > kShown ? "... (--json has all)\n" : "") +
            "\nin brackets: where 95 % of even routers with as many choices lie, by drawing; beyond chance: judged "
            "over all\n"
            "routers and questions together, so that only one even recording in 20 has any\n";
  return text + "\n";
}

std::string random_tokens_warning(const AnalyzeFigures& f) {
  if (!f.chance.tokens || f.chance.tokens->looks_random != true) return {};
  const bool by_ids = f.chance.tokens->source == RandomSource::token_ids;
  return f.session + "#" + std::to_string(f.run) + " looks like random tokens (" +
         (by_ids ? "uniform, independent, not repeated" : "neighbours choose as if unrelated") +
         "): such recordings overstate skew (record text that users send)";
}

}  // namespace stormcell::cli
