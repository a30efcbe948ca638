#include "core/runtime/weight_list.h"

#include "core/base/align.h"

namespace stormcell {

std::optional<WeightHandle> WeightList::find(const WeightKey& key) const {
  const auto at = handles_.find(key);
  return at == handles_.end() ? std::nullopt : std::optional(at->second);
}

WeightHandle WeightList::add(ListedWeight weight) {
  const WeightHandle handle = weights_.next_id();
  const auto at = handles_.emplace(weight.key, handle).first;
  try {
    weights_.push_back(std::move(weight));
    addresses_.push_back({});
  } catch (...) {
    weights_.resize(addresses_.size());
    handles_.erase(at);
    throw;
  }
  ++version_;
  return handle;
}

void WeightList::set_address(WeightHandle handle, DeviceAddress address) {
  addresses_[handle] = address;
  ++version_;
}

void WeightList::ask_again(WeightHandle handle, std::optional<BranchGroup> group, bool pinned) {
  ListedWeight& weight = weights_[handle];
  weight.group = std::move(group), weight.pinned = pinned, weight.asked = true;
}

std::map<int64_t, int64_t> WeightList::part_sizes() const {
  std::map<int64_t, int64_t> sizes;
  for (const ListedWeight& weight : weights_)
    if (weight.asked && weight.is_part()) ++sizes[weight.bytes];
  return sizes;
}

int64_t WeightList::branch_weight_bytes() const {
  int64_t bytes = 0;
  for (const ListedWeight& weight : weights_)
    if (weight.asked && (weight.is_part() || weight.pinned)) bytes += weight.bytes;
  return bytes;
}

int64_t WeightList::pinned_bytes() const {
  int64_t bytes = 0;
  for (const ListedWeight& weight : weights_)
    if (weight.asked && weight.pinned) bytes += align_up(weight.bytes);
  return bytes;
}

std::pair<int64_t, BranchGroup> WeightList::largest_part() const {
  std::pair<int64_t, BranchGroup> largest;
  for (const ListedWeight& weight : weights_)
    if (weight.asked && weight.is_part() && align_up(weight.bytes) > largest.first)
      largest = {align_up(weight.bytes), *weight.group};
  return largest;
}

}  // namespace stormcell
