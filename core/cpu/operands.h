// The operands of a program in the CPU's memory: where each lies, and which rows of it this submission has.
#pragma once
#include <span>
#include <vector>

#include "core/base/id_vector.h"
#include "core/cpu/cpu_kernel.h"
#include "core/runtime/memory_plan.h"

namespace stormcell::cpu {

class Operands {
 public:
  explicit Operands(const Program& program) : program_(program), dims_(program.dims.size()) {}

  /// Points the operands of `arena` and `states` to their planned places, with views as large as the bounds.
  void place(const MemoryPlan& memory, std::byte* arena, std::byte* states, const Bindings& bounds);
  /// Sets what holds for one submission: the value of each extent, the places of the inputs and of the sequences'
  /// states.
  void bind(const Submission& submission);

  std::byte* base(OperandId operand) const { return base_[operand]; }
  int64_t dim(DimId index) const { return dims_[index]; }
  const DecisionView& decision(OperandId operand) const { return decisions_[operand]; }
  RaggedView& ragged(OperandId operand) { return raggeds_[operand]; }
  const RaggedView& ragged(OperandId operand) const { return raggeds_[operand]; }
  const Operand& operator[](OperandId operand) const { return program_.operands[operand]; }

  /// The rows that came.
  Rows resolve(OperandId operand) const;
  int32_t scalar(OperandId operand) const { return *resolve(operand).integers(); }

 private:
  /// The place of a routed operand's rows in those of its lender; null: they are not there.
  std::byte* borrowed(OperandId operand) const;
  /// The place of an operand's first row.
  std::byte* rows(OperandId operand) const;
  void resolve_ragged(const Operand& o, Rows& r) const;

  const Program& program_;
  IdVector<OperandId, std::byte*> base_;
  // the operand in whose rows it is read if its branch's cells follow one another; kNone: its own
  IdVector<OperandId, OperandId> lender_;
  IdVector<OperandId, DecisionView> decisions_;
  IdVector<OperandId, RaggedView> raggeds_;
  IdVector<DimId, int64_t> dims_;
  const uint64_t* pages_ = nullptr;  // [states][sequences][pages_of_sequence_]
  int64_t pages_of_sequence_ = 0;
};

}  // namespace stormcell::cpu
