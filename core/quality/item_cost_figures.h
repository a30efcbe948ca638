// Costs of the data's items: the mean, the spread, and the means by class.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

/// Cost of one item.
struct ItemCost {
  int64_t item = 0;                       ///< its number in the data
  double operations = 0, of_all = 0;      ///< counted; and if all its cells went through every branch
  int64_t choices = 0, dropped = 0;       ///< of routers for its cells; dropped: the branch had no room
  std::vector<std::string> classes = {};  ///< classes that the data give it
  double parts = 0;                       ///< computed parts, of those that gates may leave out
  int64_t of_parts = 0;                   ///< number of these parts, the same for all items
  double of_largest = 0;                  ///< if all its cells went through only the largest branch; 0: not known

  double share() const { return of_all > 0 ? operations / of_all : 1; }
};

/// Rules for the classes of items.
struct ClassesOfItems {
  bool may_be_several = false;  ///< an item may have several; else one
  std::function<bool(const std::string&, const std::string&)> before;
};

/// Needs at least one item. The caller adds the names of items.
ItemCostFigures item_cost_figures(const std::vector<ItemCost>& items, const ClassesOfItems& classes);

}  // namespace stormcell
