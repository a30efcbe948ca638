// The origin of a predicted time.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/base/enum_words.h"

namespace stormcell {

enum class PredictionKind : uint8_t {
  none,          ///< no measured call predicts it
  measured,      ///< this very call was
  interpolated,  ///< between calls of the same hardware and laboratory
  extrapolated,  ///< beyond them, by at most twice the bytes or as RowCurve has it; never beyond the largest number of
                 ///< ranks
  borrowed,      ///< from other hardware or another laboratory, or of within a fabric the rate of the other direction
};
inline constexpr std::string_view kPredictionKinds[] = {"none", "measured", "interpolated", "extrapolated", "borrowed"};
inline std::string_view to_text(PredictionKind kind) { return row_of(kPredictionKinds, kind); }

}  // namespace stormcell
