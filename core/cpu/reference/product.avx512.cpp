#include "core/cpu/reference/product.h"

#if defined(__x86_64__)
namespace stormcell::reference {
struct Avx512Set;
AddProducts<float> avx512_products(float) { return add_products<float, Avx512Set>; }
AddProducts<double> avx512_products(double) { return add_products<double, Avx512Set>; }
}  // namespace stormcell::reference
#endif
