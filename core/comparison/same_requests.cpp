#include "core/comparison/same_requests.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/run_kind.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {

struct RecordedRequests {
  bool imported = false, choices = false;
  int64_t requests = 0, cells = 0;
  int64_t first = -1;           ///< number of the first request of which tokens are recorded; -1: none are
  std::vector<int32_t> tokens;  ///< of this request
};

void set_first_tokens(const SessionReader& session, int64_t run, RecordedRequests& of) {
  for (const BatchSpace& space : session.spaces(run, 0)) {
    const size_t each = space.cells.per_sequence;
    if (each == 0 || space.tokens.size() < each) continue;
    of.first = space.cells.sequence(0);
    for (size_t i = 0; i < each; ++i)
      if (space.mask.empty() || space.mask[i] != 0) of.tokens.push_back(space.tokens[i]);
    return;
  }
}

RecordedRequests requests_of(const SummaryFigures& f) {
  RecordedRequests of;
  if (f.session.empty()) return of;
  const SessionReader session(f.session);
  const RunSummary run = session.run(f.run);
  const RunKind kind = run_kind(run.kind);
  of.imported = kind == RunKind::import;
  of.choices = (of.imported || kind == RunKind::profile) && run.batches > 0 && session.has_decisions(f.run);
  if (!of.choices || session.layout(f.run).routers.empty()) return of;
  of.requests = session.sequences(f.run);
  of.cells = session.total_loads(f.run, 0).cells;
  set_first_tokens(session, f.run, of);
  return of;
}

/// Summaries without their sessions say how many choices were read.
bool equal_choices(const SummaryFigures& a, const SummaryFigures& b) {
  const auto choices_of = [](const SummaryFigures& f) {
    const auto at = f.value_of.find("rows_read");
    return at != f.value_of.end() && f.summary->value("schema", std::string()).starts_with("stormcell.import/")
               ? at->second
               : 0;
  };
  return choices_of(a) > 0 && choices_of(a) == choices_of(b);
}

}  // namespace

bool of_the_same_requests(const SummaryFigures& a, const SummaryFigures& b) {
  if (a.session.empty() || b.session.empty()) return equal_choices(a, b);
  const RecordedRequests x = requests_of(a), y = requests_of(b);
  if (!x.choices || !y.choices || !(x.imported || y.imported) || x.requests == 0 || x.requests != y.requests)
    return false;
  const size_t shared = x.first == y.first ? std::min(x.tokens.size(), y.tokens.size()) : 0;
  if (shared == 0) return x.cells == y.cells;
  return std::equal(x.tokens.begin(), x.tokens.begin() + static_cast<int64_t>(shared), y.tokens.begin());
}

}  // namespace stormcell
