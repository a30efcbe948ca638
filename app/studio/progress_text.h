// A long call's progress in a line. Pure.
#pragma once
#include <QString>

namespace stormcell::studio {

/// "reading bytes, 34 %, 45.1 MiB/s, 3 s left" after `seconds` of a stage of which `done` of `total` units are done;
/// total 0: not known. A rate is told of what is read: its unit is the stage's last word. Behind it stands what else
/// the call says of itself.
QString progress_text(const QString& stage, qint64 done, qint64 total, double seconds, const QString& remark = {});

}  // namespace stormcell::studio
