#include "core/base/counted.h"

namespace stormcell {

std::string with_commas(int64_t count) {
  std::string text = std::to_string(count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string noun_for(int64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return std::string(one);
  if (!many.empty()) return std::string(many);
  constexpr std::string_view kVowels = "aeiou";
  for (const std::string_view hissing : {"ch", "sh", "s", "x", "z"})
    if (one.ends_with(hissing)) return std::string(one) + "es";
  if (one.size() > 1 && one.ends_with('y') && kVowels.find(one[one.size() - 2]) == std::string_view::npos)
    return std::string(one.substr(0, one.size() - 1)) + "ies";
  return std::string(one) + "s";
}

std::string counted(int64_t count, std::string_view one, std::string_view many) {
  return with_commas(count) + " " + noun_for(count, one, many);
}

}  // namespace stormcell
