#include "core/oracle/reference/product.h"

namespace stormcell::reference {

#if defined(__x86_64__)
AddProducts<float> avx2_products(float);
AddProducts<double> avx2_products(double);
AddProducts<float> avx512_products(float);
AddProducts<double> avx512_products(double);
#endif

namespace {
template <class Real>
AddProducts<Real> best_of_floats() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma"))
    return avx512_products(Real());
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_products(Real());
#endif
  return add_products<Real, Generic>;
}
}  // namespace

template <>
AddProducts<float> best_add_products() {
  return best_of_floats<float>();
}
template <>
AddProducts<double> best_add_products() {
  return best_of_floats<double>();
}

}  // namespace stormcell::reference
