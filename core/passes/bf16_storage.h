// Activations that products round to bf16 anyway lie in bf16.
#pragma once
#include "core/passes/pass.h"

namespace stormcell {

PassResult bf16_storage(const PassInput& input);

}  // namespace stormcell
