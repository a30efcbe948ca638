// The text form: what is written is read back as the same graph, and what is wrong is said with its line.
#include "core/graph/text.h"

#include "core/base/error.h"
#include "core/graph/builder.h"
#include "core/graph/operator.h"
#include "tests/testing/complaint.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// Walks two graphs side by side and matches values and spaces by what they are, not by their numbers.
class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b) : a_(a), b_(b) {}

  std::string difference() {
    if (a_.symbols != b_.symbols) return "symbols";
    for (const ValueKind kind : {ValueKind::input, ValueKind::weight, ValueKind::state}) {
      const auto of_a = of_kind(a_, kind), of_b = of_kind(b_, kind);
      if (of_a.size() != of_b.size()) return "declared values";
      for (size_t i = 0; i < of_a.size(); ++i) match(of_a[i], of_b[i]);
    }
    block(a_.top, b_.top);
    if (a_.outputs.size() != b_.outputs.size()) return "outputs";
    for (size_t i = 0; i < a_.outputs.size(); ++i)
      if (a_.outputs[i].name != b_.outputs[i].name || of(a_.outputs[i].value) != b_.outputs[i].value)
        return "output " + a_.outputs[i].name;
    return what_;
  }

 private:
  static std::vector<ValueId> of_kind(const Graph& g, ValueKind kind) {
    std::vector<ValueId> list;
    for (const ValueId v : g.values.ids())
      if (g.value(v).kind == kind) list.push_back(v);
    return list;
  }
  ValueId of(ValueId a) const {
    const auto at = values_.find(a);
    return at == values_.end() ? kNone : at->second;
  }
  void note(bool same, const std::string& what) {
    if (!same && what_.empty()) what_ = what;
  }
  void match(ValueId a, ValueId b) {
    values_[a] = b;
    const Value &x = a_.value(a), &y = b_.value(b);
    note(x.name == y.name && x.kind == y.kind && x.type.dtype == y.type.dtype && x.type.content == y.type.content &&
             x.branches == y.branches && x.fan_out == y.fan_out && same_space(x.type.space, y.type.space),
         "value " + x.name);
  }
  bool same_space(SpaceId a, SpaceId b) {
    if (a == kNone || b == kNone) return a == b;
    const CellSpace &x = a_.space(a), &y = b_.space(b);
    return x.name == y.name && x.kind == y.kind && x.count == y.count && x.per_parent == y.per_parent &&
           x.branch == y.branch && (x.decision == kNone ? y.decision == kNone : of(x.decision) == y.decision) &&
           same_space(x.parent, y.parent);
  }
  bool same_attribute(const std::string& key, const Attribute& a, const Attribute& b) {
    if (key == "space" || key == "slots")
      return same_space(SpaceId(std::get<int64_t>(a)), SpaceId(std::get<int64_t>(b)));
    if (key != "spaces") return a == b;
    const auto &x = std::get<std::vector<int64_t>>(a), &y = std::get<std::vector<int64_t>>(b);
    bool same = x.size() == y.size();
    for (size_t i = 0; same && i < x.size(); ++i) same = same_space(SpaceId(x[i]), SpaceId(y[i]));
    return same;
  }
  void block(const Block& a, const Block& b) {
    if (a.nodes.size() != b.nodes.size()) return note(false, "number of nodes");
    for (size_t i = 0; i < a.nodes.size(); ++i) {
      const Node &x = a_.node(a.nodes[i]), &y = b_.node(b.nodes[i]);
      const std::string where = std::string(x.op->name) + " " + x.name;
      note(x.op == y.op && x.name == y.name && x.inputs.size() == y.inputs.size() &&
               x.outputs.size() == y.outputs.size() && x.bodies.size() == y.bodies.size() &&
               x.yields.size() == y.yields.size(),
           where);
      if (!what_.empty()) return;
      for (size_t k = 0; k < x.inputs.size(); ++k) note(of(x.inputs[k]) == y.inputs[k], where + ", its inputs");
      for (size_t k = 0; k < x.bodies.size(); ++k) {
        block(x.bodies[k], y.bodies[k]);
        note(x.yields[k].size() == y.yields[k].size(), where + ", its yields");
        for (size_t j = 0; what_.empty() && j < x.yields[k].size(); ++j)
          note(of(x.yields[k][j]) == y.yields[k][j], where + ", its yields");
      }
      for (size_t k = 0; k < x.outputs.size(); ++k) match(x.outputs[k], y.outputs[k]);
      auto at = y.attributes.begin();
      for (const auto& [key, value] : x.attributes) {
        note(at != y.attributes.end() && at->first == key && same_attribute(key, value, at->second),
             where + ", its attributes");
        if (!what_.empty()) return;
        ++at;
      }
      note(at == y.attributes.end(), where + ", its attributes");
    }
  }

  const Graph &a_, &b_;
  std::map<ValueId, ValueId> values_;
  std::string what_;
};

std::string round_trip(const Graph& graph) {
  const std::string text = to_text(graph);
  const Graph again = parse_graph(text, "text");
  if (to_text(again) != text) return "text differs";
  return Comparison(graph, again).difference();
}

std::string said_of(const std::string& text) {
  return complaint([&] { parse_graph(text, "g"); });
}

const char* const kSmall =
    "stormcell.graph/1\n"
    "symbols N T\n"
    "space sequences = root N\n"
    "space tokens = sequences x T\n"
    "input %x : f32 tokens [4]\n"
    "weight %w : f32 [2,4]\n"
    "%s : f32 tokens [2] = linear(%x, %w) activation=\"relu\" scale=0.5\n"
    "%d : decision tokens 2x1 = route(%s) protocol=\"top-k\"\n"
    "space d/0 = tokens by %d branch 0 at most N*T\n"
    "%y : f32 d/0 [4] = scatter(%x, %d) spaces=[@d/0]\n"
    "%z : f32 tokens [4] = gather(%y) mode=\"weighted\" space=@tokens\n"
    "output z = %z\n";

std::string with(std::string from, std::string to) {
  std::string text = kSmall;
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

class TextTest : public QObject {
  Q_OBJECT
 private slots:
  void random_graphs_come_back_as_they_were() {
    for (uint64_t seed = 0; seed < drawn(300); ++seed) {
      const RandomCase made = make_random_case(seed);
      const std::string difference = round_trip(made.graph);
      QVERIFY2(difference.empty(), (made.name + ": " + difference).c_str());
    }
  }
  void toys_come_back_as_they_were() {
    for (const Toy& toy : toys()) QCOMPARE(round_trip(toy.make(1).graph), std::string());
  }
  void a_small_graph_reads_as_it_is_written() { QCOMPARE(to_text(parse_graph(kSmall, "g")), std::string(kSmall)); }
  void comments_and_spaces_do_not_matter() {
    QCOMPARE(to_text(parse_graph(with("weight %w", "\n  # what weighs\n weight   %w") + "# the end", "g")),
             std::string(kSmall));
  }

  void names_with_any_character_survive() {
    GraphBuilder b;
    const SpaceId root = b.root_space("root", b.symbol("N")), strange = b.dense_space("a \"b\"\n\\ [c]", root, 2);
    const ValueId x = b.input("x\t{y}#1", DType::f32, strange, {3});
    const ValueId y = b.value("scale", {x}, {{"factor", 1e-300}}, "=");
    b.value("route", {x}, {{"protocol", std::string("top-k")}, {"stack", std::string("yield\x01\xc3\xa4 \"as\"")}},
            "as");
    b.graph().value(y).name = b.graph().value(x).name;  // the same name twice
    b.output("an output", y);
    const Graph graph = b.finish();
    const std::string text = to_text(graph);
    QCOMPARE(to_text(parse_graph(text, "g")), text);
  }

  void a_guard_that_knows_its_predicate_late_comes_back() {
    GraphBuilder b;
    const ValueId x = b.input("x", DType::f32, b.root_space("images", b.symbol("N")), {3}),
                  flag = b.input("flag", DType::i32, kNone);
    b.begin_body();
    const ValueId doubled = b.value("scale", {x}, {{"factor", 2.0}}, "doubled");
    b.end_body({doubled, flag});
    b.begin_body();
    b.end_body({b.value("add", {x, x}, {}, "sum")});
    b.output("y", b.graph().node(b.add_region("guard", {}, {}, "late")).outputs[0]);
    QCOMPARE(round_trip(b.finish()), std::string());
  }

  void a_sum_says_which_rows_have_factors() {
    const std::string text =
        with("%z : f32 tokens [4] = gather(%y) mode=\"weighted\"",
             "%f : f32 d/0 = choice_weight(%d) space=@d/0\n"
             "%z : f32 tokens [4] = gather(%y, %f, %x) extras=\"residual\" factors=[0] mode=\"sum\"");
    QCOMPARE(to_text(parse_graph(text, "g")), text);
  }

  void a_weight_says_how_it_is_made() {
    const std::string made =
        with("weight %w : f32 [2,4]", "weight %w : f32 [2,4] = stack(slice(\"a\", 0, 4), transpose(\"b\"))");
    QVERIFY(made != kSmall);
    const Graph g = parse_graph(made, "g");
    QCOMPARE(to_text(g), made);
    QCOMPARE(weight_text(g.value(g.find_value("w"))), std::string(R"(stack(slice("a", 0, 4), transpose("b")))"));
    QCOMPARE(tensors_read(g.values), (std::vector<std::string>{"a", "b"}));
    // Another name for a tensor, and a tensor's own name.
    const std::string renamed = with("weight %w : f32 [2,4]", "weight %w : f32 [2,4] = \"table\"");
    QCOMPARE(to_text(parse_graph(renamed, "g")), renamed);
    QCOMPARE(weight_text(parse_graph(renamed, "g").value(g.find_value("w"))), std::string("table"));
    QCOMPARE(to_text(parse_graph(with("weight %w : f32 [2,4]", "weight %w : f32 [2,4] = \"w\""), "g")),
             std::string(kSmall));
    // A tensor whose name reads as a recipe is no recipe.
    GraphBuilder b;
    b.weight("slice(\"a\", 0, 4)", DType::f32, {4});
    const Graph odd = parse_graph(to_text(b.finish()), "odd");
    QCOMPARE(tensors_read(odd.values), (std::vector<std::string>{"slice(\"a\", 0, 4)"}));
    QVERIFY(said_of(with("weight %w : f32 [2,4]", "weight %w : f32 [2,4] = twist(\"a\")"))
                .find("expected the name of a tensor in quotes") != std::string::npos);
  }
  void a_weight_whose_name_is_taken_reads_its_tensor() {
    GraphBuilder b;
    const ValueId x = b.input("x", DType::f32, b.root_space("images", b.symbol("N")), {3});
    const ValueId w = b.weight("x", DType::f32, {4, 3});
    QCOMPARE(b.weight("x", DType::f32, {4, 3}), w);
    b.output("y", b.value("linear", {x, w}));
    const std::string text = to_text(b.finish());
    QVERIFY2(text.find("weight %x.1 : f32 [4,3] = \"x\"") != std::string::npos, text.c_str());
    const Graph g = parse_graph(text, "g");
    QCOMPARE(tensors_read(g.values), (std::vector<std::string>{"x"}));
  }
  void numbers_survive_exactly() {
    GraphBuilder b;
    ValueId x = b.input("x", DType::f32, b.root_space("images", b.symbol("N")), {3});
    std::vector<double> factors{1, 0.1, -0.0, 1e300, 5e-324, 1.0 / 3, std::numeric_limits<double>::infinity()};
    for (const double factor : factors) x = b.value("scale", {x}, {{"factor", factor}}, "scaled");
    const Graph again = parse_graph(to_text(b.finish()), "g");
    for (size_t i = 0; i < factors.size(); ++i) QCOMPARE(again.nodes[i].attributes.real("factor"), factors[i]);
  }

  void complaints_name_the_line_what_was_expected_and_what_came_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, const std::string& text, const char* expected) {
      QTest::newRow(name) << QString::fromStdString(text) << QString(expected);
    };
    row("empty", "", "g: expected \"stormcell.graph/1\", got an empty text");
    row("another text", "digraph {}", "g:1: expected \"stormcell.graph/1\", got \"digraph {}\"");
    row("unknown operator", with("linear(", "lineal("), "g:7: expected an operator, got \"lineal\"");
    row("unknown value", with("(%x, %w)", "(%x, %v)"), "g:7: expected a value that is defined above, got %v");
    row("unknown space", with("tokens [4]", "words [4]"), "g:5: expected a space that is defined above, got \"words\"");
    row("unknown symbol", with("root N", "root M"), "g:3: unknown symbol \"M\" in an extent (declare it first)");
    row("unknown type", with("f32 [2,4]", "f31 [2,4]"),
        "g:6: expected a type as f32, bf16, i32 or decision, got \"f31\"");
    row("wrong result", with("tokens [2] =", "tokens [3] ="),
        "g:7: linear \"s\": expected %s : f32 tokens [2], got f32 tokens [3]");
    row("wrong input", with("[2,4]", "[2,5]"), "g:7: linear \"s\": expected weights [n, 4], got f32 [2,5]");
    row("wrong branches", with("2x1", "3x1"),
        "g:8: route \"d\": expected %d : decision tokens 2x1, got decision tokens 3x1");
    row("no branches", with("2x1", "2-1"), "g:8: expected BRANCHESxCHOICES, got \"2-1\"");
    row("branch out of reach", with("branch 0", "branch 7"), "g: space d/0: expected a branch below 2, got 7");
    row("twice", with("weight %w", "weight %x"), "g:6: %x appears twice");
    row("half a line", with("(%x, %d) spaces=[@d/0]", "(%x, %d) spaces=[@d/0"),
        "g:10: expected \"]\", got the end of the line");
    row("missing attribute", with(" mode=\"weighted\"", ""),
        "g:11: gather \"z\": expected attribute mode, sum, weighted or place, got none");
    row("bare word", with("\"top-k\"", "top-k"),
        "g:8: expected a number, a text in quotes, @space or a list, got \"top-k\"");
    row("more than a line", with("output z = %z", "output z = %z %z"),
        "g:12: expected the end of the line, got \"%z\"");
    row("open quote", with("\"relu\"", "\"relu"), "g:7: expected a closing quote, got the end of the line");
    row("negative extent", with("[2,4]", "[2,-4]"), "g:6: expected an extent of 1 to 1099511627776, got -4");
    row("no yield", with("output z = %z", "repeat() most=\"3\" {"), "g:13: expected yield, got the end of the line");
  }
  void complaints_name_the_line_what_was_expected_and_what_came() {
    QFETCH(QString, text);
    QFETCH(QString, expected);
    QCOMPARE(QString::fromStdString(said_of(text.toStdString())), expected);
  }

  void deep_nesting_is_refused() {
    std::string text = "stormcell.graph/1\n";
    for (int i = 0; i < 100000; ++i) text += "repeat() most=\"3\" {\n";
    QVERIFY(said_of(text).find("bodies within bodies") != std::string::npos);
  }
  void growing_extents_are_refused() {
    std::string text = "stormcell.graph/1\nsymbols A B C\nspace s0 = root A+B+C\n";
    for (int i = 1; i < 400; ++i)
      text += "space s" + std::to_string(i) + " = s" + std::to_string(i - 1) + " x A+B*C+C\n";
    QVERIFY(said_of(text).find("at most 256 terms") != std::string::npos);
  }

  /// Texts with bytes changed, lines lost, doubled and swapped: an error or a graph, never a crash; a graph is written
  /// and read again.
  void hostile_texts_do_not_crash() {
    Random random(5);
    std::vector<std::string> texts{kSmall};
    for (const Toy& toy : toys()) texts.push_back(to_text(toy.make(1).graph));
    for (uint64_t seed = 0; seed < 30; ++seed) texts.push_back(to_text(make_random_case(seed).graph));
    int refused = 0, read = 0;
    for (int round = 0; round < drawn(6000); ++round) {
      std::string text = texts[static_cast<size_t>(random.below(static_cast<int64_t>(texts.size())))];
      for (int64_t changes = random.between(1, 3); changes > 0; --changes) {
        const auto at = static_cast<size_t>(random.below(static_cast<int64_t>(text.size())));
        const size_t line = text.rfind('\n', at) + 1, end = std::min(text.find('\n', at), text.size());
        const size_t word = std::min(text.find_first_of(" ,()[]\n", at), text.size());
        constexpr const char* kWords[] = {"9999999999999999999", "-1",  "0",       "%", "\"", "[", "N",
                                          "4611686018427387904", "nan", "@tokens", "{", "f32"};
        switch (random.below(5)) {
          case 0:
            text[at] = static_cast<char>(random.below(256));
            break;
          case 1:
            text.erase(line, end - line);
            break;
          case 2:
            text.insert(line, text.substr(line, end - line) + "\n");
            break;
          case 3:
            text.replace(at, word - at, kWords[random.below(12)]);
            break;
          default:
            text.resize(at);
            break;
        }
        if (text.empty()) break;
      }
      try {
        const std::string again = to_text(parse_graph(text, "g"));
        QCOMPARE(to_text(parse_graph(again, "again")), again);
        ++read;
      } catch (const Error& e) {
        QVERIFY(e.kind() == ErrorKind::bad_input);
        ++refused;
      }
    }
    QVERIFY2(refused > drawn(1000) && read > drawn(30),
             (std::to_string(refused) + " refused, " + std::to_string(read) + " read").c_str());
  }
};
STORMCELL_TEST(TextTest)
#include "text_test.moc"
