#include "core/quality/item_classes.h"

#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "core/data/dataset.h"
#include "core/quality/task.h"

namespace stormcell {

ItemClasses::ItemClasses(const Model& model, const Dataset& data) : model_(model), data_(data) {
  const std::vector<std::string> names = may_be_several() ? model.classes : data.classes();
  for (size_t i = 0; i < names.size(); ++i) numbers_.emplace(names[i], static_cast<int64_t>(i));
}

/// The place of the name among the known ones, or the number that it spells; behind all others if it has neither.
int64_t ItemClasses::number_of(const std::string& name) const {
  if (const auto at = numbers_.find(name); at != numbers_.end()) return at->second;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : std::numeric_limits<int64_t>::max();
}

std::vector<std::string> ItemClasses::of(const Batch& batch, size_t at) const {
  std::vector<std::string> names;
  if (may_be_several()) {
    for (const int32_t shown : data_.target_classes(batch.items[at]).shown)
      names.push_back(class_name(model_.classes, shown));
  } else if (at < batch.labels.size() && !batch.labels[at].empty()) {
    names.push_back(batch.labels[at]);
  }
  return names;
}

bool ItemClasses::before(const std::string& a, const std::string& b) const {
  return std::pair(number_of(a), std::string_view(a)) < std::pair(number_of(b), std::string_view(b));
}

}  // namespace stormcell
