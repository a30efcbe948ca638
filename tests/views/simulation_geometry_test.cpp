// The layout of the simulation view, and the thing at a place.
#include "views/simulation/simulation_geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::views {
namespace {

bool near_to(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

SimulationPage page_of_shape(size_t layers, size_t gpus, size_t clusters, size_t lanes) {
  SimulationPage page;
  for (size_t l = 0; l < layers; ++l) {
    page.layers.push_back({0.1, 0.5 + 0.1 * static_cast<double>(l % 3), 0.2});
    page.layer_names.push_back(QString("layer %1").arg(l));
    page.layer_numbers.push_back(static_cast<int>(l));
    page.imbalance.push_back(0.2);
  }
  for (size_t g = 0; g < gpus; ++g) page.gpus.push_back({0.1, 0.1 * static_cast<double>(g % 7), 0.1});
  page.step = {{1, 5, 2}, 7, 6.5, 9};
  page.figures.resize(7);
  for (const double percent : {-8., 5., 0.}) page.sensitivity.push_back({"figure", percent});
  for (size_t c = 0; c < clusters; ++c)
    page.clusters.push_back({"cluster", "8 GPUs", c % 4 == 3 ? "why" : "", page.step, c == 1});
  for (const char* way : {"Dispatch", "Combine"}) {
    ShownExchange& e = page.exchanges.emplace_back();
    e.way = e.title = way, e.end_ms = 2, e.closed_form_ms = 1.5;
    e.lanes.assign(lanes, {"GPU 0", std::vector<double>(64, 0.5), std::vector<double>(64, 1)});
  }
  page.assumptions = {"one", QString("two ").repeated(100)};
  return page;
}

}  // namespace

class SimulationGeometryTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_drawn_at_a_place_is_found_there() {
    for (const auto& [layers, gpus, clusters, lanes] :
         {std::array<size_t, 4>{3, 8, 8, 8}, {61, 72, 9, 66}, {94, 320, 2, 18}, {1, 1, 1, 2}})
      for (const QSizeF size : {QSizeF(1100, 640), QSizeF(640, 420), QSizeF(1900, 1100)}) {
        const SimulationPage page = page_of_shape(layers, gpus, clusters, lanes);
        const SimulationLayout layout(page, size, 16, 8);
        const QRectF all(QPointF(), size);
        for (const QRectF& part :
             {layout.contents, layout.headline, layout.legend, layout.assumed, layout.step, layout.layers.plot,
              layout.gpus.plot, layout.figures, layout.clusters, layout.exchange(0), layout.exchange(1)})
          QVERIFY(all.contains(part));
        QVERIFY(layout.step.bottom() < layout.layers.title.top() &&
                layout.layers.plot.bottom() < layout.gpus.title.top() &&
                layout.gpus.plot.bottom() < layout.assumed.top());
        for (const BarChart* chart : {&layout.layers, &layout.gpus}) {
          const std::vector<PhaseTimes>& times = chart == &layout.gpus ? page.gpus : page.layers;
          for (size_t i = 0; i < times.size(); ++i) {
            QCOMPARE(layout.bar_at(*chart, layout.bar(*chart, i).center()), std::optional(i));
            const auto parts = layout.bar_parts(*chart, i);
            QVERIFY(near_to(parts[0].bottom() - parts[2].top(),
                            chart->plot.bottom() - layout.tick(*chart, times[i].sum())));
          }
        }
        const auto step = layout.step_parts();
        QVERIFY(layout.contents.bottom() <= layout.headline.top() && step[3].width() == 0);
        QVERIFY(near_to(step[2].right(), layout.step.right()) &&
                near_to(layout.step_overlap().right(), layout.step.right()));
        QVERIFY(near_to(layout.step_overlap().width() / layout.step.width(), 1. / 8));
        for (size_t c = 0; c < clusters; ++c)
          QCOMPARE(layout.cluster_at(layout.cluster_row(c).center()), std::optional(c));
        for (size_t l = 0; l < lanes; ++l)
          for (const size_t e : {size_t{0}, size_t{1}})
            QCOMPARE(layout.lane_at(layout.lane(e, l).center()), std::optional(SimulationLayout::LaneSpan{e, l, 32}));
        QVERIFY(layout.sensitivity_bar(0).right() == layout.sensitivity_zero() && layout.sensitivity_bar(1).left() > 0);
      }
  }

  /// "+0.00978 %" is longer than most values: it fits beside its bar, and so does the value of the longest bar.
  void the_value_of_a_small_change_has_room() {
    SimulationPage page = page_of_shape(3, 8, 8, 8);
    for (const std::vector<double>& percents :
         {std::vector{9.16, -0.751, 0.00978, -0.00889, 0.0}, std::vector{0.00978, -0.00889}}) {
      page.sensitivity.clear();
      for (const double percent : percents) page.sensitivity.push_back({"figure", percent});
      const SimulationLayout layout(page, {1100, 640}, 16, 8);
      QCOMPARE(layout.shown_sensitivity(), percents.size());
      for (size_t i = 0; i < percents.size(); ++i) {
        const QRectF value = layout.sensitivity_value(i), bar = layout.sensitivity_bar(i);
        const QString text = percent_change_text(percents[i]);
        QVERIFY2(value.width() >= 8 * static_cast<double>(text.size()) - 4, qPrintable(text));
        QVERIFY(layout.sensitivity.contains(value) &&
                (percents[i] < 0 ? value.right() < bar.left() : value.left() > bar.right()));
        QVERIFY(value.left() >= layout.sensitivity_name(i).right());
      }
    }
  }

  void the_smallest_export_has_a_geometry_too() {
    const SimulationPage page = page_of_shape(94, 320, 9, 66);
    const SimulationLayout layout(page, {100, 100}, 16, 16);
    for (size_t i = 0; i < page.gpus.size(); ++i) QVERIFY(layout.bar(layout.gpus, i).isValid());
    for (size_t c = 0; c < page.clusters.size(); ++c) QVERIFY(layout.cluster_row(c).isValid());
    for (size_t l = 0; l < page.exchanges[1].lanes.size(); ++l) QVERIFY(layout.lane(1, l).isValid());
    QVERIFY(layout.shown_sensitivity() <= page.sensitivity.size());
  }
};
STORMCELL_TEST(SimulationGeometryTest)

}  // namespace stormcell::views
#include "simulation_geometry_test.moc"
