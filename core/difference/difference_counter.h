// Counts, while the second recording is read, where its choices differ from those of the first one.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/cell/margins.h"
#include "core/difference/cell_index.h"
#include "core/difference/choice_store.h"
#include "core/difference/request_pairs.h"
#include "core/difference/router_pairs.h"

namespace stormcell {

/// Positions of requests in at most 64 groups of equal width, a power of two.
struct PositionGroups {
  static constexpr int32_t kMost = 64;
  int32_t width = 1, groups = 1;
  explicit PositionGroups(int32_t end = 1);
  int32_t group(int32_t position) const { return position / width; }
};

struct LayerCounts {
  int64_t cells = 0;                            ///< met by the router in both recordings
  int64_t differing = 0;                        ///< whose choices differ as sets
  int64_t first_here = 0;                       ///< of these: no earlier router's choices of the cell differ
  int64_t reordered = 0;                        ///< equal as sets, in another order
  int64_t met_once = 0;                         ///< met by the router in one recording alone
  int64_t near_ties = -1;                       ///< of first_here: the margin is small; -1: no margins
  double common = 0;                            ///< sum over cells of the share of common choices
  std::vector<int64_t> gained, lost;            ///< by branch: cells that have it in b alone, in a alone
  MarginBins margins, margins_first;            ///< of all cells, of those that first differ here
  std::vector<int64_t> cells_at, differing_at;  ///< by group of positions
  std::array<double, 2> ci95{0, 1};             ///< of differing / cells
};

struct FirstDifference {
  int64_t request = 0;    ///< in a
  int32_t position = -1;  ///< -1: nothing differs
  int32_t pair = -1;      ///< index of the pair of routers
};

/// A cell of both recordings whose choices (and weights, scores) of b are kept.
struct SampledCell {
  int64_t request = 0;  ///< in a
  int32_t position = 0;
  bool decode = false;
  int64_t cell_a = 0, cell_b = 0;  ///< numbers in a's store, in the sample's store
};

/// A cell whose choices differ at a router, with the choices of both recordings.
struct ListedCell {
  int32_t pair = 0, group = 0;  ///< index of the pair of routers; group of positions
  int64_t request = 0;          ///< in a
  int32_t position = 0;
  bool consequence = false;   ///< an earlier router's choices of the cell differ too
  float margin = 0;           ///< not a number: not recorded
  std::vector<int32_t> a, b;  ///< branches in the order of the recording
  std::vector<float> scores;  ///< in b, of the branches of a and then those that b alone has; empty: not recorded
};

struct CounterInput {
  const CellIndex *a = nullptr, *b = nullptr;
  const ChoiceStore* choices = nullptr;  ///< of a
  const RouterPairs* routers = nullptr;
  const RequestPairs* requests = nullptr;
  CellSample sample, score_sample;
  int32_t listed_each = 0;  ///< most cells that are listed of each router and group of positions
};

class DifferenceCounter : public TraceSink {
 public:
  explicit DifferenceCounter(const CounterInput& input);
  void begin(const TraceHeader&) override {}
  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override;
  void loads(int64_t, int32_t, std::span<const int64_t>) override {}
  /// Call it after the last batch: intervals and near ties.
  void finish();

  const PositionGroups& groups() const { return groups_; }
  const std::vector<LayerCounts>& layers() const { return layers_; }  ///< by pair of routers
  const std::vector<FirstDifference>& sequences() const { return sequences_; }
  int64_t cells() const { return cells_; }                      ///< of both recordings
  int64_t differing_cells() const { return differing_cells_; }  ///< at any router
  int64_t consequences() const { return consequences_; }
  int64_t origins() const { return origins_; }
  /// The first ones of each router and group of positions, in the order of b.
  const std::vector<ListedCell>& listed() const { return listed_; }
  const ChoiceStore& sample_choices() const { return sample_; }
  /// By stack of b.
  const std::vector<std::vector<SampledCell>>& sampled() const { return sampled_; }

 private:
  struct Row {
    int64_t cell_a = -1, sampled = -1;
    int32_t position = 0, request = -1, first = -1;
  };
  void place_rows(const TraceCells& table);
  void count(const TraceCells& table, const DecisionRecord& decision, int32_t pair);
  void compare(Row& row, int32_t pair, std::span<const int32_t> choice, float margin);
  static void add_scores(const DecisionRecord& decision, int64_t i, int32_t branches, ListedCell& cell);
  void keep(const Row& row, const DecisionRecord& decision, int64_t i);

  CounterInput in_;
  PositionGroups groups_;
  std::vector<int32_t> pair_of_b_;   // by router of b; -1: none
  std::vector<int32_t> stack_of_b_;  // by stack of b: that of a; -1: none
  std::map<int64_t, int32_t> request_of_b_;
  std::vector<LayerCounts> layers_;
  std::vector<FirstDifference> sequences_;
  std::vector<int32_t> met_, differs_;  // [requests, pairs]
  int64_t cells_ = 0, differing_cells_ = 0, consequences_ = 0, origins_ = 0;
  std::vector<ListedCell> listed_;
  ChoiceStore sample_;
  std::vector<std::vector<SampledCell>> sampled_;
  std::vector<Row> rows_;             // of the table at hand
  std::vector<int32_t> ids_, other_;  // of a, of b
  std::vector<std::pair<int32_t, size_t>> order_;
};

/// Cells that are listed of all routers together, at most.
inline constexpr int64_t kMostListed = 100'000;
/// A margin is that of a near tie up to this part of the median margin of its router.
inline constexpr double kNearTiePart = .25;

}  // namespace stormcell
