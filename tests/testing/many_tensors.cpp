#include "tests/testing/many_tensors.h"

#include <filesystem>
#include <fstream>
#include <vector>

namespace stormcell::testing {
namespace {

class Header {
 public:
  void add(const std::string& name, const std::vector<int64_t>& shape) {
    int64_t bytes = 4;
    std::string extents;
    for (const int64_t extent : shape) {
      bytes *= extent;
      extents += (extents.empty() ? "" : ",") + std::to_string(extent);
    }
    text_ += (text_.empty() ? "{" : ",") + ("\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[") + extents +
             "],\"data_offsets\":[" + std::to_string(at_) + "," + std::to_string(at_ + bytes) + "]}";
    at_ += bytes;
    ++count_;
  }
  std::string text() const {
    std::string all = text_ + "}";
    all.resize((all.size() + 7) / 8 * 8, ' ');
    return all;
  }
  int64_t bytes() const { return at_; }
  int64_t count() const { return count_; }

 private:
  std::string text_;
  int64_t at_ = 0, count_ = 0;
};

Header header_of(const ManyTensors& m) {
  Header h;
  h.add("model.embed_tokens.weight", {50, m.width});
  h.add("model.norm.weight", {m.width});
  h.add("lm_head.weight", {50, m.width});
  for (int64_t l = 0; l < m.layers; ++l) {
    const std::string layer = "model.layers." + std::to_string(l) + ".";
    for (const char* norm : {"input_layernorm.weight", "post_attention_layernorm.weight"})
      h.add(layer + norm, {m.width});
    for (const char* part : {"q_proj", "k_proj", "v_proj", "o_proj"})
      h.add(layer + "self_attn." + part + ".weight", {m.width, m.width});
    h.add(layer + "block_sparse_moe.gate.weight", {m.experts, m.width});
    if (m.stacked) {
      h.add(layer + "block_sparse_moe.experts.gate_up_proj", {m.experts, 2 * m.ffn_width, m.width});
      h.add(layer + "block_sparse_moe.experts.down_proj", {m.experts, m.width, m.ffn_width});
      continue;
    }
    for (int64_t e = 0; e < m.experts; ++e)
      for (int64_t w = 1; w <= m.per_expert; ++w) {
        const std::string name =
            layer + "block_sparse_moe.experts." + std::to_string(e) + ".w" + std::to_string(w) + ".weight";
        h.add(name, w == 2 ? std::vector{m.width, m.ffn_width} : std::vector{m.ffn_width, m.width});
      }
  }
  return h;
}

}  // namespace

int64_t write_many_tensors(const std::string& folder, const ManyTensors& m) {
  const std::filesystem::path place(folder);
  std::ofstream(place / "config.json")
      << "{\"model_type\":\"mixtral\",\"architectures\":[\"MixtralForCausalLM\"],\"vocab_size\":50"
      << ",\"hidden_size\":" << m.width << ",\"intermediate_size\":" << m.ffn_width
      << ",\"num_hidden_layers\":" << m.layers << ",\"num_attention_heads\":4,\"num_key_value_heads\":4"
      << ",\"num_local_experts\":" << m.experts << ",\"num_experts_per_tok\":2}";
  const Header header = header_of(m);
  const std::string text = header.text(), file = (place / "model.safetensors").string();
  {
    std::ofstream out(file, std::ios::binary);
    const uint64_t size = text.size();
    out.write(reinterpret_cast<const char*>(&size), sizeof size) << text;
  }
  std::filesystem::resize_file(file, 8 + text.size() + static_cast<uint64_t>(header.bytes()));
  return header.count();
}

}  // namespace stormcell::testing
