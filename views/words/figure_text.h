// Figures as a person reads them. Pure.
#pragma once
#include <QString>
#include <string>
#include <string_view>

namespace stormcell::views {

/// Of UTF-8, as the core writes all texts.
QString to_qstring(std::string_view text);
/// "1,234"
QString count_text(qint64 count);
/// "1 batch", "1,234 batches"; `many` where spelling does not give it.
QString counted_text(qint64 count, const char* one, const char* many = "");
/// Four significant digits without an exponent where that is readable: "0.0123", "159,058".
QString number_text(double value, int digits = 3);
/// "2.34 ms", "1.53 s"
QString duration_text(double milliseconds);
/// "2026-11-03 08:09 UTC" of what a session writes, ISO 8601; anything else as it is.
QString moment_text(const std::string& iso);
/// "4.93 MiB"
QString bytes_text(double bytes);
/// "58.1 %"
QString percent_text(double share);
/// The same of the limit, and "in cache" where it is above all of it.
QString limit_share_text(double share);
/// "1.05×", "0.996×": as many digits as tell it from 1.
QString times_text(double ratio);
/// "+3.5 %", "−3.5 %"; empty where `before` is 0.
QString change_text(double before, double now);
/// Of how many pictures of a run one is kept, and which: a sentence.
QString kept_text(qint64 kept, qint64 all);

}  // namespace stormcell::views
