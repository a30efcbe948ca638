// Text on an exception from another thread.
#pragma once
#include <QString>
#include <exception>

namespace stormcell::studio {

/// The fault and its remedy.
QString fault_text(const std::exception_ptr& fault);

}  // namespace stormcell::studio
