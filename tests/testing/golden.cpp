#include "tests/testing/golden.h"

#include <QDir>
#include <QFile>
#include <QLayout>
#include <QPainter>
#include <QWidget>
#include <cstdlib>

#include "tests/testing/testing.h"

namespace stormcell::testing {

QImage draw(QWidget& widget, const QSize& size, double scale) {
  widget.grab({0, 0, 1, 1});  // lays out what was never shown; else drawing would do it, and undo the size
  widget.resize(size);
  if (widget.layout()) widget.layout()->activate();
  QImage image(size * scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(widget.palette().color(QPalette::Window));
  QPainter painter(&image);
  widget.render(&painter, {}, {}, QWidget::DrawChildren);
  return image;
}

QString compare_with_golden(const QImage& image, const QString& name) {
  const QString folder = QString::fromStdString(source_folder()) + "/tests/views/goldens/", file = folder + name + ".png";
  if (const char* update = std::getenv("STORMCELL_UPDATE_GOLDENS"); update && *update == '1') {
    image.save(file);
    QFile made(folder + "made-with.txt");
    if (made.open(QIODevice::WriteOnly)) made.write(QByteArray("Qt ") + qVersion() + "\n");
    return {};
  }
  const QImage golden = QImage(file).convertToFormat(QImage::Format_RGB32);
  const QString left = QDir::tempPath() + "/" + name + ".new.png";
  if (golden.isNull()) {
    image.save(left);
    return "no golden " + name + "; the picture lies in " + left + " (STORMCELL_UPDATE_GOLDENS=1 stores it)";
  }
  if (golden.size() != image.size()) return name + ": another size than the golden";
  int64_t differ = 0;
  for (int y = 0; y < image.height(); ++y) {
    const auto* a = reinterpret_cast<const QRgb*>(image.constScanLine(y));
    const auto* b = reinterpret_cast<const QRgb*>(golden.constScanLine(y));
    for (int x = 0; x < image.width(); ++x) differ += (a[x] & 0xffffff) != (b[x] & 0xffffff);
  }
  QFile made(folder + "made-with.txt");
  const bool same_qt = made.open(QIODevice::ReadOnly) && made.readAll() == QByteArray("Qt ") + qVersion() + "\n";
  const int64_t pixels = int64_t{image.width()} * image.height(), allowed = same_qt ? 0 : pixels / 1000;
  if (differ > 0)
    qInfo("%s: %lld of %lld pixels differ from the golden", qPrintable(name), static_cast<long long>(differ),
          static_cast<long long>(pixels));
  if (differ <= allowed) return {};
  image.save(left);
  return QString("%1: %2 of %3 pixels differ; the new picture lies in %4").arg(name).arg(differ).arg(pixels).arg(left);
}

}  // namespace stormcell::testing
