#include "app/studio/picture_export.h"

#include <QBuffer>
#include <QImage>
#include <QLayout>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "core/base/blocking.h"
#include "core/base/error.h"
#include "views/kit/theme.h"

namespace stormcell::studio {

DrawnPicture draw_picture(views::View& view, const QSize& size, double scale, const QString& suffix) {
  QWidget* picture = view.picture();
  const bool content = view.has_content();
  const QSize before = picture->size(), least = picture->minimumSize(), most = picture->maximumSize();
  if (content) {
    // Fixed: drawing lays out the parents of a hidden widget first, which would give it another size.
    picture->setFixedSize(size);
    if (picture->layout()) picture->layout()->activate();
  }
  const auto draw = [&](QPaintDevice& device) {
    QPainter p(&device);
    p.fillRect(QRect(QPoint(), size), views::Theme::of(view.palette()).background);
    if (content) {
      picture->render(&p, {}, {}, QWidget::DrawChildren);
    } else {
      p.setPen(views::Theme::of(view.palette()).faint);
      p.setFont(view.font());
      p.drawText(QRect(QPoint(), size), Qt::AlignCenter | Qt::TextWordWrap, view.message());
    }
  };
  DrawnPicture drawn;
  if (suffix.compare("png", Qt::CaseInsensitive) == 0) {
    QImage image(size * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    draw(image);
    drawn.image = std::move(image);
  } else if (suffix.compare("svg", Qt::CaseInsensitive) == 0) {
    QBuffer buffer(&drawn.svg);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(), size));
    svg.setTitle(view.accessibleName());
    draw(svg);
  } else {
    bad_input("." + suffix.toStdString(), "no picture is written in this format", "name a .png or .svg file");
  }
  if (content) {
    picture->setMinimumSize(least);
    picture->setMaximumSize(most);
    picture->resize(before);
  }
  return drawn;
}

QByteArray DrawnPicture::bytes() const {
  if (image.isNull()) return svg;
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.convertToFormat(QImage::Format_RGB32).save(&buffer, "PNG");
  return bytes;
}

void write_file(const QString& file, const QByteArray& bytes) {
  may_block("write_file");
  QSaveFile out(file);
  if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.commit())
    failed(file.toStdString(), out.errorString().toStdString(), "choose another folder");
}

}  // namespace stormcell::studio
