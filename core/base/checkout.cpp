#include "core/base/checkout.h"

namespace stormcell {

std::string checkout_source_folder() { return STORMCELL_SOURCE_DIR; }
std::string checkout_build_folder() { return STORMCELL_BUILD_DIR; }

}  // namespace stormcell
