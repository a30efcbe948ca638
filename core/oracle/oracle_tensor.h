// Values that the oracle and its reference kernels compute with.
#pragma once
#include <cstdint>
#include <vector>

namespace stormcell {

/// A value of the oracle: floating ones in `reals`, i32 in `integers`; the other list is empty.
template <class Scalar>
struct OracleTensor {
  std::vector<int64_t> dims;  ///< cells first if the value is over cells; may be left empty for an input
  std::vector<Scalar> reals;
  std::vector<int32_t> integers;
};

}  // namespace stormcell
