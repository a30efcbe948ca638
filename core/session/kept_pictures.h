// Chooses the pictures that a run keeps if there is no room for all: some of every group, each evenly spread over the
// run.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "core/profile/record.h"

namespace stormcell {

class KeptPictures {
 public:
  KeptPictures(int64_t most, int64_t most_bytes) : most_(most), most_bytes_(most_bytes) {}
  /// Takes in the picture of a new item. Returns the items that must go for it, from the groups that keep most. The new
  /// one may be among them; then it was never kept.
  std::vector<int64_t> add(int64_t item, uint64_t group, int64_t bytes);
  bool has(int64_t item) const { return items_.contains(item); }

 private:
  struct Picture {
    int64_t item = 0, bytes = 0;
  };
  using Group = std::map<uint64_t, Picture>;            ///< by rank: the last one goes first
  using Size = std::tuple<size_t, uint64_t, uint64_t>;  ///< of a group: pictures, its last rank, its key
  int64_t drop_one();
  static Size size_of(uint64_t key, const Group& group) { return {group.size(), group.rbegin()->first, key}; }

  int64_t most_, most_bytes_, bytes_ = 0;
  std::map<uint64_t, Group> groups_;
  std::set<Size> sizes_;  ///< the last: the largest group
  std::set<int64_t> items_;
};

/// Takes in the pictures of a batch, `bytes` of each, before they are made. Returns the sequences, in order, whose
/// pictures must be made because they change what is kept. Taking in only those gives the same result.
std::vector<size_t> take_in(KeptPictures& kept, const BatchRecord& batch, const RunLayout& layout,
                            std::span<const int64_t> items, int64_t bytes);

/// [sequences of the batch] the group of each: those of one label whose cells got the same branches of every router.
std::vector<uint64_t> picture_groups(const BatchRecord& batch, const RunLayout& layout);

}  // namespace stormcell
