// Facts that the kernel of a step may ask for while it is made: the step's operands, their formats and bounds, and the
// weights that it reads. Every device makes its kernels from it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/graph/annotations.h"
#include "core/graph/operator.h"
#include "core/runtime/part_site.h"
#include "core/runtime/weight_store.h"

namespace stormcell {

/// WeightKey::layout of a weight as it is stored, and of a weight in f32. Every device has these two beside layouts of
/// its own.
inline constexpr const char *kPlainLayout = "plain", *kPlainF32Layout = "plain_f32";

/// The parts that a step reads.
struct StepParts {
  OperandId decision;
  std::vector<PartUse> parts;
};

struct KernelBuildContext {
  const Program& program;
  const Step& step;
  WeightStore& weights;
  const Bindings& bounds;
  int threads;
  std::vector<WeightHandle>& requested;  ///< handles this step reads
  StepParts& parts;                      ///< the parts among those weights, given by branch_weight()

  const Graph& graph() const { return *program.graph; }
  const Node& node() const { return program.graph->node(step.node); }
  const TensorType& type(size_t input) const { return graph().value(node().inputs[input]).type; }
  const Value& value(size_t input) const { return graph().value(node().inputs[input]); }
  /// The format in which an activation lies.
  DType reads(size_t input) const { return program.operands[step.inputs[input]].dtype; }
  DType writes(size_t output) const { return program.operands[step.outputs[output]].dtype; }
  /// Bytes of one row of output `output` as it lies.
  int64_t row_bytes(size_t output) const { return program.operands[step.outputs[output]].row_bytes(); }
  /// Requests input `index` as stored, as f32, or in a layout of the device's own.
  WeightHandle plain_weight(size_t index) const;
  WeightHandle f32_weight(size_t index) const;
  WeightHandle weight(size_t index, std::string layout, DType dtype) const;
  /// The same as weight(), for a weight that may be a part: if input `index` is in a branch, a step can wait for it. A
  /// kernel with more than one of them takes them branch by branch, as their parts come.
  WeightHandle branch_weight(size_t index, std::string layout, DType dtype) const;
  /// The kernel that the node's annotation names, null: any. A kernel that is asked for runs wherever it fits, not only
  /// where it pays.
  const std::string* asked_kernel() const { return node().annotations.find(kKernel); }
  /// Most rows that the operand of input `index` may have.
  int64_t most_rows(size_t index) const;
};

}  // namespace stormcell
