#include "core/base/system_error.h"

#include <cerrno>

namespace stormcell {

std::string_view advice_on_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "check the path";
    case EACCES:
    case EPERM:
      return "check its permissions";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files: ulimit -n";
    default:
      return "check the path and the disk";
  }
}

}  // namespace stormcell
