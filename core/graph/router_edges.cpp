#include "core/graph/router_edges.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/id_vector.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// The common key of spaces with the same cells: decision and branch of a routed space, the number of any other.
using SpaceKey = std::pair<ValueId, int32_t>;

/// A space without padding counts as its base.
SpaceKey key_of(const Graph& g, SpaceId s) {
  while (g.space(s).kind == SpaceKind::ragged && !g.holds_members(s)) s = g.space(s).base;
  const CellSpace& space = g.space(s);
  return space.kind == SpaceKind::routed ? SpaceKey{space.decision, space.branch} : SpaceKey{kNone, int32_t{s}};
}

struct RouterCells {
  NodeId node = kNone;
  ValueId decision = kNone;
  SpaceId space = kNone;
  std::vector<int32_t> nested;  ///< branches in which other routers stand
  std::vector<SpaceKey> above;  ///< the spaces that hold all cells of this router
  size_t first_mark = 0;        ///< the mark of all branches without a router; then one for each of `nested`
  size_t marks() const { return 1 + nested.size(); }
};

/// A set of (router, group of branches).
class Marks {
 public:
  void set(size_t mark) {
    if (mark / 64 >= words_.size()) words_.resize(mark / 64 + 1);
    words_[mark / 64] |= uint64_t{1} << (mark % 64);
  }
  bool has(size_t mark) const { return mark / 64 < words_.size() && (words_[mark / 64] >> (mark % 64) & 1) != 0; }
  void add(const Marks& other) {
    if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
    for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  std::vector<uint64_t> words_;
};

class Edges {
 public:
  explicit Edges(const Graph& graph) : g_(graph), marks_(graph.values.size()) {
    g_.for_each_node([&](NodeId id, int) {
      if (!is_route(g_.node(id))) return;
      const ValueId decision = g_.node(id).outputs[0];
      routers_.push_back({id, decision, g_.value(decision).type.space, {}, {}, 0});
    });
    router_of_.assign(g_.values.size(), kNoRouter);
    for (size_t r = 0; r < routers_.size(); ++r) router_of_[routers_[r].decision] = static_cast<int32_t>(r);
    for (RouterCells& router : routers_)
      for (SpaceId s = router.space; s != kNone; s = g_.origin(s)) {
        router.above.push_back(key_of(g_, s));
        if (RouterCells* over = router_over(s); over && g_.space(s).branch != kAllBranches)
          over->nested.push_back(g_.space(s).branch);
      }
    size_t mark = 0;
    for (RouterCells& router : routers_) {
      std::sort(router.nested.begin(), router.nested.end());
      router.nested.erase(std::unique(router.nested.begin(), router.nested.end()), router.nested.end());
      router.first_mark = mark;
      mark += router.marks();
    }
    meets_.resize(routers_.size());
    block(g_.top);
  }

  std::vector<RouterEdge> take() const {
    std::vector<RouterEdge> edges;
    for (size_t to = 0; to < routers_.size(); ++to)
      for (size_t from = 0; from < to; ++from) {
        const RouterCells& a = routers_[from];
        std::vector<bool> direct(a.marks());
        for (size_t m = 0; m < a.marks(); ++m)
          direct[m] = meets_[to].has(a.first_mark + m) && !passes_another(from, m, to);
        if (std::none_of(direct.begin(), direct.end(), [](bool d) { return d; })) continue;
        RouterEdge edge{a.node, routers_[to].node, {}};
        for (int32_t b = 0; b < g_.value(a.decision).branches; ++b)
          if (direct[group_of(a, b)]) edge.branches.push_back(b);
        if (edge.branches.empty()) continue;
        if (static_cast<int32_t>(edge.branches.size()) == g_.value(a.decision).branches) edge.branches.clear();
        edges.push_back(std::move(edge));
      }
    return edges;
  }

 private:
  Marks& marks(ValueId v) { return marks_[v]; }

  /// The router that fills a routed space; nullptr of other spaces.
  RouterCells* router_over(SpaceId s) {
    if (g_.space(s).kind != SpaceKind::routed) return nullptr;
    const int32_t r = router_of_[g_.space(s).decision];
    return r == kNoRouter ? nullptr : &routers_[r];
  }

  static size_t group_of(const RouterCells& router, int32_t branch) {
    const auto at = std::lower_bound(router.nested.begin(), router.nested.end(), branch);
    return at == router.nested.end() || *at != branch ? 0 : 1 + static_cast<size_t>(at - router.nested.begin());
  }

  void set_all(const RouterCells& router, Marks& to) {
    for (size_t m = 0; m < router.marks(); ++m) to.set(router.first_mark + m);
  }

  /// Cells of a routed space are those of its router's branch, and of the routers above.
  void mark_space(SpaceId space, Marks& to) {
    for (SpaceId s = space; s != kNone; s = g_.origin(s))
      if (const RouterCells* router = router_over(s)) {
        if (g_.space(s).branch == kAllBranches) {
          set_all(*router, to);
        } else {
          to.set(router->first_mark + group_of(*router, g_.space(s).branch));
        }
      }
  }

  void block(const Block& block) {
    for (const NodeId id : block.nodes) node(g_.node(id));
  }

  void node(const Node& n) {
    if (has_role(n, Role::guard)) return guard(n);
    if (has_role(n, Role::repeat)) return repeat(n);
    Marks came;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const Value& in = g_.value(n.inputs[i]);
      if (in.kind == ValueKind::weight || in.kind == ValueKind::decision || in.kind == ValueKind::ragged) continue;
      if (has_role(n, Role::state) && i == 0) continue;
      // Other cells may decide who else is chosen; what is chosen for a cell depends on its own.
      if (is_route(n) || (n.op->flow && n.op->flow(g_, n, i).mix == Mix::cell)) came.add(marks(n.inputs[i]));
    }
    if (is_route(n)) {
      meets_[router_of_[n.outputs[0]]].add(came);
      return;
    }
    if (has_role(n, Role::state)) {
      // The write replaces the content, except for rows that stay.
      if (!n.op->keeps_rows) marks(n.inputs[0]) = {};
      marks(n.inputs[0]).add(came);
      return;
    }
    // A router meets the cells that it moves, also where something else than they decides (labels, hashes).
    for (const ValueId in : n.inputs)
      if (g_.value(in).kind == ValueKind::decision && router_of_[in] != kNoRouter) meets_[router_of_[in]].add(came);
    for (const ValueId out : n.outputs) {
      marks(out) = came;
      if (g_.value(out).type.space != kNone) mark_space(g_.value(out).type.space, marks(out));
      if (has_role(n, Role::close)) gathered(n, out);
    }
  }

  /// All cells of a router come out of the gather that closes it, also those whose branch computes nothing.
  void gathered(const Node& n, ValueId out) {
    for (const ValueId in : n.inputs)
      for (SpaceId s = g_.value(in).type.space; s != kNone && s != g_.value(out).type.space; s = g_.origin(s))
        if (const RouterCells* router = router_over(s)) set_all(*router, marks(out));
  }

  void guard(const Node& n) {
    const std::vector<Marks> before = states();
    block(n.bodies[0]);
    const std::vector<Marks> taken = states();
    restore(before);
    block(n.bodies[1]);
    join(taken);
    for (size_t out = 0; out < n.outputs.size(); ++out)
      for (const auto& yield : n.yields) marks(n.outputs[out]).add(marks(yield[out]));
  }

  void repeat(const Node& n) {
    const std::vector<Marks> before = states();
    block(n.bodies[0]);
    join(before);  // it may end before its first turn
  }

  std::vector<Marks> states() {
    std::vector<Marks> all;
    for (const ValueId v : g_.values.ids())
      if (g_.value(v).kind == ValueKind::state) all.push_back(marks_[v]);
    return all;
  }
  void restore(const std::vector<Marks>& all) {
    size_t i = 0;
    for (const ValueId v : g_.values.ids())
      if (g_.value(v).kind == ValueKind::state) marks_[v] = all[i++];
  }
  void join(const std::vector<Marks>& all) {
    size_t i = 0;
    for (const ValueId v : g_.values.ids())
      if (g_.value(v).kind == ValueKind::state) marks_[v].add(all[i++]);
  }

  /// Whether a router between takes all cells of this group of branches and passes them on to `to`.
  bool passes_another(size_t from, size_t group, size_t to) const {
    const RouterCells& a = routers_[from];
    for (size_t between = to; between-- > from + 1;) {
      const RouterCells& c = routers_[between];
      if (!meets_[between].has(a.first_mark + group) || !takes_all(c, a, group)) continue;
      for (size_t m = 0; m < c.marks(); ++m)
        if (meets_[to].has(c.first_mark + m)) return true;
    }
    return false;
  }
  bool takes_all(const RouterCells& c, const RouterCells& a, size_t group) const {
    const SpaceKey cells = key_of(g_, c.space);
    if (cells.first == a.decision) return cells.second == kAllBranches || group_of(a, cells.second) == group;
    return std::find(a.above.begin(), a.above.end(), cells) != a.above.end();
  }

  const Graph& g_;
  static constexpr int32_t kNoRouter = -1;

  IdVector<ValueId, Marks> marks_;  ///< by value: the router branches whose cells it holds
  std::vector<RouterCells> routers_;
  IdVector<ValueId, int32_t> router_of_;  ///< by decision
  std::vector<Marks> meets_;              ///< by router: the router branches whose cells come to it
};

}  // namespace

std::vector<RouterEdge> router_edges(const Graph& graph) { return Edges(graph).take(); }

}  // namespace stormcell
