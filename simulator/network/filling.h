// Filling of links by messages: max-min fair at any moment, until each has arrived.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/progress.h"
#include "simulator/network/network.h"

namespace stormcell {

/// [flows] of their loads a second, max-min fair by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2):
/// all rates rise alike until a link is full; what crosses it stays as it is, the others rise on. `waiting`: flows that
/// still have something to send.
std::vector<double> fair_rates(std::span<const Link> links, std::span<const NetworkFlow> flows,
                               std::span<const size_t> waiting);

/// A span of time in which no message ended.
struct FillingInterval {
  double begin_s = 0, end_s = 0;
  std::vector<double> link_share;  ///< [links] of their rates that is used
};

struct Filling {
  double seconds = 0;
  std::vector<double> end_s;      ///< [flows]
  std::vector<double> link_load;  ///< [links] carried
  std::vector<FillingInterval> intervals;
};

/// All messages begin at 0. A flow without load ends at 0. Cancelled by `progress`. Time grows with the square of the
/// flows: a second for all pairs of 64 GPUs.
Filling fill(std::span<const Link> links, std::span<const NetworkFlow> flows, const Progress& progress = {});

}  // namespace stormcell
