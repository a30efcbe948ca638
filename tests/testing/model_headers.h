// Headers of models in the formats of others, made byte by byte as their descriptions say. Data are holes: a file of
// gigabytes costs no disk.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stormcell::testing {

/// A GGUF header of version 3.
class GgufBytes {
 public:
  GgufBytes& text(std::string_view key, std::string_view value);
  GgufBytes& number(std::string_view key, uint32_t value);
  GgufBytes& flag(std::string_view key, bool value);
  GgufBytes& real(std::string_view key, float value);
  GgufBytes& texts(std::string_view key, const std::vector<std::string>& values);
  /// `dims`: the first is that of neighbours. `bytes`: what the data take.
  GgufBytes& tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type, uint64_t bytes);

  /// Magic, keys, tensors, padding to 32 bytes.
  std::string header() const;
  uint64_t data_bytes() const { return data_; }

 private:
  std::string& key(std::string_view key, uint32_t type);

  std::string pairs_, tensors_;
  uint64_t pair_count_ = 0, tensor_count_ = 0, data_ = 0;
};

/// A mixture of llama.cpp: attention in Q8_0, experts in Q4_K and every third layer's down projections in Q3_K, a Qwen 3
/// of `layers`, 128 experts, k 8, hidden 512.
GgufBytes gguf_mixture(uint32_t layers);

/// protobuf's encoding of an ONNX model.
struct OnnxNode {
  std::string op, domain;
  std::vector<OnnxNode> branch;  ///< of an attribute that is a graph; empty: it has none
};
struct OnnxTensor {
  std::string name;
  std::vector<uint64_t> shape;
  uint32_t type = 1;
  std::string data;
  std::string file = {};  ///< another file has its 8 bytes, not `data`
};
std::string onnx_bytes(const std::vector<OnnxNode>& nodes, const std::vector<OnnxTensor>& tensors);

/// An archive of torch.export with calls of these targets and one weight [4, 8] of f32.
std::string pt2_bytes(const std::vector<std::string>& targets);

/// A pickle of a state dict as torch.save() writes it: an OrderedDict whose tensors are f32.
std::string state_dict_pickle(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors);
/// The file of that state dict, or of {"epoch": 3, "state_dict": it} for `nested`, and of a storage.
std::string state_dict_bytes(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors, bool nested,
                             size_t data_bytes = 64);
/// The same in the form before PyTorch 1.6, without the storages.
std::string old_state_dict_bytes(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors);

/// A header of safetensors for tensors of one format one after the other; `bytes_each`: bytes of an element.
struct HeaderTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};
std::string safetensors_head(const std::vector<HeaderTensor>& tensors);

/// Writes a header and makes the file `data_bytes` longer, as a hole.
void write_sparse(const std::string& path, std::string_view header, uint64_t data_bytes);

/// The tensors of a Qwen 3 mixture in the Hugging Face layout, layers [from, to), in bf16.
std::vector<HeaderTensor> qwen_tensors(int64_t from, int64_t to, int64_t experts, int64_t hidden, int64_t width);
/// Its config.json.
std::string qwen_config(int64_t layers, int64_t experts, int64_t k);
/// Writes a folder of `shards` files of layers, with config.json, index and tokenizer; returns the bytes of all weights.
int64_t write_qwen_folder(const std::string& folder, int64_t layers, int64_t experts, int64_t hidden, int64_t width,
                          int64_t shards);

}  // namespace stormcell::testing
