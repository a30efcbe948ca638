#include "core/difference/listed_cells.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace stormcell {
namespace {

/// Token ids of cells: those of a, else those of b.
class CellTokens {
 public:
  explicit CellTokens(const CounterInput& input) : in_(input) {
    for (const RequestPair& pair : input.requests->pairs) b_of_a_.emplace(pair.a, pair.b);
  }
  int32_t at(int32_t pair, int64_t request, int32_t position) const {
    const RouterPair& routers = in_.routers->pairs[pair];
    const int32_t token = token_of(*in_.a, routers.a, request, position);
    const auto in_b = b_of_a_.find(request);
    return token >= 0 || in_b == b_of_a_.end() ? token : token_of(*in_.b, routers.b, in_b->second, position);
  }

 private:
  static int32_t token_of(const CellIndex& index, int32_t router, int64_t request, int32_t position) {
    const int32_t stack = index.header().routers[router].stack;
    const int64_t cell = index.find(stack, request, position);
    return cell < 0 ? -1 : index.token(stack, cell);
  }

  const CounterInput& in_;
  std::map<int64_t, int64_t> b_of_a_;
};

std::vector<DiffSample> samples_of(const DifferenceCounter& counter, const CellTokens& tokens) {
  std::vector<DiffSample> samples;
  samples.reserve(counter.listed().size());
  for (const ListedCell& cell : counter.listed()) {
    DiffSample sample;
    sample.layer = cell.pair, sample.group = cell.group;
    sample.request = cell.request, sample.position = cell.position;
    sample.token = tokens.at(cell.pair, cell.request, cell.position);
    sample.consequence = cell.consequence;
    if (!std::isnan(cell.margin)) sample.margin = static_cast<double>(cell.margin);
    sample.a = cell.a, sample.b = cell.b, sample.scores_b = cell.scores;
    samples.push_back(std::move(sample));
  }
  const auto order = [](const DiffSample& s) { return std::tuple(s.layer, s.group, s.request, s.position); };
  std::stable_sort(samples.begin(), samples.end(),
                   [&](const DiffSample& x, const DiffSample& y) { return order(x) < order(y); });
  return samples;
}

/// Takes the scores of a's listed cells while a is read.
class ScoreReader : public TraceSink {
 public:
  ScoreReader(const CounterInput& input, std::vector<DiffSample>& samples) : in_(input), samples_(samples) {
    for (size_t i = 0; i < samples.size(); ++i)
      at_[samples[i].request].emplace(std::pair(in_.routers->pairs[samples[i].layer].a, samples[i].position), i);
  }
  void begin(const TraceHeader&) override {}
  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override {
    for (const TraceCells& table : cells)
      for (const DecisionRecord& d : decisions)
        if (in_.a->header().routers[d.router].stack == table.stack && !d.scores.empty()) take(table, d);
  }
  void loads(int64_t, int32_t, std::span<const int64_t>) override {}

 private:
  void take(const TraceCells& table, const DecisionRecord& d) {
    const TraceRouter& router = in_.a->header().routers[d.router];
    const int64_t cells = std::ssize(d.choice) / router.fan_out, per = table.cells.per_sequence;
    auto request = at_.end();
    for (int64_t i = 0, before = -1; i < cells; ++i) {
      const int64_t row = row_of_cell(d, i), sequence = row / per;
      if (sequence != before) request = at_.find(table.cells.sequence(sequence)), before = sequence;
      if (request == at_.end() || (!table.mask.empty() && table.mask[row] == 0)) continue;
      const auto found = request->second.find({d.router, table.cells.position(row)});
      if (found == request->second.end()) continue;
      DiffSample& sample = samples_[found->second];
      if (sample.scores_a.empty()) sample.scores_a = scores_of(d, i, router.branches, sample.either());
    }
  }

  const CounterInput& in_;
  std::vector<DiffSample>& samples_;
  std::map<int64_t, std::map<std::pair<int32_t, int32_t>, size_t>> at_;  // by request; by router of a and position
};

bool has_scores(const CounterInput& input) {
  return std::ranges::any_of(input.routers->pairs,
                             [&](const RouterPair& pair) { return input.a->parts()[pair.a].scores; });
}

/// Texts as the vocabulary of either recording has them.
template <class Listed>
void set_texts(const BothRecordings& recordings, std::vector<Listed>& cells) {
  std::set<int32_t> met;
  for (const Listed& cell : cells)
    if (cell.token >= 0) met.insert(cell.token);
  if (met.empty()) return;
  const std::vector<int32_t> ids(met.begin(), met.end());
  std::map<int32_t, std::string> texts = recordings.a.pieces(ids);
  texts.merge(recordings.b.pieces(ids));
  for (Listed& cell : cells)
    if (const auto text = texts.find(cell.token); text != texts.end()) cell.text = text->second;
}

}  // namespace

std::vector<DiffSample> list_samples(const CounterInput& input, const DifferenceCounter& counter,
                                     const BothRecordings& recordings, const Progress& progress) {
  std::vector<DiffSample> samples = samples_of(counter, CellTokens(input));
  if (!samples.empty() && has_scores(input)) {
    ScoreReader scores(input, samples);
    recordings.a.read(ReadParts::choices, scores, progress);
  }
  set_texts(recordings, samples);
  return samples;
}

void set_tokens(const CounterInput& input, const DifferenceCounter& counter, const BothRecordings& recordings,
                std::vector<DiffSequence>& sequences) {
  const CellTokens tokens(input);
  auto at = sequences.begin();
  for (const FirstDifference& first : counter.sequences()) {
    if (first.position < 0) continue;
    if (at == sequences.end()) break;
    at->token = tokens.at(first.pair, first.request, first.position);
    ++at;
  }
  set_texts(recordings, sequences);
}

}  // namespace stormcell
