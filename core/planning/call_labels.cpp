#include "core/planning/call_labels.h"

#include <array>

namespace stormcell {

bool is_gpu_of(std::string_view call, std::string_view cluster) {
  return cluster == call || (cluster.starts_with(call) && cluster[call.size()] == ' ');
}

std::string gpu_label(std::string name) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla ", "GeForce "})
    if (name.starts_with(maker)) name.erase(0, maker.size());
  const bool pcie = name.find("PCIe") != std::string::npos;
  const size_t first = name.find_first_of(" -");
  const size_t end = name.starts_with("RTX ") ? name.find(' ', first + 1) : first;
  return name.substr(0, end) + (pcie ? " PCIe" : "");
}

double bits_of_label(std::string_view dtype) {
  struct Format {
    std::string_view begins;
    double bits;
  };
  constexpr std::array kFormats = {Format{"fp8", 8},   Format{"f8", 8},    Format{"int8", 8},  Format{"i8", 8},
                                   Format{"bf16", 16}, Format{"fp16", 16}, Format{"f16", 16},  Format{"fp4", 4},
                                   Format{"nvfp4", 4}, Format{"mxfp4", 4}, Format{"fp32", 32}, Format{"f32", 32}};
  for (const Format& f : kFormats)
    if (dtype.starts_with(f.begins)) return f.bits;
  return 0;
}

}  // namespace stormcell
