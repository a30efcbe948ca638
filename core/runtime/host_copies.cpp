#include "core/runtime/host_copies.h"

#include <algorithm>
#include <cstring>

#include "core/base/align.h"

namespace stormcell {
namespace {

/// Room for tables of weights and of pages, and small outputs, beside the inputs that reserve() is given.
constexpr int64_t kLeastBlock = 64 << 10;

}  // namespace

HostCopies::HostCopies(Device& device) : device_(device), at_once_(device.copies_at_once()) {}

void HostCopies::reserve(int64_t bytes) {
  if (at_once_) return;
  wanted_ = std::max(wanted_, align_up(bytes) + kLeastBlock);
  if (blocks_.empty()) blocks_.push_back({device_.allocate_pinned(wanted_, "copies of the host"), 0});
}

void HostCopies::begin() {
  arrivals_.clear();
  free_all();
  // One block now holds what several held.
  if (blocks_.size() > 1) blocks_.clear();
}

void HostCopies::free_all() {
  for (Block& block : blocks_) block.used = 0;
  block_ = 0;
  taken_ = 0;
}

std::byte* HostCopies::take(int64_t bytes) {
  const int64_t size = align_up(bytes);
  while (block_ < blocks_.size() && blocks_[block_].used + size > blocks_[block_].memory->bytes()) ++block_;
  if (block_ == blocks_.size()) {
    // The first block has room for the most that any batch has needed so far. Each further block is as large as all
    // before it, so few are made until begin() replaces them by one.
    const int64_t room = std::max({size, blocks_.empty() ? wanted_ : taken_, kLeastBlock});
    blocks_.push_back({device_.allocate_pinned(room, "copies of the host"), 0});
  }
  Block& block = blocks_[block_];
  std::byte* memory = block.memory->data() + block.used;
  block.used += size;
  taken_ += size;
  wanted_ = std::max(wanted_, taken_);
  return memory;
}

void HostCopies::to_device(Stream& stream, DeviceAddress to, const void* from, int64_t bytes) {
  if (at_once_) return stream.copy_to_device(to, from, bytes);
  if (bytes == 0) return;
  std::byte* passes = take(bytes);
  std::memcpy(passes, from, static_cast<size_t>(bytes));
  stream.copy_pinned_to_device(to, passes, bytes);
}

void HostCopies::to_host(Stream& stream, void* to, DeviceAddress from, int64_t bytes) {
  if (at_once_) return stream.copy_to_host(to, from, bytes);
  if (bytes == 0) return;
  arrivals_.push_back({to, bring(stream, from, bytes), bytes});
}

std::byte* HostCopies::bring(Stream& stream, DeviceAddress from, int64_t bytes) {
  std::byte* arrives = take(bytes);
  stream.copy_to_pinned(arrives, from, bytes);
  return arrives;
}

void HostCopies::synchronize(Stream& stream) {
  stream.synchronize();
  for (const Arrival& arrival : arrivals_) std::memcpy(arrival.to, arrival.from, static_cast<size_t>(arrival.bytes));
  arrivals_.clear();
  free_all();
}

}  // namespace stormcell
