#include "core/oracle/stored_formats.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/error.h"
#include "core/oracle/stored_blocks.h"

namespace stormcell::reference {
namespace {

template <DType format>
void read_elements(const std::byte* stored, int64_t first, int64_t n, float* to) {
  to_f32(stored + first * static_cast<int64_t>(element_size(format)), format, to, static_cast<size_t>(n));
}

constexpr std::array kStoredFormats = {
    StoredFormat{DType::f32, read_elements<DType::f32>, {}},
    StoredFormat{DType::f16, read_elements<DType::f16>, {11, -24, 65504.0}},
    StoredFormat{DType::bf16, read_elements<DType::bf16>, {8, -133, 3.3895313892515355e38}},
    StoredFormat{DType::f64, read_elements<DType::f64>, {}},
    StoredFormat{DType::u8, read_u8, {}},
    StoredFormat{DType::f8_e4m3, read_f8_e4m3, {}},
    StoredFormat{DType::f8_e5m2, read_f8_e5m2, {}},
    StoredFormat{DType::q8_0, read_q8_0, {}},
    StoredFormat{DType::q4_0, read_q4_0, {}},
    StoredFormat{DType::q4_k, read_q4_k, {}},
    StoredFormat{DType::q5_k, read_q5_k, {}},
    StoredFormat{DType::q6_k, read_q6_k, {}},
    StoredFormat{DType::mxfp4, read_mxfp4, {}},
};

}  // namespace

const StoredFormat& stored_format(DType format) {
  const auto at = std::find_if(kStoredFormats.begin(), kStoredFormats.end(),
                               [&](const StoredFormat& row) { return row.format == format; });
  if (at == kStoredFormats.end()) failed("oracle", "no weight is stored in " + std::string(to_text(format)));
  return *at;
}

}  // namespace stormcell::reference
