// One recorded run of a network with exits, from which every threshold can be answered: all items go through the whole
// network. It has each item's confidence at every exit test, and the quality of its answer there.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/bench/workload.h"
#include "core/cell/picture_size.h"
#include "core/exits/exit_chain.h"
#include "core/exits/exit_search.h"
#include "core/quality/task.h"

namespace stormcell {

/// Sums over items and the exits where they left.
struct ItemsLeft {
  std::vector<int64_t> items;              ///< by exit
  double operations = 0, through_all = 0;  ///< of these items: what they took, and what the whole network would take
  std::vector<ItemScore> scores;           ///< of those that can be judged

  explicit ItemsLeft(size_t exits) : items(exits, 0) {}
  /// `by_exit`: operations of an item of its size.
  void add(int32_t exit, const std::vector<double>& by_exit);
};
/// A point of the curve; the caller sets its threshold.
ExitPoint point_of(const QualityTask& task, ItemsLeft items);

struct ExitRecord {
  ExitChain chain;
  const QualityTask* task = nullptr;
  std::vector<std::vector<float>> confidence;  ///< [tests][items]; NaN: a broken score, whose item never leaves
  /// [exits, one more than tests][items], in the data's order; whole = 0: not judged
  std::vector<std::vector<ItemScore>> scores;
  std::vector<int64_t> batch;        ///< [items]
  std::vector<std::string> classes;  ///< names of ItemScore::group
  std::string item;                  ///< noun for an item
  /// Operations of an item that answers at each exit, by size of picture, in the plan whose costs are stated.
  std::map<PictureSize, std::vector<double>> operations;
  /// the same for the model's own order; `chain` has those of the largest size
  std::map<PictureSize, std::vector<double>> baseline_operations;
  bool of_baseline = true;        ///< `operations` are baseline_operations
  std::vector<PictureSize> size;  ///< [items]

  size_t exits() const { return chain.costs.size(); }
  size_t items() const { return batch.size(); }
  bool is_judged(size_t item) const { return scores.front()[item].whole > 0; }
  size_t judged() const;
  /// Numbers of the items of these batches that can be judged; `batches` ascending.
  std::vector<size_t> judged_of(const std::vector<int64_t>& batches) const;
  /// [exits][items] Operations, each item's for its own size, as a share of the whole network's mean for one of them.
  std::vector<std::vector<double>> relative_operations(const std::vector<size_t>& items) const;
  /// Mean share if all items answer at this exit, in the model's own order.
  double baseline_share(size_t exit) const;
  /// The case of these items for the search; `cost` [exits][items].
  ExitCase exit_case(const std::vector<size_t>& items, std::vector<std::vector<double>> cost) const;
  /// The point if item items[i] leaves at exit taken[i].
  ExitPoint point(const std::vector<size_t>& items, const std::vector<int32_t>& taken) const;
  /// Exits of all items under these thresholds.
  std::vector<int32_t> taken(const std::vector<double>& thresholds) const {
    return exits_taken(confidence, thresholds);
  }
  /// From here on costs are those of a plan of these graphs, whose exits are the same; nothing: of the baseline.
  void count_in(const std::optional<GraphOfSize>& graphs, const TaskAnswer& answer);
  /// Thresholds of the graph, by test.
  std::vector<double> thresholds() const;
};

/// Runs each of `batches` once with every router's decision set to "go on". Nothing if the model has no exits.
std::optional<ExitRecord> record_exits(Workload& work, const std::vector<int64_t>& batches, const Progress& progress);

/// Decisions by which all `items` of a batch answer at one exit.
ReplayedDecisions all_at(const ReadyPlan& plan, const ExitChain& chain, size_t exit, int64_t items);

}  // namespace stormcell
