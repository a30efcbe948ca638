// What items of the data cost, told: the mean, the spread, and by what the data say the items are.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

/// What one item went through.
struct ItemCost {
  int64_t item = 0;                       ///< its number in the data
  double operations = 0, of_all = 0;      ///< counted; and were all its cells to go through every branch
  int64_t choices = 0, dropped = 0;       ///< of routers about its cells; dropped: the branch had no room
  std::vector<std::string> classes = {};  ///< what the data say of it
  double parts = 0;                       ///< that were computed for it, of those which gates may leave out
  int64_t of_parts = 0;                   ///< that there are, the same of all items
  double of_largest = 0;  ///< were all its cells to go through the largest branch alone; 0: nobody would

  double share() const { return of_all > 0 ? operations / of_all : 1; }
};

/// What classes mean to the items.
struct ClassesOfItems {
  bool may_be_several = false;  ///< an item may have several; else one
  std::function<bool(const std::string&, const std::string&)> before;
};

/// Of one item at least; the names of items are the caller's to add.
ItemCostFigures item_cost_figures(const std::vector<ItemCost>& items, const ClassesOfItems& classes);

}  // namespace stormcell
