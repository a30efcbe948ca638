// stormcell-studio [SESSION]; stormcell-studio --export VIEW -o FILE SESSION
#include <QApplication>
#include <QCommandLineParser>
#include <QStyleFactory>
#include <cstdio>
#include <cstring>

#include "app/studio/headless.h"
#include "app/studio/main_window.h"
#include "core/base/blocking.h"
#include "views/kit/fonts.h"
#include "views/kit/theme.h"

namespace {

using namespace stormcell;

int usage_error(const QString& what) {
  std::fprintf(stderr, "stormcell: %s\n", qPrintable(what));
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  // Pictures need no display, and must be the same with and without one.
  bool headless = false;
  for (int i = 1; i < argc; ++i) headless |= std::strcmp(argv[i], "--export") == 0 || std::strncmp(argv[i], "--export=", 9) == 0;
  if (headless) {
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
  const QCommandLineOption view("export", "Write a picture of VIEW without a window and leave.", "VIEW"),
      file("o", "The picture, .png or .svg.", "FILE"), size("size", "Its size (1600x1000).", "WxH", "1600x1000"),
      theme("theme", "light, dark, or system.", "THEME"), scale("scale", "Pixels a unit, 1 to 4 (1).", "N", "1"),
      other("compare-with", "With --export: a session to compare with, S.storm#3 for its run 3.", "SESSION"),
      fresh("fresh", "Do not open what was open last.");
  parser.addOptions({view, file, size, theme, scale, other, fresh});
  if (!parser.parse(QApplication::arguments())) return usage_error(parser.errorText());
  if (parser.isSet("help")) parser.showHelp(0);
  if (parser.isSet("version")) parser.showVersion();
  const QStringList sessions = parser.positionalArguments();
  const QString chosen = parser.value(theme);
  if (!chosen.isEmpty() && !QStringList{"light", "dark", "system"}.contains(chosen))
    return usage_error(QString("--theme: no theme '%1' (one of: light, dark, system)").arg(chosen));

  if (headless) {
    studio::ExportRequest request{
        parser.value(view), parser.value(file), sessions.value(0), parser.value(other), {}, parser.value(scale).toDouble()};
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
  if (!sessions.isEmpty()) window.open(sessions.constFirst());
  window.show();
  return QApplication::exec();
}
