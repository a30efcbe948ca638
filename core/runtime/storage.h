// Assigns the values of a graph to the buffers of its program.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/base/id_vector.h"
#include "core/graph/paged_states.h"
#include "core/runtime/program.h"

namespace stormcell {

/// Makes the operands, buffers and extents of `program`, each at its first use. Every value has a buffer of its own, as
/// large as the bound on its rows; only a guard's outputs share those of what its bodies yield, and what an operator
/// makes in place shares its input's.
class Storage {
 public:
  /// `program` has its graph, and must outlive the storage.
  explicit Storage(Program& program);

  /// The operand of a value.
  OperandId operand(ValueId value);
  DimId dim(const Dim& extent);
  /// A new operand like that of `value`, over memory of its own.
  OperandId room_for(ValueId value);

 private:
  void alias_guard_outputs();
  void alias_in_place();
  bool may_be_overwritten(ValueId value, size_t at) const;
  bool makes(const Block& body, ValueId value) const;
  ValueId owner_of(ValueId value) const;  ///< the value whose buffer it lies in; itself, if it has one of its own
  BufferId add_buffer(std::string name, BufferKind kind, Dim bytes);
  void rows_of(SpaceId space, Operand& operand);
  void decision_operand(const Value& value, Operand& operand);
  void ragged_operand(ValueId id, Operand& operand);
  void value_operand(ValueId id, const Value& value, Operand& operand);
  Dim bytes_of(const Value& value) const;

  Program& program_;
  const Graph& graph_;
  PagedStates paged_;
  IdVector<ValueId, OperandId> operand_of_;
  std::map<ValueId, ValueId> alias_;
};

}  // namespace stormcell
