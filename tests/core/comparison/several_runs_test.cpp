// Several runs, each compared with the first.
#include <nlohmann/json.hpp>

#include "core/comparison/compare.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class SeveralRunsTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  std::string summary(const std::string& name, nlohmann::json figures) {
    figures["schema"] = "stormcell.optimize/1";
    return scratch_.write(name, figures.dump());
  }
  static const ComparedFigure* find(const Comparison& comparison, const std::string& figure) {
    for (const ComparedFigure& row : comparison.rows)
      if (row.figure == figure) return &row;
    return nullptr;
  }

 private slots:
  void several_runs_are_each_compared_with_the_first() {
    const auto run = [this](const char* name, double value) { return summary(name, {{"x", value}}); };
    const std::string a = run("first", 1), b = run("second", 1), c = run("third", 4);
    const std::vector<Comparison> runs = compare_with_first(a, {b, c});
    QCOMPARE(runs.size(), size_t{2});
    QVERIFY(*find(runs[0], "x")->difference == 0 && *find(runs[1], "x")->difference == 3);
    const auto of_three = nlohmann::json::parse(to_json(runs)),
               of_two = nlohmann::json::parse(to_json(compare_with_first(a, {b})));
    QCOMPARE(of_three["runs"].size(), size_t{2});
    QVERIFY(of_three["runs"][1]["run"] == c && of_three["runs"][1]["rows"][0]["difference"] == 3);
    QVERIFY(of_three["b"] == b && of_three["rows"] == of_two["rows"] && !of_two.contains("runs"));
    QVERIFY(of_two == nlohmann::json::parse(to_json(compare_runs(a, b))));
    const FailCondition condition = parse_fail_condition("x>2*a");
    QVERIFY(!judge(condition, runs[0]).fails && judge(condition, runs[1]).fails);
  }

  void too_many_runs_and_runs_named_twice_are_refused() {
    const std::string a = summary("one", {{"x", 1}}), b = summary("two", {{"x", 2}});
    QVERIFY(bad_input_complaint([&] { compare_with_first(a, {}); }).starts_with("B: is missing"));
    QVERIFY(bad_input_complaint([&] { compare_with_first(a, {b, b}); }).find("is named twice") != std::string::npos);
    QVERIFY(bad_input_complaint([&] { compare_with_first(a, {b, a}); }).find("is named twice") != std::string::npos);
    QVERIFY(bad_input_complaint([&] { compare_with_first(a, {b, ""}); }).starts_with("MORE: is empty"));
    const std::vector<std::string> many(16, b);
    QVERIFY(bad_input_complaint([&] { compare_with_first(a, many); }).find("at most 16") != std::string::npos);
  }
};

STORMCELL_TEST(SeveralRunsTest)

}  // namespace stormcell::testing

#include "several_runs_test.moc"
