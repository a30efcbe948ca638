// Values of one run, each in memory of its own, as the reference kernels see them.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/base/progress.h"
#include "core/base/thread_team.h"
#include "core/cell/decision.h"
#include "core/cell/ragged.h"
#include "core/graph/graph.h"
#include "core/graph/roles.h"
#include "core/oracle/oracle_tensor.h"
#include "core/oracle/recipe_reader.h"
#include "core/oracle/scalar.h"
#include "core/oracle/stored_formats.h"
#include "core/weights/weight_source.h"

namespace stormcell::reference {

/// A decision and its memory.
struct HeldDecision {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory;
  DecisionView view;
  int64_t cells = 0;
};

template <class Scalar>
void round_to_bf16(Scalar* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = to_bf16(x[i]);
}

/// Elements [first, first + n) of stored numbers as scalars, rounded to bf16 before that where `rounded`.
inline void load(const std::byte* stored, DType type, int64_t first, int64_t n, bool rounded, float* to) {
  stored_format(type).read(stored, first, n, to);
  if (rounded) round_to_bf16(to, n);
}
template <class Scalar>
void load(const std::byte* stored, DType type, int64_t first, int64_t n, bool rounded, Scalar* to) {
  float some[256];
  for (int64_t at = 0; at < n; at += 256) {
    const int64_t count = std::min<int64_t>(256, n - at);
    load(stored, type, first + at, count, rounded, some);
    for (int64_t i = 0; i < count; ++i) to[at + i] = static_cast<Scalar>(some[i]);
  }
}

/// A weight, held while a kernel reads it: a stored tensor, unchanged or converted, or a recipe of several.
struct HeldWeight {
  const WeightInfo* info = nullptr;
  /// of a stored tensor in the format `stored`; null: they are read from `source` as they are used
  std::shared_ptr<const std::byte> bytes;
  const WeightSource* source = nullptr;
  std::string tensor;  ///< its name there
  DType stored = DType::f32;
  bool to_bf16 = false;  ///< the recipe converts the stored tensor to bf16, and does no more
  std::shared_ptr<const RecipeReader> elements, factor;  ///< for any other recipe; factor: null if there is none

  /// Elements [first, first + n) in row-major order, folded.
  template <class Scalar>
  void read(int64_t first, int64_t n, Scalar* to) const {
    read_unfolded(first, n, to);
    if (!factor) return;
    const int64_t row = elements->elements() / std::max<int64_t>(elements->shape()[0], 1);
    for (int64_t i = 0; i < n; ++i) {
      const auto by = static_cast<Wide<Scalar>>(factor->element({(first + i) / row}));
      to[i] = static_cast<Scalar>(static_cast<Wide<Scalar>>(to[i]) * by);
    }
  }
  /// Elements without the factor of their first extent: products multiply their sums by it.
  template <class Scalar>
  void read_unfolded(int64_t first, int64_t n, Scalar* to) const {
    if (elements) {
      double some[256];
      for (int64_t at = 0; at < n; at += 256) {
        const int64_t count = std::min<int64_t>(256, n - at);
        elements->read_flat(first + at, count, some);
        for (int64_t i = 0; i < count; ++i) to[at + i] = static_cast<Scalar>(some[i]);
      }
    } else {
      if (bytes) {
        load(bytes.get(), stored, first, n, to_bf16, to);
      } else {
        // The blocks that hold these elements; in a format of single elements, the elements.
        const NumberFormat& format = format_of(stored);
        const int64_t begin = first / format.block_elements,
                      end = (first + n + format.block_elements - 1) / format.block_elements;
        const auto part = source->range(tensor, begin * format.block_bytes, (end - begin) * format.block_bytes);
        load(part.get(), stored, first - begin * format.block_elements, n, to_bf16, to);
      }
    }
  }
  /// The factors of the first extent; empty: none.
  template <class Scalar>
  std::vector<Scalar> factors() const {
    if (!factor) return {};
    std::vector<double> wide(factor->elements());
    factor->read_flat(0, factor->elements(), wide.data());
    return {wide.begin(), wide.end()};
  }
};

/// The cells of a ragged space, and their memory.
struct HeldRagged {
  std::vector<HeldDecision::Line> memory;
  RaggedView view;
};

template <class Scalar>
class Frame {
 public:
  Frame(const Graph& graph, const WeightSource& weights, const Bindings& bindings, bool round_inputs)
      : graph_(graph),
        weights_(weights),
        bindings_(bindings),
        round_inputs_(round_inputs),
        tensors_(graph.values.size()),
        decisions_(graph.values.size()),
        raggeds_(graph.values.size()) {}

  const Graph& graph() const { return graph_; }
  const Bindings& bindings() const { return bindings_; }

  /// Cells of a space; in a routed one, those that came.
  int64_t rows(SpaceId id) const {
    if (id == kNone) return 1;
    const CellSpace& space = graph_.space(id);
    if (space.kind == SpaceKind::dense) return rows(space.parent) * space.per_parent.evaluate(bindings_);
    if (space.kind == SpaceKind::root) return space.count.evaluate(bindings_);
    if (space.kind == SpaceKind::ragged) {
      const auto [first, end] = parents_of(id);
      const RaggedView& r = ragged(space.offsets);
      return r.offsets[end] - r.offsets[first];
    }
    const DecisionView& d = decision(space.decision);
    return space.branch == kAllBranches ? d.offsets[d.branches] : d.load(space.branch);
  }
  /// Groups of a dense or ragged space's cells by parent.
  CellGroups groups(SpaceId id) const {
    const CellSpace& space = graph_.space(id);
    CellGroups g;
    if (space.kind == SpaceKind::dense) {
      g.parents = rows(space.parent);
      g.per_parent = space.per_parent.evaluate(bindings_);
      return g;
    }
    const auto [first, end] = parents_of(id);
    return ragged_groups(ragged(space.offsets), first, end);
  }
  /// Elements of one row of a value.
  int64_t width(ValueId id) const {
    int64_t width = 1;
    for (const Dim& d : graph_.value(id).type.content) width *= d.evaluate(bindings_);
    return width;
  }
  std::vector<int64_t> dims(ValueId id) const {
    const TensorType& type = graph_.value(id).type;
    std::vector<int64_t> dims;
    if (type.space != kNone) dims.push_back(rows(type.space));
    for (const Dim& d : type.content) dims.push_back(d.evaluate(bindings_));
    return dims;
  }

  /// Makes a value of zeros, with the size for this batch.
  OracleTensor<Scalar>& make(ValueId id) {
    OracleTensor<Scalar> tensor;
    tensor.dims = dims(id);
    size_t n = 1;
    for (const int64_t d : tensor.dims) n *= static_cast<size_t>(d);
    if (graph_.value(id).type.dtype != DType::i32) {  // a state in bf16 holds rounded numbers
      tensor.reals.resize(n);
    } else {
      tensor.integers.resize(n);
    }
    return slot(id).emplace(std::move(tensor));
  }
  OracleTensor<Scalar>& tensor(ValueId id) {
    if (!slot(id)) failed("%" + graph_.value(id).name, "the oracle has no value here");
    return *slot(id);
  }
  bool has(ValueId id) const { return tensors_[id].has_value(); }
  void set(ValueId id, OracleTensor<Scalar> tensor) { slot(id) = std::move(tensor); }
  void release(ValueId id) {
    slot(id).reset();
    decisions_[id].reset();
    raggeds_[id].reset();
  }

  const DecisionView& decision(ValueId id) const {
    const auto& held = decisions_[id];
    if (!held) failed("%" + graph_.value(id).name, "the oracle has no decision here");
    return held->view;
  }
  int64_t decision_cells(ValueId id) const { return decisions_[id]->cells; }
  HeldDecision& make_decision(ValueId id) {
    const Value& value = graph_.value(id);
    auto held = std::make_unique<HeldDecision>();
    held->cells = rows(value.type.space);
    const DecisionShape shape{held->cells, value.fan_out, value.branches};
    held->memory.resize(decision_bytes(shape) / sizeof(HeldDecision::Line) + 1);
    held->view = decision_view(held->memory.data(), shape);
    return *(decisions_[id] = std::move(held));
  }
  const RaggedView& ragged(ValueId id) const {
    const auto& held = raggeds_[id];
    if (!held) failed("%" + graph_.value(id).name, "the oracle has no ragged cells here");
    return held->view;
  }
  RaggedView& make_ragged(ValueId id, const RaggedShape& shape) {
    auto held = std::make_unique<HeldRagged>();
    held->memory.resize(ragged_bytes(shape) / sizeof(HeldDecision::Line) + 1);
    held->view = ragged_view(held->memory.data(), shape);
    return (raggeds_[id] = std::move(held))->view;
  }
  /// The parents [first, end) of a ragged space among those of its value: all, or the slots of one branch.
  std::pair<int32_t, int32_t> parents_of(SpaceId id) const {
    const CellSpace& space = graph_.space(id);
    const CellSpace& above = graph_.space(space.parent);
    if (!graph_.holds_members(id) || above.branch == kAllBranches) return {0, *ragged(space.offsets).parents};
    const DecisionView& d = decision(above.decision);
    return {d.offsets[above.branch], d.offsets[above.branch + 1]};
  }
  /// The row of space `ancestor` from which row `row` of the routed or ragged space `space` came.
  int64_t follow(SpaceId space, SpaceId ancestor, int64_t row) const {
    for (; space != ancestor; space = graph_.origin(space)) {
      const CellSpace& s = graph_.space(space);
      if (s.kind == SpaceKind::ragged) {
        const RaggedView& r = ragged(s.offsets);
        row = r.cell[r.offsets[parents_of(space).first] + row];
        continue;
      }
      const DecisionView& d = decision(s.decision);
      row = d.cell[(s.branch == kAllBranches ? 0 : d.offsets[s.branch]) + row];
    }
    return row;
  }

  /// The weight of the choice by which a row of a routed space, or of the members of one, is there.
  float weight_of(SpaceId space, int64_t row) const {
    const bool members = graph_.holds_members(space);
    const CellSpace& s = graph_.space(members ? graph_.space(space).parent : space);
    const DecisionView& d = decision(s.decision);
    const int32_t first = s.branch == kAllBranches ? 0 : d.offsets[s.branch];
    if (!members) return d.weight[first + row];
    const RaggedView& r = ragged(graph_.space(space).offsets);
    return d.weight[r.parent[r.offsets[first] + row]];
  }

  /// `some`: few of its elements are asked for, a row here and there.
  HeldWeight weight(ValueId id, bool some = false) const {
    const std::string& text = weight_text(graph_.value(id));
    HeldWeight held;
    held.info = weights_.find(text);
    if (!held.info) bad_input(text, "no such weight");
    const Recipe recipe = recipe_of(graph_.value(id));
    // A model in another format reads every weight so: element by element by the recipe would take several times as
    // long.
    const bool plain = recipe.kind == RecipeKind::convert && recipe.dtype != DType::f16 &&
                       recipe.of[0].kind == RecipeKind::tensor;  // f32 holds all
    held.to_bf16 = plain && format_of(recipe.dtype).rounds_rows;
    if (const Recipe& tensor = plain ? recipe.of[0] : recipe; tensor.kind == RecipeKind::tensor) {
      held.tensor = weight_text(tensor);
      held.source = &weights_;
      held.stored = weights_.find(held.tensor)->dtype;
      if (!some) held.bytes = weights_.bytes(held.tensor);
    } else {
      UnfoldedWeight unfolded = unfolded_weight(recipe, weights_);
      held.elements = std::move(unfolded.elements);
      held.factor = std::move(unfolded.factor);
    }
    return held;
  }
  /// True if inputs of products with bf16 weights are rounded.
  bool round_inputs() const { return round_inputs_; }

 private:
  std::optional<OracleTensor<Scalar>>& slot(ValueId id) { return tensors_[id]; }

  const Graph& graph_;
  const WeightSource& weights_;
  const Bindings& bindings_;
  bool round_inputs_;
  IdVector<ValueId, std::optional<OracleTensor<Scalar>>> tensors_;
  IdVector<ValueId, std::unique_ptr<HeldDecision>> decisions_;
  IdVector<ValueId, std::unique_ptr<HeldRagged>> raggeds_;
};

/// One execution of a node.
template <class Scalar>
struct Call {
  Frame<Scalar>& frame;
  const Node& node;
  ThreadTeam& team;
  const CancellationToken& cancel;

  const Graph& graph() const { return frame.graph(); }
  const Attributes& attributes() const { return node.attributes; }
  const TensorType& type(size_t input) const { return graph().value(node.inputs[input]).type; }
  int64_t width(size_t input) const { return frame.width(node.inputs[input]); }
  int64_t rows(size_t input) const { return frame.rows(type(input).space); }
  bool is_real(size_t input) const { return type(input).dtype != DType::i32; }

  OracleTensor<Scalar>& in(size_t input) const { return frame.tensor(node.inputs[input]); }
  OracleTensor<Scalar>& out(size_t output = 0) const { return frame.tensor(node.outputs[output]); }
  int64_t out_width(size_t output = 0) const { return frame.width(node.outputs[output]); }
  const DecisionView& decision(size_t input) const { return frame.decision(node.inputs[input]); }
  HeldWeight weight(size_t input) const { return frame.weight(node.inputs[input]); }
  /// A weight of which only some rows are read.
  HeldWeight table(size_t input) const { return frame.weight(node.inputs[input], true); }
  /// `x` [n], or a copy in `held` rounded to bf16 where the product with weight `input` reads its rows so.
  const Scalar* product_input(size_t input, const Scalar* x, int64_t n, std::vector<Scalar>& held) const {
    if (!frame.round_inputs() || !format_of(type(input).dtype).own_products || is_precise(node)) return x;
    if (held.empty() || x != held.data()) held.assign(x, x + n);
    round_to_bf16(held.data(), n);
    return held.data();
  }
  /// A small operand whole: a weight converted, or a value copied.
  std::vector<Scalar> whole(size_t input) const {
    if (graph().value(node.inputs[input]).kind != ValueKind::weight) return in(input).reals;
    const HeldWeight held = weight(input);
    std::vector<Scalar> all(held.info->elements());
    held.read(0, held.info->elements(), all.data());
    return all;
  }
  /// The one element of a scalar input.
  int32_t scalar(size_t input) const { return in(input).integers.at(0); }
};

template <class Scalar>
using Kernel = void (*)(const Call<Scalar>&);

/// The kernel of an operator that is no region and no decision (kernels.h); nullptr if there is none.
template <class Scalar>
Kernel<Scalar> find_kernel(std::string_view op);

}  // namespace stormcell::reference
