#include "views/frame/caption.h"

#include <QFileInfo>
#include <cmath>

#include "views/drawing/margin.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

constexpr double kAbove = 4, kBelow = 5;
/// Largest share of the width: a longer part loses its middle, so that the others have room.
constexpr double kMostOfWidth = 0.36;

QFont small(QFont font) {
  font.setPointSizeF(font.pointSizeF() * 0.9);
  return font;
}

}  // namespace

Caption caption_of(const Context& context, const Selection& selection, Parts heeded, const QString& note) {
  Caption caption;
  const auto add = [&](const QString& part) {
    if (!part.isEmpty()) caption.parts << part;
  };
  // A model that is a folder is known by its last name.
  if (context.session) add(QFileInfo(QString::fromStdString(context.session->model)).fileName());
  add(context.main.title);
  if (context.session)
    for (const RunLine& run : context.session->runs)
      if (run.id == context.main.run) add(moment_text(run.started));
  if (heeded.testFlag(Part::other) && !context.other.empty()) add(tr("against %1").arg(context.other.title));
  if (heeded.testFlag(Part::other) && !context.recording.empty())
    add(tr("against %1").arg(QFileInfo(QString::fromStdString(context.recording)).fileName()));
  for (const Chosen& c : chosen(selection, kNarrowing & heeded)) add(c.text);
  caption.note = note;
  return caption;
}

QStringList lines_of(const Caption& caption) {
  QStringList lines;
  if (!caption.parts.isEmpty()) lines << caption.parts.join("; ");
  if (!caption.note.isEmpty()) lines << caption.note;
  return lines;
}

int caption_height(const Caption& caption, const QFont& font) {
  const double lines = lines_of(caption).size();
  return lines > 0 ? static_cast<int>(std::ceil(lines * QFontMetricsF(small(font)).height() + kAbove + kBelow)) : 0;
}

void paint_caption(QPainter& p, QRectF bounds, const Caption& caption, const QFont& font, const Theme& theme) {
  p.setFont(small(font));
  const QFontMetricsF metrics(p.font());
  const double width = bounds.width() - 2 * kMargin;
  QStringList parts;
  for (const QString& part : caption.parts) parts << metrics.elidedText(part, Qt::ElideMiddle, width * kMostOfWidth);
  p.fillRect(bounds, theme.background);
  p.setPen(theme.grid);
  p.drawLine(QPointF(bounds.left() + kMargin, bounds.top() + 0.5),
             QPointF(bounds.right() - kMargin, bounds.top() + 0.5));
  p.setPen(theme.faint);
  double y = bounds.top() + kAbove;
  for (const QString& line : lines_of({{parts.join(QString("  ") + QChar(0x00B7) + "  ")}, caption.note})) {
    p.drawText(QRectF(bounds.left() + kMargin, y, width, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
               metrics.elidedText(line, Qt::ElideRight, width));
    y += metrics.height();
  }
}

}  // namespace stormcell::views
