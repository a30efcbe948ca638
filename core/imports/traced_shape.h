// The size of a traced model: its routers, branches and choices.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell {

struct TraceHeader;

/// Number of routers, and the most branches and choices of one of them.
struct TracedShape {
  std::string name;
  int64_t layers = 0, branches = 0, k = 0;
};
TracedShape shape_of(const TraceHeader& header);

}  // namespace stormcell
