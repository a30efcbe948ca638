// The oracle in a field (core/oracle/residue.h). The program has none: this library compiles it, with every reference
// kernel.
#pragma once
#include "core/oracle/oracle.h"
#include "core/oracle/residue.h"

namespace stormcell {

extern template class Oracle<Residue>;
extern template struct OracleResult<Residue>;

}  // namespace stormcell
