#include "core/oracle/residue_oracle.h"

#include "core/oracle/reference/kernels.h"
#include "core/oracle/walk.h"

namespace stormcell {

namespace reference {
template Kernel<Residue> find_kernel(std::string_view);
}  // namespace reference

template class Oracle<Residue>;
template struct OracleResult<Residue>;

}  // namespace stormcell
