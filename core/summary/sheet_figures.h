// The sheet of a model: what the headers of its files say, whether or not this version can run it. The JSON is
// "stormcell.sheet/1".
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_words.h"

namespace stormcell {

/// A thing that this version lacks to run the model: "needs `delta_rule`", "in 30 of 40 layers".
struct SheetLack {
  std::string what, where;  ///< where: empty where it is of the whole model
  int64_t count = 0;        ///< layers, tensors or nodes; 0: none are counted
};

/// Tensors of one kind and one number format.
struct SheetFormat {
  int64_t tensors = 0;
  int64_t parameters = 0;
  int64_t bytes = 0;
};

/// Formats by kind ("experts", "attention") and name ("BF16", "Q4_K").
using SheetFormats = std::map<std::string, std::map<std::string, SheetFormat>>;

/// Whether the weights fit into memory.
enum class MemoryFit : uint8_t {
  whole,
  experts_in_part,  ///< if experts are read as they are needed
  not_at_all,
  unknown  ///< the word of a later version
};
inline constexpr std::string_view kMemoryFits[] = {"whole", "experts in part", "not", "unknown"};
inline std::string_view to_text(MemoryFit fit) { return row_of(kMemoryFits, fit); }
inline MemoryFit memory_fit(std::string_view word) {
  return value_of_word<MemoryFit>(kMemoryFits, word).value_or(MemoryFit::unknown);
}

/// How the weights, as they are stored, compare with the memory of this machine.
struct SheetMemory {
  int64_t total_bytes = 0, available_bytes = 0;  ///< memory of the machine, and what this process may still take
  int64_t expert_bytes = 0;                      ///< weights of routed experts
  int64_t rest_bytes = 0;                        ///< all other weights: every token needs them
  int64_t token_bytes = 0;                       ///< weights that one token reads
  std::optional<MemoryFit> fits;                 ///< nothing: not known
};

/// Tokens a second of one sequence that is decoded with all weights in memory.
struct SheetRate {
  double low = 0;   ///< arithmetic after reading
  double high = 0;  ///< arithmetic while reading
};

struct ModelSheet {
  std::string version;  ///< version of the program that wrote it; empty: this one
  std::string kind;     ///< id of the kind of files: "gguf", "model-folder"
  std::string name, family;
  std::string routing;  ///< the rule in words; empty: no router was found, or its rule is not known
  bool runnable = false;
  std::vector<SheetLack> lacks;
  int64_t parameters = 0, active_parameters = 0;                    ///< 0: not known
  int64_t layers = 0, layers_with_experts = 0, experts = 0, k = 0;  ///< 0: not known, or none
  int64_t files = 0, bytes = 0;                                     ///< files of weights, and their bytes
  SheetFormats formats;
  std::string tokenizer, chat_template;  ///< described in words; empty: there is none
  SheetMemory memory;
  std::optional<SheetRate> tokens_per_s;  ///< nothing can be said
  std::string recorder;                   ///< name of the recorder that fits; empty: there is nothing to record
  std::vector<std::string> warnings;
};

/// "stormcell.sheet/1"
std::string to_json(const ModelSheet& sheet);

/// A lack as one line.
std::string to_text(const SheetLack& lack);

}  // namespace stormcell
