#include "core/graph/verify.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/id_vector.h"
#include "core/base/number_format.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/paged_states.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph), defined_(graph.values.size(), false), placed_(graph.nodes.size(), false) {}

  void run() {
    spaces();
    for (const ValueId id : graph_.values.ids()) {
      const Value& v = graph_.value(id);
      if (v.producer == kNone) {
        if (v.kind == ValueKind::result || v.kind == ValueKind::decision || v.kind == ValueKind::ragged)
          fail("value %" + v.name, "expected a producer, got none");
        defined_[id] = true;
      }
      if (v.type.space != kNone && !graph_.spaces.holds(v.type.space))
        fail("value %" + v.name, "expected a space, got number " + to_text(v.type.space));
      content(v);
      if (v.producer == kNone) format(v);  // a computed value has the format that its operator says
      if (v.kind == ValueKind::input && graph_.is_dynamic(v.type.space))
        fail("value %" + v.name,
             "expected an input over cells that are there before any decision, got " + type_text(graph_, v.type));
      if (v.role == InputRole::mask && (v.type.dtype != DType::i32 || v.type.space == kNone || !v.type.content.empty()))
        fail("value %" + v.name, "expected a mask of one i32 a cell, got " + type_text(graph_, v.type));
    }
    block(graph_.top);
    rounded_states();
    for (const NamedValue& output : graph_.outputs) {
      use(output.value, "output " + output.name);
      if (const Value& v = graph_.value(output.value); v.kind == ValueKind::weight || v.kind == ValueKind::decision)
        fail("output " + output.name,
             std::string("expected an activation, got ") + (v.kind == ValueKind::weight ? "a weight" : "a decision"));
      if (output.real != kNone) real_cells(output);
    }
    check_annotations(graph_);
  }

 private:
  [[noreturn]] static void fail(const std::string& where, const std::string& what) { bad_input(where, what); }

  void real_cells(const NamedValue& output) {
    use(output.real, "output " + output.name);
    const Value& mask = graph_.value(output.real);
    if (mask.kind != ValueKind::input || mask.role != InputRole::mask ||
        mask.type.space != graph_.value(output.value).type.space)
      fail("output " + output.name, "expected a mask over its cells to say which are real, got %" + mask.name);
  }

  void content(const Value& v) {
    int64_t elements = 1;
    for (const Dim& d : v.type.content) {
      if (!d.is_constant()) {
        if (v.kind == ValueKind::input) continue;
        fail("value %" + v.name, "expected constant content extents, got " + d.to_text(graph_.symbols));
      }
      if (d.constant() < 1 || d.constant() > kMostContent ||
          __builtin_mul_overflow(elements, d.constant(), &elements) || elements > kMostElements)
        fail("value %" + v.name,
             "expected content extents of 1 or more and at most 2^46 elements, got " + type_text(graph_, v.type));
    }
  }

  /// Devices hold activations in four bytes an element: a shorter buffer would be written past its end.
  void format(const Value& v) const {
    const DType t = v.type.dtype;
    const NumberFormat& format = format_of(t);
    if (v.kind == ValueKind::state && format.rounds_rows) return;  // rounded_states() sees to it
    if (v.kind == ValueKind::weight && format.is_blocks() && !v.type.content.empty() &&
        !is_whole_blocks(t, v.type.content.back().constant()))
      fail("value %" + v.name, "expected rows of whole blocks of " + std::to_string(format.block_elements) +
                                   " elements, got " + type_text(graph_, v.type));
    if (v.kind == ValueKind::weight ? !format.multiplies : t != DType::f32 && t != DType::i32)
      fail("value %" + v.name, "expected " +
                                   (v.kind == ValueKind::weight ? "a weight in " + engine_float_names()
                                                                : std::string("an activation in f32 or i32")) +
                                   ", got " + type_text(graph_, v.type));
  }

  /// Operators read rows in four bytes an element; those that know pages round the rows that they put there, and widen
  /// the rows that they read.
  void rounded_states() const {
    const auto rounded = [](const Value& v) {
      return v.kind == ValueKind::state && format_of(v.type.dtype).rounds_rows;
    };
    if (std::none_of(graph_.values.begin(), graph_.values.end(), rounded)) return;
    const PagedStates paged = paged_states(graph_);
    for (const ValueId id : graph_.values.ids()) {
      const Value& v = graph_.value(id);
      const bool in_pages = std::find(paged.states.begin(), paged.states.end(), id) != paged.states.end();
      if (rounded(v) && !in_pages)
        fail("value %" + v.name,
             "expected a state in f32 or i32 unless its rows are put at the sequences' places and only attended to, "
             "got " +
                 type_text(graph_, v.type));
    }
  }

  void spaces() {
    for (const SpaceId id : graph_.spaces.ids()) {
      const CellSpace& s = graph_.space(id);
      const std::string where = "space " + s.name;
      if (s.parent < kNone || s.parent >= id)
        fail(where, "expected a parent declared before it, got space " + to_text(s.parent));
      if ((s.kind == SpaceKind::root) != (s.parent == kNone)) fail(where, "expected a parent unless it is a root");
      if (s.count.is_constant() && s.count.constant() < 0)
        fail(where, "expected 0 or more cells, got " + s.count.to_text(graph_.symbols));
      if (s.kind == SpaceKind::dense && s.count != graph_.space(s.parent).count * s.per_parent)
        fail(where, "expected " + (graph_.space(s.parent).count * s.per_parent).to_text(graph_.symbols) +
                        " cells, got " + s.count.to_text(graph_.symbols));
      if (s.kind == SpaceKind::ragged) ragged(s, id, where);
      if (s.kind != SpaceKind::routed) continue;
      if (!graph_.values.holds(s.decision) || graph_.value(s.decision).kind != ValueKind::decision)
        fail(where, "expected a decision, got value " + to_text(s.decision));
      const Value& d = graph_.value(s.decision);
      if (d.type.space != s.parent) fail(where, "expected the parent that %" + d.name + " routes from");
      if (s.branch != kAllBranches && (s.branch < 0 || s.branch >= d.branches))
        fail(where, "expected a branch below " + std::to_string(d.branches) + ", got " + std::to_string(s.branch));
    }
  }

  /// Below the parent of its base, or below where a decision sends that.
  void ragged(const CellSpace& s, SpaceId id, const std::string& where) {
    if (!graph_.values.holds(s.offsets) || graph_.value(s.offsets).kind != ValueKind::ragged)
      fail(where, "expected ragged cells, got value " + to_text(s.offsets));
    const Value& r = graph_.value(s.offsets);
    if (s.base != r.type.space || s.base == kNone || s.base >= id)
      fail(where, "expected the base of %" + r.name + ", got space " + to_text(s.base));
    const SpaceId parents = graph_.space(s.base).parent;
    const CellSpace& above = graph_.space(s.parent);
    const Node* producer = r.producer == kNone ? nullptr : &graph_.node(r.producer);
    const bool of_members = above.kind == SpaceKind::routed && producer && !producer->inputs.empty() &&
                            producer->inputs[0] == above.decision;
    if (s.parent != parents && !of_members)
      fail(where, "expected the parent of its base, or where the decision of %" + r.name + " sends it");
  }

  void use(ValueId v, const std::string& where) {
    if (!graph_.values.holds(v)) fail(where, "expected a value, got number " + to_text(v));
    if (!defined_[v]) fail(where, "uses %" + graph_.value(v).name + " before it is defined, or outside of its body");
    cells(v, where);
  }

  /// Cells of a routed or ragged space are there only where the values that tell them are known.
  void cells(ValueId v, const std::string& where) {
    for (SpaceId s = graph_.value(v).type.space; s != kNone; s = graph_.space(s).parent) {
      const CellSpace& space = graph_.space(s);
      for (const ValueId defined_by : {space.decision, space.offsets})
        if (defined_by != kNone && !defined_[defined_by])
          fail(where, "%" + graph_.value(v).name + " lives over cells of " + space.name + ", where %" +
                          graph_.value(defined_by).name + ", which defines them, is not known");
    }
  }

  std::string result_text(const Result& r) const {
    if (r.kind == ValueKind::ragged) return "ragged " + graph_.space(r.type.space).name;
    if (r.kind != ValueKind::decision) return type_text(graph_, r.type);
    return "decision " + graph_.space(r.type.space).name + " " + std::to_string(r.branches) + "x" +
           std::to_string(r.fan_out);
  }

  void block(const Block& block) {
    std::vector<ValueId> here;
    for (const NodeId id : block.nodes) {
      if (!graph_.nodes.holds(id)) fail("graph", "expected a node, got number " + to_text(id));
      const Node& node = graph_.node(id);
      const std::string where = node_text(node);
      if (placed_[id]) fail(where, "appears in two places");
      placed_[id] = true;
      for (const ValueId v : node.inputs) use(v, where);
      const size_t bodies = body_count(*node.op);
      if (node.bodies.size() != bodies || node.yields.size() != bodies)
        fail(where, "expected " + counted(static_cast<int64_t>(bodies), "body") + ", got " +
                        std::to_string(node.bodies.size()));
      const bool repeats = has_role(node, Role::repeat);
      // Executions of a router, replayed choices and the order of use are counted by the turns of one repeat.
      if (repeats && in_repeat_) fail(where, "is inside another repeat, and repeats do not nest");
      in_repeat_ |= repeats;
      for (size_t b = 0; b < node.bodies.size(); ++b) {
        const IdVector<ValueId, bool> outside = defined_;
        this->block(node.bodies[b]);
        for (const ValueId v : node.yields[b]) use(v, where);
        defined_ = outside;
      }
      if (repeats) in_repeat_ = false;
      const std::vector<Result> results = infer_outputs(graph_, node);
      if (results.size() != node.outputs.size())
        fail(where,
             "expected " + counted(std::ssize(results), "output") + ", got " + std::to_string(node.outputs.size()));
      for (size_t i = 0; i < results.size(); ++i) {
        const ValueId v = node.outputs[i];
        if (!graph_.values.holds(v)) fail(where, "expected a value, got number " + to_text(v));
        const Value& value = graph_.value(v);
        if (value.producer != id) fail(where, "%" + value.name + " has another producer");
        if (value.type != results[i].type || value.kind != results[i].kind || value.branches != results[i].branches ||
            value.fan_out != results[i].fan_out)
          fail(where, "expected %" + value.name + " as " + result_text(results[i]) + ", got " +
                          result_text({value.type, value.kind, value.branches, value.fan_out}));
        defined_[v] = true;
        cells(v, where);
      }
    }
  }

  const Graph& graph_;
  IdVector<ValueId, bool> defined_;
  IdVector<NodeId, bool> placed_;
  bool in_repeat_ = false;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace stormcell
