// Whether two sessions are of one model, as far as they say it. Not for views and commands, which see no RunSummary.
#pragma once
#include <cstdint>
#include <string>

#include "core/session/session_types.h"

namespace stormcell {

enum class SameModel : uint8_t {
  yes,
  no,
  not_known,  ///< one of them does not say its model, or they spell it in two ways
};

/// By their fingerprints; of traces, and where those were made in two ways, by their names, of which no two say that models differ. A run
/// of each: an import notes there whether its trace named a model.
SameModel same_model(const ModelSummary& a, const RunSummary& run_a, const ModelSummary& b, const RunSummary& run_b);

/// "other.gguf and not made-up.gguf", or that only the weights are others.
std::string other_model_text(const ModelSummary& other, const ModelSummary& ours);

/// Why it is not known, of two whose layers and experts are the same. `named`: the other one, as the user named it.
std::string model_doubt_text(const std::string& named, const ModelSummary& other, const RunSummary& run_other, const ModelSummary& ours,
                             const RunSummary& run_ours);

}  // namespace stormcell
