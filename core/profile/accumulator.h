// Builds the profile of a run batch by batch: totals, the pyramid of windows, transitions, loads by label and by token.
// All figures of routing come from here, whether the run is written into a session or not.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/profile/loads.h"
#include "core/profile/pair_counter.h"
#include "core/profile/record.h"

namespace stormcell {

enum class PairKind : uint8_t { transition = 0, coactivation = 1 };

/// A finished window, or at the end of the run an unfinished one.
struct WindowKey {
  int32_t router = 0;  ///< of transitions: the router that cells come from
  int32_t level = 0;
  int64_t window = 0;
};

/// Takes windows as they are finished. Every level is written from the first batch on; those above coarsest_level() are
/// never asked for.
class WindowSink {
 public:
  virtual ~WindowSink() = default;
  virtual void loads(const WindowKey& key, const RouterLoads& loads) = 0;
  /// `to`: the router that cells go to, or the router itself. `batches`: how many batches of the window were counted.
  virtual void pairs(PairKind kind, const WindowKey& key, int32_t to, int64_t batches, const PairTable& table) = 0;
};

/// Loads of a router over some batches of a run.
struct CountedLoads {
  RouterLoads loads;
  int64_t cells_real = 0;  ///< of loads.cells; the others are padding
  void add(const CountedLoads& other);
};

/// Counts of branches for each of a bounded number of keys; later keys are counted together in `rest`.
struct KeyedLoads {
  std::vector<int64_t> cells;  ///< by key, in order of first appearance
  std::vector<int64_t> load;   ///< [keys, branches]
  std::vector<int64_t> rest;   ///< [branches]
};

/// `loads`: in all and by label; no pairs, no tokens, which take memory that a run without a session has no use for.
enum class Counted : uint8_t { loads, everything };

class ProfileAccumulator : public RecordSink {
 public:
  /// `windows` may be null: totals only. Error(failed) if the layout's edges are no graph of its routers.
  explicit ProfileAccumulator(RunLayout layout, WindowSink* windows = nullptr, Counted counted = Counted::everything);
  ~ProfileAccumulator() override;

  /// Batches come in ascending numbers. Error(failed) on a record that contradicts the layout; nothing of it is counted
  /// then.
  void batch(const BatchRecord& batch) override;
  void commit() override {}
  /// Hands the unfinished windows out; no batch may follow.
  void finish();

  const RunLayout& layout() const { return layout_; }
  int64_t batches() const { return batches_; }
  const RouterLoads& loads(int32_t router) const { return counts(router).loads; }
  const CountedLoads& counts(int32_t router) const;
  /// Sum over the batches that an optimisation profiles (BatchPart), and their number.
  const CountedLoads& profiled(int32_t router) const;
  int64_t profiled_batches() const { return profiled_batches_; }
  /// The part of profiled() from turns of decoding; without batches if the router decides in none.
  const CountedLoads& profiled_turns(int32_t router) const;
  /// Pairs over the whole run; `edge` is an index into layout().edges. Empty if pairs are not counted.
  PairTable transitions(int32_t edge) const;
  PairTable coactivation(int32_t router) const;

  /// Labels in order of first appearance; those after the 4096th count as "(other)", so that labels that name each item
  /// take no memory.
  const std::vector<std::string>& labels() const { return labels_; }
  const KeyedLoads& label_loads(int32_t router) const;
  /// Token ids in order of first appearance in the router's space; about 2^18 / branches of them, the later ones in
  /// `rest`.
  const std::vector<int32_t>& tokens(int32_t space) const;
  const KeyedLoads& token_loads(int32_t router) const;

 private:
  struct Router;
  struct Edge;
  struct Space;
  void check(const BatchRecord& batch) const;
  void check_loads(const BatchRecord& batch) const;
  void count(const BatchRecord& batch, int32_t router, Phase phase);
  void count_keys(Router& router, const DecisionRecord& decision, const SpaceRecord& space);
  void count_pairs(const BatchRecord& batch, const DecisionRecord& decision, const SpaceRecord& space);
  void find_labels(const BatchRecord& batch);
  void find_tokens(const BatchRecord& batch);

  RunLayout layout_;
  WindowSink* windows_;
  Counted counted_;
  std::vector<Router> routers_;
  std::vector<Edge> edges_;
  std::vector<Space> spaces_;
  std::vector<std::string> labels_;
  std::map<std::string, int32_t, std::less<>> label_index_;
  std::vector<int32_t> sequence_label_;                 // of this batch
  std::vector<int32_t> decision_of_router_, space_of_;  // of this batch, -1: none
  std::vector<int32_t> scratch_;
  int64_t batches_ = 0, profiled_batches_ = 0, last_ = -1;
};

}  // namespace stormcell
