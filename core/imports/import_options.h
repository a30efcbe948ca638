// Options of an import.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell {

struct ImportOptions {
  std::vector<std::string> traces;  ///< files, or folders: their new traces
  std::string session;              ///< created, or appended to if it has the model of one of the traces
  std::string format;               ///< empty: recognised by each file's content
  std::string model_config;         ///< a config.json, for facts that the traces lack; may be empty
  int64_t hidden = 0, ffn = 0;      ///< sizes of a branch where there is no config.json; 0: not known
  /// experts whose ids a fusing server put behind the routed ones; -1: as in the config.json
  int64_t shared_experts = -1;
};

}  // namespace stormcell
