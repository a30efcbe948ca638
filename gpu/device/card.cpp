#include "gpu/device/card.h"

#include <algorithm>
#include <iterator>

#include "core/base/align.h"
#include "core/base/error.h"

namespace stormcell::card {
namespace {

// cudaMalloc gives no smaller pieces, and addresses of this alignment.
constexpr int64_t kGrain = 512;

}  // namespace

Card::Card(const CardCalls& calls, int index) : calls_(calls), index_(index) {
  must(calls_.describe(index_, &facts_), "cudaGetDeviceProperties");
  must(calls_.prepare(index_), "cudaFuncSetAttribute", "of the kernels for " + std::string(calls_.architectures));
}

std::string Card::name() const {
  const std::string number = index_ == 0 ? "cuda" : "cuda:" + std::to_string(index_);
  return facts_.name[0] == 0 ? number : number + " (" + facts_.name + ")";
}

void Card::must(int error, const char* call, const std::string& sizes) const {
  if (error == 0) return;
  failed(name(), std::string(call) + (sizes.empty() ? "" : " " + sizes) + ": " + calls_.error_text(error) + " (" +
                     calls_.error_name(error) + ")");
}

CardMemory::~CardMemory() { release_kept(); }

CardMemory::Block CardMemory::take(int64_t bytes, const std::string& what) {
  const int64_t wanted = std::max(kGrain, align_up(bytes, kGrain));
  const std::lock_guard lock(mutex_);
  // A block that is a little larger wastes less than an allocation takes.
  if (const auto at = kept_.lower_bound(wanted); at != kept_.end() && at->first <= wanted + wanted / 8) {
    const Block block{at->second, at->first};
    kept_bytes_ -= at->first;
    kept_.erase(at);
    return block;
  }
  Block block{0, wanted};
  int error = card_.calls().allocate(card_.index(), &block.address, wanted);
  if (error == kOutOfMemory && !kept_.empty()) {
    card_.must(release_kept(), "cudaFree");
    error = card_.calls().allocate(card_.index(), &block.address, wanted);
  }
  if (error == kOutOfMemory) {
    int64_t free = 0, all = 0;
    card_.must(card_.calls().count_memory(card_.index(), &free, &all), "cudaMemGetInfo");
    failed(card_.name(),
           "no memory for " + what + ": " + std::to_string(wanted) + " bytes are needed, " + std::to_string(free) +
               " of " + std::to_string(all) + " are free",
           "take a smaller batch, or end other programs that use this GPU");
  }
  card_.must(error, "cudaMalloc", "of " + std::to_string(wanted) + " bytes for " + what);
  return block;
}

void CardMemory::give_back(const Block& block) {
  const std::lock_guard lock(mutex_);
  kept_.emplace(block.bytes, block.address);
  kept_bytes_ += block.bytes;
}

int64_t CardMemory::free_bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t free = 0, all = 0;
  card_.must(card_.calls().count_memory(card_.index(), &free, &all), "cudaMemGetInfo");
  return free + kept_bytes_;
}

int CardMemory::release_kept() {
  int first = 0;
  for (const auto& [bytes, address] : kept_) {
    const int error = card_.calls().release(card_.index(), address);
    if (first == 0) first = error;
  }
  kept_.clear();
  kept_bytes_ = 0;
  return first;
}

void PinnedRanges::add(const void* memory, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  ranges_[reinterpret_cast<uintptr_t>(memory)] = bytes;
}

void PinnedRanges::remove(const void* memory) {
  const std::lock_guard lock(mutex_);
  ranges_.erase(reinterpret_cast<uintptr_t>(memory));
}

void PinnedRanges::check(const void* memory, int64_t bytes, const char* what) const {
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const auto behind = ranges_.upper_bound(begin);
  if (behind != ranges_.begin()) {
    const auto& [first, held] = *std::prev(behind);
    if (begin + static_cast<uintptr_t>(bytes) <= first + static_cast<uintptr_t>(held)) return;
  }
  failed("cuda", std::string(what) + " of " + std::to_string(bytes) + " bytes: the memory of the host is not pinned");
}

}  // namespace stormcell::card
