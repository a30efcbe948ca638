// Options of an export.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell {

struct ExportOptions {
  std::string session;  ///< S.storm, S.storm#3, S.storm#name
  std::string output;   ///< file, "-": standard output
  std::string what;     ///< csv: loads, labels, transitions, decisions, scores or timings; trtllm: static or dynamic
  int64_t shared_experts = 0;  ///< vllm-ascend: that the server places with the routed ones, each on every device
  bool pictures = true;        ///< session: those that it keeps are copied
};

}  // namespace stormcell
