#include "core/quality/item_classes.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "core/data/sequence_source.h"

namespace stormcell {
namespace {

/// Of a class by its name: its place among the names, or the number that the name is.
int64_t number_of(const std::vector<std::string>& names, const std::string& name) {
  if (const auto at = std::find(names.begin(), names.end(), name); at != names.end()) return at - names.begin();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : std::numeric_limits<int64_t>::max();
}

}  // namespace

std::string ItemClasses::name_of(int32_t number) const {
  const auto at = static_cast<size_t>(number);
  return at < model_.classes.size() ? model_.classes[at] : std::to_string(number);
}

std::vector<std::string> ItemClasses::of(const Batch& batch, size_t at) const {
  std::vector<std::string> names;
  if (may_be_several()) {
    for (const int32_t shown : data_.target_classes(batch.items[at]).shown) names.push_back(name_of(shown));
  } else if (at < batch.labels.size() && !batch.labels[at].empty()) {
    names.push_back(batch.labels[at]);
  }
  return names;
}

bool ItemClasses::before(const std::string& a, const std::string& b) const {
  const std::vector<std::string> names = may_be_several() ? model_.classes : data_.classes();
  return std::pair(number_of(names, a), a) < std::pair(number_of(names, b), b);
}

}  // namespace stormcell
