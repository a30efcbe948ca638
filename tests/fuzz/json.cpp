#include <nlohmann/json.hpp>

#include "core/formats/json_file.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

namespace {

/// NaN and Infinity are written as texts.
bool has_not_finite(const nlohmann::json& value) {
  if (!value.is_structured()) return is_not_finite(value);
  for (const nlohmann::json& inner : value)
    if (has_not_finite(inner)) return true;
  return false;
}

}  // namespace

STORMCELL_FUZZ_TARGET(json) {
  fuzz::refused_or_done([&] {
    const nlohmann::json value = parse_json_text({reinterpret_cast<const char*>(data), size}, "input");
    fuzz::require(has_not_finite(value) || parse_json_text(value.dump(), "input") == value,
                  "what was read can be written and read again");
  });
  return 0;
}
