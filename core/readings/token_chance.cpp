#include "core/readings/token_chance.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/base/run_kind.h"
#include "core/readings/read_token_routes.h"

namespace stormcell {
namespace {

constexpr int64_t kMostTokensRead = 1 << 18;

/// [requests][positions] token ids, if they were recorded.
std::vector<std::vector<int32_t>> recorded_ids(const SessionReader& reader, const RunSummary& run) {
  std::map<int64_t, std::vector<std::pair<int64_t, int32_t>>> requests;
  int64_t read = 0;
  for (int64_t batch = 0; batch < run.batches && read < kMostTokensRead; ++batch) {
    bool any = false;
    for (const BatchSpace& space : reader.spaces(run.id, batch)) {
      const CellTable& cells = space.cells;
      if (std::ssize(space.tokens) != cells.cells()) continue;
      any = true;
      for (int64_t row = 0; row < cells.cells(); ++row) {
        if (!space.mask.empty() && !space.mask[row]) continue;
        const int64_t sequence = row / cells.per_sequence, offset = row % cells.per_sequence;
        const int64_t item = cells.items.empty() ? cells.first_sequence + sequence : cells.items[sequence];
        requests[item].emplace_back(cells.start(sequence) + offset, space.tokens[row]);
        ++read;
      }
    }
    if (!any && batch == 0) return {};
  }
  std::vector<std::vector<int32_t>> ids;
  for (auto& [item, tokens] : requests) {
    std::stable_sort(tokens.begin(), tokens.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<int32_t>& of_request = ids.emplace_back();
    for (const auto& [position, id] : tokens) of_request.push_back(id);
  }
  return ids;
}

}  // namespace

std::optional<RandomTokens> judge_tokens(const SessionReader& reader, const RunSummary& run,
                                         const TokenRoutes* routes) {
  if (const auto ids = recorded_ids(reader, run); !ids.empty()) return random_tokens_of(ids);
  // Patches of pictures are no tokens: neighbours are judged only of what a server recorded, or of decoding.
  const std::vector<Phase> phases = reader.phases(run.id);
  const bool served = run_kind(run.kind) == RunKind::import ||
                      std::any_of(phases.begin(), phases.end(), [](Phase p) { return p != Phase::forward; });
  if (!routes || !served) return {};
  return random_tokens_of(*routes);
}

bool looks_like_random_tokens(const SessionReader& reader, const RunSummary& run, int64_t choices) {
  constexpr int64_t kFewChoices = 1 << 20;
  std::optional<RandomTokens> judged = judge_tokens(reader, run, nullptr);
  if (!judged && choices <= kFewChoices && reader.has_decisions(run.id)) {
    const TokenRoutes routes = read_token_routes(reader, run, {});
    judged = judge_tokens(reader, run, &routes);
  }
  return judged && judged->looks_random.value_or(false);
}

}  // namespace stormcell
