// Options of recorders and of the import that give a trace a missing fact.
#include "core/traces/trace.h"

namespace stormcell {
namespace {

struct HowTo {
  std::string_view format;  ///< empty: for every format
  std::string_view fact, words;
};

constexpr std::string_view kPerToken = "SGLang: --expert-distribution-recorder-mode per_token",
                           kOfRequests =
                               "SGLang: --enable-return-routed-experts, and return_routed_experts in each request",
                           kVllmRequests = "vLLM: --enable-return-routed-experts, and save the answers, one a line",
                           kLlama = "record with: stormcell recorder llama-cpp",
                           kCellRank = "write safetensors with cell.rank, as the guide's page recordings shows",
                           kHooks = "record with one of those that stormcell recorder lists",
                           kIdsAlone = "the server returns ids alone: stormcell recorder transformers-5 or pytorch "
                                       "records the same tokens with weights and margins";

// The first row that fits counts.
constexpr HowTo kHowTo[] = {
    {"logical-count", "decisions", kPerToken},
    {"logical-count", "homes", kPerToken},
    {"logical-count", "phases", kPerToken},
    {"logical-count", "positions", kPerToken},
    {"logical-count", "requests", kOfRequests},
    {"logical-count", "steps", "SGLang: --expert-distribution-recorder-mode stat, and dump without a sum over steps"},
    {"sglang", "decisions", kPerToken},
    {"sglang", "homes", kPerToken},
    {"sglang", "phases", kPerToken},
    {"sglang", "positions", kPerToken},
    {"sglang", "requests", kOfRequests},
    {"sglang", "order", "SGLang: --expert-distribution-recorder-buffer-size -1 keeps all steps in their order"},
    {"vllm-eplb", "decisions", kVllmRequests},
    {"vllm-eplb", "requests", kVllmRequests},
    {"imatrix", "decisions", kLlama},
    {"imatrix", "steps", "make one of each text: llama-imatrix sums up all of its input"},
    {"sglang", "weights", kIdsAlone},
    {"sglang", "margins", kIdsAlone},
    {"routed-experts", "weights", kIdsAlone},
    {"routed-experts", "margins", kIdsAlone},
    {"megatron", "weights", "Megatron-LM's trace has ids alone: stormcell recorder pytorch records weights and margins"},
    {"megatron", "margins", "Megatron-LM's trace has ids alone: stormcell recorder pytorch records weights and margins"},
    {"trtllm", "decisions", kHooks},
    {"npy", "requests", "write safetensors with cell.request, as the guide's page recordings shows"},
    {"npy", "positions", "write safetensors with cell.position, as the guide's page recordings shows"},
    {"npy", "phases", "write safetensors with cell.phase, as the guide's page recordings shows"},
    {"npy", "weights", "write safetensors with layer.N.weights, as the guide's page recordings shows"},
    {"npy", "margins", "write safetensors with layer.N.margins, as the guide's page recordings shows"},
    {"router-trace", "weights", kHooks},
    {"router-trace", "margins", kHooks},
    {"route-trace", "margins", kLlama},
    {"router-trace", "requests", kHooks},
    {"router-trace", "positions", kHooks},
    {"router-trace", "phases", kHooks},
    {"route-trace", "homes", kCellRank},
    {"router-trace", "homes", kCellRank},
    {"npy", "homes", kCellRank},
    {"native", "homes", kCellRank},
    {"", "model", "import --model-config config.json"},
    {"", "k", "import --model-config config.json"},
    {"", "branches", "import --model-config config.json"},
    {"", "homes", "record every rank by itself, and merge"},
};

}  // namespace

std::string_view how_to_record(std::string_view format, std::string_view fact) {
  for (const HowTo& how : kHowTo)
    if ((how.format == format || how.format.empty()) && how.fact == fact) return how.words;
  return {};
}

}  // namespace stormcell
