// Blocks of memory that a thread uses again and again. Large blocks come fresh from the system and go back to it: a
// page fault for each 4 KiB, which costs more than reading 9 MB from the page cache into them does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace stormcell {

/// While it lives, on the stack of the thread that made it, what reusable_block() gave on this thread is kept when its
/// last handle goes, and given again. So much is kept as was in use at one time.
class ReusedMemory {
 public:
  ReusedMemory();
  ~ReusedMemory();
  ReusedMemory(const ReusedMemory&) = delete;
  ReusedMemory& operator=(const ReusedMemory&) = delete;

  class Blocks;

 private:
  std::shared_ptr<Blocks> blocks_;
};

/// A block of at least `bytes`, aligned to 64, not set to zero: one that this thread keeps, or a new one. Any thread
/// may release it. Throws Error(failed) that names `what` if there is no memory.
std::shared_ptr<std::byte> reusable_block(int64_t bytes, const std::string& what);

}  // namespace stormcell
