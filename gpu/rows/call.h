// Arguments that every kernel of a plan (gpu/plan) has: where its memory lies in this submission, which rows of it
// came, and whether the kernel is due. Memory may move between submissions, so arguments hold a kind of memory and an
// offset, and the call block of the submission holds the bases.
//
// A kernel reaches memory through its Refs alone, and the plan takes the order of kernels from the same Refs: what a
// kernel can touch, it has declared.
#pragma once
#include "core/cell/decision.h"
#include "gpu/base/execution.h"

namespace stormcell::gpu {

/// Kinds of memory, each with a base of its own.
enum class Memory : uint8_t {
  activations,
  states,
  status,  ///< a StatusArea
  records,
  control,  ///< the rows table, the words of regions, scratch of kernels
  pages,    ///< states in pages, from the call block: a byte of a range represents a state
  outside,  ///< inputs: no kernel writes there, so no kernel waits for it
};
inline constexpr int kMemories = 6;

enum class Access : uint8_t { none = 0, read = 1, write = 2, both = 3 };

/// Memory that a kernel touches.
struct Ref {
  int64_t offset = 0, bytes = 0;  ///< at most, with every symbol at its bound
  int32_t entry = -1;             ///< in the rows table: where its rows begin; -1: at the offset
  Memory memory = Memory::activations;
  Access access = Access::none;
  /// The slice of one branch in a buffer of all slots: it never overlaps the slice of another branch of the same
  /// decision, with rows of the same size. -1: no slice.
  int32_t decision = -1, branch = -1, row_bytes = 0;
};

/// The rows of an operand that came. Sixteen bytes twice.
struct alignas(16) RowsEntry {
  uint64_t data = 0;         ///< address of the first row
  int32_t first_parent = 0;  ///< ragged: the first parent, among those of the ragged value
  int32_t reserved = 0;
  int32_t rows = 0;
  int32_t parents = 0, per_parent = 0;  ///< over a dense space; ragged: its parents, and 0
  int32_t first = 0;                    ///< routed: the first slot; ragged: the first cell of the ragged value
};

/// A rule to find the rows of an operand: a constant of the plan.
struct EntryPlan {
  int64_t offset = 0, row_bytes = 0;
  int32_t input = -1;                              ///< >= 0: the operand is this input of the graph
  int32_t rows = -1, times = -1, per_parent = -1;  ///< places of extents in the call block; -1: none
  int32_t branch = -1;                             ///< routed, or members: kAllBranches (-1) or the branch
  Memory memory = Memory::activations;
  bool is_routed = false, in_slots = false, is_ragged = false;
};

/// One submission, in the device's memory. It does not change while the submission runs.
struct CallBlock {
  char* memory[kMemories] = {};
  const uint64_t* weights = nullptr;  ///< addresses by handle; 0: not there
  const int64_t* dims = nullptr;      ///< values of the program's extents
  const uint64_t* inputs = nullptr;   ///< addresses of the graph's inputs
  /// by router: address of the choices to replay, which its own nodes alone touch; 0: it decides freely
  const uint64_t* replayed = nullptr;
  const uint64_t* pages = nullptr;  ///< addresses [states in pages, sequences, pages_of_sequence]; 0: none
  int64_t pages_of_sequence = 0;
  const char* constants = nullptr;  ///< of the plan
  int32_t record = 0;               ///< not 0: decisions are recorded
  int32_t reserved = 0;
};

/// Places of the parts of a decision in its memory (core/cell/decision.h), so that a kernel needs one address.
struct DecisionPlaces {
  int32_t cells = 0, offsets = 0, cell = 0, weight = 0, choice = 0, choice_weight = 0, slot = 0, wanted = 0, padded = 0,
          margin = 0;
  int32_t fan_out = 1, branches = 1;

  STORMCELL_BOTH DecisionView at(char* memory) const {
    const auto ints = [&](int32_t place) { return reinterpret_cast<int32_t*>(memory + place); };
    const auto reals = [&](int32_t place) { return reinterpret_cast<float*>(memory + place); };
    DecisionView d;
    d.cells = ints(cells), d.offsets = ints(offsets), d.cell = ints(cell), d.weight = reals(weight);
    d.choice = ints(choice), d.choice_weight = reals(choice_weight), d.slot = ints(slot);
    d.wanted = ints(wanted), d.padded = ints(padded), d.margin = reals(margin);
    d.fan_out = fan_out, d.branches = branches;
    return d;
  }
};

/// The beginning of the arguments of every kernel of a plan.
template <int kRefs_>
struct KernelArgs {
  static constexpr int kRefs = kRefs_;
  const CallBlock* call = nullptr;
  int64_t list = 0;    ///< Refs among the constants, beside those below: place of the first
  int32_t listed = 0;  ///< how many
  int32_t word = -1;   ///< place of the region's word in control memory; -1: the kernel is always due
  bool asks = false;   ///< a kernel before may have failed: its results must then not be read
  Ref ref[kRefs_];

  /// A failure needs no edge of its own: readers of the failed kernel's result have one, and other results are not
  /// read.
  STORMCELL_BOTH bool is_due() const {
    if (asks && *reinterpret_cast<const int32_t*>(call->memory[static_cast<int>(Memory::status)]) != 0) return false;
    return word < 0 || *reinterpret_cast<const int32_t*>(call->memory[static_cast<int>(Memory::control)] + word) != 0;
  }
  template <class T>
  STORMCELL_BOTH const T* constants(int64_t place) const {
    return reinterpret_cast<const T*>(call->constants + place);
  }
  STORMCELL_BOTH const Ref& listed_ref(int32_t i) const { return constants<Ref>(list)[i]; }
  STORMCELL_BOTH RowsEntry rows(const Ref& of) const {
    return reinterpret_cast<const RowsEntry*>(call->memory[static_cast<int>(Memory::control)])[of.entry];
  }
  STORMCELL_BOTH char* address(const Ref& of) const {
    if (of.entry >= 0) return reinterpret_cast<char*>(rows(of).data);
    return call->memory[static_cast<int>(of.memory)] + of.offset;
  }
  template <class T>
  STORMCELL_BOTH const T* in(const Ref& of) const {
    return reinterpret_cast<const T*>(address(of));
  }
  template <class T>
  STORMCELL_BOTH T* out(const Ref& of) const {
    return reinterpret_cast<T*>(address(of));
  }
  STORMCELL_BOTH bool has(int i) const { return ref[i].access != Access::none; }
  template <class T>
  STORMCELL_BOTH const T* weight(int32_t handle) const {
    return handle < 0 ? nullptr : reinterpret_cast<const T*>(call->weights[handle]);
  }
};

/// This thread's number in the grid, and the number of threads.
template <class X>
STORMCELL_DEVICE int64_t grid_thread(X& x, int threads) {
  return static_cast<int64_t>(x.block()) * threads + x.thread();
}
template <class X>
STORMCELL_DEVICE int64_t grid_threads(X& x, int threads) {
  return static_cast<int64_t>(x.blocks()) * threads;
}

}  // namespace stormcell::gpu
