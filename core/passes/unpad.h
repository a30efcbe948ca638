// Padding is not computed.
#pragma once
#include "core/passes/pass.h"

namespace stormcell {

PassResult unpad(const PassInput& input);

}  // namespace stormcell
