#include "core/summary/step_contents.h"

#include <fmt/format.h>

namespace stormcell {

namespace {
std::string with_rest(double rest_ms) {
  return fmt::format("experts, exchange and a stated rest of {:.4g} ms", rest_ms);
}
}  // namespace

std::string step_contents(const std::optional<double>& rest_ms) {
  return rest_ms ? with_rest(*rest_ms) + "; a lower bound if the rest is right"
                 : "experts and exchange only; a lower bound";
}

std::string rate_contents(const std::optional<double>& rest_ms) {
  return rest_ms ? with_rest(*rest_ms) : "experts and exchange only, no attention";
}

std::string step_contents_sentence(const std::string& contents) {
  std::string text = contents + ".";
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace stormcell
