// Counts tensors as headers describe them, one after the other: kinds, formats, layers and experts. It keeps counts, not
// tensors.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/formats/described_tensor.h"
#include "core/summary/sheet_figures.h"

namespace stormcell {

class TensorTally {
 public:
  /// `packed_bits`: bits of a number where several lie in an integer, as the configuration says; 0: it does not say.
  explicit TensorTally(std::string quantisation = {}, int32_t packed_bits = 0)
      : quantisation_(std::move(quantisation)), packed_bits_(packed_bits) {}

  void add(const DescribedTensor& tensor);
  /// A layer needs an operation (tensor_role.h) by the word of its configuration.
  void need(std::string_view operation, int32_t layer) { operations_[std::string(operation)].insert(layer); }

  const SheetFormats& formats() const { return formats_; }
  int64_t tensors() const { return tensors_; }
  int64_t bytes() const { return bytes_; }
  int64_t parameters() const;
  /// Sums of a kind over all its formats.
  SheetFormat of_kind(std::string_view kind) const;
  /// Layers of the first stack, and of the second one; one more than the largest number.
  int64_t layers() const { return layers_[0] + layers_[1]; }
  int64_t layers_with_experts() const { return std::ssize(with_experts_); }
  /// Experts of the layer with most; 0: no tensor shows it.
  int64_t experts() const { return experts_; }
  /// The number of layers that need an operation (tensor_role.h).
  const std::map<std::string, std::set<int32_t>, std::less<>>& operations() const { return operations_; }
  bool has_choice_bias() const { return has_choice_bias_; }
  /// Tensors whose bytes the header does not say.
  int64_t without_bytes() const { return without_bytes_; }

 private:
  std::string quantisation_;
  int32_t packed_bits_;
  SheetFormats formats_;
  std::map<std::string, std::set<int32_t>, std::less<>> operations_;
  std::set<int32_t> with_experts_;
  int64_t tensors_ = 0, bytes_ = 0, experts_ = 0, without_bytes_ = 0;
  int64_t layers_[2] = {0, 0};
  bool has_choice_bias_ = false;
};

}  // namespace stormcell
