#include "views/words/figure_text.h"

#include "core/base/counted.h"
#include "core/summary/limit_text.h"
#include "views/words/tr.h"

#include <QDateTime>
#include <QLocale>
#include <algorithm>
#include <cmath>

namespace stormcell::views {
namespace {

/// `digits` significant digits, without decimals if the number is that large.
QString plain(double value, int digits) {
  if (!std::isfinite(value)) return QString::fromUtf8("–");
  const int magnitude = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
  return QLocale(QLocale::English).toString(value, 'f', std::clamp(digits - 1 - magnitude, 0, 9));
}

}  // namespace

QString to_qstring(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}
QString count_text(qint64 count) { return QString::fromStdString(with_commas(count)); }
QString counted_text(qint64 count, const char* one, const char* many) {
  return QString::fromStdString(counted(count, one, many));
}

QString number_text(double value, int digits) {
  const double size = std::abs(value);
  if (value != 0 && (size < 1e-3 || size >= 1e12)) return QLocale::c().toString(value, 'g', std::min(digits, 3));
  if (value == std::round(value) && size < 1e12) return count_text(static_cast<qint64>(value));
  QString text = plain(value, digits);
  // Trailing zeros of a fraction are useful only in a column.
  if (text.contains('.'))
    while (text.endsWith('0')) text.chop(1);
  if (text.endsWith('.')) text.chop(1);
  return text;
}

QString duration_text(double ms) {
  if (ms >= 10000) return plain(ms / 1000, 3) + " s";
  if (ms > 0 && ms < 0.1) return plain(ms * 1000, 3) + QString::fromUtf8(" µs");
  return plain(ms, 3) + " ms";
}

QString bytes_text(double bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (unit < 4 && std::abs(bytes) >= 1024) bytes /= 1024, ++unit;
  return (unit == 0 ? count_text(static_cast<qint64>(bytes)) : plain(bytes, 3)) + " " + units[unit];
}

QString percent_text(double share) { return plain(100 * share, 3) + " %"; }

QString limit_share_text(double share) { return is_in_cache(share) ? to_qstring(kInCache) : percent_text(share); }

QString times_text(double ratio) {
  // A third digit near 1; a fourth is beyond what any measurement here tells, and does not fit.
  const double away = std::abs(ratio - 1);
  const int decimals = ratio >= 100 ? 0 : ratio >= 10 ? 1 : away == 0 || away >= 0.005 ? 2 : 3;
  return QString::number(ratio, 'f', decimals) + QChar(0x00D7);
}

QString change_text(double before, double now) {
  if (before == 0) return {};
  const double change = 100 * (now / before - 1);
  if (std::abs(change) < 0.05) return QString::fromUtf8("±0 %");
  const int decimals = std::abs(change) < 9.95 ? 1 : 0;
  return (change > 0 ? QString("+") : QString(QChar(0x2212))) + QString::number(std::abs(change), 'f', decimals) + " %";
}

QString kept_text(qint64 kept, qint64 all) {
  return tr("%1 of %2 pictures are kept: some of every label and way through the routers "
            "(--record-inputs keeps more).")
      .arg(count_text(kept), count_text(all));
}

QString moment_text(const std::string& iso) {
  const QDateTime moment = QDateTime::fromString(QString::fromStdString(iso), Qt::ISODate);
  return moment.isValid() ? moment.toUTC().toString("yyyy-MM-dd hh:mm 'UTC'") : QString::fromStdString(iso);
}

}  // namespace stormcell::views
