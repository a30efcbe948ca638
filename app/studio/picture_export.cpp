#include "app/studio/picture_export.h"

#include <QAbstractScrollArea>
#include <QBuffer>
#include <QCoreApplication>
#include <QFileInfo>
#include <QImage>
#include <QLayout>
#include <QPainter>
#include <QSaveFile>
#include <QScrollBar>
#include <QSvgGenerator>
#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/exports/export_origin.h"
#include "views/drawing/theme.h"

namespace stormcell::studio {
namespace {

/// Origin as in every exported file; empty if no run is shown.
QString origin_line(const views::Context& context) {
  if (context.session)
    for (const RunLine& run : context.session->runs)
      if (run.id == context.main.run) return QString::fromStdString(origin_of(*context.session, run).line());
  return {};
}

/// Gives a widget a fixed size without scroll bars, for a picture, as long as this lives.
class FixedPicture {
 public:
  explicit FixedPicture(QWidget& picture)
      : picture_(picture), before_(picture.size()), least_(picture.minimumSize()), most_(picture.maximumSize()) {
    for (auto* area : areas()) {
      policies_.append(area->verticalScrollBarPolicy());
      area->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    }
  }
  ~FixedPicture() {
    qsizetype at = 0;
    for (auto* area : areas()) area->setVerticalScrollBarPolicy(policies_[at++]);
    for (QScrollBar* bar : hidden_) bar->show();
    picture_.setMinimumSize(least_);
    picture_.setMaximumSize(most_);
    picture_.resize(before_);
  }
  FixedPicture(const FixedPicture&) = delete;
  FixedPicture& operator=(const FixedPicture&) = delete;

  void fit(const QSize& size) {
    // Fixed: drawing lays out the parents of a hidden widget first, which would give it another size.
    picture_.setFixedSize(size);
    if (picture_.layout()) picture_.layout()->activate();
    picture_.grab({0, 0, 1, 1});  // a hidden widget learns its size when it is drawn
    for (QScrollBar* bar : picture_.findChildren<QScrollBar*>(Qt::FindDirectChildrenOnly))
      if (!bar->isHidden()) {
        hidden_.append(bar);
        bar->hide();
      }
  }
  /// True if the window would need to scroll to show everything.
  bool is_cut() const {
    const auto scrolls = [](const QAbstractScrollArea* area) {
      return area->verticalScrollBar()->maximum() > area->verticalScrollBar()->minimum();
    };
    // A list whose picture is its viewport scrolls by the bar beside it.
    const auto* around = qobject_cast<const QAbstractScrollArea*>(picture_.parentWidget());
    return !hidden_.isEmpty() || picture_.heightForWidth(picture_.width()) > picture_.height() ||
           std::ranges::any_of(areas(), scrolls) || (around && around->viewport() == &picture_ && scrolls(around));
  }

 private:
  QList<QAbstractScrollArea*> areas() const {
    QList<QAbstractScrollArea*> all = picture_.findChildren<QAbstractScrollArea*>();
    if (auto* own = qobject_cast<QAbstractScrollArea*>(&picture_)) all.append(own);
    return all;
  }
  QWidget& picture_;
  QSize before_, least_, most_;
  QList<Qt::ScrollBarPolicy> policies_;
  QList<QScrollBar*> hidden_;
};

}  // namespace

DrawnPicture draw_picture(views::View& view, const QSize& size, double scale, const QString& suffix) {
  const bool content = view.has_content();
  views::Caption caption = view.caption();
  const QRect whole(QPoint(), size);
  const auto foot = [&] {
    return whole.adjusted(0, size.height() - views::caption_height(caption, view.font()), 0, 0);
  };
  const auto room = [&] { return whole.adjusted(0, 0, 0, -foot().height()); };
  std::optional<FixedPicture> picture;
  if (content) {
    picture.emplace(*view.picture());
    picture->fit(room().size());
    if (picture->is_cut()) {
      caption.note += (caption.note.isEmpty() ? "" : " ") +
                      QCoreApplication::translate("Export", "Cut: a higher picture shows more.");
      picture->fit(room().size());
    }
  }
  const auto draw = [&](QPaintDevice& device) {
    QPainter p(&device);
    const views::Theme& theme = views::Theme::of(view.palette());
    p.fillRect(whole, theme.background);
    paint_caption(p, foot(), caption, view.font(), theme);
    if (content) {
      view.picture()->render(&p, {}, {}, QWidget::DrawChildren);
    } else {
      p.setPen(theme.faint);
      p.setFont(view.font());
      const int side = size.width() / 8;
      p.drawText(room().adjusted(side, 0, -side, 0), Qt::AlignCenter | Qt::TextWordWrap, view.message());
    }
  };
  DrawnPicture drawn;
  if (suffix.compare("png", Qt::CaseInsensitive) == 0) {
    QImage image(size * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    draw(image);
    image.setText("Title", view.accessibleName());
    image.setText("Source", origin_line(view.context()));
    image.setText("Description", lines_of(caption).join("; "));
    drawn.image = std::move(image);
  } else if (suffix.compare("svg", Qt::CaseInsensitive) == 0) {
    QBuffer buffer(&drawn.svg);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setSize(size);
    svg.setViewBox(whole);
    svg.setTitle(view.accessibleName());
    svg.setDescription(origin_line(view.context()) + "; " + lines_of(caption).join("; "));
    draw(svg);
  } else {
    bad_input("." + suffix.toStdString(), "no picture is written in this format", "name a .png or .svg file");
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

QStringList table_comments(const views::View& view) {
  QStringList comments;
  if (const QString origin = origin_line(view.context()); !origin.isEmpty())
    comments << origin + "; " + view.accessibleName().toLower();
  return comments + lines_of(view.caption());
}

void write_file(const QString& file, const QByteArray& bytes) {
  may_block("write_file");
  // Qt says "No such file or directory" of all of these.
  const QFileInfo to(file), folder(to.absolutePath());
  const auto refuse = [&](const char* what) {
    bad_input(file.toStdString(), what, "choose a folder that exists and can be written");
  };
  if (to.isDir()) refuse("is a folder");
  if (!folder.exists()) refuse("its folder does not exist");
  if (!folder.isDir()) refuse("its folder is a file");
  if (to.exists() ? !to.isWritable() : !folder.isWritable()) refuse("no permission to write");
  QSaveFile out(file);
  // If a disk takes only a part, Qt reports no error, and a closed file has forgotten it. The number of the system
  // stays.
  const bool opened = out.open(QIODevice::WriteOnly);
  errno = 0;
  const bool written = opened && out.write(bytes) == bytes.size() && out.flush();
  const int number = errno;
  if (written && out.commit()) return;
  const std::string trouble =
      !written && number != 0 ? std::generic_category().message(number) : out.errorString().toStdString();
  failed(file.toStdString(), "could not be written: " + trouble, "free some space, or choose another folder");
}

}  // namespace stormcell::studio
