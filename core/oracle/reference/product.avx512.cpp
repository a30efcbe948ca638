#include "core/oracle/reference/product.h"

#if defined(__x86_64__)
namespace stormcell::reference {
AddProducts<float> avx512_products(float) { return add_products<float, Avx512>; }
AddProducts<double> avx512_products(double) { return add_products<double, Avx512>; }
}  // namespace stormcell::reference
#endif
