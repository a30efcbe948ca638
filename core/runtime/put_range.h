// What state_put may write, for the oracle and the kernel alike: rows that do not fit are an error, never cut off.
#pragma once
#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace stormcell {

inline void expect_places(const std::string& node, int64_t places, int64_t rows, int64_t at) {
  if (at < 0 || rows > places - at)
    failed(node, "expected rows that fit " + std::to_string(places) + " places, got " + std::to_string(rows) + " from place " +
                     std::to_string(at));
}

}  // namespace stormcell
