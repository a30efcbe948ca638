#include "core/verification/nonfinite.h"

#include <fmt/format.h>

#include "core/base/counted.h"

namespace stormcell {
namespace {

std::string text_of(float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  return fmt::format("{:.6g}", value);
}

}  // namespace

void NonFiniteValues::say_first(float ours, float reference, int64_t batch, const std::string& place) {
  first_ =
      fmt::format("{} at {} of batch {}, where the reference has {}", text_of(ours), place, batch, text_of(reference));
}

std::string NonFiniteValues::reason() const {
  if (refused_ == 0) return {};
  std::string text = first_ + ": " + counted(refused_, "value that is not finite", "values that are not finite");
  if (policy_ == NonFinite::refused) text += " (--allow-nonfinite allows those that are the same on both sides)";
  return text;
}

}  // namespace stormcell
