#include "core/oracle/reference/product.h"

#if defined(__x86_64__)
namespace stormcell::reference {
AddProducts<float> avx2_products(float) { return add_products<float, Avx2>; }
AddProducts<double> avx2_products(double) { return add_products<double, Avx2>; }
}  // namespace stormcell::reference
#endif
