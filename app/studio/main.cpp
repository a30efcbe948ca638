// stormcell-studio [SESSION]; stormcell-studio --export VIEW -o FILE SESSION
#include <QApplication>
#include <QStyleFactory>
#include <cstdio>
#include <string_view>

#include "app/studio/headless.h"
#include "app/studio/main_window.h"
#include "app/studio/options.h"
#include "core/base/blocking.h"
#include "core/base/error.h"
#include "views/drawing/fonts.h"
#include "views/drawing/theme.h"

namespace {

using namespace stormcell;

/// Options that matter before Qt can parse the arguments.
struct Asked {
  bool picture = false, words = false;  ///< words: help, the version, the views, the manual or completion
  Asked(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      picture |= word == "--export" || word.starts_with("--export=");
      words |= word == "--help" || word == "-h" || word == "--version" || word == "-v" || word == "--views" ||
               word == "--manual" || word == "--completion";
    }
  }
};

/// Pictures need no display, and must be the same with and without one.
void do_without_display() {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  // Qt's complaints about a missing desktop do not concern a picture.
  qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type == QtCriticalMsg || type == QtFatalMsg) std::fprintf(stderr, "stormcell: %s\n", qPrintable(message));
  });
}

int write_picture(const studio::Options& options) {
  QApplication::setPalette((options.theme == "dark" ? views::Theme::dim() : views::Theme::light()).palette());
  QApplication::setFont(views::picture_font());
  forbid_blocking_here();
  return studio::export_view(*options.picture);
}

int show_window(const studio::Options& options) {
  studio::MainWindow window;
  window.restore(options.sessions.isEmpty() && !options.fresh);
  if (!options.theme.isEmpty()) window.actions().trigger("theme-" + options.theme);
  forbid_blocking_here();
  if (!options.sessions.isEmpty()) window.open_anything(options.sessions.constFirst());
  window.show();
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  const Asked asked(argc, argv);
  if (asked.picture || asked.words) do_without_display();
  QApplication application(argc, argv);
  QApplication::setOrganizationName("stormcell");
  QApplication::setApplicationName("stormcell-studio");
  QApplication::setApplicationDisplayName("Stormcell Studio");
  QApplication::setApplicationVersion(STORMCELL_VERSION);
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  studio::Options options;
  try {
    options = studio::parse_options(QApplication::arguments(), asked.picture);
  } catch (const Error& e) {
    std::fprintf(stderr, "stormcell: %s\n", e.what());
    return e.exit_code();
  }
  return options.picture ? write_picture(options) : show_window(options);
}
