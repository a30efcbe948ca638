#include <algorithm>
#include <array>
#include <map>

#include "core/base/enum_words.h"
#include "gpu/plan/plan.h"

namespace stormcell::gpu {
namespace {

bool is_other_slice(const ByteRange& a, const ByteRange& b) {
  return a.branch >= 0 && b.branch >= 0 && a.decision == b.decision && a.branch != b.branch && a.begin == b.begin &&
         a.row_bytes == b.row_bytes;
}

/// Touches that a later node may conflict with.
struct Touch {
  ByteRange range;
  int32_t node;
};

/// Sets of nodes, a bit each.
class NodeSet {
 public:
  explicit NodeSet(size_t nodes) : words_((nodes + 63) / 64) {}
  void add(int32_t node) { words_[node / 64] |= uint64_t{1} << node % 64; }
  bool has(int32_t node) const { return words_[node / 64] >> node % 64 & 1; }
  void add_all(const NodeSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  std::vector<uint64_t> words_;
};

/// Leaves out nodes that others of the list wait for themselves. `before`: for each node, all nodes done before it.
void leave_out_implied(std::vector<int32_t>& after, const std::vector<NodeSet>& before) {
  std::sort(after.begin(), after.end(), std::greater<>());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  std::vector<int32_t> kept;
  for (const int32_t node : after)
    if (std::none_of(kept.begin(), kept.end(), [&](int32_t later) { return before[later].has(node); }))
      kept.push_back(node);
  after.assign(kept.rbegin(), kept.rend());
}

}  // namespace

bool is_conflict(const ByteRange& a, const ByteRange& b) {
  if (a.memory != b.memory || (!a.writes && !b.writes)) return false;
  return a.begin < b.end && b.begin < a.end && !is_other_slice(a, b);
}

std::vector<int32_t> nodes_of(const std::vector<PlanNode>& nodes, int32_t leaf, int32_t loop) {
  std::vector<int32_t> of;
  for (int32_t n = 0; n < std::ssize(nodes); ++n)
    if (nodes[n].leaf == leaf && nodes[n].loop == loop) of.push_back(n);
  return of;
}

void find_edges(std::vector<PlanNode>& nodes) {
  struct Before {
    std::array<std::vector<Touch>, kMemories> touched;
    std::vector<int32_t> all;
    int32_t leader = -1;
  };
  std::map<std::pair<int32_t, int32_t>, Before> earlier;  // by leaf and loop
  std::vector<NodeSet> before(nodes.size(), NodeSet(nodes.size()));
  for (int32_t n = 0; n < std::ssize(nodes); ++n) {
    auto& [touched, all, leader] = earlier[{nodes[n].leaf, nodes[n].loop}];
    PlanNode& node = nodes[n];
    node.after.clear();
    if (leader >= 0) node.after.push_back(leader);
    if (node.leads) leader = n;
    if (node.ends) node.after = all;
    all.push_back(n);
    for (const ByteRange& range : node.ranges)
      for (const Touch& touch : row_of(touched, range.memory))
        if (is_conflict(touch.range, range)) node.after.push_back(touch.node);
    leave_out_implied(node.after, before);
    for (const int32_t other : node.after) {
      before[n].add_all(before[other]);
      before[n].add(other);
    }
    for (const ByteRange& range : node.ranges) {
      std::vector<Touch>& of = row_of(touched, range.memory);
      // A later node that conflicts with a touch within a whole write conflicts with the write too, so the touch is
      // dropped.
      if (range.writes && range.branch < 0)
        std::erase_if(of, [&](const Touch& t) {
          return t.node != n && t.range.begin >= range.begin && t.range.end <= range.end;
        });
      of.push_back({range, n});
    }
  }
}

int64_t Plan::edges() const {
  int64_t all = 0;
  for (const PlanNode& node : nodes) all += std::ssize(node.after);
  return all;
}

}  // namespace stormcell::gpu
