#include "core/planning/call_labels.h"

#include <array>

namespace stormcell {

bool is_gpu_of(std::string_view call, std::string_view cluster) {
  if (cluster == call) return true;
  if (call.empty() || !cluster.starts_with(call) || cluster[call.size()] != ' ') return false;
  const std::string_view rest = cluster.substr(call.size() + 1);
  return !rest.starts_with("PCIe") && !rest.starts_with("Ti") && !rest.starts_with("SUPER");  // other cards
}

std::string gpu_label(std::string name) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla ", "GeForce "})
    if (name.starts_with(maker)) name.erase(0, maker.size());
  const bool pcie = name.find("PCIe") != std::string::npos || name.find("PCIE") != std::string::npos;
  const size_t first = name.find_first_of(" -");
  size_t end = name.starts_with("RTX ") ? name.find(' ', first + 1) : first;
  for (const std::string_view more : {" Ti", " SUPER"})
    if (end < name.size() && name.compare(end, more.size(), more) == 0) end += more.size();
  return name.substr(0, end) + (pcie ? " PCIe" : "");
}

double bits_of_label(std::string_view dtype) {
  struct Format {
    std::string_view begins;
    double bits;
  };
  constexpr std::array kFormats = {Format{"fp8", 8},   Format{"f8", 8},    Format{"int8", 8}, Format{"i8", 8},
                                   Format{"bf16", 16}, Format{"fp16", 16}, Format{"f16", 16}, Format{"fp4", 4},
                                   Format{"nvfp4", 4}, Format{"mxfp4", 4}, Format{"f4", 4},   Format{"fp32", 32},
                                   Format{"f32", 32}};
  for (const Format& f : kFormats)
    if (dtype.starts_with(f.begins)) return f.bits;
  return 0;
}

}  // namespace stormcell
