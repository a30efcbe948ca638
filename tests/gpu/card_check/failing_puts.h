// A step that fails where its data say so.
#pragma once
#include "core/runtime/device.h"
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

/// Three rows of each of two sequences, put into five places.
inline RandomCase put_at(std::vector<int32_t> places_of_sequences) {
  CaseBuilder b(1);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                rows = b.dense_space("rows", sequences, b.bound_symbol("T", 3)),
                places = b.dense_space("places", sequences, 5);
  const ValueId x = b.floats("x", rows, {4});
  const ValueId state = b.state("kept", DType::f32, places, {4});
  const ValueId at = b.integers("at", sequences, 3);
  b.GraphBuilder::add("state_fill", {state}, {{"value", 0.0}}, "clear");
  b.put(state, x, at, "keep");
  b.output("y", b.value("scale", {state}, {{"factor", 2.0}}, "y"));
  RandomCase made = b.take("put");
  made.inputs["at"] = std::move(places_of_sequences);
  return made;
}
/// The words for put_at({.., 4}) on a device with memory of its own.
inline std::string beyond_places_on(const Device& device) {
  return "keep on " + device.info().name + ": expected rows that fit 5 places, got 3 from place 4";
}

}  // namespace stormcell::testing
