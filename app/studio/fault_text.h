// What is said of an exception that work on another thread has thrown.
#pragma once
#include <QString>
#include <exception>

namespace stormcell::studio {

/// What happened and what to do.
QString fault_text(const std::exception_ptr& fault);

}  // namespace stormcell::studio
