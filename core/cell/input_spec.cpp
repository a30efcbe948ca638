#include "core/cell/input_spec.h"

#include <algorithm>
#include <array>

#include "core/base/enum_words.h"

namespace stormcell {
namespace {
constexpr std::array<std::string_view, 8> kRoles = {"none",   "ids",       "mask",   "label",
                                                    "pixels", "positions", "target", "item"};
}

std::string_view to_text(InputRole role) { return row_of(kRoles, role); }
InputRole parse_role(std::string_view text) {
  const auto at = std::find(kRoles.begin(), kRoles.end(), text);
  return at == kRoles.end() ? InputRole::none : static_cast<InputRole>(at - kRoles.begin());
}

bool asks_for(const std::vector<InputSpec>& inputs, InputRole role) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const InputSpec& spec) { return spec.role == role; });
}

}  // namespace stormcell
