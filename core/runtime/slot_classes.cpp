#include "core/runtime/slot_classes.h"

#include <algorithm>

#include "core/base/align.h"

namespace stormcell {

std::vector<SlotClass> slot_classes(const std::map<int64_t, int64_t>& parts, int64_t budget) {
  std::vector<SlotClass> wanted;  // slots: one for each part
  int64_t total = 0;
  for (auto at = parts.rbegin(); at != parts.rend(); ++at) {
    const int64_t bytes = align_up(at->first);
    if (wanted.empty() || wanted.back().bytes != bytes) wanted.push_back({bytes, 0});
    wanted.back().count += at->second;
    total += bytes * at->second;
  }
  if (total <= budget) return wanted;
  std::vector<SlotClass> given = wanted;
  int64_t left = budget;
  for (size_t i = 0; i < given.size(); ++i) {
    // Computed in reals: a budget times the bytes of a class may be more than 2^63.
    const double share = static_cast<double>(budget) * (wanted[i].bytes * wanted[i].count) / total;
    const auto slots = std::max<int64_t>(static_cast<int64_t>(share) / given[i].bytes, i == 0);
    given[i].count = std::min(slots, left / given[i].bytes);
    left -= given[i].count * given[i].bytes;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const int64_t more = std::min(wanted[i].count - given[i].count, left / given[i].bytes);
    given[i].count += more;
    left -= more * given[i].bytes;
  }
  std::erase_if(given, [](const SlotClass& c) { return c.count == 0; });
  return given;
}

int32_t class_of(const std::vector<SlotClass>& classes, int64_t bytes) {
  int32_t found = -1;
  for (size_t i = 0; i < classes.size() && classes[i].bytes >= bytes; ++i) found = static_cast<int32_t>(i);
  return found;
}

}  // namespace stormcell
