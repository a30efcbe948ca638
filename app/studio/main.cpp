// stormcell-studio [SESSION] [--screenshot FILE.png]
#include <QApplication>
#include <QCommandLineParser>
#include <cstdio>

#include "app/studio/main_window.h"

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setApplicationName("Stormcell Studio");
  QApplication::setApplicationVersion(STORMCELL_VERSION);
  QCommandLineParser parser;
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("session", "a .storm file");
  const QCommandLineOption screenshot("screenshot", "Write a picture of the window and leave.", "file");
  parser.addOption(screenshot);
  parser.process(application);

  stormcell::studio::MainWindow window;
  if (!parser.positionalArguments().isEmpty() && !window.openSession(parser.positionalArguments().constFirst()) && parser.isSet(screenshot))
    return 2;
  window.show();
  if (parser.isSet(screenshot)) {
    QApplication::processEvents();
    if (window.grab().save(parser.value(screenshot))) return 0;
    std::fprintf(stderr, "stormcell: %s: the picture could not be written (check the folder)\n", qPrintable(parser.value(screenshot)));
    return 1;
  }
  return QApplication::exec();
}
