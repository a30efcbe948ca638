// The origin of a model's weights, as far as it is known.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell {

/// "trained weights", "seeded weights"; "weights as stored" where nobody said how they were made (`stated` false).
/// Empty: nothing is known.
std::string weights_text(const std::string& weights, bool stated);
inline std::string weights_text(const ModelFigures& model) { return weights_text(model.weights, model.weights_stated); }

}  // namespace stormcell
