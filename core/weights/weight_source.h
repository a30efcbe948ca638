// Sources of weights: files, a seeded generator, tests. Bytes are held only as long as someone holds a handle to them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/number_format.h"

namespace stormcell {

struct WeightInfo {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;  ///< row-major
  int64_t elements() const {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    return n;
  }
  /// Throws Error(bad_input) if a format of blocks has rows that are not whole blocks.
  int64_t bytes() const { return tensor_bytes(dtype, shape); }
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// nullptr if there is no such weight. Throws Error(bad_input) for one whose format nothing is computed with; a
  /// source that makes weights by recipes, for a text that is no valid recipe.
  virtual const WeightInfo* find(std::string_view name) const = 0;
  /// Bytes that a file gives when bytes() is called: those of the stored tensors that the weight is made from; 0:
  /// nothing is read.
  virtual int64_t stored_bytes(std::string_view name) const { return find(name)->bytes(); }
  /// The stored bytes, row-major. Letting go of the last handle gives the memory back that they were read or generated
  /// into. Thread-safe. Throws Error when there is no such weight.
  virtual std::shared_ptr<const std::byte> bytes(std::string_view name) const = 0;
  /// Bytes held at most from the call of bytes() until its last handle goes: the weight, and its operands.
  virtual int64_t bytes_while_read(std::string_view name) const { return find(name)->bytes(); }
  /// `count` bytes from byte `first` on, which must lie within the weight; as bytes(). A source that can read a range
  /// alone does.
  virtual std::shared_ptr<const std::byte> range(std::string_view name, int64_t first,
                                                 [[maybe_unused]] int64_t count) const {
    const std::shared_ptr<const std::byte> whole = bytes(name);
    return {whole, whole.get() + first};
  }
  /// Copies to.size() bytes from byte `first` on; as range(). A source of files reads them into `to` itself, so that a
  /// weight that is kept as it is stored is ready when it has been read.
  virtual void copy(std::string_view name, int64_t first, std::span<std::byte> to) const {
    const std::shared_ptr<const std::byte> from = range(name, first, static_cast<int64_t>(to.size()));
    if (!to.empty()) std::memcpy(to.data(), from.get(), to.size());
  }
};

}  // namespace stormcell
