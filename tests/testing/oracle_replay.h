// Decisions of the oracle, to be made again.
#pragma once
#include <vector>

#include "core/oracle/oracle.h"

namespace stormcell::testing {

inline OracleReplay replay_of(const std::vector<OracleDecision>& decisions) {
  OracleReplay replay;
  for (const OracleDecision& d : decisions) replay[d.router].push_back(d.choice);
  return replay;
}

}  // namespace stormcell::testing
