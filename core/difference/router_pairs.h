// Which router of one recording is which of another.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/traces/trace.h"

namespace stormcell {

struct RouterPair {
  int32_t a = 0, b = 0;  ///< indexes into the headers' routers
};

struct RouterPairs {
  std::vector<RouterPair> pairs;      ///< ascending by a
  std::vector<std::string> warnings;  ///< routers that only one recording has, doubts about the model
};

/// By the numbers of the layers where both recordings state all of them, else by names, else in their order. Throws
/// Error(bad_input), which names b's file, if layers cannot be aligned or the models are unlike. Some more experts are
/// allowed beside more choices of a cell: shared experts are recorded so.
RouterPairs pair_routers(const TraceHeader& a, const std::string& name_a, const TraceHeader& b,
                         const std::string& name_b);

}  // namespace stormcell
