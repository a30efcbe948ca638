// The oracle in a field (core/oracle/residue.h), with every reference kernel: it computes without rounding.
#pragma once
#include "core/oracle/oracle.h"
#include "core/oracle/residue.h"

namespace stormcell {

extern template class Oracle<Residue>;
extern template struct OracleResult<Residue>;

}  // namespace stormcell
