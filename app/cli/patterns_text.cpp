#include "app/cli/patterns_text.h"

#include <algorithm>
#include <map>

#include "app/cli/numbers_text.h"
#include "core/base/counted.h"
#include "core/base/listed_words.h"

namespace stormcell::cli {
namespace {

constexpr size_t kLayersOfTable = 16;  ///< rows of a table; --json and --tables have all

/// "0.21 (0.15 to 0.32)": a figure with the range of even routers.
std::string beside_chance(const std::string& value, const ChanceRange& range, std::string (*text)(double)) {
  return value + " (" + text(range.low) + " to " + text(range.high) + ")";
}
std::string three_digits(double value) { return number_text(value); }

std::string beyond_word(bool beyond) { return beyond ? "beyond chance" : "within chance"; }

std::string more_rows(size_t all) {
  return all > kLayersOfTable ? "... " + counted(static_cast<int64_t>(all - kLayersOfTable), "more row") +
                                    ": --json and --tables have all\n"
                              : "";
}
/// A table with its title; empty without rows.
std::string titled(const std::string& title, const Rows& rows, const std::vector<size_t>& right, size_t all) {
  return rows.size() < 2 ? std::string() : "\n" + title + "\n" + table_text(rows, right) + more_rows(all);
}

std::string layer_name(const PatternRouter& r) { return r.layer < 0 ? r.router : "layer " + std::to_string(r.layer); }

std::string layers_table_of(const PatternFigures& f) {
  Rows rows = {{"router", "imbalance", "entropy", "gini", ""}};
  for (size_t r = 0; r < std::min(f.routers.size(), kLayersOfTable); ++r) {
    const PatternRouter& router = f.routers[r];
    if (router.cells == 0) continue;
    const LoadsBesideChance& c = router.chance;
    rows.push_back({router.router, beside_chance(number_text(router.imbalance), c.imbalance.range, three_digits),
                    beside_chance(number_text(router.entropy_bits), c.entropy_bits.range, three_digits),
                    beside_chance(number_text(router.gini), c.gini.range, three_digits), beyond_word(router.beyond)});
  }
  return titled("curves over layers (in brackets: 95 % of even routers)", rows, {1, 2, 3}, f.routers.size());
}

std::string margins_table_of(const PatternFigures& f) {
  Rows rows;
  size_t all = 0;
  for (const PatternRouter& router : f.routers)
    for (const MarginFigures& m : router.margins) {
      if (rows.empty()) {
        rows.push_back({"router", "margin", "median"});
        for (const MarginsBelow& b : m.below) rows[0].push_back("< " + number_text(b.margin));
      }
      if (++all > kLayersOfTable) continue;
      rows.push_back({router.router, std::string(to_text(m.kind)), number_text(m.median)});
      for (const MarginsBelow& b : m.below)
        rows.back().push_back(share_text(static_cast<double>(b.cells) / static_cast<double>(m.cells)));
    }
  return titled(
      "margins: cut is the last chosen above the first not chosen, first is the first above the second choice", rows,
      {2, 3, 4, 5, 6, 7}, all);
}

std::string gaps_table_of(const PatternFigures& f) {
  Rows rows = {{"from", "to", "likeliest", "by load", "by chance", "of equal rank", "pairs beyond chance"}};
  for (size_t i = 0; i < std::min(f.gaps.size(), kLayersOfTable); ++i) {
    const GapFigures& g = f.gaps[i];
    rows.push_back({layer_name(f.routers[g.from]), layer_name(f.routers[g.to]),
                    g.figures.likeliest ? share_text(*g.figures.likeliest) : "-",
                    g.figures.likeliest_by_load ? share_text(*g.figures.likeliest_by_load) : "-",
                    g.likeliest ? share_text(g.likeliest->range.middle) : "-",
                    g.published.likeliest ? share_text(*g.published.likeliest) : "-",
                    count_text(std::ssize(g.chance.beyond)) + " of " + count_text(g.chance.tested)});
  }
  return titled("transitions (likeliest: mean over cells of the largest P(next | this))", rows, {2, 3, 4, 5, 6},
                f.gaps.size());
}

std::string together_table_of(const PatternFigures& f) {
  Rows rows = {{"router", "pairs", "of rank neighbours", "largest lift", "by chance", "pairs beyond chance"}};
  size_t all = 0;
  for (const PatternRouter& router : f.routers) {
    if (!router.together || ++all > kLayersOfTable) continue;
    const TogetherFigures& t = *router.together;
    std::string lift = "-";
    if (!t.strongest.empty()) {
      const BranchesTogether& b = t.strongest[0];
      lift = "#" + std::to_string(b.a) + " + #" + std::to_string(b.b) + " " + number_text(b.lift) + " x";
    }
    rows.push_back({router.router, count_text(t.all.total()), count_text(t.neighbours.total()), lift,
                    t.largest_lift ? number_text(t.largest_lift->middle) + " x" : "-",
                    count_text(std::ssize(t.chance.beyond)) + " of " + count_text(t.chance.tested)});
  }
  return titled("co-activation of all pairs (published matrices may count rank neighbours alone)", rows,
                {1, 2, 3, 4, 5}, all);
}

/// The branch that a label uses most above the uniform line.
std::string busiest_text(const LabelFigures& l) {
  const auto most = std::max_element(l.load.begin(), l.load.end());
  return "#" + std::to_string(most - l.load.begin()) + " " +
         share_text(static_cast<double>(*most) / static_cast<double>(l.cells));
}

std::string labels_table_of(const PatternFigures& f) {
  Rows rows = {{"router", "label", "cells", "busiest", "uniform", "gini by label", ""}};
  size_t all = 0;
  for (const PatternRouter& router : f.routers)
    for (const LabelFigures& l : router.labels) {
      if (++all > kLayersOfTable) continue;
      rows.push_back({layer_name(router), l.label, count_text(l.cells), busiest_text(l),
                      share_text(static_cast<double>(router.k) / router.branches),
                      beside_chance(number_text(l.gini), l.chance.gini.range, three_digits), beyond_word(l.beyond)});
    }
  return titled("label x expert, beside the uniform line k / experts", rows, {2, 3, 4, 5}, all);
}

std::string vocabulary_table_of(const PatternFigures& f) {
  Rows rows = {{"router", "tokens", "specialization", "", "most special branch", "its tokens"}};
  const std::map<int32_t, std::string> pieces(f.pieces.begin(), f.pieces.end());
  size_t all = 0;
  for (const PatternRouter& router : f.routers) {
    if (!router.vocabulary || !router.vocabulary->figures.specialization || ++all > kLayersOfTable) continue;
    const PatternVocabulary& v = *router.vocabulary;
    const auto most = std::max_element(v.figures.branches.begin(), v.figures.branches.end(),
                                       [](const BranchVocabulary& x, const BranchVocabulary& y) {
                                         return x.specialization.value_or(-1) < y.specialization.value_or(-1);
                                       });
    std::string tokens;
    for (size_t i = 0; i < std::min<size_t>(3, most->strongest.size()); ++i) {
      const auto at = pieces.find(most->strongest[i].token);
      add_to_list(tokens, at == pieces.end() ? std::to_string(most->strongest[i].token) : "\"" + at->second + "\"",
                  " ");
    }
    rows.push_back(
        {router.router, count_text(v.figures.tokens),
         beside_chance(share_text(*v.figures.specialization), v.chance.range, share_text), beyond_word(v.beyond),
         "#" + std::to_string(most - v.figures.branches.begin()) + " " + share_text(most->specialization.value_or(0)),
         tokens});
  }
  return titled("vocabulary: mean over tokens with " + count_text(f.fewest_cells) +
                    " cells or more of the largest share of one branch (in brackets: even routers)",
                rows, {1, 2}, all);
}

std::string range_sentence(const PatternFigures& f) {
  const PatternRouter *least = nullptr, *most = nullptr;
  for (const PatternRouter& r : f.routers) {
    if (r.cells == 0) continue;
    if (!least || r.gini < least->gini) least = &r;
    if (!most || r.gini > most->gini) most = &r;
  }
  if (!most) return {};
  if (least == most) return "The Gini coefficient of the loads is " + number_text(most->gini) + ".";
  return "The Gini coefficient of the loads is " + number_text(least->gini) + " to " + number_text(most->gini) +
         " over the layers, largest at " + most->router + ".";
}

std::string beyond_sentence(const PatternFigures& f) {
  const auto count = [](const auto& list, auto&& called) {
    return count_text(std::count_if(list.begin(), list.end(), called)) + " of " +
           count_text(static_cast<int64_t>(list.size()));
  };
  std::string text = "Beyond chance: the loads of " +
                     count(f.routers, [](const PatternRouter& r) { return r.beyond; }) +
                     (f.routers.size() == 1 ? " layer" : " layers");
  if (!f.gaps.empty())
    text += ", transitions of " + count(f.gaps, [](const GapFigures& g) { return !g.chance.beyond.empty(); }) +
            " pairs of layers";
  int64_t labels = 0, labels_beyond = 0;
  for (const PatternRouter& r : f.routers)
    for (const LabelFigures& l : r.labels) ++labels, labels_beyond += l.beyond;
  if (labels > 0) text += ", " + count_text(labels_beyond) + " of " + count_text(labels) + " rows of labels";
  return text + ".";
}

/// Says where a published matrix counts other pairs than this page.
std::string published_sentence(const PatternFigures& f) {
  int64_t all = 0, neighbours = 0;
  for (const PatternRouter& r : f.routers)
    if (r.together) all += r.together->all.total(), neighbours += r.together->neighbours.total();
  if (all == neighbours) return {};
  return "A matrix of rank neighbours alone has " + count_text(neighbours) + " of the " + count_text(all) +
         " pairs of co-activation (" + share_text(static_cast<double>(neighbours) / static_cast<double>(all)) + ").";
}

std::string lacks_text(const PatternFigures& f) {
  std::string text;
  for (const std::string& lack : f.lacks)
    text += (text.empty() ? "\nthe data lacks  " : "                ") + lack + "\n";
  return text;
}

std::string about_text(const PatternFigures& f) {
  std::string text;
  for (const std::string& name : f.recordings) text += (text.empty() ? "recording  " : "           ") + name + "\n";
  text += "counted    " + counted(f.cells, "cell") + " of " + counted(std::ssize(f.routers), "router") +
          (f.first_choices > 0 ? ", the first " + counted(f.first_choices, "choice") + " of each" : "") + "\n";
  if (f.cells_without_label > 0) text += "           " + counted(f.cells_without_label, "cell") + " without a label\n";
  return text;
}

}  // namespace

Page patterns_page(const PatternFigures& f) {
  return {{range_sentence(f), beyond_sentence(f), published_sentence(f)},
          about_text(f) + layers_table_of(f) + labels_table_of(f) + gaps_table_of(f) + together_table_of(f) +
              vocabulary_table_of(f) + margins_table_of(f) + lacks_text(f)};
}

Page saturation_page(const SaturationFigures& f) {
  Rows rows = {{"checkpoint", "share", "first choice", "by load", "by chance"}};
  for (size_t i = 0; i < f.all.size(); ++i) {
    const SaturationPoint& p = f.all[i];
    rows.push_back({f.names[i], p.share ? share_text(*p.share) : "-", p.first_share ? share_text(*p.first_share) : "-",
                    p.by_load ? share_text(*p.by_load) : "-", p.share ? share_text(p.chance.range.middle) : "-"});
  }
  Rows layers = {{"router"}};
  layers[0].insert(layers[0].end(), f.names.begin(), f.names.end() - 1);
  for (size_t r = 0; r < std::min(f.routers.size(), kLayersOfTable); ++r) {
    layers.push_back({f.routers[r].router});
    for (const SaturationPoint& p : f.routers[r].points)
      layers.back().push_back(p.share ? share_text(*p.share) + (p.beyond ? "" : " (chance)") : "-");
  }
  std::vector<size_t> right(f.all.size());
  for (size_t i = 0; i < right.size(); ++i) right[i] = i + 1;
  std::vector<std::string> sentences;
  if (!f.all.empty() && f.all[0].share)
    sentences.push_back("Of the choices of " + f.names.back() + ", " + f.names[0] + " makes " +
                        share_text(*f.all[0].share) +
                        (f.all.size() > 1 && f.all.back().share
                             ? ", and " + f.names[f.all.size() - 1] + " makes " + share_text(*f.all.back().share)
                             : "") +
                        "; even routers would make " + share_text(f.all[0].chance.range.middle) + ".");
  int64_t judged = 0, beyond = 0;
  for (const SaturationRouter& r : f.routers)
    for (const SaturationPoint& p : r.points) judged += p.share.has_value(), beyond += p.beyond;
  sentences.push_back("Beyond chance: " + count_text(beyond) + " of " + count_text(judged) +
                      " shares of a layer at a checkpoint.");
  return {sentences, "compared   " + counted(f.cells, "cell") + " of " + counted(std::ssize(f.routers), "router") +
                         (f.by_tokens ? ", their token ids agree" : "; token ids are not in all recordings") + "\n\n" +
                         table_text(rows, {1, 2, 3, 4}) + "\nshare of the choices of " + f.names.back() +
                         " that each checkpoint makes, by layer\n" + table_text(layers, right) +
                         more_rows(f.routers.size())};
}

}  // namespace stormcell::cli
