#include "app/cli/what_if_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "app/cli/numbers_text.h"
#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/summary/quality_text.h"

namespace stormcell::cli {
namespace {

constexpr size_t kMostNamed = 4, kMostBranches = 40;

std::string interval_text(const std::optional<std::array<double, 2>>& ci95) {
  return ci95 ? " [" + number_text(100 * (*ci95)[0]) + ", " + number_text(100 * (*ci95)[1]) + "]" : "";
}

/// "20 of 60 answers"
std::string part_text(const ChangedCount& c, const std::string& noun) {
  return count_text(c.changed) + " of " + count_text(c.of) + " " + noun_for(c.of, noun);
}
std::string share_of(const ChangedCount& c) { return " (" + share_text(c.share()) + interval_text(c.share_ci95) + ")"; }

/// The first of them, and how many more there are.
std::string first_of(const std::vector<std::string>& all) {
  std::string text;
  for (size_t i = 0; i < std::min(all.size(), kMostNamed); ++i) add_to_list(text, all[i], "; ");
  if (all.size() > kMostNamed) text += " and " + count_text(static_cast<int64_t>(all.size() - kMostNamed)) + " more";
  return text;
}

/// "2 of 10 texts differ, the earliest at token 3 of text 7; 12 of 80 tokens differ". Tokens and texts count from 0.
std::string texts_text(const WhatIfFigures& f) {
  if (f.outputs.changed == 0) return "no text differs, nor any token";
  const auto differs = [](const ChangedCount& c) { return c.changed == 1 ? " differs" : " differ"; };
  std::string text = part_text(f.outputs, f.item) + differs(f.outputs) + share_of(f.outputs);
  if (const auto& changed = f.after->changed; changed && changed->first_token && changed->first_item)
    text +=
        ", the earliest at token " + count_text(*changed->first_token) + " of text " + count_text(*changed->first_item);
  if (f.answers) text += "; " + part_text(*f.answers, f.answer) + differs(*f.answers) + share_of(*f.answers);
  return text;
}

std::string answers_text(const WhatIfFigures& f) {
  if (f.item == kDecodedItem) return texts_text(f);
  if (f.outputs.changed == 0)
    return "no bit of any output differs" + (f.answers ? ", nor any " + f.answer : std::string());
  const std::string of_items = "some bit of the outputs of " + part_text(f.outputs, f.item) + share_of(f.outputs);
  if (!f.answers) return of_items + " differs";
  return part_text(*f.answers, f.answer) + (f.answers->changed == 1 ? " differs" : " differ") + share_of(*f.answers) +
         "; " + of_items;
}

/// "worse, beyond the intervals"
std::string verdict_text(const QualityChange& q, bool more_is_better) {
  if (q.before == q.after) return "the same";
  const std::string way = (q.after > q.before) == more_is_better ? "better" : "worse";
  if (!q.before_ci95 || !q.after_ci95) return way + ", without intervals";
  return way + (q.is_beyond() ? ", beyond the intervals" : ", within the intervals");
}

std::string quality_text_of(const WhatIfFigures& f) {
  const QualityChange& q = *f.quality;
  std::string text = quality_text(f.unit, q.before, q.before_ci95) + " before, " +
                     quality_text(f.unit, q.after, q.after_ci95) + " after: " + verdict_text(q, f.more_is_better);
  std::vector<const QualityChange*> beyond;
  for (const QualityChange& g : f.groups)
    if (g.is_beyond()) beyond.push_back(&g);
  std::stable_sort(beyond.begin(), beyond.end(), [](const QualityChange* a, const QualityChange* b) {
    return std::fabs(a->after - a->before) > std::fabs(b->after - b->before);
  });
  std::vector<std::string> named;
  for (const QualityChange* g : beyond)
    named.push_back("class " + g->name + " from " + quality_value_text(f.unit, g->before) + " to " +
                    quality_value_text(f.unit, g->after));
  return named.empty() ? text : text + "; beyond theirs: " + first_of(named);
}

const PlanFigures* plan_of(const RunSummaryFigures& run) {
  if (run.baseline) return &*run.baseline;
  return run.optimized ? &*run.optimized : nullptr;
}

std::string cost_text(const WhatIfFigures& f) {
  std::string text;
  if (f.operations_before && f.operations_after) {
    text = with_commas(std::llround(*f.operations_before)) + " operations for each " + f.item + " before, " +
           with_commas(std::llround(*f.operations_after)) + " after";
    if (*f.operations_before > 0) text += " (" + difference_text(*f.operations_after / *f.operations_before - 1) + ")";
  }
  const PlanFigures *before = plan_of(*f.before), *after = plan_of(*f.after);
  if (before && after)
    add_to_list(text,
                milliseconds_text(before->latency_ms.mean) + " for a batch before, " +
                    milliseconds_text(after->latency_ms.mean) + " after",
                "; ");
  return text;
}

std::string verified_text(const WhatIfFigures& f) {
  const auto passed = [](const RunSummaryFigures& run) { return run.verified && run.verified->passed; };
  if (!passed(*f.before)) return "the model as it came could not be verified: it differs from the oracle";
  if (!passed(*f.after)) return "the change could not be verified: it differs from the oracle with the same change";
  return "both runs are verified: the oracle made the same change; " + f.after->verified->text;
}

/// "12 choices found no place before, 40 after"; empty: none was dropped, and no capacity was changed.
std::string dropped_text(const WhatIfFigures& f) {
  int64_t before = 0, after = 0;
  bool changed = false;
  for (const LoadChange& r : f.routers)
    before += r.dropped_before, after += r.dropped_after, changed = changed || !r.capacity.empty();
  if (!changed && before == 0 && after == 0) return {};
  return count_text(before) + " " + noun_for(before, "choice") + " found no place before, " + count_text(after) +
         " after";
}

/// Lists each branch of the changed routers; only the first ones if there are many.
std::string loads_text(const WhatIfFigures& f, bool verbose) {
  Rows rows = {{"router", "branch", "cells before", "share", "cells after", "share", ""}};
  const auto share = [](int64_t part, const std::vector<int64_t>& all) {
    const int64_t sum = std::accumulate(all.begin(), all.end(), int64_t{0});
    return sum > 0 ? share_text(static_cast<double>(part) / static_cast<double>(sum)) : std::string("-");
  };
  int64_t more = 0;
  for (const LoadChange& r : f.routers)
    for (size_t b = 0; b < r.before.size(); ++b) {
      if (!verbose && rows.size() > kMostBranches) {
        ++more;
        continue;
      }
      const bool off = std::find(r.off.begin(), r.off.end(), static_cast<int32_t>(b)) != r.off.end();
      rows.push_back({b == 0 ? r.router : "", std::to_string(b), count_text(r.before[b]), share(r.before[b], r.before),
                      count_text(r.after[b]), share(r.after[b], r.after), off ? "off" : ""});
    }
  if (rows.size() == 1) return {};
  std::string text = "\n" + table_text(rows, {1, 2, 3, 4, 5});
  if (more > 0) text += counted(more, "branch more", "branches more") + ": --all shows them\n";
  text += "cells without padding\n";
  for (const LoadChange& r : f.routers)
    if (!r.capacity.empty() || r.dropped_before > 0 || r.dropped_after > 0)
      text += r.router + " dropped " + count_text(r.dropped_before) + " " + noun_for(r.dropped_before, "choice") +
              " before, " + count_text(r.dropped_after) + " after, those of padding included\n";
  return text;
}

/// On one line, cut between two characters.
std::string cut_text(const std::string& text) {
  constexpr size_t kMost = 36;
  std::string line;
  for (const char c : text) line += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
  if (line.size() <= kMost) return line;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

/// Texts that differ; only the first ones if there are many.
std::string texts_table(const WhatIfFigures& f, bool verbose) {
  constexpr size_t kShown = 8;
  if (f.texts.empty()) return {};
  Rows rows = {{"text", "first other token", "before", "after"}};
  const size_t shown = verbose ? f.texts.size() : std::min(kShown, f.texts.size());
  for (size_t i = 0; i < shown; ++i) {
    const ChangedText& t = f.texts[i];
    rows.push_back({count_text(t.item), count_text(t.place), cut_text(t.before), cut_text(t.after)});
  }
  std::string text = "\n" + table_text(rows, {0, 1});
  const auto more = static_cast<int64_t>(f.texts.size() - shown);
  if (more > 0) text += counted(more, "text") + " more: --all shows them\n";
  return text;
}

/// The largest load as a multiple of the even share.
std::string largest_text(const std::vector<int64_t>& load) {
  const int64_t sum = std::accumulate(load.begin(), load.end(), int64_t{0});
  if (sum == 0) return "-";
  const auto largest = static_cast<double>(*std::max_element(load.begin(), load.end()));
  return number_text(largest * static_cast<double>(load.size()) / static_cast<double>(sum));
}

}  // namespace

Page page_of(const WhatIfFigures& f, bool verbose) {
  Page page;
  page.conclusions = {"The routing was changed: " + first_of(f.changes) + ".", sentence_of(answers_text(f))};
  if (f.quality) page.conclusions.push_back(sentence_of("The " + f.measure + " is " + quality_text_of(f)));
  std::string cost = cost_text(f);
  if (!cost.empty()) cost = "It takes " + cost;
  if (const std::string dropped = dropped_text(f); !dropped.empty()) add_to_list(cost, dropped, "; ");
  if (!cost.empty()) page.conclusions.push_back(sentence_of(cost));
  page.conclusions.push_back(sentence_of(verified_text(f)));
  page.details = texts_table(f, verbose) + loads_text(f, verbose);
  if (!f.before->session.empty())
    page.details += f.before->session + ": run " + std::to_string(f.before->session_run) + " as the model came, run " +
                    std::to_string(f.after->session_run) + " with the change\n";
  return page;
}

Page page_of(const ReplayFigures& f, bool verbose) {
  const auto token = [](int64_t n) { return count_text(n) + " " + noun_for(n, "token"); };
  Page page;
  page.conclusions = {
      "The choices of the recording were changed: " + first_of(f.changes) + ".",
      count_text(f.changed_tokens) + " of " + token(f.tokens) + " in " + counted(f.requests, "request") +
          " choose otherwise at some layer.",
      "The file " + f.file + " holds them for " + f.format + ": " + f.documented + ".", "There, " + f.how + ".",
      "Nothing was computed: what the model answers with these choices is only known where they are replayed."};
  Rows rows = {{"router", "branches", "k", "choices changed", "of", "largest load before", "after"}};
  const size_t shown = verbose ? f.routers.size() : std::min(kMostBranches, f.routers.size());
  for (size_t r = 0; r < shown; ++r) {
    const ReplayedRouter& of = f.routers[r];
    rows.push_back({of.router, count_text(of.branches), count_text(of.k), count_text(of.changed), count_text(of.of),
                    largest_text(of.load_before), largest_text(of.load_after)});
  }
  page.details = "\n" + table_text(rows, {1, 2, 3, 4, 5, 6}) + "largest load: as a multiple of the even share\n";
  return page;
}

}  // namespace stormcell::cli
