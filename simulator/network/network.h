// The links of a cluster that messages between its GPUs share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cost/cluster.h"

namespace stormcell {

/// The owner of a link.
enum class LinkPort : uint8_t {
  only,  ///< its GPU has one port
  fabric,
  network,
  uplink,  ///< of a node
};

/// One direction of a port or of a node's uplink.
struct Link {
  std::string owner;  ///< "GPU 3", "node 1"
  LinkPort port = LinkPort::only;
  bool sends = false;
  double per_s = 0;  ///< capacity per second for a message's load: bytes, or 1 if GPUs have costs between them
  /// "GPU 3, fabric out"
  std::string name() const;
  /// The owner whose load these links share: "GPU 3", "node 1 uplink".
  std::string lane() const;
};

/// A message from one GPU to another, and the links that it uses at the same time, each once.
struct NetworkFlow {
  int32_t from = 0, to = 0;
  double bytes = 0;
  /// the load on each of its links: its bytes, or seconds of its ports if GPUs have costs between them
  double load = 0;
  std::vector<size_t> links;
};

/// Each GPU has a port of the fabric and one of the network, and each node an uplink if there are several nodes; all
/// both ways. With costs between GPUs, each GPU has one port, both ways, whose time its messages share: the links that
/// they meet on are not known.
class Network {
 public:
  /// `oversubscription`: what the network ports of a node could send together / what its uplink carries; 1: uplinks
  /// never bind.
  Network(const Cluster& cluster, double oversubscription);

  const std::vector<Link>& links() const { return links_; }
  /// The flow of a message: within a node over the fabric, between nodes over ports and uplinks. `from` and `to` are
  /// two GPUs.
  NetworkFlow flow(int32_t from, int32_t to, double bytes) const;
  int32_t ranks() const { return ranks_; }
  int32_t nodes() const { return ranks_ / gpus_per_node_; }
  int32_t node(int32_t rank) const { return rank / gpus_per_node_; }
  int32_t gpus_per_node() const { return gpus_per_node_; }

 private:
  enum Port : size_t { fabric_out, fabric_in, network_out, network_in, ports };
  enum CostPort : size_t { sends, receives, cost_ports };
  enum Uplink : size_t { up, down, uplinks };
  size_t port(int32_t rank, Port p) const { return static_cast<size_t>(rank) * ports + p; }
  size_t uplink(int32_t node, Uplink u) const {
    return static_cast<size_t>(ranks_) * ports + static_cast<size_t>(node) * uplinks + u;
  }

  int32_t ranks_, gpus_per_node_;
  std::vector<double> rank_cost_;  // as Cluster has it
  std::vector<Link> links_;
};

}  // namespace stormcell
