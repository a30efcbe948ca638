#include "core/profile/accumulator.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "core/base/error.h"
#include "core/profile/layout_edges.h"
#include "core/profile/pyramid.h"
#include "core/profile/statistics.h"

namespace stormcell {
namespace {
constexpr size_t kMostLabels = 4096;
constexpr size_t kMostTokenCounts = size_t{1} << 18;  // 2 MiB a router; 32,768 tokens at 8 branches
constexpr int32_t kLargestToken = 1 << 24;
}  // namespace

void CountedLoads::add(const CountedLoads& other) {
  loads.add(other.loads);
  cells_real += other.cells_real;
}

struct ProfileAccumulator::Router {
  CountedLoads total, profiled, profiled_turns, batch;
  LoadPyramid pyramid;
  std::unique_ptr<PairPyramid> coactivation;
  std::vector<int32_t> incoming;  // edges
  KeyedLoads labels, tokens;
};

struct ProfileAccumulator::Edge {
  PairPyramid transitions;
  std::vector<uint8_t> branches;  // flags; empty: all
};

struct ProfileAccumulator::Space {
  std::vector<int32_t> tokens;  // by key
  std::vector<int32_t> keys;    // by token, -1: not seen
  std::vector<int32_t> key;     // of each cell of this batch, -1: none
};

ProfileAccumulator::ProfileAccumulator(RunLayout layout, WindowSink* windows, Counted counted)
    : layout_(std::move(layout)), windows_(windows), counted_(counted) {
  if (const std::string fault = edge_fault(layout_); !fault.empty()) failed("recorder", fault);
  routers_.resize(layout_.routers.size());
  spaces_.resize(layout_.spaces.size());
  for (size_t r = 0; r < routers_.size(); ++r) {
    const RouterInfo& info = layout_.routers[r];
    const size_t branches = info.branches;
    Router& router = routers_[r];
    router.total = router.profiled = router.profiled_turns = router.batch = {RouterLoads(info.branches), 0};
    router.labels.rest.resize(branches);
    router.tokens.rest.resize(branches);
    if (counted_ == Counted::loads) continue;
    router.incoming = edges_to(layout_, static_cast<int32_t>(r));
    if (info.fan_out > 1) router.coactivation = std::make_unique<PairPyramid>(info.branches, info.branches);
  }
  if (counted_ == Counted::everything)
    for (const LayoutEdge& e : layout_.edges)
      edges_.push_back(
          {PairPyramid(layout_.routers[e.from].branches, layout_.routers[e.to].branches), branch_flags(layout_, e)});
  decision_of_router_.resize(routers_.size());
  space_of_.resize(spaces_.size());
}

ProfileAccumulator::~ProfileAccumulator() = default;

const CountedLoads& ProfileAccumulator::counts(int32_t router) const { return routers_[router].total; }
const CountedLoads& ProfileAccumulator::profiled(int32_t router) const { return routers_[router].profiled; }
const CountedLoads& ProfileAccumulator::profiled_turns(int32_t router) const { return routers_[router].profiled_turns; }
const KeyedLoads& ProfileAccumulator::label_loads(int32_t router) const { return routers_[router].labels; }
const KeyedLoads& ProfileAccumulator::token_loads(int32_t router) const { return routers_[router].tokens; }
const std::vector<int32_t>& ProfileAccumulator::tokens(int32_t space) const { return spaces_[space].tokens; }

PairTable ProfileAccumulator::transitions(int32_t edge) const {
  return edges_.empty() ? PairTable{} : edges_[edge].transitions.total();
}
PairTable ProfileAccumulator::coactivation(int32_t router) const {
  const Router& r = routers_[router];
  return r.coactivation ? r.coactivation->total() : PairTable{};
}

void ProfileAccumulator::check(const BatchRecord& batch) const {
  const auto wrong = [](const std::string& what) { failed("recorder", what); };
  if (batch.number <= last_)
    wrong("batch " + std::to_string(batch.number) + " came after batch " + std::to_string(last_));
  for (const int64_t item : batch.items())
    if (item < 0)
      wrong("item " + std::to_string(item) + " of batch " + std::to_string(batch.number) +
            " is not an item of a data set");
  for (size_t i = 0; i < batch.spaces(); ++i) {
    const SpaceRecord s = batch.space(i);
    const size_t cells = s.cells.cells();
    if (s.space < 0 || static_cast<size_t>(s.space) >= spaces_.size())
      wrong("cell space " + std::to_string(s.space) + " is not in the layout");
    if (!batch.items().empty() && std::ssize(batch.items()) != s.cells.sequences)
      wrong("cell space " + layout_.spaces[s.space] + " has " + std::to_string(s.cells.sequences) +
            " sequences, the batch " + std::to_string(batch.items().size()) + " items");
    if (!s.cells.starts.empty() && std::ssize(s.cells.starts) != s.cells.sequences)
      wrong("cell space " + layout_.spaces[s.space] + " has " + std::to_string(s.cells.sequences) + " sequences, " +
            std::to_string(s.cells.starts.size()) + " of them say where they begin");
    if ((!s.mask.empty() && s.mask.size() != cells) || (!s.tokens.empty() && s.tokens.size() != cells))
      wrong("cell space " + layout_.spaces[s.space] + " has " + std::to_string(cells) + " cells, its mask " +
            std::to_string(s.mask.size()) + ", its tokens " + std::to_string(s.tokens.size()));
  }
  for (size_t i = 0; i < batch.decisions(); ++i) {
    const DecisionRecord d = batch.decision(i);
    if (d.router < 0 || static_cast<size_t>(d.router) >= routers_.size())
      wrong("router " + std::to_string(d.router) + " is not in the layout");
    const RouterInfo& info = layout_.routers[d.router];
    const int32_t at = space_of_[info.space];
    if (at < 0) wrong("the cells of " + info.name + " are not in the batch");
    const int64_t rows = batch.space(static_cast<size_t>(at)).cells.cells();
    const auto k = static_cast<size_t>(info.fan_out), cells = d.choice.size() / k,
               branches = static_cast<size_t>(info.branches);
    const auto is = [](auto span, size_t n) { return span.empty() || span.size() == n; };
    if (d.choice.size() % k || !is(d.weight, cells * k) || !is(d.padded, branches) || !is(d.ancestor, cells) ||
        d.score_columns < 0 ||
        !is(d.scores, cells * (d.score_columns > 0 ? static_cast<size_t>(d.score_columns) : branches)) ||
        !is(d.margin, cells) || !is(d.residency, cells * k) || !is(d.bytes_read, cells * k) ||
        (d.ancestor.empty() && static_cast<int64_t>(cells) > rows))
      wrong("the parts of a decision of " + info.name + " do not fit each other: " + std::to_string(d.choice.size()) +
            " choices of " + std::to_string(rows) + " cells");
    for (const int32_t row : d.ancestor)
      if (row < 0 || row >= rows)
        wrong(info.name + " decided on row " + std::to_string(row) + " of " + std::to_string(rows));
    for (const int32_t choice : d.choice)
      if (branch_of(choice) >= info.branches)
        wrong(info.name + " chose branch " + std::to_string(branch_of(choice)) + " of " +
              std::to_string(info.branches));
  }
}

void ProfileAccumulator::check_loads(const BatchRecord& batch) const {
  for (size_t i = 0; i < batch.load_records(); ++i) {
    const LoadRecord l = batch.load_record(i);
    if (l.router < 0 || static_cast<size_t>(l.router) >= routers_.size())
      failed("recorder", "router " + std::to_string(l.router) + " is not in the layout");
    const RouterInfo& info = layout_.routers[l.router];
    const bool negative = std::any_of(l.load.begin(), l.load.end(), [](int64_t n) { return n < 0; });
    if (std::ssize(l.load) != info.branches || negative)
      failed("recorder",
             "the loads of " + info.name + " are not those of " + std::to_string(info.branches) + " branches");
  }
}

void ProfileAccumulator::find_labels(const BatchRecord& batch) {
  sequence_label_.clear();
  for (size_t i = 0; i < batch.sequences(); ++i) {
    std::string_view label = batch.label(i);
    if (label.empty()) {
      sequence_label_.push_back(-1);
      continue;
    }
    auto found = label_index_.find(label);
    if (found == label_index_.end() && labels_.size() >= kMostLabels) {
      label = "(other)";
      found = label_index_.find(label);
    }
    if (found == label_index_.end()) {
      found = label_index_.emplace(label, static_cast<int32_t>(labels_.size())).first;
      labels_.emplace_back(label);
    }
    sequence_label_.push_back(found->second);
  }
}

void ProfileAccumulator::find_tokens(const BatchRecord& batch) {
  for (size_t i = 0; i < batch.spaces(); ++i) {
    const SpaceRecord s = batch.space(i);
    Space& space = spaces_[s.space];
    space.key.resize(s.tokens.size());
    for (size_t c = 0; c < s.tokens.size(); ++c) {
      const int32_t token = s.tokens[c];
      if (token < 0 || token >= kLargestToken || (!s.mask.empty() && !s.mask[c])) {
        space.key[c] = -1;
        continue;
      }
      if (static_cast<size_t>(token) >= space.keys.size()) space.keys.resize(static_cast<size_t>(token) + 1, -1);
      int32_t& key = space.keys[token];
      if (key < 0) {
        key = static_cast<int32_t>(space.tokens.size());
        space.tokens.push_back(token);
      }
      space.key[c] = key;
    }
  }
}

void ProfileAccumulator::count_keys(Router& router, const DecisionRecord& d, const SpaceRecord& space) {
  const RouterInfo& info = layout_.routers[d.router];
  const auto k = static_cast<size_t>(info.fan_out), branches = static_cast<size_t>(info.branches);
  const size_t cells = d.choice.size() / k;
  const std::vector<int32_t>& keys = spaces_[info.space].key;
  const bool with_labels = !labels_.empty() && space.cells.per_sequence > 0,
             with_tokens = counted_ == Counted::everything && !space.tokens.empty();
  if (!with_labels && !with_tokens) return;
  router.labels.cells.resize(labels_.size());
  router.labels.load.resize(labels_.size() * branches);
  if (with_tokens) {
    const size_t most = std::max<size_t>(1024, kMostTokenCounts / branches);
    const size_t known = std::min(spaces_[info.space].tokens.size(), most);
    router.tokens.cells.resize(known);
    router.tokens.load.resize(known * branches);
  }
  const auto count = [&](KeyedLoads& to, size_t key, const int32_t* choice) {
    const bool known = key < to.cells.size();
    if (known) ++to.cells[key];
    int64_t* load = known ? to.load.data() + key * branches : to.rest.data();
    for (size_t j = 0; j < k; ++j)
      if (is_kept(choice[j])) ++load[choice[j]];
  };
  for (size_t c = 0; c < cells; ++c) {
    const size_t row = d.ancestor.empty() ? c : static_cast<size_t>(d.ancestor[c]);
    if (!space.mask.empty() && !space.mask[row]) continue;
    if (with_tokens && keys[row] >= 0) count(router.tokens, static_cast<size_t>(keys[row]), d.choice.data() + c * k);
    if (!with_labels) continue;
    const size_t sequence = row / static_cast<size_t>(space.cells.per_sequence);
    const int32_t label = sequence < sequence_label_.size() ? sequence_label_[sequence] : -1;
    if (label >= 0) count(router.labels, static_cast<size_t>(label), d.choice.data() + c * k);
  }
}

void ProfileAccumulator::count_pairs(const BatchRecord& batch, const DecisionRecord& d, const SpaceRecord& space) {
  Router& router = routers_[d.router];
  const int32_t k = layout_.routers[d.router].fan_out;
  const auto choices = std::ssize(d.choice);
  const auto out = [&](PairKind kind, int32_t from) {
    return [this, kind, from, to = d.router](int32_t level, int64_t window, int64_t batches, const PairTable& table) {
      if (windows_) windows_->pairs(kind, {from, level, window}, to, batches, table);
    };
  };
  for (const int32_t e : router.incoming) {
    Edge& edge = edges_[e];
    const int32_t from = layout_.edges[e].from, at = decision_of_router_[from];
    edge.transitions.begin(batch.number, choices, out(PairKind::transition, from));
    if (at >= 0)
      add_transitions({batch.decision(static_cast<size_t>(at)), layout_.routers[from].fan_out}, {d, k}, edge.branches,
                      space.mask, scratch_, edge.transitions.counter());
  }
  if (router.coactivation) {
    router.coactivation->begin(batch.number, choices, out(PairKind::coactivation, d.router));
    add_coactivation({d, k}, space.mask, router.coactivation->counter());
  }
}

void ProfileAccumulator::batch(const BatchRecord& batch) {
  std::fill(space_of_.begin(), space_of_.end(), -1);
  for (size_t i = 0; i < batch.spaces(); ++i) {
    const int32_t space = batch.space(i).space;
    if (space >= 0 && static_cast<size_t>(space) < space_of_.size()) space_of_[space] = static_cast<int32_t>(i);
  }
  check(batch);
  check_loads(batch);
  last_ = batch.number;
  ++batches_;
  profiled_batches_ += (batch.part & kProfiled) != 0;
  std::fill(decision_of_router_.begin(), decision_of_router_.end(), -1);
  for (size_t i = 0; i < batch.decisions(); ++i)
    decision_of_router_[batch.decision(i).router] = static_cast<int32_t>(i);
  find_labels(batch);
  if (counted_ == Counted::everything) find_tokens(batch);
  for (size_t i = 0; i < batch.decisions(); ++i) {
    const DecisionRecord d = batch.decision(i);
    const RouterInfo& info = layout_.routers[d.router];
    const SpaceRecord space = batch.space(static_cast<size_t>(space_of_[info.space]));
    Router& router = routers_[d.router];
    RouterLoads& loads = router.batch.loads;
    loads.clear();
    router.batch.cells_real = add_loads(d, info.fan_out, space.mask, loads);
    count(batch, d.router, space.cells.phase);
    count_keys(router, d, space);
    count_pairs(batch, d, space);
  }
  for (size_t i = 0; i < batch.load_records(); ++i) {
    const LoadRecord l = batch.load_record(i);
    CountedLoads& here = routers_[l.router].batch;
    here.loads.clear();
    here.loads.batches = 1;
    here.loads.load.assign(l.load.begin(), l.load.end());
    here.loads.padded = here.loads.load;
    here.cells_real = here.loads.cells =
        std::accumulate(l.load.begin(), l.load.end(), int64_t{0}) / layout_.routers[l.router].fan_out;
    count(batch, l.router, Phase::forward);
  }
}

// Adds the router's loads of this batch to all sums over batches.
void ProfileAccumulator::count(const BatchRecord& batch, int32_t id, Phase phase) {
  Router& router = routers_[id];
  router.total.add(router.batch);
  const bool is_profiled = batch.part & kProfiled;
  if (is_profiled) router.profiled.add(router.batch);
  if (is_profiled && phase == Phase::decode) router.profiled_turns.add(router.batch);
  if (!windows_) return;
  router.pyramid.add(batch.number, router.batch.loads, [&](int32_t level, int64_t window, const RouterLoads& sum) {
    windows_->loads({id, level, window}, sum);
  });
}

void ProfileAccumulator::finish() {
  if (!windows_) return;
  for (size_t r = 0; r < routers_.size(); ++r) {
    const int32_t id = r;
    Router& router = routers_[r];
    router.pyramid.finish([&](int32_t level, int64_t window, const RouterLoads& loads) {
      windows_->loads({id, level, window}, loads);
    });
    const auto out = [&](PairKind kind, int32_t from) {
      return [this, kind, from, id](int32_t level, int64_t window, int64_t batches, const PairTable& table) {
        windows_->pairs(kind, {from, level, window}, id, batches, table);
      };
    };
    for (const int32_t e : router.incoming)
      edges_[e].transitions.finish(out(PairKind::transition, layout_.edges[e].from));
    if (router.coactivation) router.coactivation->finish(out(PairKind::coactivation, id));
  }
}

}  // namespace stormcell
