// Widgets are driven and pictures are compared, so the style and the font must be the same everywhere.
#include <QApplication>
#include <QStyleFactory>

#include "tests/testing/testing.h"
#include "views/drawing/fonts.h"
#include "views/drawing/theme.h"

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setOrganizationName("stormcell-test");
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  QApplication::setFont(stormcell::views::picture_font());
  QApplication::setPalette(stormcell::views::Theme::light().palette());
  return stormcell::testing::run_tests(argc, argv);
}
