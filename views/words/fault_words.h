// Faults of verbs as a view says them, whose choices are controls. Pure.
#pragma once
#include <QString>

namespace stormcell::views {

/// "--cluster: 16 experts do not divide among 72 GPUs (--placement ...)" without the option and without advice that
/// names some.
QString without_options(QString fault);

}  // namespace stormcell::views
