// What each item of a run cost: the operations of everything that its cells went through, by the decisions of the run,
// beside those of every cell through every branch (which is the plan of --dense).
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "core/bench/by_size.h"
#include "core/bench/workload.h"
#include "core/experiment/largest_branches.h"
#include "core/quality/item_classes.h"
#include "core/quality/item_cost_figures.h"

namespace stormcell {

/// Where the cells of one item went: of each router of a graph what its branches got.
struct ItemLoads {
  struct Router {
    int64_t cells = 0;          ///< that came
    std::vector<int64_t> load;  ///< by branch
    auto operator<=>(const Router&) const = default;
  };
  Bindings bindings;            ///< of the item alone, without padding
  std::vector<Router> routers;  ///< as routed_values() has them
  auto operator<=>(const ItemLoads&) const = default;
};

/// The decisions of a graph, in running order.
std::vector<ValueId> routed_values(const Graph& graph);
/// Operations that the item took.
double operations_of(const Graph& graph, const std::vector<ValueId>& routed, const ItemLoads& loads);
/// Were all its cells to go through every branch.
double operations_of_all(const Graph& graph, const std::vector<ValueId>& routed, const Bindings& bindings);
/// Parts that gates may leave out (gated_branch), as many as were computed for the item: each by the share of its cells
/// that it got.
double parts_computed(const Graph& graph, const std::vector<ValueId>& routed, const ItemLoads& loads);
/// Real cells that the batch's item number `item` has of each space.
Bindings bindings_of_item(const Graph& graph, const Batch& batch, size_t item);

/// Counts the batches of a run.
class ItemCosts {
 public:
  explicit ItemCosts(const Workload& work);

  /// What plan.result holds of `batch`, recorded; each batch once. Of decoding, of a graph without routers and of a
  /// plan that decides only some of them there is nothing to count.
  void add(const ReadyPlan& plan, const Batch& batch);
  std::optional<ItemCostFigures> figures() const;

 private:
  /// A graph, with what items of it were found to cost.
  struct Counted {
    std::shared_ptr<const Graph> graph;
    std::vector<ValueId> routed;
    int64_t parts = 0;                                  ///< that gates may leave out
    std::map<std::string, size_t, std::less<>> number;  ///< of routers by name
    std::map<ItemLoads, double> operations;
    std::map<Bindings, double> of_all, of_largest;
    std::optional<LargestBranches> largest;
  };
  Counted counted(PictureSize size) const;
  std::vector<ItemLoads> loads_of(const Counted& of, const ReadyPlan& plan, const Batch& batch,
                                  std::vector<ItemCost>& items) const;

  const ExperimentState& state_;
  GraphOfSize graphs_;
  ItemClasses classes_;
  BySize<Counted> of_size_;
  bool is_counting_;
  std::vector<ItemCost> items_;
};

}  // namespace stormcell
