#include "app/cli/generation_text.h"

#include <algorithm>

#include "app/cli/numbers_text.h"
#include "app/cli/run_words.h"
#include "app/cli/shared_text.h"
#include "core/base/counted.h"
#include "core/summary/budget_text.h"
#include "core/summary/verdict_text.h"

namespace stormcell::cli {

Page page_of(const GenerateFigures& f, bool verbose) {
  constexpr size_t kShown = 8;
  std::string text = subject_text(f.model, f.dataset, f.device) + "\n";
  Rows rows;
  rows.push_back({"generated", counted(f.tokens, "token") + " for " + counted(f.sequences, "sequence") + "; " +
                                   count_text(f.stopped_eos) + " ended by themselves, " + count_text(f.stopped_length) +
                                   " at the limit"});
  rows.push_back({"tokens a second", rate_text(f.tokens_per_s) + " (every batch once)"});
  rows.push_back({"latency of a batch", "mean " + milliseconds_text(f.latency_ms.mean) + ", median " +
                                            milliseconds_text(f.latency_ms.median) + ", 95th percentile " +
                                            milliseconds_text(f.latency_ms.p95) + ", fastest " +
                                            milliseconds_text(f.latency_ms.min) + ", " +
                                            counted(f.latency_ms.runs, "batch")});
  rows.push_back({"exact", f.accuracy ? share_text(*f.accuracy) + " of the sequences equal their target"
                                      : "not known: the data has no targets"});
  rows.push_back(
      {"verified", f.verified ? (f.verified->passed ? "yes: " : "NO: ") + f.verified->text : "not verified"});
  if (f.verified)
    for (const std::string& reason : f.verified->reasons) rows.push_back({"", reason_text(reason)});
  if (f.states)
    rows.push_back({"states of sequences", bytes_text(f.states->taken_bytes) + " in " +
                                               counted(f.states->taken_pages, "page") + " at most, of " +
                                               bytes_text(f.states->planned_bytes) + " planned"});
  add_budget(rows, f.weight_budget, reading_plans(f));
  add_session(rows, f.session, f.session_run);
  text += table_text(rows, {});
  if (verbose) text += routing_text(f.routing);
  const size_t shown = verbose ? f.texts.size() : std::min(kShown, f.texts.size());
  if (shown > 0) text += "\n";
  for (size_t i = 0; i < shown; ++i) text += "  " + f.texts[i] + "\n";
  if (shown < f.texts.size())
    text += "  ... " + count_text(static_cast<int64_t>(f.texts.size() - shown)) + " more: --all shows them\n";
  return {generation_conclusions(f), text};
}

}  // namespace stormcell::cli
