// Advice, and whether it says what may be chance.
#include "core/planning/advice.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

LayoutLine line(LayoutRole role, double imbalance, double pairs, double ranks, std::optional<double> ms) {
  LayoutFigures f;
  f.imbalance = imbalance, f.cross_pairs = pairs, f.ranks_per_token = ranks, f.objective_ms = ms;
  return {role, std::string(to_text(role)), f, f};
}

/// Intervals that hold zero where they may be chance.
PairedFigures differs(LayoutRole one, LayoutRole other, bool chance, bool known_ms) {
  const PairedDifference d = chance ? PairedDifference{-1, -3, 1} : PairedDifference{-2, -3, -1};
  PairedFigures out{one, other, d, d, d, {}};
  if (known_ms) out.objective_ms = d;
  return out;
}

PlaceFigures figures(const std::vector<LayoutLine>& layouts, bool chance, bool known_ms = true) {
  PlaceFigures f;
  f.layouts = layouts, f.paired_by = "requests", f.paired_parts = 6, f.aim = PlacementAim::cost;
  const LayoutRole stay = layouts.size() > 3 ? LayoutRole::from : LayoutRole::contiguous;
  f.differences = {differs(LayoutRole::result, LayoutRole::contiguous, chance, known_ms),
                   differs(LayoutRole::result, LayoutRole::eplb, chance, known_ms)};
  if (layouts.size() > 3) f.differences.push_back(differs(LayoutRole::result, LayoutRole::from, chance, known_ms));
  f.differences.push_back(differs(LayoutRole::eplb, stay, chance, known_ms));
  return f;
}

}  // namespace

class AdviceTest : public QObject {
  Q_OBJECT
 private slots:
  void each_choice_says_what_may_be_chance_data() {
    QTest::addColumn<QString>("chosen");
    QTest::addColumn<double>("stay");
    QTest::addColumn<double>("eplb");
    QTest::addColumn<double>("result");
    QTest::addColumn<QString>("others");
    QTest::newRow("stay") << "stay" << 1. << 2. << 3. << "eplb and result";
    QTest::newRow("eplb") << "eplb" << 2. << 1. << 3. << "contiguous and result";
    QTest::newRow("result") << "result" << 2. << 3. << 1. << "contiguous and eplb";
    QTest::newRow("a tie stays") << "stay" << 1. << 1. << 1. << "";
  }
  void each_choice_says_what_may_be_chance() {
    QFETCH(QString, chosen);
    QFETCH(double, stay);
    QFETCH(double, eplb);
    QFETCH(double, result);
    QFETCH(QString, others);
    for (const bool by_cost : {true, false}) {
      const auto of = [&](LayoutRole role, double v) {
        return line(role, by_cost ? 1. : v, 0.5, 2, by_cost ? std::optional(v) : std::optional<double>());
      };
      const std::vector<LayoutLine> layouts = {of(LayoutRole::contiguous, stay), of(LayoutRole::eplb, eplb),
                                               of(LayoutRole::result, result)};
      const std::string sure = advice_of(figures(layouts, false)), unsure = advice_of(figures(layouts, true));
      QVERIFY2(sure.starts_with(chosen.toStdString() + ": ") && sure.find("chance") == std::string::npos, sure.c_str());
      const std::string words =
          others.isEmpty() ? sure : "; the difference from " + others.toStdString() + " may be chance (requests, 95 %)";
      QVERIFY2(unsure.ends_with(words), unsure.c_str());
    }
  }

  void what_nobody_knows_is_said() {
    const std::vector<LayoutLine> layouts = {line(LayoutRole::contiguous, 1, .5, 2, 2.),
                                             line(LayoutRole::eplb, 1, .5, 2, 1.),
                                             line(LayoutRole::result, 1, .5, 2, 1.)};
    const std::string advice = advice_of(figures(layouts, false, false));
    QVERIFY2(advice.starts_with("eplb: ") &&
                 advice.ends_with("; whether the difference from contiguous is chance is not known"),
             advice.c_str());
  }

  void what_stands_now_is_compared_with() {
    const std::vector<LayoutLine> layouts = {
        line(LayoutRole::contiguous, 1, .5, 2, 1.), line(LayoutRole::eplb, 1, .5, 2, 3.),
        line(LayoutRole::result, 1, .5, 2, 2.), line(LayoutRole::from, 1, .5, 2, 4.)};
    const std::string advice = advice_of(figures(layouts, true));
    QVERIFY2(advice.starts_with("result: ") &&
                 advice.ends_with("from the current layout and eplb may be chance (requests, 95 %)"),
             advice.c_str());
  }

  void less_traffic_is_compared_with_both() {
    PlaceFigures f = figures({line(LayoutRole::contiguous, .3, .8, 3, {}), line(LayoutRole::eplb, .1, .8, 3, {}),
                              line(LayoutRole::result, .12, .5, 2, {})},
                             false);
    f.aim = PlacementAim::traffic;
    QVERIFY(advice_of(f).starts_with("result: less traffic than both"));
    f.differences[0].ranks_per_token =
        PairedDifference{-1, -3, 1};  // from the contiguous one, of one of the two figures
    QVERIFY2(advice_of(f).ends_with("; the difference from contiguous may be chance (requests, 95 %)"),
             advice_of(f).c_str());
  }

  void less_traffic_is_not_worth_dearer_steps() {
    const auto of = [](double stay, double eplb, double result, bool chance, bool known) {
      PlaceFigures f = figures({line(LayoutRole::contiguous, .3, .8, 3, stay), line(LayoutRole::eplb, .1, .8, 3, eplb),
                                line(LayoutRole::result, .12, .5, 2, result)},
                               chance, known);
      f.aim = PlacementAim::traffic;
      return advice_of(f);
    };
    const std::string stay = of(.112, .13, .15, false, true), eplb = of(.13, .112, .15, false, false);
    QVERIFY2(stay.starts_with("stay: the result has less traffic than both, but its steps take 0.150 ms where those of "
                              "the contiguous one "
                              "take 0.112, "),
             stay.c_str());
    QVERIFY2(eplb.starts_with("eplb: ") && eplb.ends_with("whether that is chance is not known"), eplb.c_str());
    const std::string small = of(.0112, .013, .05, false, true);  // in the unit of the tables
    QVERIFY2(small.find("take 50.0 us where those of the contiguous one take 11.2, ") < small.size(), small.c_str());
    const std::string chance = of(.112, .13, .15, true, true), cheaper = of(.112, .13, .1, false, true);
    QVERIFY2(chance.starts_with("result: less traffic") &&
                 chance.find("take 0.150 ms, those of the contiguous one 0.112") < chance.size(),
             chance.c_str());
    QVERIFY2(cheaper.starts_with("result: less traffic") && cheaper.find("take 0.100 ms") < cheaper.size(),
             cheaper.c_str());
  }
};

STORMCELL_TEST(AdviceTest)

}  // namespace stormcell::testing

#include "advice_test.moc"
