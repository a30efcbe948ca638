// Annotations of a plan: in the text form, by name, and refused where nothing could be meant.
#include "core/graph/annotation_rules.h"

#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "core/oracle/oracle.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/complaint.h"
#include "tests/testing/random_annotations.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

const char* const kPlain =
    "stormcell.graph/1\n"
    "symbols N\n"
    "space tokens = root N\n"
    "input %x : f32 tokens [4]\n"
    "input %ids : i32 tokens\n"
    "weight %a : bf16 [8,4]\n"
    "weight %b : bf16 [4,8]\n"
    "%h : f32 tokens [8] = linear(%x, %a) activation=\"relu\"\n"
    "%y : f32 tokens [4] = linear(%h, %b)\n"
    "output y = %y\n";
const char* const kAnnotated =
    "stormcell.graph/1\n"
    "symbols N\n"
    "space tokens = root N\n"
    "input %x : f32 tokens [4]\n"
    "input %ids : i32 tokens\n"
    "weight %a : bf16 [8,4] @format=f32\n"
    "weight %b : bf16 [4,8]\n"
    "%h : f32 tokens [8] @storage=bf16 = linear(%x, %a) activation=\"relu\"\n"
    "%y : f32 tokens [4] = linear(%h, %b) @kernel=linear.panels\n"
    "output y = %y\n";

std::string complaint_about(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return bad_input_complaint([&] { parse_graph(text, "g"); });
}
std::string refusal(const std::string& annotation) {
  Graph graph = parse_graph(kPlain, "g");
  return bad_input_complaint([&] { annotate(graph, annotation, "--annotate"); });
}

/// Every rule of outputs: a guard whose bodies yield what is made in them.
const char* const kGuarded =
    "stormcell.graph/1\n"
    "symbols N\n"
    "space tokens = root N\n"
    "input %x : f32 tokens [4]\n"
    "input %p : i32 []\n"
    "weight %a : f32 [4,4]\n"
    "%y : f32 tokens [4] @storage=bf16 = guard(%p) as \"g\" {\n"
    "  %t : f32 tokens [4] @storage=bf16 = linear(%x, %a)\n"
    "  yield %t\n"
    "} {\n"
    "  %f : f32 tokens [4] @storage=bf16 = linear(%x, %a)\n"
    "  yield %f\n"
    "}\n"
    "%z : f32 tokens [4] = linear(%y, %a)\n"
    "output z = %z\n";

}  // namespace

class AnnotationsTest : public QObject {
  Q_OBJECT
 private slots:
  void the_text_form_keeps_them() {
    QCOMPARE(to_text(parse_graph(kAnnotated, "g")), std::string(kAnnotated));
    QCOMPARE(to_text(parse_graph(kGuarded, "g")), std::string(kGuarded));
    // A text of before says nothing.
    const Graph plain = parse_graph(kPlain, "g");
    QCOMPARE(to_text(plain), std::string(kPlain));
    QVERIFY(annotation_list(plain).empty());
  }
  void said_by_name_it_is_the_same_graph() {
    Graph graph = parse_graph(kPlain, "g");
    for (const char* text : {"a.format=f32", "h.storage=bf16", "y.kernel=linear.panels"})
      annotate(graph, text, "--annotate");
    QCOMPARE(to_text(graph), std::string(kAnnotated));
    QCOMPARE(annotation_list(graph),
             (std::vector<std::string>{"a.format=f32", "h.storage=bf16", "y.kernel=linear.panels"}));
    // The last word counts.
    annotate(graph, "h.storage=f32", "--annotate");
    QCOMPARE(annotation_list(graph)[1], std::string("h.storage=f32"));
  }
  void a_star_stands_for_any_characters() {
    Graph graph = parse_graph(kPlain, "g");
    annotate(graph, "*.kernel=linear.plain", "--annotate");
    annotate(graph, "h*.storage=bf16", "--annotate");
    QCOMPARE(annotation_list(graph),
             (std::vector<std::string>{"h.kernel=linear.plain", "h.storage=bf16", "y.kernel=linear.plain"}));
  }
  void of_two_that_name_the_same_the_later_one_holds() {
    const Graph graph = parse_graph(kPlain, "g");
    const std::vector<std::string> said = {"*.kernel=linear.plain", "y.kernel=linear.panels", "h.storage=bf16"};
    const std::vector<AnnotatedNames> held = held_names(graph, said, "--annotate");
    QVERIFY(held.size() == 3 && held[0].names == std::set<std::string>{"h"} &&
            held[1].names == std::set<std::string>{"y"} && held[2].names == std::set<std::string>{"h"});
    QVERIFY(held[0].key == "kernel" && held[0].what == Annotated::node && held[2].what == Annotated::value);
    QCOMPARE(to_text(held[0]), std::string("1 node"));
    QCOMPARE(annotated_names(graph, said[0], "--annotate").names.size(), size_t{2});
  }
  void formats_are_those_of_the_type_unless_said_otherwise() {
    const Graph plain = parse_graph(kPlain, "g"), annotated = parse_graph(kAnnotated, "g");
    const auto in_memory = [](const Graph& g, const char* name) {
      return format_in_memory(g.value(g.find_value(name)));
    };
    const auto in_products = [](const Graph& g, const char* name) {
      return format_in_products(g.value(g.find_value(name)));
    };
    QVERIFY(in_memory(plain, "h") == DType::f32 && in_memory(annotated, "h") == DType::bf16 &&
            in_memory(annotated, "y") == DType::f32);
    QVERIFY(in_products(plain, "a") == DType::bf16 && in_products(annotated, "a") == DType::f32 &&
            in_products(annotated, "b") == DType::bf16);
    // The type is what it was.
    QVERIFY(annotated.value(annotated.find_value("h")).type == plain.value(plain.find_value("h")).type);
  }
  void a_line_that_says_something_else_is_refused() {
    const std::string text = kAnnotated;
    QCOMPARE(complaint_about(text, "@storage=bf16", "@kernel=linear.plain"),
             std::string("g:8: expected an annotation of a value as storage, got \"kernel\""));
    QCOMPARE(complaint_about(text, "@storage=bf16", "@storage=int8"),
             std::string("g:8: expected storage f32 or bf16, got \"int8\""));
    QCOMPARE(complaint_about(text, "@format=f32", "@storage=bf16"),
             std::string("g:6: expected an annotation of a weight as format or residency, got \"storage\""));
    QCOMPARE(complaint_about(text, "@kernel=linear.panels", "@storage=bf16"),
             std::string("g:9: expected an annotation of a node as kernel, got \"storage\""));
    QCOMPARE(complaint_about(text, "@kernel=linear.panels", "@kernel=a @kernel=b"),
             std::string("g:9: annotation kernel appears twice"));
    QCOMPARE(complaint_about(text, "i32 tokens\n", "i32 tokens @storage=bf16\n"),
             std::string("g:5: expected no annotation of %ids"));
    QVERIFY(complaint_about(text, "@storage=bf16", "@storage").starts_with("g:8: expected "));
    QVERIFY(complaint_about(text, "@storage=bf16", "@=bf16").starts_with("g:8: expected "));
  }
  void what_cannot_lie_so_is_refused() {
    // Outputs of the graph are read as their type says.
    QCOMPARE(complaint_about(kPlain, "%y : f32 tokens [4] =", "%y : f32 tokens [4] @storage=bf16 ="),
             std::string("g: output y: expected storage as its type says, f32, got bf16"));
    QCOMPARE(complaint_about(kGuarded, "%t : f32 tokens [4] @storage=bf16", "%t : f32 tokens [4]"),
             std::string("g: guard \"g\": expected the same storage of %t as of %y, whose memory it shares"));
  }
  void a_name_or_word_that_is_not_known_is_one_clear_line() {
    QCOMPARE(refusal("nothing.kernel=linear.plain"),
             std::string("--annotate: the model has no node \"nothing\" (inspect MODEL --text - lists them)"));
    QCOMPARE(refusal("h.speed=high"),
             std::string("--annotate: \"speed\" is not an annotation (kernel, storage, format or residency)"));
    QCOMPARE(
        refusal("h.storage=f64"),
        std::string("--annotate: \"h.storage=f64\": expected storage f32 or bf16, got \"f64\" (choose one of these)"));
    // The thing of that name is something else.
    for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
             {"x.storage=bf16",
              "\"x\" is an input, and storage is said of what nodes make in f32, and of states in f32"},
             {"a.storage=bf16",
              "\"a\" is a weight, and storage is said of what nodes make in f32, and of states in f32"},
             {"a.kernel=linear.plain", "\"a\" is a weight, and kernel is said of nodes"},
             {"h.format=f32", "\"h\" is a value in f32, and format is said of weights"}})
      QCOMPARE(refusal(text), "--annotate: " + why + " (inspect MODEL --text - lists them)");
    QCOMPARE(refusal("y.storage=bf16"), std::string("--annotate: \"y.storage=bf16\": output y: expected storage as its "
                                                    "type says, f32, got bf16 (leave it out)"));
    for (const char* text : {"", "h", "h.kernel", "kernel=linear.plain", ".kernel=linear.plain", "h.kernel="})
      QVERIFY2(
          refusal(text).starts_with("--annotate: \"" + std::string(text) + "\" is not NAME.KEY=WORD (write it as "),
          text);
  }
  void the_oracle_does_not_look_at_them() {
    const Bf16Rows rows{{"linear", "grouped_linear", "scatter"},
                        {"linear", "grouped_linear", "scatter", "rms_norm", "activation"}};
    int stored = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      RandomCase c = make_random_case(seed);
      const Graph plain = c.graph;
      stored += annotate_randomly(c.graph, rows, seed).stored;
      verify(c.graph);
      const std::string text = to_text(c.graph);
      QCOMPARE(to_text(parse_graph(text, "again")), text);
      const auto a = Oracle<float>(plain, *c.weights).run(oracle_inputs(c), c.bindings);
      const auto b = Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings);
      for (const auto& [name, tensor] : a.outputs) QCOMPARE(b.output(name).reals, tensor.reals);
    }
    QVERIFY(stored > 20);
  }
};
STORMCELL_TEST(AnnotationsTest)
#include "annotations_test.moc"
