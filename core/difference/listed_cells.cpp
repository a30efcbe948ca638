#include "core/difference/listed_cells.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

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
    sample.a = cell.a, sample.b = cell.b;
    samples.push_back(std::move(sample));
  }
  const auto order = [](const DiffSample& s) { return std::tuple(s.layer, s.group, s.request, s.position); };
  std::stable_sort(samples.begin(), samples.end(),
                   [&](const DiffSample& x, const DiffSample& y) { return order(x) < order(y); });
  return samples;
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
                                     const BothRecordings& recordings) {
  std::vector<DiffSample> samples = samples_of(counter, CellTokens(input));
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
