// How a step becomes code on the CPU: a kernel object made once when a program is compiled, run many times without
// allocating.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/thread_team.h"
#include "core/cell/ragged.h"
#include "core/cpu/kernels/activation.h"
#include "core/graph/operator.h"
#include "core/runtime/kernel_build_context.h"
#include "core/runtime/state_rows.h"
#include "core/runtime/status_area.h"
#include "core/runtime/weight_table.h"

namespace stormcell::cpu {

/// An operand as a kernel sees it: rows that came, and where they lie.
struct Rows {
  std::byte* data = nullptr;
  int64_t rows = 1;
  int64_t width = 1;                       ///< elements of a row
  const DecisionView* decision = nullptr;  ///< a decision operand; its `rows` are the cells that came
  const RaggedView* ragged = nullptr;      ///< a ragged operand; its `rows` are the cells that came
  CellGroups groups;                       ///< over a dense or ragged space: how its cells lie below their parents
  const uint64_t* pages = nullptr;         ///< a state in pages: as StateRows::pages; `data` is null then
  int64_t pages_of_parent = 0;
  float* reals() const { return reinterpret_cast<float*>(data); }
  uint16_t* halves() const { return reinterpret_cast<uint16_t*>(data); }  ///< bf16
  int32_t* integers() const { return reinterpret_cast<int32_t*>(data); }
  int64_t elements() const { return rows * width; }
  /// A state with rows of `row_bytes`.
  StateRows state(int64_t row_bytes) const { return {data, groups.per_parent, row_bytes, pages, pages_of_parent}; }
};

struct Call {
  ThreadTeam& team;
  WeightTable weights;
  std::span<const Rows> in, out;
  std::byte* scratch;  ///< the second half of an exchange finds there what the first half left
  std::span<const int64_t> bindings;
  int32_t* replayed = nullptr;         ///< route: choices to replay; becomes what it would have chosen freely
  const StatusArea* status = nullptr;  ///< failures go there; for an exchange also what it sends and what arrived
  const CancellationToken* cancel = nullptr;
  /// Under a budget, of a step that reads parts, by branch: not 0 where a wave before has computed it. A part without
  /// an address is of a wave to come.
  const uint8_t* computed = nullptr;

  /// The step cannot be computed, and nothing behind it runs. A kernel says so on the thread that runs it, before its
  /// work is shared out: so the first failure in the order of its rows is the one that is reported, however many
  /// threads there are.
  void fail(NodeId node, const StepFailure& why) const { status->status->fail(node, why); }
  /// A weight in f32; null: its part is not there.
  const float* floats(WeightHandle handle) const {
    return reinterpret_cast<const float*>(weights.address(handle).value);
  }
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const Call& call) const = 0;
  virtual int64_t scratch_bytes() const { return 0; }
};

/// Questions that a kernel may ask while it is made.
struct BuildContext : KernelBuildContext {
  /// Whether the input lies in bf16: Rows::halves().
  bool reads_halves(size_t input) const;
  bool writes_halves(size_t output) const;
  /// Requests input `index` as products read it, packed or in blocks; it may be a part, as of branch_weight().
  WeightHandle panel_weight(size_t index, bool precise) const;
};

Activation parse_activation(std::string_view word);

}  // namespace stormcell::cpu
