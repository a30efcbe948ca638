#include "core/graph/dot.h"

#include <algorithm>
#include <set>

#include "core/base/listed_words.h"
#include "core/graph/alike_branches.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  return out;
}

/// "0..3, 5 x5"
std::string branches_text(std::vector<int32_t> branches) {
  std::sort(branches.begin(), branches.end());
  std::string text;
  for (size_t i = 0; i < branches.size();) {
    size_t end = i + 1;
    while (end < branches.size() && branches[end] == branches[end - 1] + 1) ++end;
    add_to_list(text, std::to_string(branches[i]));
    if (end > i + 1) text += ".." + std::to_string(branches[end - 1]);
    i = end;
  }
  if (branches.size() > 1) text += " x" + std::to_string(branches.size());
  return text;
}

class Drawing {
 public:
  Drawing(const Graph& graph, const DotOptions& options) : g_(graph) {
    if (options.collapse_alike) alike_ = alike_branches(graph);
    for (const auto& [space, first] : alike_) together_[first].push_back(g_.space(space).branch);
  }

  std::string draw() {
    out_ =
        "digraph stormcell {\n"
        "  rankdir=TB; compound=true; newrank=true;\n"
        "  graph [fontname=\"sans-serif\" fontsize=11 style=\"rounded\" color=\"#9aa4b2\"];\n"
        "  node [fontname=\"sans-serif\" fontsize=10 shape=box style=\"rounded,filled\" fillcolor=\"#f4f6f9\" "
        "color=\"#9aa4b2\"];\n"
        "  edge [fontname=\"sans-serif\" fontsize=9 color=\"#5b6673\" arrowsize=0.7];\n";
    values();
    block(g_.top, kNone, 1);
    edges();
    for (size_t i = 0; i < g_.outputs.size(); ++i) {
      const NamedValue& o = g_.outputs[i];
      out_ += "  o" + std::to_string(i) + " [label=\"" + escaped(o.name) + "\" shape=oval fillcolor=\"#dcefe0\"];\n";
      out_ += "  " + end_of(o.value) + " -> o" + std::to_string(i) + ";\n";
    }
    return std::move(out_) + "}\n";
  }

 private:
  void line(int depth, const std::string& text) {
    out_ += std::string(static_cast<size_t>(depth) * 2, ' ') + text + "\n";
  }

  void values() {
    for (const ValueId id : g_.values.ids()) {
      const Value& v = g_.value(id);
      if (v.kind != ValueKind::input && v.kind != ValueKind::state) continue;
      const bool state = v.kind == ValueKind::state;
      line(1, "v" + to_text(id) + " [label=\"" + escaped(v.name + "\n" + type_text(g_, v.type)) +
                  "\" shape=" + (state ? "cylinder fillcolor=\"#f3e6f7\"" : "oval fillcolor=\"#e3ecfa\"") + "];");
    }
  }

  /// The nearest routed space that a node is in; a node that sends rows is where they come from.
  SpaceId frame_of(const Node& n) const {
    SpaceId s = place_of(g_, n);
    if (n.outputs.empty() && !n.inputs.empty()) s = g_.value(n.inputs[0]).type.space;
    while (s != kNone && g_.space(s).kind != SpaceKind::routed) s = g_.space(s).parent;
    return s;
  }
  SpaceId frame_above(SpaceId s) const {
    for (s = g_.space(s).parent; s != kNone && g_.space(s).kind != SpaceKind::routed;) s = g_.space(s).parent;
    return s;
  }
  /// Frames from `inside`, excluded, down to `frame`.
  std::vector<SpaceId> frames(SpaceId frame, SpaceId inside) const {
    std::vector<SpaceId> path;
    for (; frame != kNone && frame != inside; frame = frame_above(frame)) path.insert(path.begin(), frame);
    return path;
  }
  bool is_hidden(SpaceId frame) const {
    for (; frame != kNone; frame = frame_above(frame))
      if (const auto at = alike_.find(frame); at != alike_.end() && at->second != frame) return true;
    return false;
  }

  /// Nodes of a block, framed: those of one routed space together, in the order in which frames begin.
  void block(const Block& block, SpaceId inside, int depth) {
    struct Item {
      NodeId node = kNone;
      SpaceId frame = kNone;
    };
    std::map<SpaceId, std::vector<Item>> held;
    std::set<SpaceId> begun;
    for (const NodeId id : block.nodes) {
      const SpaceId frame = frame_of(g_.node(id));
      if (is_hidden(frame)) continue;
      SpaceId within = inside;
      for (const SpaceId f : frames(frame, inside)) {
        if (begun.insert(f).second) held[within].push_back({kNone, f});
        within = f;
      }
      held[within].push_back({id, kNone});
    }
    const auto write = [&](auto&& self, SpaceId frame, int at) -> void {
      for (const Item& item : held[frame]) {
        if (item.node != kNone) {
          node(item.node, at);
          continue;
        }
        line(at, "subgraph cluster_" + std::to_string(clusters_++) + " {");
        line(at + 1, "label=\"" + escaped(frame_text(item.frame)) + "\"; bgcolor=\"#fffaf0\";");
        self(self, item.frame, at + 1);
        line(at, "}");
      }
    };
    write(write, inside, depth);
  }

  std::string frame_text(SpaceId frame) const {
    const CellSpace& s = g_.space(frame);
    const std::string router = g_.value(s.decision).name;
    if (s.branch == kAllBranches) return router + ": all slots";
    const auto many = together_.find(frame);
    return router + ": branch " +
           branches_text(many == together_.end() ? std::vector<int32_t>{s.branch} : many->second);
  }

  void node(NodeId id, int depth) {
    const Node& n = g_.node(id);
    shown_.insert(id);
    std::string text(n.op->name);
    if (!n.name.empty()) text += "\n" + n.name;
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (const Value& v = g_.value(n.inputs[i]); v.kind == ValueKind::weight && !branch_of_input(n, i))
        text += "\nw " + type_text(g_, v.type);
    std::string style;
    if (is_route(n)) {
      const Value& d = g_.value(n.outputs[0]);
      text +=
          "\n" + n.attributes.word("protocol") + ", " + std::to_string(d.fan_out) + " of " + std::to_string(d.branches);
      style = " shape=diamond style=\"filled,bold\" fillcolor=\"#f9b25c\" color=\"#a85b00\"";
    } else if (!n.outputs.empty()) {
      text += "\n" + type_text(g_, g_.value(n.outputs[0]).type);
    }
    if (has_role(n, Role::open)) style = " shape=trapezium fillcolor=\"#fde3c0\"";
    if (has_role(n, Role::close)) style = " shape=invtrapezium fillcolor=\"#fde3c0\"";
    line(depth, "n" + to_text(id) + " [label=\"" + escaped(text) + "\"" + style + "];");
    for (size_t b = 0; b < n.bodies.size(); ++b) {
      line(depth, "subgraph cluster_" + std::to_string(clusters_++) + " {");
      const std::string what = has_role(n, Role::repeat) ? "repeat" : b == 0 ? "guard holds" : "fallback";
      line(depth + 1, "label=\"" + escaped(what + " " + n.name) + "\"; style=\"dashed,rounded\";");
      block(n.bodies[b], frame_of(n), depth + 1);
      line(depth, "}");
    }
  }

  std::string end_of(ValueId v) const {
    const Value& value = g_.value(v);
    return value.producer == kNone ? "v" + to_text(v) : "n" + to_text(value.producer);
  }
  bool is_shown(ValueId v) const {
    const Value& value = g_.value(v);
    return value.kind != ValueKind::weight && (value.producer == kNone || shown_.contains(value.producer));
  }

  void edges() {
    std::set<std::string> drawn;
    const auto edge = [&](const std::string& from, const std::string& to, const std::string& style) {
      if (drawn.insert(from + to).second) line(1, from + " -> " + to + style + ";");
    };
    g_.for_each_node([&](NodeId id, int) {
      if (!shown_.contains(id)) return;
      const Node& n = g_.node(id);
      const std::string self = "n" + to_text(id);
      const bool writes = has_role(n, Role::state);
      for (size_t i = writes ? 1 : 0; i < n.inputs.size(); ++i) {
        const ValueId v = n.inputs[i];
        if (!is_shown(v)) continue;
        const bool decision = g_.value(v).kind == ValueKind::decision;
        edge(end_of(v), self, decision ? " [style=bold color=\"#a85b00\"]" : "");
      }
      if (writes) edge(self, "v" + to_text(n.inputs[0]), " [style=dashed]");
      for (const auto& yield : n.yields)
        for (const ValueId v : yield)
          if (is_shown(v)) edge(end_of(v), self, " [style=dotted]");
    });
  }

  const Graph& g_;
  std::map<SpaceId, SpaceId> alike_;
  std::map<SpaceId, std::vector<int32_t>> together_;
  std::set<NodeId> shown_;
  int clusters_ = 0;
  std::string out_;
};

}  // namespace

std::string to_dot(const Graph& graph, const DotOptions& options) { return Drawing(graph, options).draw(); }

}  // namespace stormcell
