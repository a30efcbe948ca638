#include "core/graph/annotation_rules.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
#include "core/base/number_format.h"
#include "core/base/text_names.h"
#include "core/graph/operator.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

struct AnnotationRule {
  std::string_view key;
  Annotated on = Annotated::node;
  std::string (*words)();  ///< those it may be, with blanks between; empty: a name that the device knows
};
std::string any_kernel() { return {}; }
std::string storage_words() { return joined(row_formats(), " "); }
std::string format_words() { return joined(offered_formats(), " "); }
std::string residency_words() { return "streamed pinned"; }
/// annotations.h says what they mean; users read it in the help of --annotate (core/summary/settings.h).
constexpr std::array kRules = {
    AnnotationRule{kKernel, Annotated::node, any_kernel},
    AnnotationRule{kStorage, Annotated::value, storage_words},
    AnnotationRule{kFormat, Annotated::weight, format_words},
    AnnotationRule{kResidency, Annotated::weight, residency_words},
};

/// Keys for this kind of thing; all keys if none is given.
std::string known_keys(std::optional<Annotated> on = {}) {
  std::string known;
  for (const AnnotationRule& r : kRules)
    if (!on || r.on == *on) add_to_list(known, r.key, " ");
  return listed(known);
}

std::string_view kind_text(Annotated on) {
  switch (on) {
    case Annotated::node:
      return "a node";
    case Annotated::value:
      return "a value";
    case Annotated::weight:
      return "a weight";
  }
  return {};
}

const AnnotationRule* find_rule(std::string_view key) {
  const auto at = std::find_if(kRules.begin(), kRules.end(), [&](const AnnotationRule& r) { return r.key == key; });
  return at == kRules.end() ? nullptr : &*at;
}

bool holds_word(std::string_view words, std::string_view word) {
  return !word.empty() && word.find(' ') == std::string_view::npos &&
         (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

/// Matches a name with a pattern; * is any characters.
bool matches(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t from = star; from <= name.size(); ++from)
    if (matches(rest, name.substr(from))) return true;
  return false;
}

DType word_format(const Annotations& annotations, std::string_view key, DType otherwise) {
  const std::string* word = annotations.find(key);
  return word ? parse_dtype(*word).value_or(otherwise) : otherwise;
}

void check(const Annotations& annotations, Annotated on, const std::string& where) {
  for (const auto& [key, word] : annotations)
    if (const std::string problem = annotation_problem(key, word, on); !problem.empty()) bad_input(where, problem);
}

struct Request {
  std::string name, key, word;
};

/// Names contain points, and so do kernels: the key is between the first "=" and the last point before that.
Request parse_request(std::string_view text, const std::string& where, const std::string& example) {
  const size_t equals = text.find('='), dot = text.substr(0, std::min(equals, text.size())).rfind('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos || dot == 0 || equals + 1 == text.size())
    bad_input(where, quoted(text) + " is not NAME.KEY=WORD", example);
  return {std::string(text.substr(0, dot)), std::string(text.substr(dot + 1, equals - dot - 1)),
          std::string(text.substr(equals + 1))};
}

}  // namespace

DType format_in_memory(const Value& value) {
  return value.annotations.empty() ? value.type.dtype : word_format(value.annotations, kStorage, value.type.dtype);
}
DType format_in_products(const Value& weight) {
  return weight.annotations.empty() ? weight.type.dtype : word_format(weight.annotations, kFormat, weight.type.dtype);
}

bool is_pinned(const Value& weight) {
  const std::string* word = weight.annotations.find(kResidency);
  return word && *word == "pinned";
}

std::string annotation_problem(std::string_view key, std::string_view word, Annotated on) {
  const AnnotationRule* rule = find_rule(key);
  if (!rule || rule->on != on)
    return "expected an annotation of " + std::string(kind_text(on)) + " as " + known_keys(on) + ", got " + quoted(key);
  const std::string words = rule->words();
  if (words.empty() ? word.empty() : !holds_word(words, word))
    return "expected " + std::string(key) + (words.empty() ? " to name a kernel" : " " + listed(words)) + ", got " +
           quoted(word);
  return {};
}

bool may_be_annotated(const Value& value, Annotated& on) {
  on = value.kind == ValueKind::weight ? Annotated::weight : Annotated::value;
  if (value.kind == ValueKind::weight) return true;
  return (value.kind == ValueKind::result || value.kind == ValueKind::state) && value.type.dtype == DType::f32;
}

void check_annotations(const Graph& graph) {
  bool any_value = false;
  for (const Value& v : graph.values) {
    if (v.annotations.empty()) continue;
    Annotated on = Annotated::value;
    const std::string where = "value %" + v.name;
    if (!may_be_annotated(v, on)) bad_input(where, "expected no annotation of " + type_text(graph, v.type));
    check(v.annotations, on, where);
    any_value = any_value || on == Annotated::value;
  }
  for (const Node& n : graph.nodes)
    if (!n.annotations.empty()) check(n.annotations, Annotated::node, node_text(n));
  if (!any_value) return;
  for (const NamedValue& output : graph.outputs)
    if (const Value& v = graph.value(output.value); format_in_memory(v) != v.type.dtype)
      bad_input("output " + output.name,
                "expected storage as its type says, f32, got " + *v.annotations.find(kStorage));
  graph.for_each_node([&](NodeId id, int) {
    const Node& n = graph.node(id);
    if (!has_role(n, Role::guard)) return;
    for (const std::vector<ValueId>& yields : n.yields)
      for (size_t i = 0; i < n.outputs.size(); ++i)
        if (format_in_memory(graph.value(yields[i])) != format_in_memory(graph.value(n.outputs[i])))
          bad_input(node_text(n), "expected the same storage of %" + graph.value(yields[i]).name + " as of %" +
                                      graph.value(n.outputs[i]).name + ", whose memory it shares");
  });
}

namespace {

/// One that may be said of this graph.
std::string example_of(const Graph& graph) {
  for (const Value& v : graph.values)
    if (v.kind == ValueKind::weight) return "write it as " + v.name + ".format=f32";
  return "write it as NAME.storage=bf16";
}

/// Parses an annotation and checks that the key is known and may have the word.
Request checked_request(const Graph& graph, std::string_view text, const std::string& where) {
  Request asked = parse_request(text, where, example_of(graph));
  const AnnotationRule* rule = find_rule(asked.key);
  if (!rule)
    bad_input(where, quoted(asked.key) + " is not an annotation",
              advice_on_word(
                  asked.key, kRules, [](const AnnotationRule& r) { return r.key; }, ""));
  if (const std::string problem = annotation_problem(asked.key, asked.word, rule->on); !problem.empty())
    bad_input(where, quoted(text) + ": " + problem, "choose one of these");
  return asked;
}

/// "an input", "a value in i32"
std::string kind_text(const Value& value) {
  switch (value.kind) {
    case ValueKind::input:
      return "an input";
    case ValueKind::decision:
      return "a decision";
    case ValueKind::ragged:
      return "a ragged value";
    case ValueKind::weight:
      return std::string(kind_text(Annotated::weight));
    case ValueKind::state:
      return "a state in " + std::string(to_text(value.type.dtype));
    case ValueKind::result:
      return "a value in " + std::string(to_text(value.type.dtype));
  }
  return {};
}

/// All that annotations of a kind may be about.
std::string_view said_of(Annotated on) {
  switch (on) {
    case Annotated::node:
      return "nodes";
    case Annotated::value:
      return "what nodes make in f32, and of states in f32";
    case Annotated::weight:
      return "weights";
  }
  return {};
}

/// Says why an annotation applies to nothing: the graph lacks the name, or has it for something else.
[[noreturn]] void refuse_name(const Graph& graph, const Request& asked, const std::string& where) {
  const Annotated on = find_rule(asked.key)->on;
  std::string kind;
  for (const Value& v : graph.values)
    if (kind.empty() && matches(asked.name, v.name)) kind = kind_text(v);
  if (!kind.empty())
    bad_input(where,
              quoted(asked.name) + " is " + kind + ", and " + asked.key + " is said of " + std::string(said_of(on)),
              "inspect MODEL --text - lists them");
  bad_input(where, "the model has no " + std::string(kind_text(on).substr(2)) + " " + quoted(asked.name),
            "inspect MODEL --text - lists them");
}

/// visit(name) of each that may be annotated in this way.
template <class Visit>
void for_each_name(const Graph& graph, Annotated what, Visit visit) {
  if (what == Annotated::node) return graph.for_each_node([&](NodeId id, int) { visit(graph.node(id).name); });
  for (const Value& v : graph.values)
    if (Annotated on = Annotated::value; may_be_annotated(v, on) && on == what) visit(v.name);
}

}  // namespace

AnnotatedNames annotated_names(const Graph& graph, std::string_view text, const std::string& where) {
  const Request asked = checked_request(graph, text, where);
  AnnotatedNames said{asked.key, find_rule(asked.key)->on, {}};
  for_each_name(graph, said.what, [&](const std::string& name) {
    if (matches(asked.name, name)) said.names.insert(name);
  });
  return said;
}

std::vector<AnnotatedNames> held_names(const Graph& graph, const std::vector<std::string>& annotations,
                                       const std::string& where) {
  std::vector<AnnotatedNames> held;
  for (const std::string& text : annotations) {
    AnnotatedNames said = annotated_names(graph, text, where);
    for (AnnotatedNames& before : held)
      if (before.key == said.key)
        std::erase_if(before.names, [&](const std::string& name) { return said.names.contains(name); });
    held.push_back(std::move(said));
  }
  return held;
}

std::string to_text(const AnnotatedNames& said) {
  return counted(std::ssize(said.names), kind_text(said.what).substr(2));
}

bool may_annotate(const Graph& graph, std::string_view text, const std::string& where) {
  return !annotated_names(graph, text, where).names.empty();
}

bool is_overruled(const Graph& graph, std::string_view first, std::string_view second) {
  const Request a = checked_request(graph, first, "annotation"), b = checked_request(graph, second, "annotation");
  if (a.key != b.key || a.word == b.word) return false;
  bool both = false;
  for_each_name(graph, find_rule(a.key)->on,
                [&](const std::string& name) { both = both || (matches(a.name, name) && matches(b.name, name)); });
  return both;
}

void annotate(Graph& graph, std::string_view text, const std::string& where) {
  const Request asked = checked_request(graph, text, where);
  const AnnotationRule* rule = find_rule(asked.key);
  bool found = false;
  const auto say = [&](Annotations& annotations) {
    annotations.set(asked.key, asked.word);
    found = true;
  };
  if (rule->on == Annotated::node) {
    graph.for_each_node([&](NodeId id, int) {
      if (matches(asked.name, graph.node(id).name)) say(graph.node(id).annotations);
    });
  } else {
    for (Value& v : graph.values) {
      Annotated on = Annotated::value;
      if (may_be_annotated(v, on) && on == rule->on && matches(asked.name, v.name)) say(v.annotations);
    }
  }
  if (!found) refuse_name(graph, asked, where);
  try {
    check_annotations(graph);
  } catch (const Error& e) {
    bad_input(where, quoted(text) + ": " + e.what(), "leave it out");
  }
}

std::vector<std::string> annotation_list(const Graph& graph) {
  std::vector<std::string> list;
  const auto add = [&](const std::string& name, const Annotations& annotations) {
    for (const auto& [key, word] : annotations) list.push_back(name + "." + key + "=" + word);
  };
  for (const Value& v : graph.values)
    if (v.producer == kNone) add(v.name, v.annotations);
  graph.for_each_node([&](NodeId id, int) {
    add(graph.node(id).name, graph.node(id).annotations);
    for (const ValueId v : graph.node(id).outputs) add(graph.value(v).name, graph.value(v).annotations);
  });
  return list;
}

}  // namespace stormcell
