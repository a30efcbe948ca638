#include "core/base/blocking.h"

#include <stdexcept>
#include <string>

namespace stormcell {
namespace {
thread_local bool forbidden = false;
}

void forbid_blocking_here() { forbidden = true; }

void may_block(const char* what) {
  if (forbidden) throw std::logic_error(std::string(what) + " was called on a thread that must not wait");
}

AllowBlocking::AllowBlocking() : before_(forbidden) { forbidden = false; }
AllowBlocking::~AllowBlocking() { forbidden = before_; }

}  // namespace stormcell
