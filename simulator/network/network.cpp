#include "simulator/network/network.h"

#include <string_view>

#include "core/base/enum_words.h"

namespace stormcell {

namespace {

constexpr std::string_view kPortNames[] = {"", "fabric ", "network ", "uplink "};  // by LinkPort

}  // namespace

std::string Link::name() const { return owner + ", " + std::string(row_of(kPortNames, port)) + (sends ? "out" : "in"); }
std::string Link::lane() const { return port == LinkPort::uplink ? owner + " uplink" : owner; }

Network::Network(const Cluster& cluster, double oversubscription)
    : ranks_(cluster.ranks()), gpus_per_node_(cluster.gpus_per_node), rank_cost_(cluster.rank_cost) {
  for (int32_t r = 0; r < ranks_; ++r) {
    const std::string gpu = "GPU " + std::to_string(r);
    if (!rank_cost_.empty()) {
      links_.push_back({gpu, LinkPort::only, true, 1});
      links_.push_back({gpu, LinkPort::only, false, 1});
      continue;
    }
    links_.push_back({gpu, LinkPort::fabric, true, cluster.fabric_bytes_per_s});
    links_.push_back({gpu, LinkPort::fabric, false, cluster.fabric_bytes_per_s});
    links_.push_back({gpu, LinkPort::network, true, cluster.network_bytes_per_s});
    links_.push_back({gpu, LinkPort::network, false, cluster.network_bytes_per_s});
  }
  if (cluster.nodes == 1 || !rank_cost_.empty()) return;
  const double uplink = cluster.network_bytes_per_s * gpus_per_node_ / oversubscription;
  for (int32_t n = 0; n < cluster.nodes; ++n) {
    links_.push_back({"node " + std::to_string(n), LinkPort::uplink, true, uplink});
    links_.push_back({"node " + std::to_string(n), LinkPort::uplink, false, uplink});
  }
}

NetworkFlow Network::flow(int32_t from, int32_t to, double bytes) const {
  NetworkFlow f{from, to, bytes, bytes, {}};
  const auto sender = static_cast<size_t>(from), receiver = static_cast<size_t>(to);
  if (!rank_cost_.empty()) {
    f.load = bytes * rank_cost_[sender * ranks_ + receiver];
    f.links = {sender * cost_ports + sends, receiver * cost_ports + receives};
  } else if (node(from) == node(to)) {
    f.links = {port(from, fabric_out), port(to, fabric_in)};
  } else {
    f.links = {port(from, network_out), uplink(node(from), up), uplink(node(to), down), port(to, network_in)};
  }
  return f;
}

}  // namespace stormcell
