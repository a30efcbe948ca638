// Values that are no numbers, or infinite, in what a judge compares. NaN beside NaN is no agreement: it hides whatever
// was computed.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include "core/bench/arithmetic.h"

namespace stormcell {

/// Advice about values that are refused.
inline constexpr const char* kNonFiniteAdvice =
    "look for the weights and the data that they come from: what is not finite cannot be compared";

/// Values of one output, or of one router: counts those that are not finite, and keeps the first that is refused.
class NonFiniteValues {
 public:
  explicit NonFiniteValues(NonFinite policy = NonFinite::refused) : policy_(policy) {}

  /// Adds one value beside the reference's. `place()`: a text that names it, asked for the first alone. False: refused.
  template <class Place>
  bool add(float ours, float reference, int64_t batch, Place place) {
    if (std::isfinite(ours) && std::isfinite(reference)) return true;
    const bool same = ours == reference || (std::isnan(ours) && std::isnan(reference));
    if (same && policy_ == NonFinite::allowed) {
      ++allowed_;
      return true;
    }
    if (refused_++ == 0) say_first(ours, reference, batch, place());
    return false;
  }

  int64_t allowed() const { return allowed_; }
  int64_t refused() const { return refused_; }
  /// "NaN at element [0, 3] of batch 2, where the reference has NaN: 120 values that are not finite"; empty: none was
  /// refused.
  std::string reason() const;

 private:
  void say_first(float ours, float reference, int64_t batch, const std::string& place);

  NonFinite policy_;
  int64_t allowed_ = 0, refused_ = 0;
  std::string first_;
};

}  // namespace stormcell
