// The things that a view tells apart by colour, and the control that says how branches are told apart.
#pragma once
#include <vector>

#include "views/drawing/branch_colors.h"

class QComboBox;

namespace stormcell::views {

/// A view whose colours stand for things. Tones of a figure are on its scale and not here.
class TellsApart {
 public:
  virtual ~TellsApart() = default;
  /// A row for each thing that the picture tells apart by colour alone, none with the colour of another.
  virtual std::vector<ColorMeaning> told_apart() const = 0;
};

/// Fills a choice, "Branches" of each view that has one: its index is a BranchScheme.
void fill_branch_schemes(QComboBox* choice);

}  // namespace stormcell::views
