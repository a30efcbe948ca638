// The lives of a program's planned buffers, for memory that watches them (the emulated device of the tests).
#pragma once
#include <vector>

#include "core/cpu/cpu_device.h"

namespace stormcell::cpu {

class BufferLives {
 public:
  /// Buffers lie at `arena` and behind, as planned.
  void note(const Program& program, const MemoryPlan& memory, std::byte* arena, const Bindings& bounds) {
    begins_.assign(program.steps.size(), {});
    ends_.assign(program.steps.size(), {});
    for (const BufferId i : program.buffers.ids()) {
      const ProgramBuffer& b = program.buffers[i];
      if (b.kind != BufferKind::arena) continue;
      const Life life{arena + memory.offset[i], b.bytes.evaluate(bounds)};
      if (b.first < static_cast<int32_t>(begins_.size())) begins_[b.first].push_back(life);
      if (memory.last[i] < static_cast<int32_t>(ends_.size())) ends_[memory.last[i]].push_back(life);
    }
  }
  /// Before step `at`: what lies in buffers whose lives begin there means nothing.
  void begin(int32_t at, MemorySpace& space) const {
    if (!begins_.empty()) forget(begins_[at], space);
  }
  /// Ends lives after step `at`, which goes on at `next`. Values that a jump passes over end, too; nothing ends where a
  /// repeat begins anew.
  void end(int32_t at, int32_t next, MemorySpace& space) const {
    if (ends_.empty()) return;
    for (int32_t passed = at; passed < next; ++passed) forget(ends_[passed], space);
  }

 private:
  struct Life {
    std::byte* from;
    int64_t bytes;
  };
  static void forget(const std::vector<Life>& lives, MemorySpace& space) {
    for (const Life& life : lives) space.forget(life.from, life.bytes);
  }
  std::vector<std::vector<Life>> begins_, ends_;  // by step; empty if nothing watches
};

}  // namespace stormcell::cpu
