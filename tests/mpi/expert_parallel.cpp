// Under mpirun: a layer of experts over the processes, each layout by each way of sending. What MPI was given to send
// is, byte for byte, what core/placement and simulator/network count for the same choices, and what the layer says is
// what one process says.
#include <cmath>
#include <cstdio>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/placement/eplb.h"
#include "core/placement/placement_files.h"
#include "core/placement/step_work.h"
#include "simulator/network/exchange.h"
#include "tests/mpi/counted_calls.h"
#include "tests/mpi/expert_layer.h"

namespace stormcell::testing {
namespace {

constexpr int32_t kBranches = 16, kK = 3;
constexpr size_t kTokens = 120;

/// The same on every process: distinct choices, some dropped by a capacity, homes of unlike numbers of tokens.
TokenRoutes drawn(int32_t ranks) {
  std::mt19937 random(14);
  TokenRoutes routes;
  routes.layers = 1, routes.branches = kBranches, routes.k = kK;
  for (size_t t = 0; t < kTokens; ++t) {
    const auto home = static_cast<int32_t>(
        std::min(random() % static_cast<uint32_t>(ranks), random() % static_cast<uint32_t>(ranks)));
    routes.tokens.push_back({static_cast<int64_t>(t), 0, 0, Phase::decode, home});
    std::set<int32_t> chosen;
    while (chosen.size() < kK) chosen.insert(static_cast<int32_t>(random() % kBranches));
    routes.choice.insert(routes.choice.end(), chosen.begin(), chosen.end());
    if (t % 7 == 0) routes.choice.back() = -1;
    if (t % 40 == 0) std::fill(routes.choice.end() - kK, routes.choice.end(), -1);
  }
  return routes;
}

struct Layout {
  std::string name;
  Placement placement;
  ReplicaRule replicas = ReplicaRule::even;
};

/// As a server would read it.
Placement from_file(int32_t ranks) {
  const std::string file = R"({"physical_to_logical_map": [[12, 3, 9, 0, 7, 15, 1, 10, 4, 14, 2, 8, 6, 11, 5, 13]]})";
  return placement_in_file(parse_placement_file(file, "placement"), {0}, 0, kBranches, ranks, "placement");
}

std::vector<Layout> layouts(const TokenRoutes& routes, int32_t ranks, int32_t nodes) {
  std::vector<double> loads(kBranches);
  for (const int32_t c : routes.choice)
    if (c >= 0) ++loads[static_cast<size_t>(c)];
  std::vector<Layout> out = {{"contiguous", contiguous_placement(1, kBranches, kBranches, ranks)},
                             {"of a file", from_file(ranks)},
                             {"EPLB", eplb_placement({loads}, {kBranches, 1, nodes, ranks})}};
  // Replicas that share evenly are expectations, which no run can meet; here each node holds each expert once, and its
  // tokens go there.
  Placement in_each_node{ranks, kBranches, {{}}};
  for (int32_t n = 0; n < nodes; ++n)
    for (int32_t b = 0; b < kBranches; ++b) in_each_node.layers[0].push_back((b * 5 + n) % kBranches);
  if (nodes > 1) out.push_back({"a replica in each node", in_each_node, ReplicaRule::nearest});
  return out;
}

/// [from * ranks + to]
using BytesOfPairs = std::vector<int64_t>;

struct Counted {
  BytesOfPairs dispatch, combine;
};

/// On process 0, of all.
BytesOfPairs gathered(const std::vector<int64_t>& sent) {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  BytesOfPairs all(me == 0 ? sent.size() * sent.size() : 0);
  const auto ranks = static_cast<int>(sent.size());
  MPI_Gather(sent.data(), ranks, MPI_INT64_T, all.data(), ranks, MPI_INT64_T, 0, MPI_COMM_WORLD);
  return all;
}

class Judge {
 public:
  Judge(const TokenRoutes& routes, int32_t ranks) : routes_(routes), ranks_(ranks), all_(routes.size()) {
    for (size_t t = 0; t < all_.size(); ++t) all_[t] = t;
  }

  /// "": what was counted is what is expected.
  std::string fault(const Layout& layout, int32_t nodes, Backend backend, const Counted& counted) {
    Cluster cluster;
    cluster.nodes = nodes, cluster.gpus_per_node = ranks_ / nodes,
    cluster.fabric_bytes_per_s = cluster.network_bytes_per_s = 1;
    const Network network(cluster, 1);
    const std::vector<BranchShares> shares = shares_of(layout.placement.layers[0], kBranches, ranks_);
    const RankRows there = dispatched_rows(routes_, all_, 0, shares, backend, network, layout.replicas);
    std::string pairs = fault_of_pairs("dispatch", there, kDispatchRowBytes, counted.dispatch);
    if (pairs.empty())
      pairs = fault_of_pairs("combine", combined_rows(there, ranks_), kCombineRowBytes, counted.combine);
    if (!pairs.empty()) return pairs;
    return fault_of_ports(layout, nodes, backend, counted, network);
  }

  int64_t bytes() const { return bytes_; }

 private:
  std::string fault_of_pairs(const char* way, const RankRows& rows, double row_bytes, const BytesOfPairs& counted) {
    for (int32_t a = 0; a < ranks_; ++a)
      for (int32_t b = 0; b < ranks_; ++b)
        if (a != b)
          if (const size_t i = at(a, b); rows[i] * row_bytes != static_cast<double>(counted[i]))
            return std::string(way) + " from " + std::to_string(a) + " to " + std::to_string(b) + ": MPI sent " +
                   std::to_string(counted[i]) + " bytes, the simulator counts " + std::to_string(rows[i] * row_bytes);
    return "";
  }

  /// Returns what each GPU's ports carry in the closed form.
  std::string fault_of_ports(const Layout& layout, int32_t nodes, Backend backend, const Counted& counted,
                             const Network& network) {
    CostModel model;
    model.memory_bytes_per_s = model.flops_per_s = model.fabric_bytes_per_s = model.network_bytes_per_s = 1;
    model.dispatch_row_bytes = kDispatchRowBytes, model.combine_row_bytes = kCombineRowBytes;
    std::string fault;
    const auto compare = [&](const std::string& port, double rows, double row_bytes, double sent) {
      if (rows * row_bytes != sent && fault.empty())
        fault = port + ": MPI sent " + std::to_string(sent) + " bytes, the closed form counts " +
                std::to_string(rows * row_bytes);
    };
    const auto check = [&](size_t, const LayerWork& done, const LayerCost&) {
      for (int32_t r = 0; r < ranks_; ++r) {
        const RankWork& w = done.ranks[static_cast<size_t>(r)];
        const std::string gpu = " of " + std::to_string(r);
        for (const bool within : {true, false}) {
          const double out = within ? w.fabric_out : w.network_out, in = within ? w.fabric_in : w.network_in;
          const std::string port = (within ? "fabric" : "network") + gpu;
          compare("dispatch out, " + port, out, kDispatchRowBytes, sum(counted.dispatch, network, r, within, false));
          compare("dispatch in, " + port, in, kDispatchRowBytes, sum(counted.dispatch, network, r, within, true));
          compare("combine out, " + port, in, kCombineRowBytes, sum(counted.combine, network, r, within, false));
          compare("combine in, " + port, out, kCombineRowBytes, sum(counted.combine, network, r, within, true));
        }
      }
    };
    const StepCost step =
        StepWork(layout.placement, nodes, backend, model, layout.replicas).of_tokens(routes_, all_, check);
    double sent = 0;
    for (int32_t r = 0; r < ranks_; ++r)
      sent += sum(counted.dispatch, network, r, true, false) + sum(counted.dispatch, network, r, false, false);
    compare("all that is dispatched", step.fabric_rows + step.network_rows, kDispatchRowBytes, sent);
    bytes_ += static_cast<int64_t>(sent);
    return fault;
  }

  /// Out of a rank, or into it, within its node or to others.
  double sum(const BytesOfPairs& counted, const Network& network, int32_t rank, bool within, bool in) const {
    int64_t bytes = 0;
    for (int32_t other = 0; other < ranks_; ++other)
      if (other != rank && (network.node(other) == network.node(rank)) == within)
        bytes += counted[in ? at(other, rank) : at(rank, other)];
    return static_cast<double>(bytes);
  }
  size_t at(int32_t from, int32_t to) const {
    return static_cast<size_t>(from) * static_cast<size_t>(ranks_) + static_cast<size_t>(to);
  }

  const TokenRoutes& routes_;
  const int32_t ranks_;
  std::vector<size_t> all_;
  int64_t bytes_ = 0;
};

/// Tokens of this process on which the layer over all processes and one process disagree.
int64_t wrong_tokens(const TokenRoutes& routes, const std::vector<Hidden>& out, int me) {
  int64_t wrong = 0;
  size_t own = 0;
  for (size_t t = 0; t < routes.size(); ++t)
    if (routes.tokens[t].rank == me) wrong += out[own++] != computed_alone(routes, t);
  return wrong;
}

/// How many layers failed.
int run(int me, int32_t ranks) {
  const TokenRoutes routes = drawn(ranks);
  LayerWires wires{};
  for (MPI_Comm* wire : {&wires.dispatch, &wires.combine, &wires.headers}) MPI_Comm_dup(MPI_COMM_WORLD, wire);
  Judge judge(routes, ranks);
  int layers = 0, failures = 0;
  for (int32_t nodes = 1; nodes <= ranks; nodes *= 2)
    for (const Layout& layout : layouts(routes, ranks, nodes)) {
      const std::vector<BranchShares> shares = shares_of(layout.placement.layers[0], kBranches, ranks);
      for (size_t b = 0; b < std::size(kBackends); ++b)
        for (const Transport transport : {Transport::all_to_all, Transport::point_to_point}) {
          const auto backend = static_cast<Backend>(b);
          const std::vector<Hidden> out = computed_together({&routes, &shares, nodes, backend, transport}, wires);
          const Counted counted = {gathered(take_sent_bytes(wires.dispatch)), gathered(take_sent_bytes(wires.combine))};
          int64_t wrong = wrong_tokens(routes, out, me), all_wrong = 0;
          MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
          ++layers;
          if (me != 0) continue;
          std::string fault = judge.fault(layout, nodes, backend, counted);
          if (fault.empty() && all_wrong > 0)
            fault = std::to_string(all_wrong) + " tokens differ from what one process computes";
          if (fault.empty()) continue;
          ++failures;
          std::printf("FAIL %d nodes, %s, %s, %s: %s\n", nodes, layout.name.c_str(), std::string(kBackends[b]).c_str(),
                      transport == Transport::all_to_all ? "all-to-all" : "point to point", fault.c_str());
        }
    }
  if (me == 0)
    std::printf("%d processes: %d layers of %zu tokens, %lld bytes dispatched, %d failures\n", ranks, layers,
                routes.size(), static_cast<long long>(judge.bytes()), failures);
  for (MPI_Comm* wire : {&wires.dispatch, &wires.combine, &wires.headers}) MPI_Comm_free(wire);
  return failures;
}

}  // namespace
}  // namespace stormcell::testing

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2 || 16 % ranks != 0) {
    if (me == 0) std::fprintf(stderr, "expert_parallel: runs on 2, 4, 8 or 16 processes, here are %d\n", ranks);
    MPI_Finalize();
    return 2;
  }
  try {
    const int failures = stormcell::testing::run(me, ranks);
    MPI_Finalize();
    return failures > 0;
  } catch (const stormcell::Error& e) {
    std::fprintf(stderr, "expert_parallel: %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
