#include "app/cli/diff_text.h"

#include <algorithm>

#include "app/cli/numbers_text.h"
#include "core/base/counted.h"
#include "core/base/listed_words.h"

namespace stormcell::cli {
namespace {

constexpr size_t kLayersShown = 24, kSequencesShown = 5;

std::string interval_text(const std::optional<std::array<double, 2>>& ci) {
  return ci ? share_text((*ci)[0]) + " to " + share_text((*ci)[1]) : "-";
}

std::string branches_moved_text(const DiffLayer& layer) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, layer.branches.size()); ++i) {
    const DiffBranch& b = layer.branches[i];
    const int64_t net = b.gained - b.lost;
    add_to_list(text, "#" + std::to_string(b.branch) + " " + (net > 0 ? "+" : "") + count_text(net), "  ");
  }
  return text;
}

/// Two causes behind the first are enough to look at; --json has all.
std::vector<std::string> verdict_sentences(const DifferenceFigures& f) {
  constexpr size_t kShown = 2;
  const DiffVerdict& v = f.verdict;
  std::vector<std::string> sentences = {
      sentence_of("verdict: " + (v.cause.empty() ? "" : v.cause + ": ") + v.evidence)};
  // If all choices agree there is nothing to check.
  const bool all_agree = f.differing == 0 && v.cause == "agree";
  if (!v.next.empty() && !all_agree) sentences.push_back(sentence_of("check: " + v.next));
  for (size_t i = 0; i < std::min(kShown, v.also.size()); ++i)
    sentences.push_back(sentence_of("also " + v.also[i].cause + ": " + v.also[i].evidence));
  if (!v.cannot_be_told.empty())
    sentences.push_back(sentence_of("not told: " + joined(v.cannot_be_told) + "; " + v.record));
  return sentences;
}

std::string matched_text(const DifferenceFigures& f) {
  std::string text = "matched    " + counted(f.matched_requests, "request") + ", " + counted(f.matched_cells, "cell") +
                     (f.by_tokens ? ", their token ids agree" : "; token ids are not in both") + "\n";
  if (f.shifted > 0)
    text = "matched    " + counted(f.matched_requests, "request") + ", " + counted(f.matched_cells, "cell") + "; in " +
           counted(f.shifted, "request") + " token ids are at other positions\n";
  if (f.cells_only_a + f.cells_only_b > 0)
    text += "unmatched  of these requests " + counted(f.cells_only_a, "cell") + " of a alone, " +
            with_commas(f.cells_only_b) + " of b alone\n";
  return text;
}

std::string counts_text(const DifferenceFigures& f) {
  if (f.differing == 0) return "differ     nothing of " + counted(f.compared, "choice") + " of cells\n";
  return "differ     " + with_commas(f.differing) + " of " + counted(f.compared, "choice") + " of cells (" +
         share_text(static_cast<double>(f.differing) / static_cast<double>(f.compared)) +
         "): in " + with_commas(f.origins) + " a difference begins" +
         (f.near_ties ? ", " + with_commas(*f.near_ties) + " of them near ties" : "") + "; " +
         counted(f.consequences, "consequence") + "\n";
}

std::string layers_table(const DifferenceFigures& f) {
  std::vector<const DiffLayer*> shown;
  for (const DiffLayer& l : f.layers)
    if (l.differing > 0) shown.push_back(&l);
  if (shown.empty()) return {};
  const size_t all = shown.size();
  if (all > kLayersShown) {  // those where most begins, in the order of cells
    std::stable_sort(shown.begin(), shown.end(),
                     [](const DiffLayer* x, const DiffLayer* y) { return x->first_here > y->first_here; });
    shown.resize(kLayersShown);
    std::sort(shown.begin(), shown.end());
  }
  const bool ties =
      std::any_of(shown.begin(), shown.end(), [](const DiffLayer* l) { return l->near_ties.has_value(); });
  Rows rows = {{"router", "cells", "differ", "95 % interval", "begins here"}};
  if (ties) rows[0].emplace_back("near ties");
  rows[0].emplace_back("branches that b chose more or less often");
  for (const DiffLayer* l : shown) {
    rows.push_back({l->router, count_text(l->cells), share_text(*l->share), interval_text(l->share_ci95),
                    count_text(l->first_here)});
    if (ties) rows.back().push_back(l->near_ties ? count_text(*l->near_ties) : "-");
    rows.back().push_back(branches_moved_text(*l));
  }
  std::string text =
      "\n" + table_text(rows, ties ? std::vector<size_t>{1, 2, 3, 4, 5} : std::vector<size_t>{1, 2, 3, 4});
  if (all > shown.size()) text += counted(std::ssize(f.layers), "router") + "; --json has all\n";
  return text;
}

std::string positions_text(const DifferenceFigures& f) {
  if (f.layers.empty() || f.differing == 0) return {};
  std::vector<DiffGroup> sums(f.layers[0].positions.size());
  for (const DiffLayer& l : f.layers)
    for (size_t g = 0; g < sums.size(); ++g)
      sums[g].cells += l.positions[g].cells, sums[g].differing += l.positions[g].differing;
  constexpr size_t kShown = 8;
  const size_t each = (sums.size() + kShown - 1) / kShown;
  Rows rows = {{"positions", "cells of routers", "differ"}};
  for (size_t g = 0; g < sums.size(); g += each) {
    DiffGroup sum;
    const size_t end = std::min(g + each, sums.size());
    for (size_t i = g; i < end; ++i) sum.cells += sums[i].cells, sum.differing += sums[i].differing;
    if (sum.cells == 0) continue;
    const auto width = static_cast<size_t>(f.position_width);
    rows.push_back({std::to_string(g * width) + " to " + std::to_string(end * width - 1), count_text(sum.cells),
                    share_text(static_cast<double>(sum.differing) / static_cast<double>(sum.cells))});
  }
  return rows.size() > 2 ? "\n" + table_text(rows, {1, 2}) : std::string();
}

std::string sequences_text(const DifferenceFigures& f) {
  if (f.sequences.empty()) return {};
  std::string text = "\nfirst differences, of " + counted(f.sequences_differing, "request") + " that differ\n";
  Rows rows;
  for (size_t i = 0; i < std::min(kSequencesShown, f.sequences.size()); ++i)
    rows.push_back({"request " + std::to_string(f.sequences[i].request),
                    "position " + std::to_string(f.sequences[i].position), f.sequences[i].router});
  return text + table_text(rows, {});
}

std::string weights_text(const DifferenceFigures& f) {
  if (!f.weights) return {};
  return "weights    sum up to " + number_text(f.weights->mean_sum_a) + " and " + number_text(f.weights->mean_sum_b) +
         " a cell; where choices agree, they differ by " + share_text(f.weights->median_difference) + " (median)\n";
}

}  // namespace

Page difference_page(const DifferenceFigures& f) {
  return {verdict_sentences(f), "a          " + f.a + "\nb          " + f.b + "\n" + matched_text(f) + counts_text(f) +
                                    weights_text(f) + layers_table(f) + positions_text(f) + sequences_text(f)};
}

}  // namespace stormcell::cli
