// Which graphs are networks with exits, and what it costs to answer at each.
#include "core/exits/exit_chain.h"

#include <cmath>

#include "core/graph/router_thresholds.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

class ExitChainTest : public QObject {
  Q_OBJECT
 private slots:
  void the_demo_s_exits_cost_what_the_reference_counted() {
    const auto model = open_model(source_folder() + "/resources/demos/msdnet-digits");
    const auto chain = exit_chain(*model->forward, model->answer);
    QVERIFY(chain.has_value());
    QCOMPARE(chain->routers(), (std::vector<std::string>{"exits.0.router", "exits.1.router"}));
    QVERIFY(chain->test_of("exits.1.router") == size_t{1} && !chain->test_of("exits.2.router"));
    QCOMPARE(chain->tests[1].rule.threshold, 0.9F);
    // Multiplications of expected.json; ours count additions, activations and norms' shifts too.
    QCOMPARE(chain->costs.size(), size_t{3});
    QVERIFY2(std::fabs(chain->costs[0] - 913392.0 / 2140496) < 0.01, qPrintable(QString::number(chain->costs[0])));
    QVERIFY2(std::fabs(chain->costs[1] - 1684832.0 / 2140496) < 0.01, qPrintable(QString::number(chain->costs[1])));
    QCOMPARE(chain->costs[2], 1.0);
  }

  void the_paper_s_network_has_four() {
    const auto model = open_model("preset:msdnet-e4");
    const auto chain = exit_chain(*model->forward, model->answer);
    QVERIFY(chain.has_value());
    const std::vector<double> paper{0.337, 0.682, 1.004, 1.250,
                                    1.356};  // G multiplications (docs/decisions/030-msdnet.md)
    QCOMPARE(chain->costs.size(), paper.size());
    for (size_t e = 0; e < paper.size(); ++e) QVERIFY(std::fabs(chain->costs[e] - paper[e] / paper.back()) < 0.01);
  }

  void other_thresholds_stand_in_the_place_of_the_model_s() {
    const auto model = open_model(source_folder() + "/resources/demos/msdnet-digits");
    const auto changed = with_thresholds(model->forward, {{"exits.1.router", 0.25}, {"no.such.router", 0.5}});
    const auto chain = exit_chain(*changed, model->answer);
    QVERIFY(chain.has_value());
    QVERIFY(chain->tests[0].rule.threshold == 0.9F && chain->tests[1].rule.threshold == 0.25F);
    QCOMPARE(exit_chain(*model->forward, model->answer)->tests[1].rule.threshold, 0.9F);  // the model keeps its own
    QVERIFY(with_thresholds(model->forward, {}) == model->forward);
  }

  void what_is_no_chain_of_exits_has_none() {
    const auto model = open_model("preset:patch-mixture");
    QVERIFY(!exit_chain(*model->forward, model->answer));
    QVERIFY(!exit_chain(*model->forward, {Task::classification, "picture", 3}));
    const auto exits = open_model(source_folder() + "/resources/demos/msdnet-digits");
    QVERIFY(!exit_chain(*exits->forward, {Task::classification, "logits", 7}));
    QVERIFY(!exit_chain(path_network_toy().graph, {Task::classification, "logits", 7}));
  }
};

STORMCELL_TEST(ExitChainTest)
#include "exit_chain_test.moc"
