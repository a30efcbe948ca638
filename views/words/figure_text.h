// Figures as a person reads them. Pure.
#pragma once
#include <QString>
#include <string>
#include <string_view>

namespace stormcell::views {

/// Converts UTF-8, in which the core writes all texts.
QString to_qstring(std::string_view text);
/// "1,234"
QString count_text(qint64 count);
/// "1 batch", "1,234 batches"; `many` for an irregular plural.
QString counted_text(qint64 count, const char* one, const char* many = "");
/// `digits` significant digits, without an exponent if that is readable: "0.0123", "159,058".
QString number_text(double value, int digits = 3);
/// "2.34 ms", "1.53 s"
QString duration_text(double milliseconds);
/// "2026-11-03 08:09 UTC" for a session's time in ISO 8601; other texts are unchanged.
QString moment_text(const std::string& iso);
/// "4.93 MiB"
QString bytes_text(double bytes);
/// "58.1 %"
QString percent_text(double share);
/// The same for the share of a limit, and "in cache" if it is above the limit.
QString limit_share_text(double share);
/// "1.05×", "0.996×": with enough digits to differ from 1.
QString times_text(double ratio);
/// "+3.5 %", "−3.5 %"; empty if `before` is 0.
QString change_text(double before, double now);
/// A sentence on the number of pictures that a run keeps, and which they are.
QString kept_text(qint64 kept, qint64 all);

}  // namespace stormcell::views
