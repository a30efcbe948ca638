#include "core/graph/attributes.h"

#include <charconv>
#include <cmath>

#include "core/base/error.h"

namespace stormcell {
namespace {
template <class T>
const T& expect(const Attribute& value, std::string_view name, const char* kind) {
  if (const T* v = std::get_if<T>(&value)) return *v;
  bad_input("attribute " + std::string(name), std::string("expected ") + kind);
}
}  // namespace

const Attribute& Attributes::at(std::string_view name, const char* kind) const {
  const auto found = map_.find(name);
  if (found == map_.end()) bad_input("attribute " + std::string(name), std::string("missing, expected ") + kind);
  return found->second;
}
int64_t Attributes::integer(std::string_view name) const {
  return expect<int64_t>(at(name, "an integer"), name, "an integer");
}
double Attributes::real(std::string_view name) const {
  const Attribute& value = at(name, "a number");
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  return expect<double>(value, name, "a number");
}
const std::string& Attributes::word(std::string_view name) const {
  return expect<std::string>(at(name, "a word"), name, "a word");
}
const std::vector<int64_t>& Attributes::list(std::string_view name) const {
  return expect<std::vector<int64_t>>(at(name, "a list"), name, "a list of integers");
}

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace stormcell
