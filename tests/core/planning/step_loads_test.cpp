// Which tokens are fitted to and which judge.
#include "core/planning/step_loads.h"

#include <numeric>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class StepLoadsTest : public QObject {
  Q_OBJECT
 private slots:
  void whole_requests_are_held_out_only_where_they_are_known() {
    TokenRoutes routes;
    for (int64_t step = 0; step < 10; ++step)
      for (int64_t item = 0; item < 10; ++item) routes.tokens.push_back({item, step, 0, Phase::decode, -1});
    std::vector<size_t> tokens(routes.size());
    std::iota(tokens.begin(), tokens.end(), size_t{0});
    const TokenParts known = part_tokens(routes, tokens, 0.7, kFewestRequests);
    QCOMPARE(known.requests, int64_t{10});
    QCOMPARE(known.requests_fit, int64_t{7});
    QCOMPARE(known.fit.size(), size_t{70});
    QCOMPARE(known.held_out.size(), size_t{30});
    for (const size_t t : known.held_out) QVERIFY(routes.tokens[t].item >= 7);
    const TokenParts invented = part_tokens(routes, tokens, 0.7, 0);
    QCOMPARE(invented.requests, int64_t{0});
    QCOMPARE(invented.requests_fit, int64_t{0});
    QCOMPARE(invented.fit.size(), size_t{70});
    QCOMPARE(invented.held_out.size(), size_t{30});
    for (const size_t t : invented.held_out) QVERIFY(routes.tokens[t].step >= 7);
    // A few requests are held out whole where the caller says that so few will do.
    QCOMPARE(part_tokens(routes, std::span(tokens).first(7), 0.7, kFewestRequests).requests_fit, int64_t{0});
    QCOMPARE(part_tokens(routes, std::span(tokens).first(7), 0.7, 2).requests_fit, int64_t{5});
  }

  void no_step_is_cut_in_two_data() {
    QTest::addColumn<std::vector<int>>("steps");  // tokens of each
    QTest::addColumn<int>("fitted");
    QTest::newRow("a cut within a step goes back to where it begins") << std::vector<int>{6, 6, 6} << 12;
    QTest::newRow("the first step is fitted to, however long") << std::vector<int>{9, 1, 1} << 9;
    QTest::newRow("one step is not parted") << std::vector<int>{9} << 9;
  }
  void no_step_is_cut_in_two() {
    QFETCH(std::vector<int>, steps);
    QFETCH(int, fitted);
    TokenRoutes routes;
    for (size_t step = 0; step < steps.size(); ++step)
      for (int i = 0; i < steps[step]; ++i)
        routes.tokens.push_back({0, static_cast<int64_t>(step), i, Phase::decode, -1});
    std::vector<size_t> tokens(routes.size());
    std::iota(tokens.begin(), tokens.end(), size_t{0});
    const TokenParts parts = part_tokens(routes, tokens, 0.7, 0);
    QCOMPARE(parts.fit.size(), static_cast<size_t>(fitted));
    QCOMPARE(parts.held_out.size(), routes.size() - static_cast<size_t>(fitted));
  }
};

STORMCELL_TEST(StepLoadsTest)

}  // namespace stormcell::testing

#include "step_loads_test.moc"
