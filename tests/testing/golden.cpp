#include "tests/testing/golden.h"

#include <QDir>
#include <QFile>
#include <QLayout>
#include <QPainter>
#include <QWidget>
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Names what pictures depend on: Qt, and the instructions that it draws with.
QByteArray made_with() {
  QByteArray maker = QByteArray("Qt ") + qVersion();
  QFile info("/proc/cpuinfo");
  if (info.open(QIODevice::ReadOnly)) {
    const QByteArray text = info.read(8192);
    for (const char* word : {"GenuineIntel", "AuthenticAMD", "avx512bw", "avx2"})
      if (text.contains(word)) maker += QByteArray(" ") + word;
  }
  return maker + "\n";
}

}  // namespace

QImage draw(QWidget& widget, const QSize& size, double scale) {
  // Fixed: drawing a hidden widget lays out its parents first, which would give it another size.
  widget.setFixedSize(size);
  if (widget.layout()) widget.layout()->activate();
  QImage image(size * scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(widget.palette().color(QPalette::Window));
  QPainter painter(&image);
  widget.render(&painter, {}, {}, QWidget::DrawChildren);
  return image;
}

QString compare_with_golden(const QImage& image, const QString& name) {
  const QString folder = QString::fromStdString(source_folder()) + "/tests/views/goldens/",
                file = folder + name + ".png";
  if (const char* update = std::getenv("STORMCELL_UPDATE_GOLDENS"); update && *update == '1') {
    image.save(file);
    QFile made(folder + "made-with.txt");
    if (made.open(QIODevice::WriteOnly)) made.write(made_with());
    return {};
  }
  const QImage golden = QImage(file).convertToFormat(QImage::Format_RGB32);
  const QString left = QDir::tempPath() + "/" + name + ".new.png";
  if (golden.isNull()) {
    image.save(left);
    return "no golden " + name + "; the picture lies in " + left + " (STORMCELL_UPDATE_GOLDENS=1 stores it)";
  }
  if (golden.size() != image.size()) return name + ": another size than the golden";
  QFile made(folder + "made-with.txt");
  const bool same_maker = made.open(QIODevice::ReadOnly) && made.readAll() == made_with();
  // Qt has a path for each instruction set; what another one rounds otherwise is no difference.
  const int most = same_maker ? 0 : 3;
  int64_t differ = 0;
  for (int y = 0; y < image.height(); ++y) {
    const auto* a = reinterpret_cast<const QRgb*>(image.constScanLine(y));
    const auto* b = reinterpret_cast<const QRgb*>(golden.constScanLine(y));
    for (int x = 0; x < image.width(); ++x)
      differ += std::max({std::abs(qRed(a[x]) - qRed(b[x])), std::abs(qGreen(a[x]) - qGreen(b[x])),
                          std::abs(qBlue(a[x]) - qBlue(b[x]))}) > most;
  }
  const int64_t pixels = int64_t{image.width()} * image.height(), allowed = same_maker ? 0 : pixels / 1000;
  if (differ > 0)
    qInfo("%s: %lld of %lld pixels differ from the golden", qPrintable(name), static_cast<long long>(differ),
          static_cast<long long>(pixels));
  if (differ <= allowed) return {};
  image.save(left);
  return QString("%1: %2 of %3 pixels differ; the new picture lies in %4").arg(name).arg(differ).arg(pixels).arg(left);
}

}  // namespace stormcell::testing
