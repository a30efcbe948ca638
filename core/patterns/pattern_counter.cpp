#include "core/patterns/pattern_counter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/cell/decision.h"
#include "core/difference/router_pairs.h"
#include "core/profile/router_layer.h"

namespace stormcell {
namespace {

constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();

/// Distance of the two largest numbers; not a number: there are fewer than two.
float distance_of_first(std::span<const float> values) {
  if (values.size() < 2) return kNotKnown;
  float first = values[0], second = values[1];
  if (second > first) std::swap(first, second);
  for (const float v : values.subspan(2)) {
    if (v > first)
      second = std::exchange(first, v);
    else
      second = std::max(second, v);
  }
  return first - second;
}

}  // namespace

int32_t layer_number(const TraceRouter& router) {
  return router.layer >= 0 ? router.layer : layer_in_name(router.name);
}

void CountedMargins::add(float margin, const std::vector<double>& limits) {
  if (std::isnan(margin)) return;
  const auto value = static_cast<double>(margin);
  below.resize(limits.size());
  ++cells;
  bins.add(value);
  for (size_t i = 0; i < limits.size(); ++i) below[i] += value < limits[i];
}

CountedRouter::CountedRouter(const TraceRouter& router, int32_t choices)
    : about(router),
      k(choices),
      loads(router.branches),
      together(router.branches, router.branches),
      neighbours(router.branches, router.branches) {}

CountedGap::CountedGap(int32_t from_router, int32_t to_router, const std::vector<CountedRouter>& routers)
    : from(from_router),
      to(to_router),
      all(routers[from].about.branches, routers[to].about.branches),
      equal_ranks(routers[from].about.branches, routers[to].about.branches) {}

void RankedChoices::take(const DecisionRecord& d, int32_t fan_out, int32_t k) {
  const size_t width = fan_out, cells = d.choice.size() / width, kept = k;
  choice.clear();
  choice.reserve(cells * kept);
  std::vector<std::pair<float, int32_t>> order(width);
  for (size_t c = 0; c < cells; ++c) {
    const std::span<const int32_t> chosen = d.choice.subspan(c * width, width);
    const std::span<const float> weight = d.weight.empty() ? d.weight : d.weight.subspan(c * width, width);
    if (weight.empty() || std::is_sorted(weight.rbegin(), weight.rend())) {
      choice.insert(choice.end(), chosen.begin(), chosen.begin() + k);
      continue;
    }
    for (size_t j = 0; j < width; ++j) order[j] = {weight[j], chosen[j]};
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (size_t j = 0; j < kept; ++j) choice.push_back(order[j].second);
  }
}

void PatternCounter::count_vocabulary_of(const std::vector<int32_t>& routers, int64_t tokens) {
  vocabulary_only_ = true;
  for (CountedRouter& r : routers_) r.vocabulary.reset();
  for (const int32_t r : routers) routers_[r].vocabulary.emplace(routers_[r].about.branches, tokens);
}

void PatternCounter::begin(const TraceHeader& header) {
  if (header_) {  // a further recording: its routers are those of the first
    const RouterPairs pairs = pair_routers(*header_, options_.recordings[0], header, name_);
    const bool alike = std::all_of(pairs.pairs.begin(), pairs.pairs.end(), [&](const RouterPair& p) {
      const TraceRouter &a = header_->routers[p.a], &b = header.routers[p.b];
      return p.a == p.b && a.branches == b.branches && a.fan_out == b.fan_out && a.stack == b.stack;
    });
    if (!alike || header.routers.size() != header_->routers.size() || pairs.pairs.size() != header.routers.size())
      bad_input(name_, "has other routers than " + options_.recordings[0],
                "count recordings of one model, with all of its layers");
    return;
  }
  if (header.routers.empty()) bad_input(name_, "has no router", "record a model that chooses between branches");
  header_ = header;
  for (const TraceRouter& r : header.routers) {
    const int64_t k = options_.first_choices > 0 ? std::min<int64_t>(options_.first_choices, r.fan_out) : r.fan_out;
    routers_.emplace_back(r, static_cast<int32_t>(k));
  }
  // One table tells how many tokens there are, and so how many tables may be held at once.
  routers_[0].vocabulary.emplace(routers_[0].about.branches);
  ranked_.resize(routers_.size()), decision_of_.resize(routers_.size());
  make_gaps();
}

int32_t PatternCounter::router_of_layer(int64_t layer) const {
  const auto& routers = header_->routers;
  const bool numbered =
      std::any_of(routers.begin(), routers.end(), [](const TraceRouter& r) { return layer_number(r) >= 0; });
  std::vector<int64_t> known;
  for (int32_t r = 0; r < std::ssize(routers); ++r) {
    known.push_back(numbered ? layer_number(routers[r]) : r);
    if (known.back() == layer) return r;
  }
  const auto [least, most] = std::minmax_element(known.begin(), known.end());
  bad_input("--layers",
            name_ + " has no layer " + std::to_string(layer) + " with branches: they are " +
                counted(std::ssize(known), "layer") + ", " + std::to_string(*least) + " to " + std::to_string(*most),
            numbered ? "name two layers of the model" : "the recording states no numbers, so layers count from 0");
}

void PatternCounter::make_gaps() {
  const auto& routers = header_->routers;
  for (const auto& [from, to] : options_.layer_pairs) {
    const int32_t a = router_of_layer(from), b = router_of_layer(to);
    if (routers[a].stack != routers[b].stack)
      bad_input("--layers",
                "layers " + std::to_string(from) + " and " + std::to_string(to) + " of " + name_ +
                    " are of other cells: no cell goes from one to the other",
                "name two layers of one stack");
    gaps_.emplace_back(a, b, routers_);
  }
  if (!options_.layer_pairs.empty()) return;
  for (int32_t stack = 0; stack < std::ssize(header_->stacks); ++stack) {
    std::vector<int32_t> of_stack;
    for (int32_t r = 0; r < std::ssize(routers); ++r)
      if (routers[r].stack == stack) of_stack.push_back(r);
    for (int64_t i = options_.gap; i < std::ssize(of_stack); ++i)
      gaps_.emplace_back(of_stack[i - options_.gap], of_stack[i], routers_);
  }
}

void PatternCounter::place_rows(const TraceCells& table) {
  const int64_t cells = table.cells.cells();
  mask_.clear();
  if (std::find(table.mask.begin(), table.mask.end(), 0) != table.mask.end())
    for (const int32_t real : table.mask) mask_.push_back(real != 0);
  tokens_ = table.tokens;
  has_tokens_ |= !tokens_.empty();
  row_label_.clear();
  if (vocabulary_only_) return;
  const bool labelled = label_ >= 0 || !label_of_.empty();
  for (int64_t row = 0; row < cells; ++row) {
    const bool real = is_real(row);
    cells_ += real;
    if (!labelled) continue;
    int32_t label = label_;
    if (label < 0) {
      const auto at = label_of_.find(table.cells.sequence(row / table.cells.per_sequence));
      label = at == label_of_.end() ? -1 : at->second;
    }
    met_label_ |= label >= 0;
    cells_without_label_ += real && label < 0;
    row_label_.push_back(label);
  }
}

void PatternCounter::batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) {
  for (const TraceCells& table : cells) {
    place_rows(table);
    for (DecisionRecord& d : decision_of_) d = {};
    for (const DecisionRecord& d : decisions) {
      CountedRouter& router = routers_[d.router];
      if (router.about.stack != table.stack || d.choice.empty()) continue;
      if (vocabulary_only_ && !router.vocabulary) continue;
      RankedChoices& ranked = ranked_[d.router];
      ranked.take(d, router.about.fan_out, router.k);
      DecisionRecord& counted = decision_of_[d.router];
      counted.router = d.router, counted.choice = ranked.choice, counted.ancestor = d.ancestor;
      count(d, router, counted);
    }
    if (vocabulary_only_) continue;
    for (CountedGap& gap : gaps_) {
      const DecisionRecord &from = decision_of_[gap.from], &to = decision_of_[gap.to];
      if (from.choice.empty() || to.choice.empty()) continue;
      const DecisionOfRouter a{from, routers_[gap.from].k}, b{to, routers_[gap.to].k};
      add_transitions(a, b, {}, mask_, scratch_, gap.all);
      add_equal_ranks(a, b, mask_, scratch_, gap.equal_ranks);
    }
  }
}

void PatternCounter::count(const DecisionRecord& recorded, CountedRouter& router, const DecisionRecord& ranked) {
  if (!tokens_.empty() && router.vocabulary) router.vocabulary->add(ranked, router.k, tokens_, mask_);
  if (vocabulary_only_) return;
  router.cells += add_loads(ranked, router.k, mask_, router.loads);
  if (router.k > 1) {
    add_coactivation({ranked, router.k}, mask_, router.together);
    add_rank_neighbours({ranked, router.k}, mask_, router.neighbours);
  }
  count_margins(recorded, router);
  if (!row_label_.empty()) count_labels(ranked, router);
}

void PatternCounter::count_margins(const DecisionRecord& d, CountedRouter& router) {
  if (d.margin.empty() && d.weight.empty() && d.scores.empty()) return;
  const int64_t k = router.about.fan_out, cells = std::ssize(d.choice) / k;
  const int64_t columns = d.scores.empty() ? 0 : std::ssize(d.scores) / cells;
  for (int64_t c = 0; c < cells; ++c) {
    if (!is_real(row_of_cell(d, c))) continue;
    router.cut.add(margin_of_cell(d, c, router.about.branches, router.about.fan_out), options_.margins);
    router.first.add(columns > 1        ? distance_of_first(d.scores.subspan(c * columns, columns))
                     : d.weight.empty() ? kNotKnown
                                        : distance_of_first(d.weight.subspan(c * k, k)),
                     options_.margins);
  }
}

void PatternCounter::count_labels(const DecisionRecord& ranked, CountedRouter& router) {
  const int64_t k = router.k, cells = std::ssize(ranked.choice) / k;
  for (int64_t c = 0; c < cells; ++c) {
    const int64_t row = row_of_cell(ranked, c);
    const int32_t label = row_label_[row];
    if (label < 0 || !is_real(row)) continue;
    if (label >= std::ssize(router.labels.load)) {
      router.labels.load.resize(label + 1, std::vector<int64_t>(router.about.branches));
      router.labels.cells.resize(label + 1);
    }
    ++router.labels.cells[label];
    for (int64_t j = 0; j < k; ++j)
      if (const int32_t branch = ranked.choice[c * k + j]; is_kept(branch)) ++router.labels.load[label][branch];
  }
}

}  // namespace stormcell
