#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/text_cursor.h"
#include "core/base/text_names.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/operator.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"

namespace stormcell {
namespace {

constexpr int kDeepest = 24;  // bodies within bodies; real graphs have two

class Parser {
 public:
  Parser(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  Graph parse() {
    if (!next_line()) bad_input(where_, "expected \"stormcell.graph/1\", got an empty text");
    line_.expect("stormcell.graph/1");
    end();
    while (next_line()) statement();
    try {
      verify(g_);
    } catch (const Error& e) {
      bad_input(where_, e.what());
    }
    return std::move(g_);
  }

 private:
  /// Moves to the next line that says something.
  bool next_line() {
    while (!text_.empty()) {
      const size_t length = std::min(text_.find('\n'), text_.size());
      line_ = TextCursor(where_, text_.substr(0, length), ++number_);
      text_.remove_prefix(std::min(length + 1, text_.size()));
      if (!line_.at_end()) return true;
    }
    line_ = TextCursor(where_, {}, number_ + 1);
    return false;
  }
  void end() {
    if (!line_.at_end()) line_.fail("the end of the line");
  }

  void statement() {
    if (line_.accept("symbols")) {
      while (!line_.at_end()) symbol();
    } else if (line_.accept("input")) {
      declare(ValueKind::input);
    } else if (line_.accept("weight")) {
      declare(ValueKind::weight);
    } else if (line_.accept("state")) {
      declare(ValueKind::state);
    } else if (line_.accept("output")) {
      NamedValue output{line_.name("the name of an output"), kNone};
      line_.expect("=");
      output.value = known_value();
      if (line_.accept("real")) output.real = known_value();
      g_.outputs.push_back(std::move(output));
      end();
    } else {
      block_statement(g_.top, 0);
    }
  }

  /// Parses what a body may hold, too: spaces and nodes.
  void block_statement(Block& block, int depth) {
    if (line_.accept("space")) {
      space();
    } else {
      node(block, depth);
    }
  }

  void symbol() {
    const std::string name = line_.name("a symbol");
    // Extents name symbols without quotes, beside numbers and signs.
    bool plain = !name.empty() && (name[0] < '0' || name[0] > '9');
    for (const char c : name) plain = plain && is_plain(c) && c != '+' && c != '*' && c != '-';
    if (!plain) line_.complain("expected a symbol, got " + quoted(name));
    if (g_.find_symbol(name) != kNone) line_.complain("symbol " + name + " appears twice");
    g_.symbols.push_back(name);
  }

  void space() {
    CellSpace s;
    s.name = line_.name("the name of a space");
    line_.expect("=");
    if (line_.accept("root")) {
      s.count = dim("#");
    } else {
      s.parent = known_space();
      const CellSpace& parent = g_.space(s.parent);
      if (line_.accept("x")) {
        s.kind = SpaceKind::dense;
        s.per_parent = dim("#");
        s.count = parent.count * s.per_parent;
      } else {
        if (line_.accept("ragged")) {
          s.kind = SpaceKind::ragged;
          s.offsets = known_value();
          s.base = g_.value(s.offsets).type.space;
        } else {
          s.kind = SpaceKind::routed;
          line_.expect("by");
          s.decision = known_value();
          if (!line_.accept("slots")) {
            line_.expect("branch");
            s.branch = static_cast<int32_t>(
                std::min<int64_t>(std::max<int64_t>(line_.integer("the number of a branch"), -2), INT32_MAX));
          }
        }
        line_.expect("at");
        line_.expect("most");
        s.count = dim("#");
      }
    }
    end();
    if (!spaces_.emplace(s.name, g_.spaces.next_id()).second)
      line_.complain("space " + quoted(s.name) + " appears twice");
    g_.spaces.push_back(std::move(s));
  }

  Dim dim(std::string_view stops) {
    const std::string_view text = line_.until(stops);
    if (text.empty()) line_.fail("an extent");
    return Dim::parse(text, g_.symbols, line_.place());
  }

  /// Operators' rules multiply such extents by attributes, so that they must stay far from overflow.
  Dim content_dim() {
    Dim d = dim(",]");
    if (d.is_constant() && (d.constant() < 1 || d.constant() > kMostContent))
      line_.complain("expected an extent of 1 to " + std::to_string(kMostContent) + ", got " + d.to_text(g_.symbols));
    return d;
  }

  SpaceId known_space() {
    const std::string name = line_.name("the name of a space");
    const auto at = spaces_.find(name);
    if (at == spaces_.end()) line_.complain("expected a space that is defined above, got " + quoted(name));
    return at->second;
  }
  ValueId known_value() {
    const std::string name = line_.value_name();
    const auto at = values_.find(name);
    if (at == values_.end()) line_.complain("expected a value that is defined above, got %" + text_name(name));
    return at->second;
  }

  /// "%name : type"
  ValueId new_value(ValueKind kind) {
    Value v;
    v.name = line_.value_name();
    v.kind = kind;
    line_.expect(":");
    if (line_.accept("decision")) {
      if (kind != ValueKind::result) line_.complain("expected a decision only where a node makes it");
      v.kind = ValueKind::decision;
      v.type = {DType::i32, known_space(), {}};
      const std::string counts = line_.name("BRANCHESxCHOICES");
      const char *from = counts.data(), *to = from + counts.size();
      const auto [x, error] = std::from_chars(from, to, v.branches);
      if (error != std::errc() || x == to || *x != 'x' || std::from_chars(x + 1, to, v.fan_out).ptr != to)
        line_.complain("expected BRANCHESxCHOICES, got " + quoted(counts));
    } else if (line_.accept("ragged")) {
      if (kind != ValueKind::result) line_.complain("expected ragged cells only where a node makes them");
      v.kind = ValueKind::ragged;
      v.type = {DType::i32, known_space(), {}};
      const std::string times = line_.name("xTIMES");
      const char *from = times.data(), *to = from + times.size();
      if (times.size() < 2 || times[0] != 'x' || std::from_chars(from + 1, to, v.fan_out).ptr != to)
        line_.complain("expected xTIMES, how often a cell may come, got " + quoted(times));
    } else {
      const std::string word = line_.name("a type");
      const auto dtype = parse_dtype(word);
      if (!dtype) line_.complain("expected a type as f32, bf16, i32 or decision, got " + quoted(word));
      v.type.dtype = *dtype;
      const bool content_only = line_.sees('[');
      if (!content_only) v.type.space = known_space();
      if (line_.accept("[")) {
        if (!line_.accept("]")) {
          do v.type.content.push_back(content_dim());
          while (line_.accept(","));
          line_.expect("]");
        }
      }
    }
    while (line_.sees('@')) {
      Annotated on = Annotated::value;
      if (!may_be_annotated(v, on)) line_.complain("expected no annotation of %" + text_name(v.name));
      annotation(v.annotations, on);
    }
    if (!values_.emplace(v.name, g_.values.next_id()).second)
      line_.complain("%" + text_name(v.name) + " appears twice");
    return g_.values.add(std::move(v));
  }

  /// "@key=word"
  void annotation(Annotations& annotations, Annotated on) {
    line_.expect("@");
    const std::string key = line_.name("an annotation");
    line_.expect("=");
    const std::string word = line_.name("the annotation's word");
    if (const std::string problem = annotation_problem(key, word, on); !problem.empty()) line_.complain(problem);
    if (annotations.find(key)) line_.complain("annotation " + key + " appears twice");
    annotations.set(key, word);
  }

  void declare(ValueKind kind) {
    const ValueId v = new_value(kind);
    if (kind == ValueKind::input && line_.accept("role")) {
      const std::string word = line_.name("a role");
      g_.value(v).role = parse_role(word);
      if (g_.value(v).role == InputRole::none)
        line_.complain("expected ids, mask, label, pixels, positions or target, got " + quoted(word));
    }
    if (kind == ValueKind::weight)
      set_recipe(g_.value(v), line_.accept("=") ? parse_recipe(line_) : tensor_recipe(g_.value(v).name));
    end();
  }

  Attribute attribute() {
    if (line_.sees('"')) return line_.quoted();
    if (line_.accept("[")) {
      std::vector<int64_t> list;
      if (line_.accept("]")) return list;
      do list.push_back(line_.accept("@") ? int64_t{known_space()} : line_.integer("an integer or @space"));
      while (line_.accept(","));
      line_.expect("]");
      return list;
    }
    if (line_.accept("@")) return int64_t{known_space()};
    const std::string word = line_.name("an attribute's value");
    const char *from = word.data(), *to = from + word.size();
    int64_t integer = 0;
    if (const auto [at, error] = std::from_chars(from, to, integer); error == std::errc() && at == to) return integer;
    double real = 0;
    if (const auto [at, error] = std::from_chars(from, to, real); error == std::errc() && at == to) return real;
    line_.complain("expected a number, a text in quotes, @space or a list, got " + quoted(word));
  }

  void node(Block& block, int depth) {
    Node n;
    const NodeId id = g_.nodes.next_id();
    g_.nodes.emplace_back();  // its place; bodies come behind it
    if (line_.sees('%')) {
      do n.outputs.push_back(new_value(ValueKind::result));
      while (line_.accept(","));
      line_.expect("=");
    }
    const std::string op = line_.name("an operator");
    n.op = find_operator(op);
    if (!n.op) line_.complain("expected an operator, got " + quoted(op));
    n.name = n.outputs.empty() ? std::string() : g_.value(n.outputs[0]).name;
    line_.expect("(");
    if (!line_.accept(")")) {
      do n.inputs.push_back(known_value());
      while (line_.accept(","));
      line_.expect(")");
    }
    const TextCursor begin = line_;
    while (!line_.at_end()) {
      if (line_.accept("{")) {
        end();
        body(n, depth + 1);
        continue;
      }
      if (line_.accept("as")) {
        n.name = line_.quoted();
        continue;
      }
      if (line_.sees('@')) {
        annotation(n.annotations, Annotated::node);
        continue;
      }
      const std::string key = line_.name("an attribute");
      line_.expect("=");
      const TextCursor at = line_;
      const bool named = line_.sees('@');
      n.attributes.set(key, attribute());
      // A space's number would pass for an integer.
      if (named && attribute_rule(*n.op, key) && !holds_spaces(*n.op, key)) at.complain("expected no space as " + key);
    }
    infer(n, begin);
    for (const ValueId v : n.outputs) g_.value(v).producer = id;
    g_.node(id) = std::move(n);
    block.nodes.push_back(id);
  }

  void body(Node& n, int depth) {
    if (depth > kDeepest) line_.complain("expected at most " + std::to_string(kDeepest) + " bodies within bodies");
    Block block;
    for (;;) {
      if (!next_line()) line_.fail("yield");
      if (line_.accept("yield")) break;
      block_statement(block, depth);
    }
    std::vector<ValueId> yields;
    if (!line_.at_end()) {
      do yields.push_back(known_value());
      while (line_.accept(","));
    }
    end();
    if (!next_line()) line_.fail("\"}\"");
    line_.expect("}");
    n.bodies.push_back(std::move(block));
    n.yields.push_back(std::move(yields));
  }

  /// Checks that the operator's rule gives what the text says.
  void infer(const Node& n, const TextCursor& at) {
    std::vector<Result> results;
    try {
      results = infer_outputs(g_, n);
    } catch (const Error& e) {
      at.complain(e.what());
    }
    const std::string who = std::string(n.op->name) + " " + quoted(n.name) + ": ";
    if (results.size() != n.outputs.size())
      at.complain(who + "expected " + counted(std::ssize(results), "output") + ", got " +
                  std::to_string(n.outputs.size()));
    for (size_t i = 0; i < results.size(); ++i) {
      const Value& v = g_.value(n.outputs[i]);
      const Result& r = results[i];
      const auto text = [&](const TensorType& type, ValueKind kind, int32_t branches, int32_t fan_out) {
        if (kind == ValueKind::ragged) return "ragged " + g_.space(type.space).name + " x" + std::to_string(fan_out);
        if (kind != ValueKind::decision) return type_text(g_, type);
        return "decision " + g_.space(type.space).name + " " + std::to_string(branches) + "x" + std::to_string(fan_out);
      };
      if (v.type != r.type || v.kind != r.kind || v.branches != r.branches || v.fan_out != r.fan_out)
        at.complain(who + "expected %" + text_name(v.name) + " : " + text(r.type, r.kind, r.branches, r.fan_out) +
                    ", got " + text(v.type, v.kind, v.branches, v.fan_out));
    }
  }

  std::string_view text_;
  std::string where_;
  int64_t number_ = 0;
  TextCursor line_{"", "", 0};
  Graph g_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<std::string, SpaceId> spaces_;
};

}  // namespace

Graph parse_graph(std::string_view text, std::string_view where) { return Parser(text, where).parse(); }

}  // namespace stormcell
