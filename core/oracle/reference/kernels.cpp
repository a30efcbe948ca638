#include "core/oracle/reference/kernels.h"

namespace stormcell::reference {

template Kernel<float> find_kernel(std::string_view);
template Kernel<double> find_kernel(std::string_view);

}  // namespace stormcell::reference
