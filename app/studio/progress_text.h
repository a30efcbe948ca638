// A long call's progress in a line. Pure.
#pragma once
#include <QString>

namespace stormcell::studio {

/// "reading bytes, 34 %, 45.1 MiB/s, 3 s left" after `seconds` of a stage with `done` of `total` units done; total 0:
/// not known. Reading has a rate, whose unit is the stage's last word. The call's remark follows.
QString progress_text(const QString& stage, qint64 done, qint64 total, double seconds, const QString& remark = {});

}  // namespace stormcell::studio
