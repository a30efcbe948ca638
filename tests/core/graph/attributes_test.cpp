// Operators declare their attributes; what a node says beyond that, leaves out, or says in another kind is refused with
// what is known.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/builder.h"
#include "core/graph/operator.h"
#include "core/graph/text.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::attributes_test {
namespace {

template <class F>
QString said_of(F&& act) {
  return QString::fromStdString(testing::complaint(act));
}

/// A value of the kind, and one that is of no such kind.
Attribute right(const AttributeRule& rule) {
  switch (rule.kind) {
    case AttributeKind::real:
      return 0.5;
    case AttributeKind::word:
      return std::string(rule.words.substr(0, rule.words.find(' ')));
    case AttributeKind::extent:
      return std::string("N+2");
    case AttributeKind::integers:
      return std::vector<int64_t>{1, 2};
    case AttributeKind::spaces:
      return std::vector<int64_t>{0};
    default:
      return int64_t{0};
  }
}
std::vector<Attribute> wrong(const AttributeRule& rule) {
  const Attribute word = std::string("no such word"), real = 1.5, list = std::vector<int64_t>{7}, integer = int64_t{7};
  switch (rule.kind) {
    case AttributeKind::integer:
      return {word, real, list};
    case AttributeKind::flag:
    case AttributeKind::space:
      return {word, real, list, integer, int64_t{-1}};
    case AttributeKind::real:
      return {word, list};
    case AttributeKind::word:
      return rule.words.empty() ? std::vector<Attribute>{integer, real, list}
                                : std::vector<Attribute>{word, integer, real, list};
    case AttributeKind::extent:
      return {word, integer, real, list};
    case AttributeKind::integers:
      return {word, real, integer};
    case AttributeKind::spaces:
      return {word, real, integer, list, std::vector<int64_t>{-1}};
  }
  return {};
}

struct Case {
  Graph graph;
  Node node;
  explicit Case(const Operator& op) {
    graph.symbols = {"N"};
    graph.spaces.resize(2);
    node.op = &op;
    node.name = "the node";
    for (const AttributeRule& rule : op.attributes)
      if (rule.presence.must) node.attributes.set(rule.name, right(rule));
  }
  QString said() const {
    return said_of([&] { expect_attributes(graph, node); });
  }
};

}  // namespace

class AttributesTest : public QObject {
  Q_OBJECT
 private slots:
  void every_operator_refuses_what_it_does_not_know_and_names_what_it_knows() {
    for (const Operator* op : operators()) {
      Case c(*op);
      QCOMPARE(c.said(), QString());
      c.node.attributes.set("strid", int64_t{2});
      const QString text = c.said();
      QVERIFY2(text.startsWith(QString::fromStdString(std::string(op->name) + " \"the node\": expected ")),
               qPrintable(text));
      QVERIFY2(text.endsWith(", got strid"), qPrintable(text));
      for (const AttributeRule& rule : op->attributes)
        QVERIFY2(text.contains(QString::fromStdString(std::string(rule.name))), qPrintable(text));
    }
  }
  // Kernels, oracle and passes read a node without an attribute as one with its default.
  void a_default_fits_its_attribute_and_is_what_is_read() {
    int defaults = 0;
    for (const Operator* op : operators())
      for (const AttributeRule& rule : op->attributes) {
        Case c(*op);
        if (std::holds_alternative<std::monostate>(rule.presence.otherwise)) {
          if (!rule.presence.must && rule.kind == AttributeKind::integer)
            QVERIFY_THROWS_EXCEPTION(Error, static_cast<void>(integer_of(c.node, rule.name)));
          continue;
        }
        ++defaults;
        QVERIFY2(!rule.presence.must, rule.name.data());
        Attribute value;
        if (const auto* integer = std::get_if<int64_t>(&rule.presence.otherwise)) {
          value = *integer;
          QCOMPARE(integer_of(c.node, rule.name), *integer);
        } else if (const auto* real = std::get_if<double>(&rule.presence.otherwise)) {
          value = *real;
          QCOMPARE(real_of(c.node, rule.name), *real);
        } else {
          value = std::string(std::get<std::string_view>(rule.presence.otherwise));
          QCOMPARE(word_of(c.node, rule.name), std::get<std::string>(value));
        }
        c.node.attributes.set(rule.name, value);
        QCOMPARE(c.said(), QString());
        if (rule.kind == AttributeKind::flag) QCOMPARE(flag_of(c.node, rule.name), integer_of(c.node, rule.name) != 0);
      }
    QVERIFY(defaults > 10);
  }
  void every_attribute_is_held_to_its_kind_and_to_being_there() {
    for (const Operator* op : operators())
      for (const AttributeRule& rule : op->attributes) {
        const QString name = QString::fromStdString(std::string(rule.name));
        Case c(*op);
        c.node.attributes.set(rule.name, right(rule));
        QCOMPARE(c.said(), QString());
        for (const Attribute& value : wrong(rule)) {
          c.node.attributes.set(rule.name, value);
          const QString text = c.said();
          // An extent's own words say which symbol is unknown.
          QVERIFY2(text.contains(name) || text.contains("no such word"),
                   qPrintable(QString(op->name.data()) + ": " + text));
          QVERIFY(text.startsWith(QString::fromStdString(std::string(op->name))));
        }
        c.node.attributes.erase(rule.name);
        if (rule.presence.must) {
          QVERIFY2(c.said().contains("expected attribute " + name), qPrintable(c.said()));
        } else {
          QCOMPARE(c.said(), QString());
        }
      }
  }
  void declarations_name_each_attribute_once() {
    for (const Operator* op : operators())
      for (const AttributeRule& rule : op->attributes) {
        QVERIFY(rule.name != "extras");
        QCOMPARE(std::count_if(op->attributes.begin(), op->attributes.end(),
                               [&](const AttributeRule& r) { return r.name == rule.name; }),
                 1);
      }
  }
  void integers_do_for_reals_and_never_the_other_way_round() {
    Case c(*find_operator("scale"));
    c.node.attributes.set("factor", int64_t{2});
    QCOMPARE(c.said(), QString());
    Case d(*find_operator("add_constant"));
    d.node.attributes.set("value", 2.0);
    QCOMPARE(d.said(), QString("add_constant \"the node\": expected value as an integer, got 2.0"));
  }

  void a_misspelt_attribute_of_a_text_graph_is_an_error_in_one_line_data() {
    QTest::addColumn<QString>("attributes");
    QTest::addColumn<QString>("expected");
    QTest::newRow("misspelt") << "strid=2"
                              << "g:5: conv2d \"z\": expected attributes among stride, padding, groups, activation, "
                                 "residual_first and extras, got strid";
    QTest::newRow("a word") << "stride=\"two\""
                            << "g:5: conv2d \"z\": expected stride as an integer, got \"two\"";
    QTest::newRow("another word")
        << "activation=\"rely\""
        << "g:5: conv2d \"z\": expected activation as none, relu, gelu, gelu_tanh, silu, tanh or sigmoid, got \"rely\"";
    QTest::newRow("a space as a number") << "stride=@images"
                                         << "g:5: expected no space as stride";
    QTest::newRow("a list") << "stride=[2,2]"
                            << "g:5: conv2d \"z\": expected stride as an integer, got [2,2]";
    QTest::newRow("right") << "stride=2"
                           << "";
  }
  void a_misspelt_attribute_of_a_text_graph_is_an_error_in_one_line() {
    QFETCH(QString, attributes);
    QFETCH(QString, expected);
    const std::string text =
        "stormcell.graph/1\nspace images = root 2\ninput %x : f32 images [5,5,3]\nweight %k : f32 [4,3,3,3]\n"
        "%z : f32 images [2,2,4] = conv2d(%x, %k) " +
        attributes.toStdString() + "\noutput z = %z\n";
    QCOMPARE(said_of([&] { parse_graph(text, "g"); }), expected);
  }
  void what_is_needed_only_in_some_cases_is_asked_for_there() {
    GraphBuilder b;
    const SpaceId images = b.root_space("images", b.symbol("N"));
    const ValueId maps = b.input("maps", DType::f32, images, {4, 4, 2}), x = b.input("x", DType::f32, images, {3});
    const ValueId ids = b.input("ids", DType::i32, images);
    b.value("pool", {maps}, {{"kind", std::string("global_average")}}, "all");
    QCOMPARE(said_of([&] {
               b.value("pool", {maps}, {{"kind", std::string("max")}, {"size", int64_t{2}}}, "some");
             }),
             QString("pool \"some\": expected attribute stride, an integer, got none"));
    const std::vector<ValueId> inputs{x, b.weight("w", DType::f32, {5, 3}), b.weight("g", DType::f32, {3})};
    QCOMPARE(said_of([&] {
               b.value("linear", inputs, {{"extras", std::string("gain")}}, "up");
             }),
             QString("linear \"up\": expected attribute eps, a number, got none"));
    QCOMPARE(said_of([&] {
               b.value("route", {ids}, {{"protocol", std::string("label")}}, "r");
             }),
             QString("route \"r\": expected attribute branches, an integer, got none"));
  }
  void a_builder_refuses_it_too() {
    GraphBuilder b;
    const ValueId x = b.input("x", DType::f32, b.root_space("images", b.symbol("N")), {3});
    QCOMPARE(said_of([&] {
               b.value("add", {x, x}, {{"scale", 2.0}}, "sum");
             }),
             QString("add \"sum\": expected no attributes, got scale"));
    QCOMPARE(
        said_of([&] { b.value("activation", {x}, {}, "act"); }),
        QString("activation \"act\": expected attribute kind, relu, gelu, gelu_tanh, silu, tanh or sigmoid, got none"));
  }
};

STORMCELL_TEST(AttributesTest)

}  // namespace stormcell::testing::attributes_test

#include "attributes_test.moc"
