// Counts the operations of each item of a run: those of the branches that its cells took, and those of every cell
// through every branch (the plan of --dense).
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

/// Loads of every router of a graph from the cells of one item.
struct ItemLoads {
  struct Router {
    int64_t cells = 0;          ///< cells that came to it
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
/// Operations that the item would take if all its cells went through every branch.
double operations_of_all(const Graph& graph, const std::vector<ValueId>& routed, const Bindings& bindings);
/// Number of parts behind gates (gated_branch) that were computed for the item; a part counts by the share of the
/// item's cells that it got.
double parts_computed(const Graph& graph, const std::vector<ValueId>& routed, const ItemLoads& loads);
/// Real cells of item number `item` of the batch, by space.
Bindings bindings_of_item(const Graph& graph, const Batch& batch, size_t item);

/// Counts the batches of a run.
class ItemCosts {
 public:
  explicit ItemCosts(const Workload& work);

  /// Counts the recorded plan.result of `batch`; call once for each batch. It counts nothing for decoding, for graphs
  /// without routers and for plans that decide only some of the routers.
  void add(const ReadyPlan& plan, const Batch& batch);
  std::optional<ItemCostFigures> figures() const;

 private:
  /// A graph, with what items of it were found to cost.
  struct Counted {
    std::shared_ptr<const Graph> graph;
    std::vector<ValueId> routed;
    int64_t parts = 0;                                  ///< parts that gates may leave out
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
