#include "core/base/reused_memory.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/numbers.h"

namespace stormcell {
namespace {

constexpr std::align_val_t kAlignment{64};

struct Block {
  std::byte* memory = nullptr;
  size_t bytes = 0;
};

void free_block(Block block) { ::operator delete(block.memory, kAlignment); }

thread_local std::shared_ptr<ReusedMemory::Blocks> kept_by_thread;

}  // namespace

/// Unused blocks. A thread may release a block that another one requested.
class ReusedMemory::Blocks {
 public:
  ~Blocks() {
    for (const Block& block : free_) free_block(block);
  }
  /// Takes the smallest block that is large enough. If there is none, the largest is freed, since a larger one takes
  /// its place.
  Block take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto smaller = [](const Block& a, const Block& b) { return a.bytes < b.bytes; };
    std::sort(free_.begin(), free_.end(), smaller);
    const auto at = std::lower_bound(free_.begin(), free_.end(), Block{nullptr, bytes}, smaller);
    if (at != free_.end()) {
      const Block block = *at;
      free_.erase(at);
      return block;
    }
    if (!free_.empty()) {
      free_block(free_.back());
      free_.pop_back();
    }
    return {};
  }
  void put(Block block) {
    {
      const std::lock_guard lock(mutex_);
      if (!closed_) return free_.push_back(block);
    }
    free_block(block);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const Block& block : std::exchange(free_, {})) free_block(block);
  }

 private:
  std::mutex mutex_;
  std::vector<Block> free_;
  bool closed_ = false;
};

ReusedMemory::ReusedMemory() : blocks_(std::make_shared<Blocks>()) { kept_by_thread = blocks_; }

ReusedMemory::~ReusedMemory() {
  kept_by_thread.reset();
  blocks_->close();
}

std::shared_ptr<std::byte> reusable_block(int64_t bytes, const std::string& what) {
  const std::shared_ptr<ReusedMemory::Blocks> kept = kept_by_thread;
  Block block = kept ? kept->take(static_cast<size_t>(bytes)) : Block{};
  if (!block.memory) {
    block.bytes = std::max<size_t>(static_cast<size_t>(bytes), 1);
    block.memory = static_cast<std::byte*>(::operator new(block.bytes, kAlignment, std::nothrow));
    if (!block.memory) failed(what, "no memory for " + to_text(Bytes(bytes)), "take a smaller model");
  }
  return {block.memory, [kept, block](std::byte*) { kept ? kept->put(block) : free_block(block); }};
}

}  // namespace stormcell
