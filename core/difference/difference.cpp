#include "core/difference/difference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/difference/difference_counter.h"
#include "core/difference/listed_cells.h"
#include "core/difference/recording_source.h"
#include "core/difference/sampled_choices.h"
#include "core/difference/verdict.h"

namespace stormcell {
namespace {

/// Numbers that a sample keeps on each side: choices with their weights, and scores.
constexpr double kSampledChoices = 2e6, kSampledScores = 3e6;

std::unique_ptr<CellIndex> index_of(RecordingSource& source, const Progress& progress,
                                    std::vector<std::string>& warnings) {
  auto index = std::make_unique<CellIndex>();
  source.read(ReadParts::cells, *index, progress);
  index->finish();
  if (index->header().routers.empty())
    bad_input(source.name(), "has no router", "record a model that chooses between branches");
  for (const std::string& warning : source.warnings()) warnings.push_back(warning);
  if (index->repeated() > 0)
    warnings.push_back(
        source.name() + ": " +
        counted(index->repeated(), "cell came twice, the first one counts", "cells came twice, the first ones count"));
  return index;
}

/// Positions and requests that a format does not record are those of its order.
void check_identity(const CellIndex& index, const RecordingSource& source, std::vector<std::string>& warnings) {
  for (const char* fact : {"requests", "positions"}) {
    if (!index.lacks(fact)) continue;
    const std::string how = source.how_to_record(fact);
    warnings.push_back(source.name() + ": does not record " + fact + ", so that cells are matched in their order" +
                       (how.empty() ? "" : " (" + how + ")"));
  }
}

double choices_of_cell(const TraceHeader& header) {
  double choices = 0;
  for (const TraceRouter& r : header.routers) choices += r.fan_out;
  return std::max(choices, 1.0);
}
double scores_of_cell(const CellIndex& index) {
  double scores = 0;
  for (const RouterParts& parts : index.parts()) scores += parts.score_columns;
  return std::max(scores, 1.0);
}

/// A group's Wilson interval; cells of one request are taken for independent.
std::optional<std::array<double, 2>> interval_of(int64_t differing, int64_t cells) {
  if (cells == 0) return std::nullopt;
  constexpr double z = 1.959964;
  const double n = static_cast<double>(cells), p = static_cast<double>(differing) / n, z2 = z * z / n;
  const double centre = (p + z2 / 2) / (1 + z2), half = z / (1 + z2) * std::sqrt(p * (1 - p) / n + z2 / (4 * n));
  return std::array{differing == 0 ? 0 : std::max(0.0, centre - half),
                    differing == cells ? 1 : std::min(1.0, centre + half)};
}

std::vector<DiffBranch> most_moved(const LayerCounts& counts) {
  constexpr size_t kMost = 8;
  std::vector<DiffBranch> moved;
  for (int32_t b = 0; b < std::ssize(counts.gained); ++b)
    if (counts.gained[b] != counts.lost[b]) moved.push_back({b, counts.gained[b], counts.lost[b]});
  std::stable_sort(moved.begin(), moved.end(), [](const DiffBranch& x, const DiffBranch& y) {
    return std::abs(x.gained - x.lost) > std::abs(y.gained - y.lost);
  });
  if (moved.size() > kMost) moved.resize(kMost);
  return moved;
}

DiffLayer layer_of(const LayerCounts& counts, const TraceRouter& a, const TraceRouter& b) {
  DiffLayer layer;
  layer.router = a.name, layer.router_b = b.name, layer.layer = a.layer;
  layer.cells = counts.cells, layer.differing = counts.differing, layer.first_here = counts.first_here;
  layer.reordered = counts.reordered, layer.met_once = counts.met_once;
  layer.branches = most_moved(counts);
  for (size_t g = 0; g < counts.cells_at.size(); ++g)
    layer.positions.push_back(
        {counts.cells_at[g], counts.differing_at[g], interval_of(counts.differing_at[g], counts.cells_at[g])});
  if (counts.cells == 0) return layer;
  layer.share = static_cast<double>(counts.differing) / static_cast<double>(counts.cells);
  layer.agreement = counts.common / static_cast<double>(counts.cells);
  layer.share_ci95 = counts.ci95;
  if (counts.near_ties >= 0) layer.near_ties = counts.near_ties;
  if (counts.margins.total() > 0) layer.margin = counts.margins.quantile(.5);
  if (counts.margins_first.total() > 0) layer.margin_first = counts.margins_first.quantile(.5);
  return layer;
}

void add_margins(const std::vector<LayerCounts>& layers, DifferenceFigures& f) {
  MarginBins all, first;
  for (const LayerCounts& layer : layers)
    for (int32_t i = 0; i < MarginBins::kBins; ++i)
      all.count[i] += layer.margins.count[i], first.count[i] += layer.margins_first.count[i];
  if (all.total() == 0) return;
  DiffMargins margins;
  const auto from = std::find_if(all.count.begin(), all.count.end(), [](int64_t n) { return n > 0; });
  const auto to = std::find_if(all.count.rbegin(), all.count.rend(), [](int64_t n) { return n > 0; }).base();
  for (auto i = static_cast<int32_t>(from - all.count.begin()); i < to - all.count.begin(); ++i) {
    margins.edges.push_back(i == 0 ? 0 : MarginBins::begin_of(i));
    margins.all.push_back(all.count[i]), margins.first.push_back(first.count[i]);
  }
  f.margins = std::move(margins);
}

void fill_counts(const CounterInput& input, const DifferenceCounter& counter, DifferenceFigures& f) {
  const RequestPairs& requests = *input.requests;
  f.matched_requests = std::ssize(requests.pairs), f.by_tokens = requests.by_tokens;
  f.renumbered = requests.renumbered, f.exchanged = requests.exchanged, f.shifted = requests.shifted;
  f.requests_only_a = requests.only_a, f.requests_only_b = requests.only_b;
  f.cells_only_a = requests.alone.only_a, f.cells_only_b = requests.alone.only_b;
  f.cells_of_padding = requests.alone.a_of_padding + requests.alone.b_of_padding;
  f.matched_cells = counter.cells(), f.differing_cells = counter.differing_cells();
  f.position_width = counter.groups().width;
  f.consequences = counter.consequences(), f.origins = counter.origins();
  bool ties = true;
  int64_t near_ties = 0;
  for (size_t p = 0; p < counter.layers().size(); ++p) {
    const LayerCounts& counts = counter.layers()[p];
    const RouterPair& pair = input.routers->pairs[p];
    f.layers.push_back(layer_of(counts, input.a->header().routers[pair.a], input.b->header().routers[pair.b]));
    f.differing += counts.differing, f.compared += counts.cells;
    ties = ties && (counts.first_here == 0 || counts.near_ties >= 0);
    near_ties += std::max<int64_t>(counts.near_ties, 0);
  }
  add_margins(counter.layers(), f);
  if (ties && f.margins) f.near_ties = near_ties;
  for (const FirstDifference& first : counter.sequences()) {
    if (first.position < 0) continue;
    if (f.sequences_differing++ < static_cast<int64_t>(kMostDiffSequences))
      f.sequences.push_back({first.request, first.position, f.layers[first.pair].router});
  }
  for (const std::vector<SampledCell>& cells : counter.sampled()) f.sampled_cells += std::ssize(cells);
}

/// The way to record the fact in the programs that wrote these; empty: nothing is known.
std::string servers_text(std::string_view fact, const std::vector<const RecordingSource*>& lacking) {
  std::string text;
  for (const RecordingSource* source : lacking)
    if (const std::string how = source->how_to_record(fact); !how.empty())
      add_to_list(text, source->name() + ": " + how, "; ");
  return text;
}

HeldParts held_by(const CounterInput& input, const RecordingSource& source_a, const RecordingSource& source_b) {
  HeldParts held;
  bool in_a = false, in_b = false;
  for (const RouterPair& pair : input.routers->pairs) {
    const RouterParts &a = input.a->parts()[pair.a], &b = input.b->parts()[pair.b];
    held.weights |= a.weights && b.weights, held.scores |= a.scores && b.scores;
    in_a |= a.weights, in_b |= b.weights;
  }
  std::vector<const RecordingSource*> without;
  if (!in_a) without.push_back(&source_a);
  if (!in_b) without.push_back(&source_b);
  held.weights_how = servers_text("weights", without);
  held.margins_how = servers_text("margins", {&source_a, &source_b});
  return held;
}

}  // namespace

DifferenceFigures diff_recordings(const DiffOptions& options, const Progress& progress) {
  DifferenceFigures f;
  const std::unique_ptr<RecordingSource> a = open_recording(options.a, progress),
                                         b = open_recording(options.b, progress);
  f.a = a->name(), f.b = b->name();
  const std::unique_ptr<CellIndex> in_a = index_of(*a, progress, f.warnings), in_b = index_of(*b, progress, f.warnings);
  const RouterPairs routers = pair_routers(in_a->header(), f.a, in_b->header(), f.b);
  const RouterPair& first = routers.pairs.at(0);
  const RequestPairs requests = pair_requests(*in_a, f.a, in_a->header().routers[first.a].stack, *in_b, f.b,
                                              in_b->header().routers[first.b].stack);
  check_identity(*in_a, *a, f.warnings), check_identity(*in_b, *b, f.warnings);
  for (const std::vector<std::string>& more : {routers.warnings, requests.warnings})
    f.warnings.insert(f.warnings.end(), more.begin(), more.end());

  const double cells = static_cast<double>(requests.matched_cells);
  const double choices = std::max(choices_of_cell(in_a->header()), choices_of_cell(in_b->header())),
               scores = std::max(scores_of_cell(*in_a), scores_of_cell(*in_b));
  const CellSample sample(kSampledChoices / choices / cells),
      score_sample(std::min(kSampledChoices / choices, kSampledScores / scores) / cells);
  bool margins_in_b = true;
  for (const RouterPair& pair : routers.pairs)
    margins_in_b = margins_in_b && (in_b->parts()[pair.b].margins || in_b->parts()[pair.b].scores);
  ChoiceStore store(in_a->header(), in_a->parts());
  ChoiceReader reader(store, sample, score_sample, margins_in_b ? KeepMargins::no : KeepMargins::yes);
  a->read(ReadParts::choices, reader, progress);

  const CounterInput input{in_a.get(), in_b.get(), &store,       &routers,
                           &requests,  sample,     score_sample, options.samples_each};
  DifferenceCounter counter(input);
  b->read(ReadParts::choices, counter, progress);
  counter.finish();
  fill_counts(input, counter, f);
  if (f.compared == 0)
    bad_input(f.b, "shares no choice with " + f.a + ": no router met the same cell in both",
              "record the same tokens in both");
  f.samples = list_samples(input, counter, {*a, *b}, progress);
  set_tokens(input, counter, {*a, *b}, f.sequences);
  HeldParts held = held_by(input, *a, *b);
  held.margins = f.near_ties.has_value();  // where a bias chose, too, scores give no margin
  judge(sampled_choices(input, counter), held, f);
  return f;
}

}  // namespace stormcell
