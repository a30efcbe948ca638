// A case that runs the same few steps as often as a test likes.
#pragma once
#include <cstdint>
#include <string>

#include "tests/testing/graph_case.h"

namespace stormcell::testing {

/// A repeat that adds the input "x" [N, 1] to a state, `turns` times.
inline RandomCase many_turns(int64_t turns) {
  CaseBuilder b(1);
  const SpaceId images = b.root_space("images", b.bound_symbol("N", 1));
  const ValueId x = b.floats("x", images, {1}), sum = b.state("sum", DType::f32, images, {1});
  b.begin_body();
  b.GraphBuilder::add("state_write", {sum, b.add(sum, x)}, {}, "keep");
  b.end_body({b.value("extent", {}, {{"extent", std::string("0")}}, "go.on")});
  b.add_region("repeat", {}, {{"most", std::to_string(turns)}}, "turns");
  b.output("y", b.value("scale", {sum}, {{"factor", 1.0}}, "y"));
  return b.take("many turns");
}

}  // namespace stormcell::testing
