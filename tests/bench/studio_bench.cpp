// The Studio on a session of 10^8 routed cells: first picture, memory, frames, idleness, and how long the window ever
// waits.
//
//   studio_bench [--folder DIR] [--small]
//
// The session is made in DIR (default: a folder `studio-bench` beside the program) and kept there, about 2 GiB. Prints
// a Markdown table, as docs/benchmarks/studio.md has it. No display is needed.
#include <sys/resource.h>

#include <QApplication>
#include <QDir>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QImage>
#include <QMimeData>
#include <QProcess>
#include <QStyleFactory>
#include <QUrl>
#include <QWheelEvent>
#include <QtTest/QTest>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <thread>

#include "app/studio/main_window.h"
#include "app/studio/picture_export.h"
#include "core/base/blocking.h"
#include "tests/bench/huge_session.h"
#include "views/heatmap/heatmap_view.h"
#include "views/registry.h"

namespace stormcell::bench {
namespace {

using studio::MainWindow;

double resident_mb(const char* what = "VmRSS:") {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == what) {
      double kib = 0;
      status >> kib;
      return kib / 1024;
    }
  return 0;
}

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

void row(const QString& what, const QString& figure, const QString& bar = {}) {
  std::printf("| %s | %s | %s |\n", qPrintable(what), qPrintable(figure), qPrintable(bar));
  std::fflush(stdout);
}

QString ms(double v) { return QString("%1 ms").arg(v, 0, 'f', v < 10 ? 2 : 0); }

/// Sends the window an event every 2 ms from another thread, and keeps the longest that one had to wait.
class Waiting {
 public:
  explicit Waiting(QObject* window) : thread_([window, state = state_] { loop(window, state); }) {}
  ~Waiting() {
    state_->stop = true;
    thread_.join();
  }
  double longest_ms() const { return state_->longest_ms; }

 private:
  struct State {
    std::atomic<bool> stop{false}, on_its_way{false};
    std::atomic<double> longest_ms{0};
  };
  static void loop(QObject* window, const std::shared_ptr<State>& state) {
    while (!state->stop) {
      if (!state->on_its_way.exchange(true)) {
        QElapsedTimer since;
        since.start();
        QMetaObject::invokeMethod(
            window,
            [state, since] {
              state->longest_ms = std::max(state->longest_ms.load(), static_cast<double>(since.nsecsElapsed()) * 1e-6);
              state->on_its_way = false;
            },
            Qt::QueuedConnection);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

template <class Until>
bool wait_for(Until until, int most_ms = 60'000) {
  return QTest::qWaitFor(until, most_ms);
}

QImage painted(QWidget& widget) {
  QImage image(widget.size(), QImage::Format_ARGB32_Premultiplied);
  widget.render(&image);
  return image;
}

struct Frames {
  std::vector<double> ms;
  QString text() const {
    std::vector<double> sorted = ms;
    std::sort(sorted.begin(), sorted.end());
    return QString("median %1 ms, p99 %2 ms, longest %3 ms")
        .arg(sorted[sorted.size() / 2], 0, 'f', 2)
        .arg(sorted[sorted.size() * 99 / 100], 0, 'f', 2)
        .arg(sorted.back(), 0, 'f', 2);
  }
};

/// Each `step` is an event of the user; a frame is what it and the painting after it take.
template <class Step>
Frames frames(QWidget& widget, int count, Step step) {
  Frames result;
  QImage image(widget.size(), QImage::Format_ARGB32_Premultiplied);
  for (int i = 0; i < count; ++i) {
    QElapsedTimer timer;
    timer.start();
    step(i);
    widget.render(&image);
    result.ms.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
  }
  return result;
}

void wheel(QWidget& widget, QPointF at, int steps) {
  QWheelEvent event(at, widget.mapToGlobal(at), {}, {0, 120 * steps}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                    false);
  QApplication::sendEvent(&widget, &event);
}

void mouse(QWidget& widget, QEvent::Type type, QPointF at) {
  QMouseEvent event(type, at, widget.mapToGlobal(at), Qt::LeftButton,
                    type == QEvent::MouseButtonRelease ? Qt::NoButton : Qt::LeftButton, {});
  QApplication::sendEvent(&widget, &event);
}

void drop(QWidget& window, const QString& file) {
  QMimeData what;
  what.setUrls({QUrl::fromLocalFile(file)});
  QDropEvent event({100, 100}, Qt::CopyAction, &what, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &event);
}

void write_trace(const QString& file, int tokens) {
  std::ofstream out(file.toStdString());
  out << "# route_trace v1\n# model=bench arch=made n_layer=8 n_expert=64 "
         "n_expert_used=4\nturn,phase,step,layer,slot,expert,weight\n";
  for (int t = 0; t < tokens; ++t)
    for (int layer = 0; layer < 8; ++layer)
      for (int slot = 0; slot < 4; ++slot)
        out << "0,0," << t << ',' << layer << ',' << slot << ',' << (t * 7 + layer * 5 + slot * 13) % 64 << ",0.25\n";
}

struct Bench {
  bool small = false;
  QDir folder;
  HugeSession size;
  QString session;
};

// A view without data shows its message, which is a picture too.
bool has_picture(MainWindow& window) {
  return window.view() && !window.document().empty() && window.background().idle();
}
bool wait_for_picture(MainWindow& window) {
  return wait_for([&] { return has_picture(window); });
}
bool wait_until_idle(MainWindow& window) {
  return wait_for([&] { return window.background().idle(); });
}

Bench read_arguments(QStringList& arguments) {
  Bench bench;
  bench.small = arguments.removeOne("--small");
  const int at = static_cast<int>(arguments.indexOf("--folder"));
  bench.folder = QDir(at > 0 ? arguments.value(at + 1) : QCoreApplication::applicationDirPath() + "/studio-bench");
  bench.folder.mkpath(".");
  if (bench.small) bench.size.routers = 12, bench.size.branches = 64, bench.size.batches = 400;
  bench.session = bench.folder.filePath(QString("huge-%1.storm").arg(bench.size.routed()));
  return bench;
}

void make_session(const Bench& bench) {
  QElapsedTimer timer;
  timer.start();
  write_huge_session(bench.session.toStdString() + ".part", bench.size);
  QFile::rename(bench.session + ".part", bench.session);
  std::fprintf(stderr, "made %s: %.0f s, %.0f MiB\n", qPrintable(bench.session),
               static_cast<double>(timer.elapsed()) * 1e-3,
               static_cast<double>(QFileInfo(bench.session).size()) / 1048576);
}

/// In a process of its own for each view: what it takes from nothing.
int first_picture(const Bench& bench, const QString& id, const QElapsedTimer& since_start) {
  const auto after = [&] {
    return QString("%1 s after the start, %2 MB resident")
        .arg(static_cast<double>(since_start.elapsed()) * 1e-3, 0, 'f', 2)
        .arg(resident_mb("VmHWM:"), 0, 'f', 0);
  };
  MainWindow window;
  window.resize(1600, 1000);
  window.show_view(id);
  window.open(bench.session);
  window.show();
  if (!wait_for([&] { return (window.view() && window.view()->has_content()) || has_picture(window); })) return 1;
  painted(window);
  row(QString("first picture: %1").arg(id), after(), "under 1 s, 300 MB");
  if (window.background().idle()) return 0;
  if (!wait_for_picture(window)) return 1;
  painted(window);
  row(QString("%1, all of it").arg(id), after(), {});
  return 0;
}

void first_pictures(const Bench& bench) {
  for (const views::ViewEntry& entry : views::all_views()) {
    QProcess child;
    child.setProcessChannelMode(QProcess::ForwardedChannels);
    QStringList options = {"--folder", bench.folder.path(), "--first-picture", entry.id};
    if (bench.small) options << "--small";
    child.start(QCoreApplication::applicationFilePath(), options);
    child.waitForFinished(-1);
  }
}

void opening_and_every_view(const Bench& bench, MainWindow& window) {
  double longest = 0;
  Waiting waiting(&window);
  window.show_view("overview");
  window.open(bench.session);
  wait_for_picture(window);
  for (const views::ViewEntry& entry : views::all_views()) {
    window.show_view(entry.id);
    wait_until_idle(window);
    QTest::qWait(300);
    if (waiting.longest_ms() > longest) {
      longest = waiting.longest_ms();
      std::fprintf(stderr, "longest wait so far %.0f ms, at %s\n", longest, entry.id);
    }
  }
  row("window waits at most: opening, every view", ms(longest), "100 ms");
}

void heatmap_frames(MainWindow& window) {
  window.show_view("heatmap");
  wait_for_picture(window);
  auto* picture = window.view()->findChild<views::HeatmapPicture*>();
  if (!picture) return;
  const QPointF middle(picture->width() * 0.6, picture->height() * 0.25);
  row("heatmap, a frame of zooming",
      frames(*picture, 120, [&](int i) { wheel(*picture, middle, i % 24 < 12 ? 1 : -1); }).text(), "8 ms");
  for (int i = 0; i < 6; ++i) wheel(*picture, middle, 1);
  mouse(*picture, QEvent::MouseButtonPress, middle);
  row("heatmap, a frame of moving",
      frames(*picture, 120,
             [&](int i) { mouse(*picture, QEvent::MouseMove, middle + QPointF(i % 40 * 6 - 120, i % 20 * 4 - 40)); })
          .text(),
      "8 ms");
  mouse(*picture, QEvent::MouseButtonRelease, middle + QPointF(9, 9));
  views::Selection selection = window.document().selection();
  const auto scrub = [&](int i) {
    selection.first_batch = i * 64, selection.end_batch = selection.first_batch + 2048;
    window.document().select(selection);
  };
  row("heatmap, a frame of scrubbing through time", frames(*picture, 60, scrub).text());
  window.document().select({});
}

void timeline_frames(MainWindow& window) {
  window.show_view("timeline");
  wait_for_picture(window);
  QWidget* canvas = window.view()->picture();
  const auto keys = [&](int frames_of, auto key) {
    return frames(*canvas, frames_of, [&](int i) { QTest::keyClick(canvas, key(i)); }).text();
  };
  QTest::keyClick(canvas, Qt::Key_0);
  row("timeline, everything: a frame", frames(*canvas, 60, [&](int) { canvas->update(); }).text(), "16 ms");
  row("timeline, a frame of zooming", keys(200, [](int i) { return i % 80 < 40 ? Qt::Key_W : Qt::Key_S; }), "16 ms");
  QTest::keyClick(canvas, Qt::Key_0);
  for (int i = 0; i < 12; ++i) QTest::keyClick(canvas, Qt::Key_W);
  row("timeline, a frame of moving", keys(100, [](int i) { return i % 50 < 25 ? Qt::Key_D : Qt::Key_A; }), "16 ms");
}

void idle_views(MainWindow& window) {
  for (const views::ViewEntry& entry : views::all_views()) {
    window.show_view(entry.id);
    wait_until_idle(window);
    QTest::qWait(500);
    const double before = cpu_seconds();
    QTest::qWait(3000);
    row(QString("idle: %1").arg(entry.id), QString("%1 % of a core").arg((cpu_seconds() - before) / 3 * 100, 0, 'f', 1),
        "none");
  }
}

void run_and_cancel(const Bench& bench, MainWindow& window) {
  window.show_view("heatmap");
  const QString session = bench.folder.filePath("run.storm");
  const auto ended = [&] { return !window.runs().running(); };
  Waiting waiting(&window);
  studio::RunRequest request;
  request.experiment.model = "demo:switch-names";
  request.experiment.data = "demo:switch-names-sample";
  request.optimize.session = session.toStdString();
  request.optimize.measure_seconds = 3;
  window.runs().start(request);
  wait_for(ended);
  row("window waits at most: a run", ms(waiting.longest_ms()), "100 ms");
  QElapsedTimer cancelling;
  window.runs().start(request);
  QTest::qWait(1500);
  cancelling.start();
  window.runs().cancel();
  wait_for(ended);
  row("a run is cancelled after", ms(static_cast<double>(cancelling.nsecsElapsed()) * 1e-6), "100 ms");
  QFile::remove(session);
}

void import_by_drop(const Bench& bench, MainWindow& window) {
  const QString trace = bench.folder.filePath("trace.csv"), session = bench.folder.filePath("trace.storm");
  write_trace(trace, bench.small ? 3'000 : 60'000);
  QFile::remove(session);
  Waiting waiting(&window);
  drop(window, trace);
  wait_for([&] { return !window.document().empty() && window.document().session().file.ends_with("trace.storm"); });
  wait_for_picture(window);
  row("window waits at most: an import of 2 million rows", ms(waiting.longest_ms()), "100 ms");
  QFile::remove(trace);
  window.open(bench.session);
  wait_for([&] { return window.document().session().file == bench.session.toStdString() && has_picture(window); });
  QFile::remove(session);
}

void exports_of_every_view(MainWindow& window) {
  for (const views::ViewEntry& entry : views::all_views()) {
    window.show_view(entry.id);
    wait_until_idle(window);
    QElapsedTimer timer;
    timer.start();
    studio::draw_picture(*window.view(), window.view()->picture()->size(), 2, "png");
    const double picture_ms = static_cast<double>(timer.nsecsElapsed()) * 1e-6;
    timer.restart();
    const size_t rows = window.view()->table().rows.size();
    row(QString("window waits at most: export of %1 at 2x, and of its table").arg(entry.id),
        QString("%1, %2 for %3 rows")
            .arg(ms(picture_ms), ms(static_cast<double>(timer.nsecsElapsed()) * 1e-6))
            .arg(rows),
        "100 ms");
  }
}

}  // namespace

int run(int argc, char** argv) {
  QElapsedTimer since_start;
  since_start.start();
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  QStringList arguments = QApplication::arguments();
  const Bench bench = read_arguments(arguments);
  const auto first = arguments.indexOf("--first-picture");
  if (first < 0 && !QFileInfo::exists(bench.session)) make_session(bench);
  forbid_blocking_here();
  if (first >= 0) return first_picture(bench, arguments.value(first + 1), since_start);

  const HugeSession& size = bench.size;
  std::printf(
      "Session: %d routers x %d branches, %d batches of %d cells at each: %lld routed cells, %lld events, %.2f GB.\n\n",
      size.routers, size.branches, size.batches, size.cells, static_cast<long long>(size.routed()),
      static_cast<long long>(size.events) * size.batches, static_cast<double>(QFileInfo(bench.session).size()) * 1e-9);
  std::printf("| what | figure | bar |\n|---|---|---|\n");
  std::fflush(stdout);
  first_pictures(bench);
  MainWindow window;
  window.resize(1600, 1000);
  window.show();
  opening_and_every_view(bench, window);
  heatmap_frames(window);
  timeline_frames(window);
  row("resident after all views", QString("%1 MB").arg(resident_mb(), 0, 'f', 0));
  idle_views(window);
  run_and_cancel(bench, window);
  import_by_drop(bench, window);
  exports_of_every_view(window);
  return 0;
}

}  // namespace stormcell::bench

int main(int argc, char** argv) { return stormcell::bench::run(argc, argv); }
