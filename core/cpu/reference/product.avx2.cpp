#include "core/cpu/reference/product.h"

#if defined(__x86_64__)
namespace stormcell::reference {
struct Avx2Set;
AddProducts<float> avx2_products(float) { return add_products<float, Avx2Set>; }
AddProducts<double> avx2_products(double) { return add_products<double, Avx2Set>; }
}  // namespace stormcell::reference
#endif
