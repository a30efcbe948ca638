// Whether two sessions are of one model, as far as they say it. Not for views and commands, which see no RunSummary.
#pragma once
#include <cstdint>
#include <string>

#include "core/session/session_types.h"

namespace stormcell {

enum class SameModel : uint8_t {
  yes,
  no,
  not_known,  ///< one of them does not say its model
};

/// By their fingerprints; of traces, and where those were made in two ways, by their names. A run of each: an import notes there whether
/// its trace named a model.
SameModel same_model(const ModelSummary& a, const RunSummary& run_a, const ModelSummary& b, const RunSummary& run_b);

/// "other.gguf and not made-up.gguf", or that only the weights are others.
std::string other_model_text(const ModelSummary& other, const ModelSummary& ours);

}  // namespace stormcell
