#include "app/cli/generation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "app/cli/numbers_text.h"
#include "app/cli/run_words.h"
#include "app/cli/shared_text.h"
#include "core/base/counted.h"
#include "core/summary/budget_text.h"
#include "core/summary/terminal_text.h"
#include "core/summary/verdict_text.h"

namespace stormcell::cli {

namespace {

std::string latency_text(const Latency& latency, std::string_view one) {
  return "mean " + milliseconds_text(latency.mean) + ", median " + milliseconds_text(latency.median) +
         ", 95th percentile " + milliseconds_text(latency.p95) + ", fastest " + milliseconds_text(latency.min) + ", " +
         counted(latency.runs, one);
}

std::string sampling_text(const SamplingFigures& s) {
  std::string text = fmt::format("temperature {}", s.temperature);
  if (s.top_k > 0) text += fmt::format(", among the {} largest logits", s.top_k);
  if (s.top_p < 1) text += fmt::format(", among {} of the probability", share_text(s.top_p));
  return text + fmt::format(", seed {}: the same command draws the same tokens", s.seed);
}

/// The first lines of a text, so that one text does not fill the page.
void add_lines_of(std::string_view text, bool verbose, std::string& page) {
  constexpr int kLines = 6;
  int lines = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (!verbose && ++lines > kLines) {
      page += "  ...\n";
      return;
    }
    page += "  " + terminal_text(text.substr(at, end - at), false) + "\n";
    at = end + 1;
  }
}

}  // namespace

Page page_of(const GenerateFigures& f, bool verbose, TextsOfPage texts) {
  constexpr size_t kShown = 8;
  std::string text = subject_text(f.model, f.dataset, f.device) + "\n";
  Rows rows;
  rows.push_back({"generated", counted(f.tokens, "token") + " for " + counted(f.sequences, "sequence") + "; " +
                                   count_text(f.stopped_eos) + " ended by themselves, " + count_text(f.stopped_length) +
                                   " at the limit" +
                                   (f.stopped_text > 0 ? ", " + count_text(f.stopped_text) + " at a stop text" : "")});
  if (f.sampling) rows.push_back({"drawn", sampling_text(*f.sampling)});
  rows.push_back({"tokens a second", rate_text(f.tokens_per_s) + " (every batch once)"});
  if (f.first_token_ms) rows.push_back({"first token", latency_text(*f.first_token_ms, "batch")});
  if (f.token_ms) rows.push_back({"each further token", latency_text(*f.token_ms, "turn")});
  rows.push_back({"latency of a batch", latency_text(f.latency_ms, "batch")});
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
  if (texts == TextsOfPage::left_out) return {generation_conclusions(f), text};
  const size_t shown = verbose ? f.texts.size() : std::min(kShown, f.texts.size());
  for (size_t i = 0; i < shown; ++i) {
    text += i == 0 || !f.chat.empty() ? "\n" : "";
    if (!f.chat.empty() && i < f.prompts.size()) add_lines_of(f.prompts[i], verbose, text);
    add_lines_of(f.texts[i], verbose, text);
  }
  if (shown < f.texts.size())
    text += "  ... " + count_text(static_cast<int64_t>(f.texts.size() - shown)) + " more: --all shows them\n";
  return {generation_conclusions(f), text};
}

}  // namespace stormcell::cli
