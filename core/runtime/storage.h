// Which value of a graph lies in which buffer of its program.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/runtime/program.h"

namespace stormcell {

/// Makes the operands, buffers and extents of `program`, each at its first use.
class Storage {
 public:
  /// `program` has its graph, and must outlive the storage.
  explicit Storage(Program& program);

  /// The operand of a value: an index into Program::operands.
  int32_t operand(ValueId value);
  /// An index into Program::dims.
  int32_t dim(const Dim& extent);
  /// A new operand like that of `state`, over memory of its own.
  int32_t shadow_of(ValueId state);
  const std::map<ValueId, int32_t>& shadows() const { return shadows_; }
  /// From now on operand() gives these instead, by value. Returns those that stood until now.
  std::map<ValueId, int32_t> replace(std::map<ValueId, int32_t> shadows) { return std::exchange(shadows_, std::move(shadows)); }

 private:
  void alias_guard_outputs();
  bool makes(const Block& body, ValueId value) const;
  ValueId storage_of(ValueId value) const;
  int32_t add_buffer(std::string name, BufferKind kind, Dim bytes);
  void rows_of(SpaceId space, Operand& operand);
  void decision_operand(const Value& value, Operand& operand);
  void ragged_operand(ValueId id, Operand& operand);
  void value_operand(ValueId id, const Value& value, Operand& operand);
  int32_t sibling_buffer(const Value& value);

  Program& program_;
  const Graph& graph_;
  std::vector<int32_t> operand_of_;
  std::map<ValueId, ValueId> alias_;
  std::map<ValueId, int32_t> shadows_;
  std::map<std::pair<SpaceId, int64_t>, int> places_;
  std::map<std::tuple<ValueId, int, int64_t>, int32_t> siblings_;
};

}  // namespace stormcell
