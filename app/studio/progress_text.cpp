#include "app/studio/progress_text.h"

#include <QCoreApplication>
#include <QStringList>

#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

/// Before this, a rate means nothing.
constexpr double kLeastSeconds = 0.3;

QString tr(const char* text) { return QCoreApplication::translate("Progress", text); }

QString rate_text(const QString& unit, double rate) {
  if (unit == "bytes") return tr("%1/s").arg(views::bytes_text(rate));
  return tr("%1 %2/s").arg(views::count_text(static_cast<qint64>(rate)), unit);
}

}  // namespace

QString progress_text(const QString& stage, qint64 done, qint64 total, double seconds, const QString& remark) {
  QStringList parts{stage};
  if (total > 0) parts << tr("%1 %").arg(100 * done / total);
  if (done > 0 && seconds > kLeastSeconds) {
    const double rate = static_cast<double>(done) / seconds;
    if (stage.startsWith("reading ")) parts << rate_text(stage.section(' ', -1), rate);
    if (total > 0) {
      const double left = static_cast<double>(total - done) / rate;
      parts << tr("%1 s left").arg(left, 0, 'f', left < 10 ? 1 : 0);
    }
  }
  return parts.join(", ") + (remark.isEmpty() ? QString() : "; " + remark);
}

}  // namespace stormcell::studio
