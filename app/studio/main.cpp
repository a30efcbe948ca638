// stormcell-studio [SESSION]; stormcell-studio --export VIEW -o FILE SESSION
#include <QApplication>
#include <QCommandLineParser>
#include <QStyleFactory>
#include <cstdio>
#include <string_view>

#include "app/studio/headless.h"
#include "app/studio/main_window.h"
#include "core/base/blocking.h"
#include "views/kit/fonts.h"
#include "views/kit/theme.h"
#include "views/registry.h"

namespace {

using namespace stormcell;

int usage_error(const QString& what) {
  std::fprintf(stderr, "stormcell: %s\n", qPrintable(what));
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  // Pictures need no display, and must be the same with and without one.
  bool headless = false, asks = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    headless |= word == "--export" || word.starts_with("--export=");
    asks |= word == "--help" || word == "-h" || word == "--version" || word == "-v";
  }
  if (headless || asks) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    // What Qt has to say about a missing desktop is no concern of who wants a picture.
    qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& message) {
      if (type == QtCriticalMsg || type == QtFatalMsg) std::fprintf(stderr, "stormcell: %s\n", qPrintable(message));
    });
  }
  QApplication application(argc, argv);
  QApplication::setOrganizationName("stormcell");
  QApplication::setApplicationName("stormcell-studio");
  QApplication::setApplicationDisplayName("Stormcell Studio");
  QApplication::setApplicationVersion(STORMCELL_VERSION);
  QApplication::setStyle(QStyleFactory::create("Fusion"));

  QCommandLineParser parser;
  parser.setApplicationDescription("Stormcell Studio: see where a model's data goes, make it faster, compare.");
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("session", "a .storm file, S.storm#3 for its run 3");
  QStringList views;
  for (const views::ViewEntry& entry : views::all_views()) views << entry.id;
  const QCommandLineOption view("export", "Write a picture of VIEW without a window and leave. One of: " + views.join(", ") + ".", "VIEW"),
      file("o", "The picture, .png or .svg; .csv writes the view's figures.", "FILE"),
      size("size", "Its size (1600x1000).", "WxH", "1600x1000"), theme("theme", "light, dark, or system.", "THEME"),
      scale("scale", "Pixels a unit, 1 to 4 (1).", "N", "1"),
      set("set", "With --export: a control of the view, as \"Metric=Load\"; may be given several times.", "NAME=VALUE"),
      batches("batches", "With --export: batches FIRST:END of the run.", "FIRST:END"),
      phase("phase", "With --export: forward, prefill, decode.", "PHASE"),
      label("label", "With --export: sequences with this label.", "LABEL"), router("router", "With --export: the chosen router.", "NAME"),
      branch("branch", "With --export: the chosen branch.", "N"), cell("cell", "With --export: the cell to follow.", "SEQUENCE:POSITION"),
      other("compare-with", "With --export: a session to compare with, S.storm#3 for its run 3.", "SESSION"),
      fresh("fresh", "Do not open what was open last.");
  parser.addOptions({view, file, size, theme, scale, set, batches, phase, label, router, branch, cell, other, fresh});
  if (!parser.parse(QApplication::arguments())) return usage_error(parser.errorText());
  if (parser.isSet("help")) parser.showHelp(0);
  if (parser.isSet("version")) parser.showVersion();
  const QStringList sessions = parser.positionalArguments();
  const QString chosen = parser.value(theme);
  if (!chosen.isEmpty() && !QStringList{"light", "dark", "system"}.contains(chosen))
    return usage_error(QString("--theme: no theme '%1' (one of: light, dark, system)").arg(chosen));

  if (headless) {
    studio::ExportRequest request{
        parser.value(view), parser.value(file), sessions.value(0), parser.value(other), {}, {}, {}, parser.value(scale).toDouble()};
    for (const QString& word : parser.values(set)) {
      const qsizetype at = word.indexOf('=');
      if (at <= 0) return usage_error(QString("--set: '%1' sets nothing (write NAME=VALUE, as \"Metric=Load\")").arg(word));
      request.controls.append({word.left(at), word.mid(at + 1)});
    }
    request.selection.phase = parser.value(phase), request.selection.label = parser.value(label);
    request.selection.router = parser.value(router);
    bool ok = true;
    const auto number = [&ok](const QString& text) {
      bool is_number = false;
      const qlonglong value = text.toLongLong(&is_number);
      ok &= is_number && value >= 0;
      return value;
    };
    if (parser.isSet(batches)) {
      const QStringList ends = parser.value(batches).split(':');
      request.selection.first_batch = number(ends[0]);
      request.selection.end_batch = ends.value(1).isEmpty() ? -1 : number(ends[1]);
      if (!ok || ends.size() != 2 || (request.selection.end_batch >= 0 && request.selection.end_batch <= request.selection.first_batch))
        return usage_error(QString("--batches: '%1' is no range (write FIRST:END, as 0:16)").arg(parser.value(batches)));
    }
    if (parser.isSet(branch)) request.selection.branch = static_cast<int>(number(parser.value(branch)));
    if (!ok) return usage_error(QString("--branch: '%1' is no branch (a number from 0 on)").arg(parser.value(branch)));
    if (parser.isSet(cell)) {
      const QStringList place = parser.value(cell).split(':');
      request.selection.cell = CellPlace{number(place[0]), static_cast<int32_t>(place.size() > 1 ? number(place[1]) : 0)};
      if (!ok || place.size() > 2)
        return usage_error(QString("--cell: '%1' is no cell (write SEQUENCE:POSITION, as 3:2)").arg(parser.value(cell)));
    }
    const QStringList sides = parser.value(size).split('x');
    request.size = {sides.value(0).toInt(), sides.value(1).toInt()};
    if (sides.size() != 2 || request.size.width() < 100 || request.size.height() < 100 || request.size.width() > 16384 ||
        request.size.height() > 16384)
      return usage_error(QString("--size: '%1' is no size (write width x height, 100x100 to 16384x16384)").arg(parser.value(size)));
    if (!(request.scale >= 1 && request.scale <= 4))
      return usage_error(QString("--scale: '%1' is no scale (1 to 4)").arg(parser.value(scale)));
    if (request.file.isEmpty()) return usage_error("-o: missing (name the picture to write, as heatmap.png)");
    if (sessions.size() != 1) return usage_error("SESSION: name one session");
    QApplication::setPalette((chosen == "dark" ? views::Theme::dim() : views::Theme::light()).palette());
    QApplication::setFont(views::picture_font());
    forbid_blocking_here();
    return studio::export_view(request);
  }
  if (sessions.size() > 1) return usage_error("SESSION: name one session");

  studio::MainWindow window;
  window.restore(sessions.isEmpty() && !parser.isSet(fresh));
  if (!chosen.isEmpty()) window.actions().trigger("theme-" + chosen);
  forbid_blocking_here();
  if (!sessions.isEmpty()) window.open_anything(sessions.constFirst());
  window.show();
  return QApplication::exec();
}
