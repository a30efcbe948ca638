#include "core/graph/text.h"

#include <set>

#include "core/base/id_vector.h"
#include "core/base/text_names.h"
#include "core/graph/operator.h"

namespace stormcell {
namespace {

/// Gives every name once; a second owner of a name gets ~2 behind it.
class Names {
 public:
  std::string unique(const std::string& name) {
    if (taken_.insert(name).second) return name;
    for (int i = 2;; ++i)
      if (std::string other = name + "~" + std::to_string(i); taken_.insert(other).second) return other;
  }

 private:
  std::set<std::string> taken_;
};

class Writer {
 public:
  explicit Writer(const Graph& graph)
      : g_(graph), value_names_(graph.values.size()), space_names_(graph.spaces.size()) {}

  std::string write() {
    name_all();
    out_ = "stormcell.graph/1\n";
    if (!g_.symbols.empty()) {
      out_ += "symbols";
      for (const std::string& s : g_.symbols) out_ += " " + s;
      out_ += "\n";
    }
    spaces(kNone, "");
    for (const auto& [kind, word] :
         {std::pair{ValueKind::input, "input"}, {ValueKind::weight, "weight"}, {ValueKind::state, "state"}})
      for (const ValueId id : g_.values.ids())
        if (const Value& v = g_.value(id); v.kind == kind)
          out_ += word + (" " + value(id) + " : " + type(v)) + to_text(v.annotations) + role(v) + recipe(v) + "\n";
    block(g_.top, "");
    for (const NamedValue& o : g_.outputs)
      out_ += "output " + text_name(o.name) + " = " + value(o.value) +
              (o.real == kNone ? "" : " real " + value(o.real)) + "\n";
    return std::move(out_);
  }

 private:
  void name_all() {
    Names names;
    const auto give = [&](ValueId v) { value_names_[v] = names.unique(g_.value(v).name); };
    for (const ValueKind kind : {ValueKind::input, ValueKind::weight, ValueKind::state})
      for (const ValueId v : g_.values.ids())
        if (g_.value(v).kind == kind) give(v);
    g_.for_each_node([&](NodeId id, int) {
      for (const ValueId v : g_.node(id).outputs) give(v);
    });
    // Spaces are named in the order in which they are written: those of no decision first.
    Names spaces;
    const auto name_spaces = [&](ValueId decision) {
      for (const SpaceId s : g_.spaces.ids())
        if (deciding(s) == decision) space_names_[s] = spaces.unique(g_.space(s).name);
    };
    name_spaces(kNone);
    g_.for_each_node([&](NodeId id, int) {
      for (const ValueId v : g_.node(id).outputs)
        if (tells_spaces(v)) name_spaces(v);
    });
  }

  bool tells_spaces(ValueId v) const {
    return g_.value(v).kind == ValueKind::decision || g_.value(v).kind == ValueKind::ragged;
  }

  /// The decision or ragged value that must be known before the space is.
  ValueId deciding(SpaceId space) const {
    for (; space != kNone; space = g_.space(space).parent) {
      if (g_.space(space).kind == SpaceKind::routed) return g_.space(space).decision;
      if (g_.space(space).kind == SpaceKind::ragged) return g_.space(space).offsets;
    }
    return kNone;
  }

  void spaces(ValueId decision, const std::string& indent) {
    for (const SpaceId id : g_.spaces.ids()) {
      if (deciding(id) != decision) continue;
      const CellSpace& s = g_.space(id);
      out_ += indent + "space " + space(id) + " = ";
      switch (s.kind) {
        case SpaceKind::root:
          out_ += "root " + s.count.to_text(g_.symbols);
          break;
        case SpaceKind::dense:
          // A space may be called root, which is a word of the language.
          out_ += (g_.space(s.parent).name == "root" ? quoted("root") : space(s.parent)) + " x " +
                  s.per_parent.to_text(g_.symbols);
          break;
        case SpaceKind::routed:
          out_ += (g_.space(s.parent).name == "root" ? quoted("root") : space(s.parent)) + " by " + value(s.decision);
          out_ += s.branch == kAllBranches ? std::string(" slots") : " branch " + std::to_string(s.branch);
          out_ += " at most " + s.count.to_text(g_.symbols);
          break;
        case SpaceKind::ragged:
          out_ += (g_.space(s.parent).name == "root" ? quoted("root") : space(s.parent)) + " ragged " +
                  value(s.offsets) + " at most " + s.count.to_text(g_.symbols);
      }
      out_ += "\n";
    }
  }

  std::string value(ValueId v) const { return "%" + text_name(value_names_[v]); }
  std::string space(SpaceId s) const { return text_name(space_names_[s]); }

  static std::string recipe(const Value& v) {
    if (v.recipe.empty()) return "";
    return " = " + (looks_like_recipe(v.recipe) ? v.recipe : quoted(v.recipe));
  }
  static std::string role(const Value& v) {
    return v.role == InputRole::none ? "" : " role " + std::string(to_text(v.role));
  }

  std::string type(const Value& v) const {
    if (v.kind == ValueKind::decision)
      return "decision " + space(v.type.space) + " " + std::to_string(v.branches) + "x" + std::to_string(v.fan_out);
    if (v.kind == ValueKind::ragged) return "ragged " + space(v.type.space) + " x" + std::to_string(v.fan_out);
    std::string text(to_text(v.type.dtype));
    if (v.type.space != kNone) text += " " + space(v.type.space);
    if (v.type.content.empty() && v.type.space != kNone) return text;
    text += " [";
    for (size_t i = 0; i < v.type.content.size(); ++i) text += (i ? "," : "") + v.type.content[i].to_text(g_.symbols);
    return text + "]";
  }

  std::string attribute(const Operator& op, const std::string& key, const Attribute& a) const {
    const auto integer = [&](int64_t i) {
      const bool names_space = holds_spaces(op, key) && i >= 0 && i < std::ssize(g_.spaces);
      return names_space ? "@" + space(SpaceId(i)) : std::to_string(i);
    };
    if (const auto* i = std::get_if<int64_t>(&a)) return integer(*i);
    if (const auto* r = std::get_if<double>(&a)) return real_text(*r);
    if (const auto* w = std::get_if<std::string>(&a)) return quoted(*w);
    std::string list = "[";
    for (const int64_t i : std::get<std::vector<int64_t>>(a)) list += (list.size() > 1 ? "," : "") + integer(i);
    return list + "]";
  }

  void block(const Block& block, const std::string& indent) {
    for (const NodeId id : block.nodes) {
      const Node& n = g_.node(id);
      out_ += indent;
      for (size_t i = 0; i < n.outputs.size(); ++i)
        out_ += (i ? ", " : "") + value(n.outputs[i]) + " : " + type(g_.value(n.outputs[i])) +
                to_text(g_.value(n.outputs[i]).annotations);
      if (!n.outputs.empty()) out_ += " = ";
      out_ += std::string(n.op->name) + "(";
      for (size_t i = 0; i < n.inputs.size(); ++i) out_ += (i ? ", " : "") + value(n.inputs[i]);
      out_ += ")";
      for (const auto& [key, a] : n.attributes) out_ += " " + text_name(key) + "=" + attribute(*n.op, key, a);
      if (n.name != (n.outputs.empty() ? std::string() : value_names_[n.outputs[0]])) out_ += " as " + quoted(n.name);
      out_ += to_text(n.annotations);
      for (size_t b = 0; b < n.bodies.size(); ++b) {
        out_ += " {\n";
        this->block(n.bodies[b], indent + "  ");
        out_ += indent + "  yield";
        for (size_t i = 0; i < n.yields[b].size(); ++i) out_ += (i ? ", " : " ") + value(n.yields[b][i]);
        out_ += "\n" + indent + "}";
      }
      out_ += "\n";
      for (const ValueId v : n.outputs)
        if (tells_spaces(v)) spaces(v, indent);
    }
  }

  const Graph& g_;
  IdVector<ValueId, std::string> value_names_;
  IdVector<SpaceId, std::string> space_names_;
  std::string out_;
};

}  // namespace

std::string to_text(const Graph& graph) { return Writer(graph).write(); }

}  // namespace stormcell
