// One card through the table of calls: errors in the house's form, memory, pinned memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "gpu/device/card_calls.h"

namespace stormcell::card {

/// The table must outlive it.
class Card {
 public:
  /// Throws Error(failed) if the card does not answer or has no kernels.
  Card(const CardCalls& calls, int index);
  const CardCalls& calls() const { return calls_; }
  int index() const { return index_; }
  const CardFacts& facts() const { return facts_; }
  /// "cuda (NVIDIA H200)"
  std::string name() const;
  /// Throws Error(failed) for an error of `call` (CUDA's own name). `sizes` says how large the call was; may be empty.
  void must(int error, const char* call, const std::string& sizes = {}) const;

 private:
  const CardCalls& calls_;
  int index_;
  CardFacts facts_ = {};
};

/// The card's memory. Released memory is kept for reuse, because CUDA stops the whole card when it frees. A caller that
/// releases memory has waited for its users. Any thread may call.
class CardMemory {
 public:
  explicit CardMemory(const Card& card) : card_(card) {}
  ~CardMemory();
  CardMemory(const CardMemory&) = delete;
  CardMemory& operator=(const CardMemory&) = delete;

  struct Block {
    uint64_t address = 0;
    int64_t bytes = 0;  ///< at least as many as were asked for
  };
  /// Throws Error(failed) that tells `what`, the bytes asked for, and the bytes that are free.
  Block take(int64_t bytes, const std::string& what);
  void give_back(const Block& block);
  /// Bytes that take() can still give.
  int64_t free_bytes() const;

 private:
  int release_kept();
  const Card& card_;
  mutable std::mutex mutex_;
  std::multimap<int64_t, uint64_t> kept_;  // by bytes
  int64_t kept_bytes_ = 0;
};

/// The pinned memory of a device: which ranges there are. From any thread.
class PinnedRanges {
 public:
  void add(const void* memory, int64_t bytes);
  void remove(const void* memory);
  /// Throws Error(failed) unless all of these bytes are in one range.
  void check(const void* memory, int64_t bytes, const char* what) const;

 private:
  mutable std::mutex mutex_;
  std::map<uintptr_t, int64_t> ranges_;
};

}  // namespace stormcell::card
