#include "core/sheet/tensor_tally.h"

#include <algorithm>

#include "core/sheet/tensor_role.h"

namespace stormcell {
namespace {

constexpr int32_t kMostLayersCounted = 8192, kSecondStack = kMostLayersCounted;
constexpr size_t kMostRows = 64;
constexpr int64_t kMostExpertsCounted = int64_t{1} << 20;

/// A header may claim any number: sums stay at the largest one.
void add_up_to_most(int64_t more, int64_t& sum) { sum += std::min(more, INT64_MAX - sum); }

/// Parameters of a tensor, and the name of their format.
struct Counted {
  int64_t parameters = 0;
  std::string format;
};

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

/// Numbers that only say how others are to be read.
bool is_scale(std::string_view name) {
  return ends_with_any(
      name,
      {"_scales",    ".scales",        "_scale_inv",        ".weight_scale",      "_scale_2",           "input_scale",
       ".qzeros",    ".g_idx",         "weight_shape",      "zero_point",         "global_scale",       ".absmax",
       ".quant_map", ".nested_absmax", ".nested_quant_map", ".bitsandbytes__nf4", ".bitsandbytes__fp4", ".SCB",
       "_scale",     ".quant_state"});
}

Counted count(const DescribedTensor& tensor, const std::string& quantisation, int32_t packed_bits) {
  const int64_t elements = elements_of(tensor.shape);
  const std::string_view name = tensor.name;
  const auto several = [&](int32_t bits, int32_t in) {
    return elements <= INT64_MAX / in ? elements * (in / bits) : elements;
  };
  if (is_scale(name)) return {0, tensor.format};
  if (tensor.format == "U8" && ends_with_any(name, {"_blocks"})) return {several(4, 8), "MXFP4"};
  const bool is_word = tensor.format == "I32" || tensor.format == "U32";
  const int32_t bits = packed_bits > 0 && packed_bits <= 16 ? packed_bits : 4;
  const std::string packed = std::to_string(bits) + " bits (" + (quantisation.empty() ? "packed" : quantisation) + ")";
  if (is_word && ends_with_any(name, {".qweight", ".weight_packed"})) return {several(bits, 32), packed};
  if (is_word && !quantisation.empty() && name.ends_with(".weight")) return {several(bits, 32), packed};
  if (tensor.format == "U8" &&
      (name.ends_with(".weight_packed") || (!quantisation.empty() && name.ends_with(".weight") && bits == 4)))
    return {several(4, 8), packed};
  return {elements, tensor.format};
}

/// Experts that a tensor shows: all of a layer lie along one extent of it.
int64_t experts_along(const DescribedTensor& tensor) { return tensor.shape.size() >= 3 ? tensor.shape.front() : 0; }

}  // namespace

void TensorTally::add(const DescribedTensor& tensor) {
  const TensorRole role = role_of(tensor.name);
  const Counted counted = count(tensor, quantisation_, packed_bits_);
  ++tensors_;
  add_up_to_most(tensor.bytes, bytes_);
  if (tensor.bytes == 0 && counted.parameters > 0) ++without_bytes_;
  std::map<std::string, SheetFormat>& rows = formats_[std::string(role.kind)];
  SheetFormat& row = rows[rows.size() < kMostRows || rows.contains(counted.format) ? counted.format : "other"];
  ++row.tensors;
  add_up_to_most(counted.parameters, row.parameters);
  add_up_to_most(tensor.bytes, row.bytes);
  has_choice_bias_ |= role.kind == "router" && (tensor.name.find("correction_bias") != std::string::npos ||
                                                tensor.name.find("exp_probs_b") != std::string::npos ||
                                                tensor.name.find("expert_bias") != std::string::npos);
  if (role.layer < 0 || role.layer >= kMostLayersCounted || role.kind == "other inputs" ||
      role.kind == "further tokens")
    return;
  int64_t& layers = layers_[role.decoder ? 1 : 0];
  layers = std::max<int64_t>(layers, role.layer + 1);
  const int32_t place = role.layer + (role.decoder ? kSecondStack : 0);
  if (role.kind == "experts") {
    with_experts_.insert(place);
    const int64_t experts = role.expert >= 0 ? int64_t{role.expert} + 1 : experts_along(tensor);
    experts_ = std::max(experts_, std::min(experts, kMostExpertsCounted));
  }
  if (const std::string_view operation = operation_of(tensor.name); !operation.empty())
    operations_[std::string(operation)].insert(place);
}

int64_t TensorTally::parameters() const {
  int64_t all = 0;
  for (const auto& [kind, rows] : formats_) add_up_to_most(of_kind(kind).parameters, all);
  return all;
}

SheetFormat TensorTally::of_kind(std::string_view kind) const {
  SheetFormat all;
  const auto rows = formats_.find(std::string(kind));
  if (rows == formats_.end()) return all;
  for (const auto& [format, row] : rows->second) {
    all.tensors += row.tensors;
    add_up_to_most(row.parameters, all.parameters);
    add_up_to_most(row.bytes, all.bytes);
  }
  return all;
}

}  // namespace stormcell
