// The simulation view: figures of the verb, clusters beside each other, refusals, keys, pictures.
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSignalSpy>
#include <cmath>

#include "core/planning/place.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "tests/views/controls.h"
#include "tests/views/simulation_fixture.h"
#include "views/drawing/theme.h"
#include "views/simulation/simulation_view.h"

namespace stormcell::views::simulation_test {

using namespace stormcell::testing;

class SimulationViewTest : public QObject, private SimulationFixture {
  Q_OBJECT
 private slots:
  void initTestCase() { session_ = fresh("mixture.storm"); }

  void figures_are_those_of_the_verb() {
    SimulationView view;
    settle(view, context_of(session_));
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    const SimulationPage& page = picture_of(view)->page();
    const SimulateFigures f = simulated(session_, "8x-h100");
    QCOMPARE(page.step.mean_ms, f.mean_ms);
    QCOMPARE(page.step.p95_ms, f.p95_ms);
    QVERIFY(near(page.step.phases.sum(), f.mean_ms));
    QCOMPARE(page.step.overlapped_ms(), 0.);
    QCOMPARE(page.layers.size(), size_t{kLayers});
    double experts = 0;
    for (size_t l = 0; l < page.layers.size(); ++l) {
      QCOMPARE(page.layers[l].compute_ms, f.layers[l].compute_ms);
      QCOMPARE(page.layers[l].dispatch_ms, f.layers[l].dispatch_ms);
      experts += make_simulation_page(f, SimulationPart::phases, l).gpus[5].compute_ms;
    }
    QVERIFY(near(experts, f.gpus[5].compute_ms));
    for (const PhaseTimes& gpu : page.gpus) QVERIFY(gpu.compute_ms <= page.gpus[page.slowest].compute_ms);
    QVERIFY(page.contents.startsWith("Experts and exchange only; a lower bound") &&
            page.headline.startsWith("Simulated") && page.assumptions.size() >= f.assumptions.size());
    QCOMPARE(page.sensitivity.size(), f.sensitivity.size());
    for (size_t i = 1; i < page.sensitivity.size(); ++i)
      QVERIFY(std::abs(page.sensitivity[i].percent) <= std::abs(page.sensitivity[i - 1].percent) * (1 + 1e-6));
  }

  void layers_of_one_number_are_told_apart_by_their_routers() {
    SimulateFigures f = simulated(session_, "8x-h100");
    QCOMPARE(names_of_layers(f)[2], QString("layer 2"));
    f.layers[0].name = "encoder.block.1.layer.1.mlp", f.layers[1].name = "encoder.block.3.layer.1.mlp";
    f.layers[2].name = "decoder.block.1.layer.1.mlp", f.layers[2].number = 0;
    const std::vector<QString> names = names_of_layers(f);
    QVERIFY(names[0] != names[1] && names[0] != names[2] && names[2].contains("decoder"));
    QCOMPARE(make_simulation_page(f, SimulationPart::phases, 2).layer_numbers, (std::vector<int>{0, 1, 2}));
  }

  void phases_that_lie_over_others_are_told() {
    SimulationView view;
    settle(view, context_of(session_));
    control_of<QComboBox>(view, "Overlap")->setCurrentText("two-batch");
    control_of<QComboBox>(view, "Cluster")->setCurrentText("2x8-h100");
    settle(view, context_of(session_));
    const StepTimes& step = picture_of(view)->page().step;
    const SimulateFigures f = simulated(session_, "2x8-h100", "two-batch");
    QCOMPARE(step.mean_ms, f.mean_ms);
    QVERIFY(step.overlapped_ms() > 0 && near(step.phases.sum() - step.overlapped_ms(), step.mean_ms));
    QVERIFY(std::get<QString>(view.table().rows[0].back()).contains("over others"));
  }

  void clusters_stand_beside_each_other() {
    SimulationView view;
    settle(view, context_of(session_));
    control_of<QComboBox>(view, "Show")->setCurrentText("clusters");
    settle(view, context_of(session_));
    const SimulationPage& page = picture_of(view)->page();
    QCOMPARE(page.clusters.size(), static_cast<size_t>(control_of<QComboBox>(view, "Cluster")->count()));
    int refused = 0, chosen = 0;
    for (const ShownCluster& c : page.clusters) {
      chosen += c.chosen;
      refused += !c.fault.isEmpty();
      if (c.chosen) QCOMPARE(c.name, QString("8x-h100"));
      if (c.fault.isEmpty())
        QCOMPARE(c.step.mean_ms, simulated(session_, c.name.toStdString()).mean_ms);
      else
        QVERIFY2(c.fault.contains("16 experts do not divide among"), qPrintable(c.fault));
    }
    QVERIFY(chosen == 1 && refused >= 1);
    QCOMPARE(view.table().rows.size(), page.clusters.size());
    // One that refuses leaves the others to be looked at.
    control_of<QComboBox>(view, "Cluster")->setCurrentText("gb200-nvl72");
    settle(view, context_of(session_));
    QVERIFY2(view.has_content() && page.headline.contains("do not divide among 72 GPUs"), qPrintable(page.headline));
    QCOMPARE(view.table().rows.size(), page.clusters.size());
    control_of<QComboBox>(view, "Show")->setCurrentText("phases");
    settle(view, context_of(session_));
    QVERIFY(!view.has_content() && view.table().columns.empty());
  }

  void a_click_on_a_cluster_takes_it() {
    SimulationView view;
    control_of<QComboBox>(view, "Show")->setCurrentText("clusters");
    settle(view, context_of(session_));
    SimulationPicture* picture = picture_of(view);
    picture->resize(1100, 640);
    const auto at = [&](const QString& name) {
      for (size_t c = 0; c < picture->page().clusters.size(); ++c)
        if (picture->page().clusters[c].name == name) return c;
      return size_t{0};
    };
    QTest::mouseClick(picture, Qt::LeftButton, {},
                      picture->layout_of_page().cluster_row(at("2x8-h100")).center().toPoint());
    settle(view, context_of(session_));
    QCOMPARE(control_of<QComboBox>(view, "Cluster")->currentText(), QString("2x8-h100"));
    QVERIFY(picture->page().clusters[at("2x8-h100")].chosen && picture->page().headline.contains("16 GPUs in 2 nodes"));
  }

  void a_stored_placement_is_simulated_where_it_fits() {
    const std::string copy = fresh("stored.storm");
    PlaceOptions options;
    options.session = copy, options.cluster = "preset:gb200-nvl72", options.redundant = 56;
    place(options);
    options.cluster = "preset:8x-h100", options.redundant = 0;
    const int64_t id = place(options).placement;
    SimulationView view;
    settle(view, context_of(copy));
    QComboBox* placement = control_of<QComboBox>(view, "Placement");
    QCOMPARE(placement->count(), 2);  // the other one is of 72 GPUs
    const double contiguous = picture_of(view)->page().step.mean_ms;
    placement->setCurrentIndex(1);
    control_of<QComboBox>(view, "Show")->setCurrentText("clusters");
    settle(view, context_of(copy));
    SimulateOptions same;
    same.session = copy, same.cluster = "preset:8x-h100", same.placement = "#" + std::to_string(id);
    QCOMPARE(picture_of(view)->page().step.mean_ms, simulate(same).mean_ms);
    QVERIFY(picture_of(view)->page().step.mean_ms != contiguous);
    for (const ShownCluster& c : picture_of(view)->page().clusters) {
      if (c.name == "gb200-nvl72") QVERIFY2(c.fault.isEmpty() && c.about.contains('#'), qPrintable(c.fault));
      if (c.name == "2x8-h100") QVERIFY(c.about.endsWith("contiguous"));
      if (c.chosen) QVERIFY(c.about.endsWith("#" + QString::number(id)));
    }
  }

  void replicas_and_residence_are_those_of_the_verb() {
    const std::string copy = fresh("ways.storm");
    PlaceOptions place_options;
    place_options.session = copy, place_options.cluster = "preset:8x-h100", place_options.redundant = 8;
    const int64_t id = place(place_options).placement;
    SimulationView view;
    settle(view, context_of(copy));
    control_of<QComboBox>(view, "Placement")->setCurrentIndex(1);
    settle(view, context_of(copy));
    SimulateOptions options;
    options.session = copy, options.cluster = "preset:8x-h100", options.placement = "#" + std::to_string(id);
    QCOMPARE(picture_of(view)->page().step.mean_ms, simulate(options).mean_ms);
    const double even = picture_of(view)->page().step.mean_ms;
    QComboBox *replicas = control_of<QComboBox>(view, "Replicas"),
              *residence = control_of<QComboBox>(view, "Residence");
    replicas->setCurrentText("nearest");
    settle(view, context_of(copy));
    options.step.replicas = "nearest";
    QCOMPARE(picture_of(view)->page().step.mean_ms, simulate(options).mean_ms);
    QVERIFY(picture_of(view)->page().step.mean_ms != even &&
            picture_of(view)->page().about.contains("nearest replicas"));
    residence->setCurrentText("follow");
    settle(view, context_of(copy));
    QVERIFY2(!view.has_content() && view.message().contains("which replica is nearest depends on where the token is"),
             qPrintable(view.message()));
    replicas->setCurrentText("even");
    settle(view, context_of(copy));
    options.step.replicas.clear(), options.step.residence = "follow";
    QCOMPARE(picture_of(view)->page().step.mean_ms, simulate(options).mean_ms);
    // An exchange of tokens that follow too.
    control_of<QComboBox>(view, "Show")->setCurrentText("exchange");
    settle(view, context_of(copy));
    options.collective = 0, options.collective_step = 0;
    QCOMPARE(picture_of(view)->page().exchanges[1].closed_form_ms,
             simulate(options).collective->combine.closed_form_ms);
  }

  void a_capacity_drops_choices_as_the_verb_says() {
    SimulationView view;
    settle(view, context_of(session_));
    const double whole = picture_of(view)->page().step.mean_ms;
    QVERIFY(!picture_of(view)->page().about.contains("capacity"));
    auto* box = control_of<QDoubleSpinBox>(view, "Capacity factor");
    QCOMPARE(box->text(), QString("none"));
    box->setValue(0.5);
    settle(view, context_of(session_));
    SimulateOptions options;
    options.session = session_, options.cluster = "preset:8x-h100", options.step.capacity_factor = 0.5;
    const SimulateFigures f = simulate(options);
    const SimulationPage& page = picture_of(view)->page();
    QCOMPARE(page.step.mean_ms, f.mean_ms);
    QVERIFY(f.capacity->dropped > 0 && f.mean_ms < whole && page.about.contains("capacity factor 0.5"));
    QVERIFY(std::any_of(page.figures.begin(), page.figures.end(),
                        [](const auto& one) { return one.name == "Dropped choices"; }));
    QVERIFY(std::any_of(page.assumptions.begin(), page.assumptions.end(),
                        [](const QString& line) { return line.contains("not lossless"); }));
  }

  void without_sizes_it_says_what_the_verb_says_and_takes_them() {
    const std::string none = make_mixture_session(folder_.filePath("sizes.storm").toStdString(), "{}");
    SimulationView view;
    view.resize(1200, 700);
    view.show();
    settle(view, context_of(none));
    QVERIFY(!view.has_content() && view.table().columns.empty());
    QVERIFY2(view.message().contains("does not say the sizes of the model, so the cost of a step is not known"),
             qPrintable(view.message()));
    QVERIFY(view.message().contains("Hidden size and Expert width can be entered") && !view.message().contains("--"));
    QVERIFY(control_of<QComboBox>(view, "Cluster")->isVisible());
    control_of<QDoubleSpinBox>(view, "Hidden size")->setValue(1024);
    control_of<QDoubleSpinBox>(view, "Expert width")->setValue(2048);
    settle(view, context_of(none));
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    QCOMPARE(picture_of(view)->page().step.mean_ms, simulated(session_, "8x-h100").mean_ms);
    // A cluster that does not hold the experts is refused, and another choice brings the figures back.
    control_of<QComboBox>(view, "Cluster")->setCurrentText("gb200-nvl72");
    settle(view, context_of(none));
    QVERIFY(!view.has_content() && view.message().contains("do not divide among 72 GPUs"));
    control_of<QComboBox>(view, "Cluster")->setCurrentText("8x-h100");
    settle(view, context_of(none));
    QVERIFY(view.has_content());
  }

  void without_a_run_or_with_unequal_layers_it_says_so() {
    SimulationView nothing;
    run_load(nothing, {});
    QVERIFY(!nothing.has_content() && !nothing.message().isEmpty());
    SimulationView unequal;
    settle(unequal, context_of(make_cells_session(folder_.filePath("cells.storm").toStdString())));
    QVERIFY(!unequal.has_content());
    QVERIFY2(unequal.message().contains("only layers with equal numbers of experts can be placed"),
             qPrintable(unequal.message()));
  }

  void what_was_stopped_comes_back_with_the_former_choice() {
    SimulationView view;
    settle(view, context_of(session_));
    control_of<QComboBox>(view, "Cluster")->setCurrentText("2x8-h100");
    const View::Load load = view.look_at(context_of(session_), {});
    Progress stopped;
    stopped.cancel.cancel();
    QVERIFY_THROWS_EXCEPTION(Error, load(stopped));
    view.show_message("Stopped.");
    control_of<QComboBox>(view, "Cluster")->setCurrentText("8x-h100");
    settle(view, context_of(session_));
    QVERIFY(view.has_content());
  }

  void the_layer_follows_the_selection_and_asks_for_it() {
    SimulationView view;
    Selection selection;
    selection.router = "model.layers.2.mlp";
    settle(view, context_of(session_), selection);
    QCOMPARE(picture_of(view)->page().layer, size_t{2});
    QSignalSpy wanted(&view, &View::selection_wanted);
    SimulationPicture* picture = picture_of(view);
    picture->resize(1100, 640);
    QTest::mouseClick(picture, Qt::LeftButton, {},
                      picture->layout_of_page().bar(picture->layout_of_page().layers, 1).center().toPoint());
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted[0][0].value<Selection>().router, QString("model.layers.1.mlp"));
    QCOMPARE(control_of<QComboBox>(view, "Layer")->currentIndex(), 1);
  }

  void keys_go_through_layers_gpus_and_clusters() {
    SimulationView view;
    settle(view, context_of(session_));
    SimulationPicture* picture = picture_of(view);
    QTest::keyClick(picture, Qt::Key_End);
    QCOMPARE(picture->page().layer, size_t{kLayers - 1});
    QTest::keyClick(picture, Qt::Key_Left);
    QCOMPARE(picture->page().layer, size_t{kLayers - 2});
    QVERIFY2(picture->accessibleDescription().contains("layer 1: dispatch"),
             qPrintable(picture->accessibleDescription()));
    QTest::keyClick(picture, Qt::Key_Down);
    QTest::keyClick(picture, Qt::Key_Down);
    QCOMPARE(picture->marks().gpu, std::optional<size_t>(1));
    QVERIFY(picture->accessibleDescription().contains("GPU 1 of node 0"));
    QTest::keyClick(picture, Qt::Key_Escape);
    QVERIFY(!picture->marks().gpu);
    control_of<QComboBox>(view, "Show")->setCurrentText("clusters");
    settle(view, context_of(session_));
    QTest::keyClick(picture, Qt::Key_Down);
    QTest::keyClick(picture, Qt::Key_Return);
    settle(view, context_of(session_));
    QCOMPARE(control_of<QComboBox>(view, "Cluster")->currentIndex(), 0);
  }

  void the_table_has_what_the_picture_has() {
    SimulationView view;
    settle(view, context_of(session_));
    const Table phases = view.table();
    QCOMPARE(phases.rows.size(), 1 + size_t{kLayers} + 8 + picture_of(view)->page().sensitivity.size());
    control_of<QComboBox>(view, "Show")->setCurrentText("exchange");
    settle(view, context_of(session_));
    const Table exchange = view.table();
    QCOMPARE(exchange.rows.size(), size_t{2 * 8 * 64});
    for (const Table& table : {phases, exchange}) {
      for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
      for (const Table::Column& column : table.columns) QVERIFY(!column.tip.isEmpty());
    }
  }

  void pictures_look_as_they_did() {
    struct Case {
      const char *golden, *show, *cluster, *overlap;
      const Theme& theme;
      double rest_ms = 0;
    };
    for (const Case& c : {Case{"simulation-light", "phases", "8x-h100", "none", Theme::light()},
                          Case{"simulation-dark", "phases", "2x8-h100", "two-batch", Theme::dim()},
                          Case{"simulation-clusters", "clusters", "8x-h100", "two-batch", Theme::light()},
                          Case{"simulation-exchange", "exchange", "2x8-h100", "none", Theme::dim()},
                          Case{"simulation-messages", "messages", "8x-h100", "none", Theme::light()},
                          Case{"simulation-rest", "phases", "8x-h100", "none", Theme::light(), 0.25}}) {
      SimulationView view;
      view.setPalette(c.theme.palette());
      settle(view, context_of(session_));
      control_of<QComboBox>(view, "Show")->setCurrentText(c.show);
      control_of<QComboBox>(view, "Cluster")->setCurrentText(c.cluster);
      control_of<QComboBox>(view, "Overlap")->setCurrentText(c.overlap);
      control_of<QDoubleSpinBox>(view, "Rest of a step, ms")->setValue(c.rest_ms);
      settle(view, context_of(session_));
      const QString difference = compare_with_golden(draw(*view.picture(), {1100, 640}), c.golden);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }
};
STORMCELL_TEST(SimulationViewTest)

}  // namespace stormcell::views::simulation_test
#include "simulation_test.moc"
