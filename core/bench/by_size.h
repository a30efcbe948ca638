// Holds what was built for each size of picture, for the sizes that were requested last.
#pragma once
#include <algorithm>
#include <cstdint>
#include <list>
#include <utility>

#include "core/cell/picture_size.h"

namespace stormcell {

template <class T>
class BySize {
 public:
  static constexpr size_t kMost = 4;

  /// The result of `build(size)`, which is built now if it is not held. Before a fifth is built, the one asked for
  /// longest ago goes; the others stay where they are in memory.
  template <class Build>
  T& at(PictureSize size, const Build& build) {
    const auto known = std::find_if(held_.begin(), held_.end(), [&](const auto& entry) { return entry.first == size; });
    if (known != held_.end()) {
      held_.splice(held_.begin(), held_, known);
      return held_.front().second;
    }
    if (held_.size() == kMost) held_.pop_back();
    held_.emplace_front(size, build(size));
    ++builds_;
    return held_.front().second;
  }
  /// How often something was built, whether it is still held or not.
  int64_t builds() const { return builds_; }

 private:
  std::list<std::pair<PictureSize, T>> held_;  // the last one asked for first
  int64_t builds_ = 0;
};

}  // namespace stormcell
