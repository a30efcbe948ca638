#include "core/readings/read_token_routes.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/readings/lacks.h"

namespace stormcell {
namespace {

class RouteReader {
 public:
  RouteReader(const SessionReader& session, const RunSummary& run, int64_t most, ChoiceOrder order)
      : session_(session), run_(run), layout_(session.layout(run.id)), most_(most) {
    choose_space();
    routes_.heaviest_first = order == ChoiceOrder::heaviest_first;
  }

  TokenRoutes read(const Progress& progress) {
    for (const BatchSummary& batch : session_.batches(run_.id)) {
      progress.report("reading choices", batch.number, run_.batches);
      for (const BatchSpace& space : session_.spaces(run_.id, batch.number))
        if (space.space == space_) add_batch(batch, space);
    }
    return std::move(routes_);
  }

 private:
  void choose_space() {
    std::vector<int32_t> routers(layout_.spaces.size());
    for (const RouterInfo& r : layout_.routers) ++routers[r.space];
    space_ = static_cast<int32_t>(std::max_element(routers.begin(), routers.end()) - routers.begin());
    for (size_t r = 0; r < layout_.routers.size(); ++r) {
      const RouterInfo& info = layout_.routers[r];
      if (info.space != space_) continue;
      routers_.push_back(static_cast<int32_t>(r));
      routes_.branches = std::max(routes_.branches, info.branches), routes_.k = std::max(routes_.k, info.fan_out);
      routes_.branch_bytes.push_back(info.branch_bytes);
    }
    routes_.layers = static_cast<int32_t>(routers_.size());
  }

  // Adds the rows of a batch in the order of steps: position by position for decoding, else as they come. Fills place_.
  // A batch whose server numbered its steps is one step, or with those of the other ranks a part of one.
  void add_cells(const BatchSummary& batch, const BatchSpace& space) {
    const CellTable& cells = space.cells;
    const bool decoding = cells.phase == Phase::decode;
    place_.assign(cells.cells(), -1);
    const bool numbered = batch.server_step >= 0,
               goes_on = numbered && batch.server_step == last_server_step_ && routes_.size() > 0;
    const int64_t first_step = goes_on ? routes_.steps() - 1 : routes_.steps();
    last_server_step_ = batch.server_step;
    for (int64_t i = 0; i < cells.cells(); ++i) {
      const int64_t sequence = decoding ? i % cells.sequences : i / cells.per_sequence,
                    offset = decoding ? i / cells.sequences : i % cells.per_sequence,
                    row = sequence * cells.per_sequence + offset;
      if (!space.mask.empty() && !space.mask[row]) continue;
      place_[row] = std::ssize(routes_.tokens);
      const int64_t item = cells.items.empty() ? cells.first_sequence + sequence : cells.items[sequence];
      // A step whose cells are all padding has no number: steps ascend without holes.
      int64_t step = numbered                             ? first_step
                     : decoding && last_offset_ != offset ? routes_.steps()
                                                          : std::max(first_step, routes_.steps() - 1);
      last_offset_ = offset;
      routes_.tokens.push_back(
          {item, step, static_cast<int32_t>(cells.start(sequence) + offset), cells.phase, batch.rank});
    }
    last_offset_ = -1;
  }

  void add_batch(const BatchSummary& batch, const BatchSpace& space) {
    add_cells(batch, space);
    const auto width = static_cast<size_t>(routes_.k), layers = static_cast<size_t>(routes_.layers);
    if (static_cast<int64_t>(routes_.size() * layers * width) > most_)
      bad_input(session_.path(),
                "run #" + std::to_string(run_.id) + " has more than " + with_commas(most_) + " choices",
                "take a shorter trace");
    routes_.choice.resize(routes_.size() * layers * width, -1);
    for (size_t l = 0; l < layers; ++l) {
      const auto decision = session_.decision(run_.id, routers_[l], batch.number);
      if (!decision) continue;
      routes_.heaviest_first &= !decision->weight.empty();
      const size_t k = decision->fan_out;
      for (size_t c = 0; c < static_cast<size_t>(decision->cells); ++c) {
        const size_t row = decision->ancestor.empty() ? c : static_cast<size_t>(decision->ancestor[c]);
        if (row >= place_.size() || place_[row] < 0) continue;
        int32_t* const first = routes_.choice.data() + (static_cast<size_t>(place_[row]) * layers + l) * width;
        int32_t* to = first;
        float heaviest = 0;  // weight of the first one
        for (size_t j = 0; j < k; ++j) {
          const int32_t choice = decision->choice[c * k + j];
          if (is_dropped(choice)) ++row_of(routes_.dropped, space.cells.phase);
          if (!is_kept(choice) || choice >= routes_.branches) continue;
          *to++ = choice;
          if (!routes_.heaviest_first) continue;
          const float weight = decision->weight[c * k + j];
          if (to == first + 1 || weight > heaviest || (weight == heaviest && choice < *first))
            heaviest = weight, std::swap(*first, to[-1]);
        }
      }
    }
  }

  const SessionReader& session_;
  const RunSummary& run_;
  const RunLayout layout_;
  const int64_t most_;
  int32_t space_ = 0;
  std::vector<int32_t> routers_;  // routers of the space
  std::vector<int64_t> place_;    // by row of the batch: its token, -1: padding
  int64_t last_offset_ = -1, last_server_step_ = -1;
  TokenRoutes routes_;
};

}  // namespace

TokenRoutes read_token_routes(const SessionReader& session, const RunSummary& run, const Progress& progress,
                              int64_t most_choices, ChoiceOrder order) {
  if (!session.has_decisions(run.id))
    bad_input(session.path(), "run #" + std::to_string(run.id) + " keeps no decisions, only their sums",
              how_to_get(run, "decisions", "record single choices"));
  return RouteReader(session, run, most_choices, order).read(progress);
}

}  // namespace stormcell
