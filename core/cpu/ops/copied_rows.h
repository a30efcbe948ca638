// Rows that are copied to where a decision or ragged cells send them: as they lie, or rounded to bf16 on the way.
#pragma once
#include <cstring>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/kernel_table.h"

namespace stormcell::cpu {

class CopiedRows {
 public:
  /// Copies from input 0 to output `output`.
  CopiedRows(const BuildContext& m, size_t output)
      : width_(m.program.operands[m.step.outputs[output]].width),
        from_bytes_(m.program.operands[m.step.inputs[0]].row_bytes()),
        to_bytes_(m.row_bytes(output)),
        rounds_(m.reads(0) != m.writes(output)) {}
  /// Nothing in bf16 is widened, and an odd row would be rounded past its end.
  static bool supports(const BuildContext& m) {
    for (size_t i = 0; i < m.step.outputs.size(); ++i)
      if (m.reads(0) != m.writes(i) &&
          (m.reads(0) != DType::f32 || m.program.operands[m.step.outputs[i]].width % 2 != 0))
        return false;
    return true;
  }
  int64_t row_bytes() const { return from_bytes_; }
  /// Elements of a row.
  int64_t width() const { return width_; }
  void copy(const std::byte* x, int64_t from, std::byte* y, int64_t to) const { copy(x, from, y, to, 0, width_); }
  /// The elements [begin, end) of a row, an even number of them where one is rounded.
  void copy(const std::byte* x, int64_t from, std::byte* y, int64_t to, int64_t begin, int64_t end) const {
    if (rounds_) {
      kernels().round_row(reinterpret_cast<const float*>(x + from * from_bytes_) + begin, end - begin,
                          reinterpret_cast<uint16_t*>(y + to * to_bytes_) + begin);
    } else {
      const int64_t size = from_bytes_ / width_;
      std::memcpy(y + to * to_bytes_ + begin * size, x + from * from_bytes_ + begin * size,
                  static_cast<size_t>((end - begin) * size));
    }
  }

 private:
  int64_t width_, from_bytes_, to_bytes_;
  bool rounds_;
};

}  // namespace stormcell::cpu
