#include <algorithm>

#include "core/session/blob.h"
#include "core/session/check_run.h"

namespace stormcell {
namespace {

constexpr int64_t kAllTokens = int64_t{1} << 40;
constexpr const char* kOtherLabels = "(other)";  // ProfileAccumulator: labels after the 4096th

}  // namespace

KeyedLoadsCheck::KeyedLoadsCheck(const CheckedRun& run) : run_(run), routers_(run.layout.routers.size()) {
  for (size_t r = 0; r < routers_.size(); ++r) {
    const int32_t router = r;
    for (LabelLoads& l : run.reader.label_loads(run.summary.id, router))
      routers_[r].labels[std::move(l.label)] = {l.cells, std::move(l.load)};
    for (TokenLoads& t : run.reader.token_loads(run.summary.id, router, kAllTokens))
      routers_[r].tokens[t.token] = {t.cells, std::move(t.load)};
  }
}

// Null: the sequence has no label.
KeyedLoadsCheck::Row* KeyedLoadsCheck::label_row(const CheckedBatch& batch, int32_t router, int64_t sequence) {
  const auto label = batch.labels.find(sequence);
  if (label == batch.labels.end()) return nullptr;
  auto& rows = routers_[router].labels;
  auto at = rows.find(label->second);
  if (at == rows.end()) at = rows.find(kOtherLabels);
  if (at == rows.end())
    run_.damaged("router " + run_.router(router).name + " has no loads by label \"" + label->second + "\"");
  return &at->second;
}

void KeyedLoadsCheck::batch(const CheckedBatch& batch, int32_t router, const StoredDecision& d) {
  if (run_.is_running || batch.number > run_.counted_through) return;
  const BatchSpace& space = *batch.find_space(run_.router(router).space);
  const bool tokens = run_.inputs && !space.tokens.empty();
  if (space.cells.per_sequence <= 0 || (batch.labels.empty() && !tokens)) return;
  const auto take = [&](Row& row, int64_t cell) {
    --row.cells;
    for (int64_t i = cell * d.fan_out; i < (cell + 1) * d.fan_out; ++i)
      if (const int32_t choice = d.choice[i]; is_kept(choice)) --row.load[choice];
  };
  auto& of_token = routers_[router].tokens;
  int64_t sequence = -1;
  Row* of_label = nullptr;
  for (int64_t cell = 0; cell < d.cells; ++cell) {
    const int64_t row = d.ancestor.empty() ? cell : d.ancestor[cell];
    if (!space.mask.empty() && !space.mask[row]) continue;
    if (const int64_t now = row / space.cells.per_sequence; now != sequence)
      sequence = now, of_label = label_row(batch, router, sequence);
    if (of_label) take(*of_label, cell);
    if (!tokens) continue;
    if (const auto at = of_token.find(space.tokens[row]); at != of_token.end()) take(at->second, cell);
  }
}

void KeyedLoadsCheck::finish(const LoadsCheck& loads) const {
  if (run_.is_running) return;
  for (size_t r = 0; r < routers_.size(); ++r) {
    const int32_t router = r;
    const RouterLoads* total = loads.total(router);
    const std::vector<int64_t> most = total ? total->real() : std::vector<int64_t>(0);
    const auto check = [&](const auto& rows, bool counted_again, const char* by, const auto& text) {
      std::vector<int64_t> sum(most.size());
      for (const auto& [key, row] : rows) {
        const bool nothing_left =
            row.cells == 0 && std::all_of(row.load.begin(), row.load.end(), [](int64_t n) { return n == 0; });
        if (counted_again && !nothing_left)
          run_.damaged("the loads of router " + run_.router(router).name + " by " + by + " " + text(key) +
                       " are not those of its decisions");
        for (size_t b = 0; b < sum.size(); ++b) sum[b] += row.load[b];
        if (counted_again) continue;
        for (size_t b = 0; b < sum.size(); ++b)
          if (sum[b] > most[b])
            run_.damaged("the loads of router " + run_.router(router).name + " by " + by +
                         " are more than all of its loads");
      }
    };
    check(routers_[r].labels, run_.decisions, "label", [](const std::string& label) { return "\"" + label + "\""; });
    check(routers_[r].tokens, run_.decisions && run_.inputs, "token",
          [](int32_t token) { return std::to_string(token); });
  }
}

}  // namespace stormcell
