// How a step becomes code on the CPU: a kernel object made once when a program is compiled, run many times without allocating.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/thread_team.h"
#include "core/cell/ragged.h"
#include "core/cpu/kernels/activation.h"
#include "core/graph/operator.h"
#include "core/runtime/device.h"
#include "core/runtime/state_rows.h"
#include "core/runtime/weight_store.h"

namespace stormcell {
class Communicator;
}

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
  int32_t* integers() const { return reinterpret_cast<int32_t*>(data); }
  int64_t elements() const { return rows * width; }
  /// Of a state, with rows of `row_bytes`.
  StateRows state(int64_t row_bytes) const { return {data, groups.per_parent, row_bytes, pages, pages_of_parent}; }
};

struct Call {
  ThreadTeam& team;
  const WeightStore& weights;
  std::span<const Rows> in, out;
  std::byte* scratch;
  std::span<const int64_t> bindings;
  int32_t* replayed = nullptr;           ///< route: choices to replay; becomes what it would have chosen freely
  Communicator* communicator = nullptr;  ///< of a distributed plan
  const CancellationToken* cancel = nullptr;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const Call& call) const = 0;
  virtual int64_t scratch_bytes() const { return 0; }
};

/// What a kernel may ask while it is made.
struct Making {
  const Program& program;
  const Step& step;
  WeightStore& weights;
  const Bindings& bounds;
  int threads;
  std::vector<int32_t>& requested;  ///< handles this step reads

  const Graph& graph() const { return *program.graph; }
  const Node& node() const { return program.graph->node(step.node); }
  const TensorType& type(size_t input) const { return graph().value(node().inputs[input]).type; }
  const Value& value(size_t input) const { return graph().value(node().inputs[input]); }
  /// Requests input `index` as stored, as f32, in a layout of its own, or packed for products.
  int32_t plain_weight(size_t index) const;
  int32_t f32_weight(size_t index) const;
  int32_t weight(size_t index, std::string layout, DType dtype) const;
  int32_t panel_weight(size_t index, bool precise) const;
  /// Most rows that the operand of input `index` may have.
  int64_t most_rows(size_t index) const;
};

struct KernelRow {
  std::string_view op, name;
  std::unique_ptr<Kernel> (*make)(const Making&);  ///< nullptr result: this case is not supported, the next row is tried
};
/// The visible, ordered list: the first row of an operator that supports a case wins.
std::span<const KernelRow> kernel_list();

Activation parse_activation(std::string_view word);

}  // namespace stormcell::cpu
