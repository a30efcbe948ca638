#include "core/graph/attribute_rules.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/graph/operator.h"

namespace stormcell {
namespace {

constexpr AttributeRule kExtras{"extras", AttributeKind::word, Presence::optional};

std::vector<std::string_view> split(std::string_view words) {
  std::vector<std::string_view> list;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (end > 0) list.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return list;
}

std::string known_attributes(const Operator& op) {
  std::string names;
  for (const AttributeRule& rule : op.attributes) add_to_list(names, rule.name, " ");
  if (!op.extras.empty()) add_to_list(names, kExtras.name, " ");
  if (names.find(' ') == std::string::npos) return names.empty() ? "no attributes" : "no attribute but " + names;
  return "attributes among " + listed(names, "and");
}

std::string kind_text(const AttributeRule& rule) {
  switch (rule.kind) {
    case AttributeKind::integer:
      return "an integer";
    case AttributeKind::flag:
      return "0 or 1";
    case AttributeKind::real:
      return "a number";
    case AttributeKind::word:
      return rule.words.empty() ? "a text in quotes" : listed(rule.words);
    case AttributeKind::extent:
      return "an extent in quotes";
    case AttributeKind::integers:
      return "a list of integers";
    case AttributeKind::space:
      return "a space";
    case AttributeKind::spaces:
      return "a list of spaces";
  }
  return {};
}

/// "%name" of a space would need the text form's quotes: the number says enough where no such space is.
std::string value_text(const Attribute& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return std::to_string(*i);
  if (const auto* r = std::get_if<double>(&value)) return real_text(*r);
  if (const auto* w = std::get_if<std::string>(&value)) return "\"" + *w + "\"";
  std::string text;
  for (const int64_t i : std::get<std::vector<int64_t>>(value)) text += (text.empty() ? "" : ",") + std::to_string(i);
  return "[" + text + "]";
}

bool is_space(const Graph& graph, int64_t number) { return number >= 0 && number < std::ssize(graph.spaces); }

bool fits(const Graph& graph, const Node& node, const AttributeRule& rule, const Attribute& value) {
  const auto* integer = std::get_if<int64_t>(&value);
  const auto* word = std::get_if<std::string>(&value);
  const auto* list = std::get_if<std::vector<int64_t>>(&value);
  switch (rule.kind) {
    case AttributeKind::integer:
      return integer != nullptr;
    case AttributeKind::flag:
      return integer && (*integer == 0 || *integer == 1);
    case AttributeKind::real:
      return integer || std::holds_alternative<double>(value);
    case AttributeKind::word: {
      if (!word || rule.words.empty()) return word != nullptr;
      const std::vector<std::string_view> known = split(rule.words);
      return std::find(known.begin(), known.end(), *word) != known.end();
    }
    case AttributeKind::extent:
      if (word) Dim::parse(*word, graph.symbols, node_text(node));  // says itself what is wrong
      return word != nullptr;
    case AttributeKind::integers:
      return list != nullptr;
    case AttributeKind::space:
      return integer && is_space(graph, *integer);
    case AttributeKind::spaces:
      return list && std::all_of(list->begin(), list->end(), [&](int64_t s) { return is_space(graph, s); });
  }
  return false;
}

template <class Value>
Value declared(const Node& node, std::string_view attribute) {
  const AttributeRule* rule = attribute_rule(*node.op, attribute);
  if (const Value* value = rule ? std::get_if<Value>(&rule->presence.otherwise) : nullptr) return *value;
  failed(node_text(node), "attribute " + std::string(attribute) + " is not there, and no default is declared");
}

}  // namespace

int64_t integer_of(const Node& node, std::string_view attribute) {
  return node.attributes.has(attribute) ? node.attributes.integer(attribute) : declared<int64_t>(node, attribute);
}
bool flag_of(const Node& node, std::string_view attribute) { return integer_of(node, attribute) != 0; }
double real_of(const Node& node, std::string_view attribute) {
  return node.attributes.has(attribute) ? node.attributes.real(attribute) : declared<double>(node, attribute);
}
std::string word_of(const Node& node, std::string_view attribute) {
  return node.attributes.has(attribute) ? node.attributes.word(attribute)
                                        : std::string(declared<std::string_view>(node, attribute));
}

std::string listed(std::string_view words, std::string_view last) {
  const std::vector<std::string_view> list = split(words);
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += (i == 0 ? "" : i + 1 < list.size() ? ", " : " " + std::string(last) + " ") + std::string(list[i]);
  return text;
}

const AttributeRule* attribute_rule(const Operator& op, std::string_view attribute) {
  for (const AttributeRule& rule : op.attributes)
    if (rule.name == attribute) return &rule;
  return attribute == kExtras.name && !op.extras.empty() ? &kExtras : nullptr;
}

bool holds_spaces(const Operator& op, std::string_view attribute) {
  const AttributeRule* rule = attribute_rule(op, attribute);
  return rule && (rule->kind == AttributeKind::space || rule->kind == AttributeKind::spaces);
}

void expect_attributes(const Graph& graph, const Node& node) {
  for (const auto& [name, value] : node.attributes) {
    const AttributeRule* rule = attribute_rule(*node.op, name);
    if (!rule) operator_error(node, known_attributes(*node.op), name);
    if (!fits(graph, node, *rule, value)) operator_error(node, name + " as " + kind_text(*rule), value_text(value));
  }
  for (const AttributeRule& rule : node.op->attributes)
    if (rule.presence.must) expect_attribute(node, rule.name);
  expect_extras(node);
}

void expect_attribute(const Node& node, std::string_view attribute) {
  if (node.attributes.has(attribute)) return;
  const AttributeRule* rule = attribute_rule(*node.op, attribute);
  if (!rule) failed(node.op->name, "attribute " + std::string(attribute) + " is not declared");
  operator_error(node, "attribute " + std::string(attribute) + ", " + kind_text(*rule), "none");
}

}  // namespace stormcell
