// The simulation view: exchanges and messages in time, and by what the time of each phase is known.
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <fstream>

#include "core/planning/calibrate.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "tests/views/controls.h"
#include "tests/views/simulation_fixture.h"
#include "views/simulation/simulation_view.h"

namespace stormcell::views::simulation_phases_test {

using namespace stormcell::testing;

class SimulationPhasesTest : public QObject, private SimulationFixture {
  Q_OBJECT
 private slots:
  void initTestCase() { session_ = fresh("mixture.storm"); }

  void one_exchange_in_time() {
    SimulationView view;
    control_of<QComboBox>(view, "Show")->setCurrentText("exchange");
    settle(view, context_of(session_));
    control_of<QComboBox>(view, "Cluster")->setCurrentText("2x8-h100");
    settle(view, context_of(session_));
    control_of<QComboBox>(view, "Layer")->setCurrentIndex(1);
    control_of<QComboBox>(view, "Step")->setCurrentText("4");
    control_of<QDoubleSpinBox>(view, "Oversubscription")->setValue(2);
    settle(view, context_of(session_));
    SimulateOptions options;
    options.session = session_, options.cluster = "preset:2x8-h100", options.oversubscription = 2;
    options.collective = 1, options.collective_step = 4;
    const SimulatedCollective c = *simulate(options).collective;
    const SimulationPage& page = picture_of(view)->page();
    QCOMPARE(page.exchanges.size(), size_t{2});
    QVERIFY2(page.exchanges[0].title.startsWith("Dispatch of layer 1 in step 4"), qPrintable(page.exchanges[0].title));
    QCOMPARE(page.exchanges[1].closed_form_ms, c.combine.closed_form_ms);
    QCOMPARE(page.exchanges[0].lanes.size(), size_t{16 + 2});
    QCOMPARE(page.exchanges[0].lanes.back().name, QString("node 1 uplink"));
    // A lane sends the share of its busiest port.
    for (size_t l = 0; l < c.links.size(); ++l)
      if (c.links[l].owner == "GPU 3" && c.links[l].sends)
        for (size_t s = 0; s < c.dispatch.timeline.size(); ++s)
          QVERIFY(page.exchanges[0].lanes[3].sends[s] >= c.dispatch.timeline[s].link_share[l]);
    control_of<QComboBox>(view, "Cluster")->setCurrentText("1x-rtx4090-pcie");
    settle(view, context_of(session_));
    QVERIFY(page.exchanges.empty() && page.no_exchange.contains("nothing to exchange"));
  }

  void single_messages_of_few_gpus() {
    SimulationView view;
    control_of<QComboBox>(view, "Show")->setCurrentText("messages");
    settle(view, context_of(session_));
    SimulateOptions options;
    options.session = session_, options.cluster = "preset:8x-h100", options.collective = 0;
    const SimulatedCollective c = *simulate(options).collective;
    const SimulationPage& page = picture_of(view)->page();
    QCOMPARE(page.exchanges[0].sent.size(), static_cast<size_t>(c.dispatch.messages));
    const Table table = view.table();
    QCOMPARE(table.rows.size(), static_cast<size_t>(c.dispatch.messages + c.combine.messages));
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    for (const Table::Column& column : table.columns) QVERIFY(!column.tip.isEmpty());
    double bytes = 0;
    for (const ShownMessage& m : page.exchanges[1].sent) {
      QVERIFY(m.from != m.to && m.end_ms > 0 && m.end_ms <= page.exchanges[1].end_ms * (1 + 1e-9));
      bytes += m.bytes;
    }
    QVERIFY(near(bytes, c.combine.bytes));
    SimulationPicture* picture = picture_of(view);
    picture->resize(1100, 640);
    const SimulationLayout& layout = picture->layout_of_page();
    QCOMPARE(layout.lane_at(layout.lane(1, 3).center()), std::optional(SimulationLayout::LaneSpan{1, 3, 0}));
    const ShownMessage& third = page.exchanges[1].sent[3];
    QVERIFY(
        describe_message(page.exchanges[1], 3).startsWith(QString("GPU %1 to GPU %2: ").arg(third.from).arg(third.to)));
    // For more GPUs it says where they are shown.
    control_of<QComboBox>(view, "Cluster")->setCurrentText("2x8-h100");
    settle(view, context_of(session_));
    QVERIFY2(page.exchanges.empty() && page.no_exchange.contains("up to 8 GPUs, and 2x8-h100 has 16"),
             qPrintable(page.no_exchange));
    QVERIFY(view.table().rows.empty());
    control_of<QComboBox>(view, "Show")->setCurrentText("exchange");
    settle(view, context_of(session_));
    QCOMPARE(page.exchanges.size(), size_t{2});
  }

  // Products over rows that tell experts, and nothing of messages.
  void a_calibration_says_of_each_phase_how_it_is_told() {
    const std::string calls = folder_.filePath("rows.csv").toStdString(),
                      file = folder_.filePath("cal.json").toStdString();
    std::string text = "op,gpu,dtype,inputs,outputs,rows,us,source\n";
    for (const char* shape : {"1024,2048", "2048,1024"})
      for (const int rows : {1, 8, 64})
        text += std::string("product,H100,bf16,") + shape + "," + std::to_string(rows) + ",50,a desk\n";
    std::ofstream(calls) << text;
    CalibrateOptions options;
    options.files = {calls};
    std::ofstream(file) << calibrate(options).calibration;
    SimulationView view;
    settle(view, context_of(session_));
    QVERIFY(picture_of(view)->page().calibrated.empty());
    const double before = picture_of(view)->page().step.phases.compute_ms;
    auto* box = control_of<QComboBox>(view, "Calibration");
    const QSignalSpy wanted(&view, &View::load_wanted);
    box->setEditText(of_file(file));
    emit box->lineEdit()->editingFinished();
    QCOMPARE(wanted.count(), 1);
    settle(view, context_of(session_));
    const SimulationPage& page = picture_of(view)->page();
    QCOMPARE(page.calibrated.size(), size_t{3});
    QVERIFY(page.calibrated[0].value == "data sheet" &&
            page.calibrated[0].tip.contains("no dispatch was measured on such links"));
    QVERIFY2(
        page.calibrated[1].value.startsWith("interpolated") && page.calibrated[1].tip.contains("product bf16 of H100"),
        qPrintable(page.calibrated[1].value + page.calibrated[1].tip));
    QVERIFY(page.step.phases.compute_ms > 2 * before && page.figures.size() > page.calibrated.size());
    SimulateOptions same;
    same.session = session_, same.cluster = "preset:8x-h100", same.calibration = file;
    QCOMPARE(page.step.mean_ms, simulate(same).mean_ms);
    QVERIFY(std::any_of(page.sensitivity.begin(), page.sensitivity.end(),
                        [](const auto& s) { return s.figure == "time of an expert"; }));
    int told = 0;
    const Table table = view.table();
    for (const auto& row : table.rows) told += to_text(row[0]).endsWith(" by");
    QCOMPARE(told, 3);
    // Beside each other it says which are by what.
    control_of<QComboBox>(view, "Show")->setCurrentText("clusters");
    settle(view, context_of(session_));
    QVERIFY(page.any_calibrated);
    const Table beside = view.table();
    for (size_t c = 0; c < page.clusters.size(); ++c) {
      if (page.clusters[c].chosen) QCOMPARE(basis_text(page.clusters[c]), QString("experts calibrated"));
      QCOMPARE(to_text(beside.rows[c].back()),
               page.clusters[c].fault.isEmpty() ? basis_text(page.clusters[c]) : QString());
      QCOMPARE(beside.rows[c].size(), beside.columns.size());
    }
    control_of<QComboBox>(view, "Show")->setCurrentText("phases");
    settle(view, context_of(session_));
    // A file that is none is refused, and data sheets come back.
    box->setEditText(of_file(calls + ".none"));
    settle(view, context_of(session_));
    QVERIFY(!view.has_content() && view.message().contains("rows.csv.none"));
    box->setCurrentIndex(0);
    box->setEditText(box->itemText(0));
    settle(view, context_of(session_));
    QVERIFY(view.has_content() && near(picture_of(view)->page().step.phases.compute_ms, before));
  }

  void what_times_are_by_is_told_of_phases_that_take_some() {
    ShownCluster c{"cluster", "8 GPUs", "", {{1, 5, 2}, 7, 6.5, 9}, false};
    QCOMPARE(basis_text(c), QString("data sheets"));
    c.calibrated = {true, false, true};
    QCOMPARE(basis_text(c), QString("dispatch, combine calibrated"));
    c.step.phases.compute_ms = 0;
    QCOMPARE(basis_text(c), QString("calibrated"));
  }

  void a_rest_is_stated_and_gives_a_rate() {
    SimulationView view;
    settle(view, context_of(session_));
    const auto figure = [&](const QString& name) {
      for (const SimulatedFigure& f : picture_of(view)->page().figures)
        if (f.name == name) return f;
      return SimulatedFigure();
    };
    const SimulationPage bare = picture_of(view)->page();
    QCOMPARE(bare.contents, QString("Experts and exchange only; a lower bound."));
    QVERIFY(figure("Tokens a second").value == "not stated" &&
            figure("Tokens a second").tip.contains("attention, norms and sampling"));
    QVERIFY(picture_of(view)->accessibleDescription().startsWith(bare.contents) && bare.step.phases.rest_ms == 0);
    QVERIFY(to_text(view.table().rows[0].back()).startsWith("Experts and exchange only; a lower bound"));
    control_of<QDoubleSpinBox>(view, "Rest of a step, ms")->setValue(2.5);
    settle(view, context_of(session_));
    const SimulationPage page = picture_of(view)->page();
    QCOMPARE(page.contents,
             QString("Experts, exchange and a stated rest of 2.5 ms; a lower bound if the rest is right."));
    QVERIFY(near(page.step.mean_ms, bare.step.mean_ms + 2.5) && page.step.phases.rest_ms == 2.5 &&
            page.step.overlapped_ms() == 0);
    QVERIFY2(figure("Tokens a second").value.startsWith("< "), qPrintable(figure("Tokens a second").value));
    const auto parts = picture_of(view)->layout_of_page().step_parts();
    QVERIFY(near(parts[3].right(), picture_of(view)->layout_of_page().step.right()) && parts[3].width() > 0);
    const Table table = view.table();
    QVERIFY(std::any_of(table.rows.begin(), table.rows.end(),
                        [](const auto& row) { return to_text(row[0]) == "stated rest"; }));
  }
};

STORMCELL_TEST(SimulationPhasesTest)

}  // namespace stormcell::views::simulation_phases_test

#include "simulation_phases_test.moc"
