// The verdict on two recordings: one cause, or that the recordings do not tell.
#pragma once
#include <string>

#include "core/difference/difference.h"
#include "core/difference/sampled_choices.h"

namespace stormcell {

/// Parts that the recordings hold, for causes that need them.
struct HeldParts {
  bool weights = false;  ///< both have weights
  bool margins = false;  ///< one has margins or scores
  bool scores = false;   ///< both have scores
  /// Needs of the servers whose recordings lack them: "engine.json: the server returns ids alone ..."; empty:
  /// nothing is known of these formats.
  std::string weights_how, margins_how;
};

/// Fills verdict and weights of `figures`, whose counts are filled already.
void judge(const SampledChoices& sample, const HeldParts& held, DifferenceFigures& figures);

}  // namespace stormcell
