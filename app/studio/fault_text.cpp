#include "app/studio/fault_text.h"

#include <QCoreApplication>
#include <new>

namespace stormcell::studio {

QString fault_text(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const std::bad_alloc&) {
    return QCoreApplication::translate("Fault",
                                       "More memory is needed than this machine has left. Close other programs, or "
                                       "take fewer batches or a shorter range.");
  } catch (const std::exception& e) {
    return QString::fromUtf8(e.what());
  } catch (...) {
    return QCoreApplication::translate("Fault", "Something went wrong that does not say what it is.");
  }
}

}  // namespace stormcell::studio
