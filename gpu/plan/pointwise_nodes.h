// The program of an elementwise step (gpu/pointwise), instruction by instruction. Results are kept in registers 0 to 3.
#pragma once
#include <string_view>

#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

/// The instruction of an activation; `constant`: it is none. Throws Error(bad_input) for an unknown word.
PointwiseOp activation_of(std::string_view word);

class PointwiseNode {
 public:
  /// The rows are those of `rows`, each with `width` numbers.
  PointwiseNode(StepNodes& nodes, const Operand& rows) : nodes_(nodes), rows_(rows) {
    args_.width = static_cast<int32_t>(rows.width);
  }
  /// Takes each pixel of a map for a row, so that columns are channels. Call it first; rows have no numbers of their own.
  void by_pixel(int64_t channels) {
    args_.width = static_cast<int32_t>(channels);
    args_.pixels = static_cast<int32_t>(rows_.width / channels);
  }
  /// Loads input `i`: a number for each number of the rows, or, if it has one a row, the same for the whole row.
  void load(uint8_t to, size_t i) {
    const Operand& from = nodes_.input(i);
    step({.op = from.width == rows_.width ? PointwiseOp::load : PointwiseOp::load_of_row,
          .to = to,
          .format = plan_format(from.dtype),
          .at = take(nodes_.reads(i))});
  }
  /// Loads the weight's number for the column.
  void load_column(uint8_t to, WeightHandle weight) {
    step({.op = PointwiseOp::load_of_column, .to = to, .at = static_cast<int32_t>(weight)});
  }
  /// Loads the weight of the row's slot in the decision that is input `i`.
  void load_slot_weight(uint8_t to, size_t i) {
    args_.decision = nodes_.decision(i);
    step({.op = PointwiseOp::load_of_slot, .to = to, .at = take(nodes_.reads(i))});
  }
  void constant(uint8_t to, float value) { step({.op = PointwiseOp::constant, .to = to, .number = value}); }
  void compute(PointwiseOp op, uint8_t to, uint8_t a, uint8_t b = 0, int32_t integer = 0) {
    PointwiseStep s{.op = op, .to = to, .a = a, .b = b};
    s.integer = integer;
    step(s);
  }
  void integer(uint8_t to, int32_t value) {
    PointwiseStep s{.op = PointwiseOp::constant, .to = to};
    s.integer = value;
    step(s);
  }
  void store(uint8_t from, size_t output) {
    args_.rows_of = take(nodes_.writes(output));
    step(
        {.op = PointwiseOp::store, .a = from, .format = plan_format(nodes_.output(output).dtype), .at = args_.rows_of});
  }
  void add() {
    const int64_t numbers = nodes_.most_rows(rows_) * rows_.width;
    nodes_.add<PointwiseKernel>(args_, nodes_.blocks(numbers, int64_t{4} * PointwiseKernel::kThreads));
  }

 private:
  void step(const PointwiseStep& s) { args_.steps[args_.count++] = s; }
  int32_t take(const Ref& of) {
    args_.ref[refs_] = of;
    return refs_++;
  }
  StepNodes& nodes_;
  const Operand& rows_;
  PointwiseArgs args_;
  int32_t refs_ = 0;
};

}  // namespace stormcell::gpu
