// A layer of experts spread over the processes of MPI, as engines run it: tokens go to the ranks of their experts, and
// what these say comes back. All numbers are small whole ones, so that sums are exact in any order.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "core/placement/layer_tally.h"
#include "core/profile/token_routes.h"

namespace stormcell::testing {

/// How rows travel; what they weigh is the same.
enum class Transport : uint8_t { all_to_all, point_to_point };

/// Numbers of a token's hidden state: single ones on the way there, double ones on the way back, so that none is taken
/// for the other.
inline constexpr int kHidden = 24;
inline constexpr double kDispatchRowBytes = kHidden * sizeof(float), kCombineRowBytes = kHidden * sizeof(double);

/// The sizes of one layer. Every token says where it lives, and every home knows one replica of each expert: the
/// nearest.
struct ExpertLayer {
  const TokenRoutes* routes = nullptr;
  const std::vector<BranchShares>* shares = nullptr;
  int32_t nodes = 1;
  Backend backend = Backend::per_rank;
  Transport transport = Transport::all_to_all;
};

/// Communicators of all processes: of the rows that go to experts, of those that come back, and of what says whose they
/// are.
struct LayerWires {
  MPI_Comm dispatch, combine, headers;
};

using Hidden = std::vector<double>;
/// By one process that holds every expert.
Hidden computed_alone(const TokenRoutes& routes, size_t token);
/// The outputs of the tokens that live on this process, in their order. All processes call it together.
std::vector<Hidden> computed_together(const ExpertLayer& layer, const LayerWires& wires);

}  // namespace stormcell::testing
