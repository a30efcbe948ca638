// A guard with two bodies that change a state.
#pragma once
#include "tests/testing/mixture_case.h"

namespace stormcell::testing {

/// A guard that holds while no sequence has label 1. Each body puts rows into a state; the fallback routes them first.
inline RandomCase guarded(bool late, bool misses) {
  MixtureBuilder b(4);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                rows = b.dense_space("rows", sequences, 3), places = b.dense_space("places", sequences, 5);
  const ValueId x = b.floats("x", rows, {8}), at = b.integers("at", sequences, 2),
                then = b.integers("then", sequences, 2);
  const ValueId state = b.state("kept", DType::f32, places, {8});
  const ValueId decision = b.labelled(sequences, 2, "moe");
  b.GraphBuilder::add("state_fill", {state}, {{"value", 0.5}}, "clear");
  std::vector<ValueId> predicate;
  if (!late) predicate.push_back(b.nobody_in_branch_1(decision));
  b.begin_body();
  b.put(state, b.product(x, 8, "quick"), at, "keep.taken");
  std::vector<ValueId> yields{b.value("scale", {state}, {{"factor", 2.0}}, "read.taken")};
  if (late) yields.push_back(b.nobody_in_branch_1(decision));
  b.end_body(std::move(yields));
  b.begin_body();
  Mixture shape;
  shape.branches = 3;
  const ValueId mixed = b.mixture(x, b.scored(x, {}, shape.branches, "inner"), shape, "inner");
  // Rows of the taken body that are not taken back are tripled, and some of them are not written again.
  b.GraphBuilder::add("state_write", {state, b.value("scale", {state}, {{"factor", 3.0}}, "tripled")}, {}, "triple");
  b.put(state, mixed, then, "keep.fallback");
  b.end_body({b.value("scale", {state}, {{"factor", 1.0}}, "read.fallback")});
  b.output("y", b.graph().node(b.add_region("guard", predicate, {}, "guard")).outputs[0]);
  b.output("kept", b.value("scale", {state}, {{"factor", 1.0}}, "kept.now"));
  RandomCase c = b.take(std::string(late ? "late" : "early") + (misses ? ", misses" : ", hits"));
  c.inputs["at"] = std::vector<int32_t>{0, 1};
  c.inputs["then"] = std::vector<int32_t>{2, 2};
  c.inputs["moe.labels"] = std::vector<int32_t>{0, misses};
  return c;
}

}  // namespace stormcell::testing
