// How near the choices of one cell were to others: the branch that came next, and by how much it lost.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/readings/session_view.h"

namespace stormcell {

struct CellChoice {
  /// Score distance of the last chosen and the first not chosen branch; nothing: not recorded.
  std::optional<double> margin;
  int32_t runner_up = -1;  ///< the branch with the highest score of those not chosen; -1: scores are not recorded
};
/// Choices by step of the trail. Values are empty if a step decided about what the cell is a member of. Throws
/// Error(bad_input) if there is no such run.
std::shared_ptr<const std::vector<CellChoice>> read_cell_choices(const std::string& file, int64_t run,
                                                                 const CellTrail& trail);

}  // namespace stormcell
