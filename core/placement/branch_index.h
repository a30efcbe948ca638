// An index by branch: for each branch of each layer the items that chose it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/placement/layer_tally.h"
#include "core/profile/token_routes.h"

namespace stormcell {

/// Items are tokens, or tokens with something beside them. By one counting sort: 8 bytes a branch and one item a
/// choice.
template <class Item>
class BranchIndex {
 public:
  BranchIndex() = default;
  /// `for_each(visit)` calls `visit(token, item)`, in the order that the items of a branch keep. An item whose token
  /// chose a branch twice is there once.
  template <class ForEach>
  BranchIndex(const TokenRoutes& routes, size_t branches, const ForEach& for_each)
      : branches_(branches), begin_(routes.layers * branches + 1, 0) {
    const auto for_each_choice = [&](const auto& add) {
      for_each([&](size_t token, const Item& item) {
        for (int32_t l = 0; l < routes.layers; ++l) {
          const std::span<const int32_t> choices = routes.at(token, l);
          for (size_t c = 0; c < choices.size(); ++c)
            if (choices[c] >= 0 && !chosen_before(choices, c))
              add(static_cast<size_t>(l) * branches + static_cast<size_t>(choices[c]), item);
        }
      });
    };
    for_each_choice([&](size_t place, const Item&) { ++begin_[place + 1]; });
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    items_.resize(begin_.back());
    std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
    for_each_choice([&](size_t place, const Item& item) { items_[next[place]++] = item; });
  }

  std::span<const Item> of(size_t layer, size_t branch) const {
    const size_t place = layer * branches_ + branch;
    return std::span(items_).subspan(begin_[place], begin_[place + 1] - begin_[place]);
  }

 private:
  size_t branches_ = 0;
  std::vector<size_t> begin_;  // [layers x branches + 1] of items_
  std::vector<Item> items_;
};

}  // namespace stormcell
