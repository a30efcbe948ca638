// Made-up recordings of serving and training systems: small and complete, so that tests can damage them.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/safetensors_writer.h"

namespace stormcell::testing {

inline std::string base64_of(const std::vector<int32_t>& values) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int32_t));
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t j = 0; j < 3; ++j) three = three << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : kDigits[three >> (18 - 6 * j) & 63];
  }
  return text;
}

/// For routed_experts(): layer 0 is dense, k = 2.
inline constexpr const char* kThreeLayers =
    R"({"model_type": "deepseek_v3", "num_hidden_layers": 3, "n_routed_experts": 4,
 "first_k_dense_replace": 1, "num_experts_per_tok": 2, "hidden_size": 64, "moe_intermediate_size": 32})";

/// An answer of SGLang with these numbers; the prompt's tokens and the answer's may be left out (0).
inline std::string answer(const std::vector<int32_t>& routed, int prompt = 0, int completion = 0) {
  std::string about = prompt > 0 ? "\"prompt_tokens\": " + std::to_string(prompt) +
                                       ", \"completion_tokens\": " + std::to_string(completion) + ", "
                                 : "";
  about += "\"routed_experts\": \"" + base64_of(routed) + "\"";
  return "{\"text\": \"hi there\", \"meta_info\": {" + about + "}}\n";
}

/// Two answers of three layers: of 3 prompt tokens and 2 more, of which the last is not computed on; and of one prompt
/// token.
inline std::string routed_experts() {
  std::vector<int32_t> first;
  for (int32_t t = 0; t < 4; ++t) first.insert(first.end(), {0, 0, t, (t + 1) % 4, 3, t % 2});
  return answer(first, 3, 2) + answer({0, 0, 3, 2, 1, 0}, 1, 1);
}

/// Two steps of 2 layers, 3 experts in 4 slots, re-balanced between them, and lines that are none of them.
inline std::string vllm_loads() {
  return R"({"record_type": "session_metadata", "version": 1, "model": "made"}
{"record_type":"eplb_load_stats","version":1,"step":7,"num_ranks":2,"num_layers":2,"tokens":[[3,2],[3,2]],"expert_load":[[1,2,3,4],[0,5,0,5]],"p2l_map":[[0,1,2,0],[2,1,0,1]]}
{"record_type":"eplb_load_stats","version":1,"step":8,"num_ranks":2,"num_layers":2,"tokens":[[3,2],[3,2]],"expert_load":[[1,1,1,7],[9,0,0,1]],"p2l_map":[[1,1,2,0],[2,1,0,0]]}
)";
}

/// A training step of two micro-batches through two layers on rank 1, then one of the next step; k = 2.
inline std::string megatron_trace() {
  std::string text;
  const auto pass = [&](int step, int layer, const char* ids) {
    text += R"({"step":)" + std::to_string(step) + R"(,"stage":"pre_dispatch","block":"decoder","layer":)" +
            std::to_string(layer) + R"(,"rank":1,"num_tokens":2,"topk":2,"top_indices":)" + ids + "}\n";
  };
  pass(0, 1, "[[0,1],[2,3]]"), pass(0, 2, "[[3,0],[3,1]]");
  pass(0, 1, "[[1,0],[1,2]]"), pass(0, 2, "[[2,0],[0,1]]");
  pass(1, 1, "[[3,2],[3,0]]"), pass(1, 2, "[[1,2],[0,3]]");
  return text;
}

/// meta_info.json, with rank0.safetensors and rank1.safetensors beside it in `folder`: iterations 100 and 101, layers 3
/// and 4.
inline std::string trtllm_statistics(const std::string& folder) {
  for (int64_t rank = 0; rank < 2; ++rank) {
    const std::vector<int64_t> a = {1 + rank, 2, 3}, b = {3, 3 + rank, 6}, c = {4, 2, 2};
    std::vector<TensorToWrite> tensors = {{"100_3", DType::i64, {3}, a.data()},
                                          {"100_4", DType::i64, {3}, b.data()},
                                          {"101_3", DType::i64, {3}, c.data()}};
    if (rank == 0) tensors.push_back({"101_4", DType::i64, {3}, a.data()});
    write_safetensors(folder + "/rank" + std::to_string(rank) + ".safetensors", tensors);
  }
  return R"({"num_experts": 3, "num_experts_per_token": 2})";
}

/// An importance matrix of two layers (1 and 2) of three experts, 8 tokens of k = 2.
inline std::string imatrix() {
  std::string file = "GGUF", data;
  const auto put = [&](auto value) { file.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const auto text = [&](std::string_view t) {
    put(uint64_t{t.size()});
    file += t;
  };
  constexpr uint32_t kU32 = 4, kText = 8, kList = 9;
  put(uint32_t{3}), put(uint64_t{4}), put(uint64_t{4});
  text("general.type"), put(kText), text("imatrix");
  text("imatrix.datasets"), put(kList), put(kText), put(uint64_t{1}), text("wiki.test.raw");
  text("imatrix.chunk_count"), put(kU32), put(uint32_t{2});
  text("imatrix.chunk_size"), put(kU32), put(uint32_t{4});
  for (const char* stack : {"gate", "up"})
    for (int layer = 1; layer <= 2; ++layer) {
      text("blk." + std::to_string(layer) + ".ffn_" + stack + "_exps.weight.counts");
      put(uint32_t{2}), put(uint64_t{1}), put(uint64_t{3}), put(uint32_t{0}), put(uint64_t{data.size()});
      const std::vector<float> counts = layer == 1 ? std::vector<float>{8, 5, 3} : std::vector<float>{2, 6, 8};
      data.append(reinterpret_cast<const char*>(counts.data()), counts.size() * sizeof(float));
      data.resize((data.size() + 31) / 32 * 32);
    }
  file.resize((file.size() + 31) / 32 * 32);
  return file + data;
}

}  // namespace stormcell::testing
