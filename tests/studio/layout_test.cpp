// Every page at the size of a laptop's screen and of a large one: its controls are seen, and its picture takes its room.
#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QImage>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QTemporaryDir>
#include <QToolButton>
#include <algorithm>
#include <map>
#include <vector>

#include "app/studio/main_window.h"
#include "app/studio/what_if_panel.h"
#include "core/base/blocking.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"
#include "tests/views/exits_fixture.h"
#include "tests/views/mixture_fixture.h"
#include "tests/views/overview_fixture.h"
#include "views/registry.h"

namespace stormcell::studio {
namespace {

using namespace stormcell::testing;

const QSize kLaptop(1280, 720), kScreen(1600, 1000);

/// Strips across and down that hold anything but the ground, as shares of all: what a picture spans, without its gaps.
struct Span {
  double across = 0, down = 0;
};

Span span_of(const QImage& picture) {
  constexpr int kStrips = 40;
  // The ground is what most of the border shows.
  std::map<QRgb, int> border;
  for (int x = 0; x < picture.width(); ++x)
    ++border[picture.pixel(x, 0)], ++border[picture.pixel(x, picture.height() - 1)];
  for (int y = 0; y < picture.height(); ++y)
    ++border[picture.pixel(0, y)], ++border[picture.pixel(picture.width() - 1, y)];
  const QRgb ground = std::ranges::max_element(border, {}, [](const auto& entry) { return entry.second; })->first;
  std::vector<bool> across(kStrips), down(kStrips);
  for (int y = 0; y < picture.height(); ++y)
    for (int x = 0; x < picture.width(); ++x)
      if (picture.pixel(x, y) != ground)
        across[x * kStrips / picture.width()] = true, down[y * kStrips / picture.height()] = true;
  const auto share = [](const std::vector<bool>& strips) {
    return static_cast<double>(std::ranges::count(strips, true)) / kStrips;
  };
  return {share(across), share(down)};
}

/// The part of a widget that lies within all widgets around it, in its own coordinates.
QRect on_show(const QWidget& widget) {
  QRect seen = widget.rect();
  for (const QWidget* around = widget.parentWidget(); around; around = around->parentWidget()) {
    seen &= QRect(widget.mapFrom(around, QPoint()), around->size());
    if (around->isWindow()) break;
  }
  return seen;
}

/// Anything that the user works with.
bool is_control(const QWidget& widget) {
  return qobject_cast<const QAbstractButton*>(&widget) || qobject_cast<const QComboBox*>(&widget) ||
         qobject_cast<const QAbstractSpinBox*>(&widget) || qobject_cast<const QLineEdit*>(&widget);
}

/// Controls of a page that are cut, or squeezed below the room that they need.
QStringList cut_controls(const QWidget& page) {
  QStringList cut;
  for (const QWidget* widget : page.findChildren<QWidget*>()) {
    if (!is_control(*widget) || !widget->isVisible()) continue;
    const QRect seen = on_show(*widget);
    if (seen == widget->rect() &&
        widget->width() >= std::min(widget->minimumSizeHint().width(), widget->maximumWidth()))
      continue;
    cut << QString("%1 '%2': %3 x %4 of %5 x %6")
               .arg(widget->metaObject()->className(), widget->accessibleName())
               .arg(seen.width())
               .arg(seen.height())
               .arg(widget->width())
               .arg(widget->height());
  }
  return cut;
}

/// Two runs that were measured, the second a little slower.
std::string make_measured_session(const std::string& path) {
  SessionWriter writer(path, some_model());
  for (const double median : {2.34, 2.5}) {
    RunStart start = some_run("measured");
    start.kind = "optimize";
    auto run = writer.begin_run(start);
    record_batches(*run, start.layout, 0, 2);
    QJsonObject summary = views::optimised();
    summary["baseline"] = views::plan(median, 372'000 / median);
    summary["optimized"] = views::plan(0.8 * median, 465'000 / median);
    run->finish(RunStatus::finished, views::text(summary));
  }
  writer.close();
  return path;
}

QImage drawn(QWidget& widget) {
  QImage image(widget.size(), QImage::Format_RGB32);
  image.fill(widget.palette().color(QPalette::Window));
  QPainter painter(&image);
  widget.render(&painter, {}, {}, QWidget::DrawChildren);
  return image;
}

}  // namespace

class LayoutTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString sample_, mixture_, exits_, measured_;

  /// The view with something on show; false where it has none.
  bool show(MainWindow& window, const QString& id) {
    window.show_view(id);
    return QTest::qWaitFor(
        [&] { return window.view() && window.view()->settled() && window.view()->has_content() && idle(window); },
        20000);
  }
  static bool idle(MainWindow& window) { return window.background().idle(); }

  void check(const QString& session, const QStringList& views) {
    for (const QSize& size : {kLaptop, kScreen}) {
      MainWindow window;
      window.resize(size);
      window.show();
      window.open(session);
      QTRY_VERIFY(window.view() && window.view()->has_content());
      for (const QString& id : views) {
        if (id == "compare") {
          window.actions().trigger("compare-run");
          window.document().show_run(1);
        }
        QVERIFY2(show(window, id), qPrintable(id + ": " + window.view()->message()));
        QCoreApplication::processEvents();
        const QString where = QString("%1 at %2 x %3: ").arg(id).arg(size.width()).arg(size.height());
        QCOMPARE(window.size(), size);
        // Rows of controls settle a turn of the event loop after what they offer.
        const bool whole = QTest::qWaitFor([&] { return cut_controls(*window.view()).isEmpty(); }, 2000);
        const QStringList cut = whole ? QStringList() : cut_controls(*window.view());
        QVERIFY2(cut.isEmpty(), qPrintable(where + cut.join("; ")));
        // A page that scrolls is taken as far as it is on show.
        QWidget* picture = window.view()->picture();
        const QRect seen = on_show(*picture);
        QVERIFY2(!seen.isEmpty(), qPrintable(where));
        const Span span = span_of(drawn(*picture).copy(seen));
        QVERIFY2(span.across >= 0.8 && span.down >= 0.6,
                 qPrintable(where + QString("spans %1 x %2").arg(span.across).arg(span.down)));
      }
    }
  }

 private slots:
  void initTestCase() {
    sample_ = QString::fromStdString(source_folder()) + "/resources/sample/sample.storm";
    mixture_ = QString::fromStdString(make_mixture_session(folder_.filePath("mixture.storm").toStdString()));
    exits_ = QString::fromStdString(make_exits_session(folder_.filePath("exits.storm").toStdString()));
    measured_ = QString::fromStdString(make_measured_session(folder_.filePath("measured.storm").toStdString()));
    forbid_blocking_here();
  }

  void pages_of_an_optimised_run_fit_and_fill_the_window() {
    check(sample_,
          {"overview", "heatmap", "cells", "optimisations", "timeline", "transitions", "graph", "data", "patterns"});
  }
  void pages_of_a_recording_fit_and_fill_the_window() {
    check(mixture_, {"overview", "heatmap", "cells", "transitions", "graph", "data", "placement", "simulation"});
  }
  void pages_of_a_network_with_exits_fit_and_fill_the_window() {
    check(exits_, {"overview", "heatmap", "cells", "transitions", "exits", "graph", "data"});
  }
  void pages_of_two_runs_fit_and_fill_the_window() {
    check(measured_, {"overview", "heatmap", "cells", "timeline", "transitions", "graph", "data", "compare", "diff"});
  }

  void the_panel_what_if_fits_beside_every_view() {
    for (const QSize& size : {kLaptop, kScreen}) {
      MainWindow window;
      window.resize(size);
      window.show();
      window.open(sample_);
      QTRY_VERIFY(window.view() && window.view()->has_content());
      QVERIFY(window.actions().trigger("what-if"));
      auto* panel = window.findChild<WhatIfPanel*>();
      QTRY_VERIFY(panel->isVisible());
      // The overview is a page that scrolls.
      for (const char* id : {"heatmap", "cells", "optimisations", "timeline", "transitions", "graph"}) {
        QVERIFY2(show(window, id), id);
        QCOMPARE(window.size(), size);
        const bool whole = QTest::qWaitFor([&] { return cut_controls(*window.view()).isEmpty(); }, 2000);
        QVERIFY2(whole, qPrintable(id + (": " + cut_controls(*window.view()).join("; "))));
      }
      // Changes scroll, below them tries and buttons are seen whole.
      for (const QPushButton* button : panel->findChildren<QPushButton*>(Qt::FindDirectChildrenOnly))
        QVERIFY2(on_show(*button) == button->rect() && button->width() >= button->minimumSizeHint().width(),
                 qPrintable(button->text()));
      QVERIFY(panel->findChild<QListWidget*>("tries")->height() > size.height() / 4);
      const auto* area = panel->findChild<QScrollArea*>();
      QVERIFY(area->widget()->width() <= area->viewport()->width());
    }
  }

  void every_view_is_driven() {
    const QStringList driven{"overview", "heatmap",   "cells",      "optimisations", "timeline", "transitions", "graph",
                             "data",     "placement", "simulation", "exits",         "compare",  "diff",
                             "patterns"};
    for (const views::ViewEntry& entry : views::all_views()) QVERIFY2(driven.contains(entry.id), entry.id);
  }

  void a_measure_sees_a_picture_that_leaves_its_room_empty() {
    QImage picture(400, 400, QImage::Format_RGB32);
    picture.fill(Qt::white);
    QPainter(&picture).fillRect(40, 40, 200, 100, Qt::black);
    const Span span = span_of(picture);
    QCOMPARE(span.across, 0.5);
    QCOMPARE(span.down, 0.25);
  }
};
STORMCELL_TEST(LayoutTest)

}  // namespace stormcell::studio
#include "layout_test.moc"
