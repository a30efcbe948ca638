#include "core/oracle/reference/product.h"

namespace stormcell::reference {

#if defined(__x86_64__)
AddProducts<float> avx2_products(float);
AddProducts<double> avx2_products(double);
AddProducts<float> avx512_products(float);
AddProducts<double> avx512_products(double);
#endif

template <class Scalar>
AddProducts<Scalar> best_add_products() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma"))
    return avx512_products(Scalar());
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_products(Scalar());
#endif
  return add_products<Scalar, Generic>;
}
template AddProducts<float> best_add_products();
template AddProducts<double> best_add_products();

}  // namespace stormcell::reference
