// A session of 10^8 routed cells, written as a run writes it: through the recorder.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell::bench {

struct HugeSession {
  int32_t routers = 61, branches = 256, cells = 164;  ///< cells of one batch at each router
  int32_t batches = 10'000, events = 1'000;           ///< executed steps of one batch
  int64_t routed() const { return int64_t{routers} * cells * batches; }
};

/// Shares are Zipf's, in an order of branches that differs by router and drifts over the run.
void write_huge_session(const std::string& file, const HugeSession& size);

}  // namespace stormcell::bench
