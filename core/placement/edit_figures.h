// Figures of a placement that is changed by hand.
#pragma once
#include <optional>

namespace stormcell {

/// Figures on a part of the data. Null: the data or the model's sizes do not tell.
struct EditFigures {
  double imbalance = 0;                                ///< mean over layers of max / mean - 1 over ranks
  std::optional<double> cross_pairs, ranks_per_token;  ///< as Traffic
  std::optional<double> step_ms, p95_ms;               ///< mean and 95th percentile over steps
  bool operator==(const EditFigures&) const = default;
};

}  // namespace stormcell
