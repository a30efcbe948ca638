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
    const TokenParts known = part_tokens(routes, tokens, 0.7, true);
    QCOMPARE(known.requests, int64_t{10});
    QCOMPARE(known.requests_fit, int64_t{7});
    for (const size_t t : known.held_out) QVERIFY(routes.tokens[t].item >= 7);
    const TokenParts invented = part_tokens(routes, tokens, 0.7, false);
    QCOMPARE(invented.requests, int64_t{0});
    QCOMPARE(invented.requests_fit, int64_t{0});
    QCOMPARE(invented.fit.size(), size_t{70});
    for (const size_t t : invented.held_out) QVERIFY(routes.tokens[t].step >= 7);
  }
};

STORMCELL_TEST(StepLoadsTest)

}  // namespace stormcell::testing

#include "step_loads_test.moc"
