#include "core/oracle/oracle.h"

#include "core/oracle/walk.h"

namespace stormcell {

template class Oracle<float>;
template class Oracle<double>;
template struct OracleResult<float>;
template struct OracleResult<double>;

}  // namespace stormcell
