#include "tests/testing/model_headers.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/testing/zip_bytes.h"

namespace stormcell::testing {
namespace {

template <class T>
void put_number(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_text(std::string& to, std::string_view text) {
  put_number(to, uint64_t{text.size()});
  to += text;
}

// protobuf: a key of number and type, then a varint or a length and bytes.
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string field_number(uint32_t number, uint64_t value) { return varint(number << 3) + varint(value); }
std::string field_bytes(uint32_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string onnx_graph(const std::vector<OnnxNode>& nodes, const std::vector<OnnxTensor>& tensors);

std::string onnx_node(const OnnxNode& node) {
  std::string bytes = field_bytes(1, "x") + field_bytes(2, "y") + field_bytes(4, node.op);
  if (!node.branch.empty())
    bytes += field_bytes(
        5, field_bytes(1, "then_branch") + field_bytes(6, onnx_graph(node.branch, {})) + field_number(20, 5));
  return node.domain.empty() ? bytes : bytes + field_bytes(7, node.domain);
}

std::string onnx_graph(const std::vector<OnnxNode>& nodes, const std::vector<OnnxTensor>& tensors) {
  std::string bytes;
  for (const OnnxNode& node : nodes) bytes += field_bytes(1, onnx_node(node));
  bytes += field_bytes(2, "made");
  for (const OnnxTensor& tensor : tensors) {
    std::string of;
    for (const uint64_t extent : tensor.shape) of += field_number(1, extent);
    of += field_number(2, tensor.type) + field_bytes(8, tensor.name);
    if (tensor.file.empty()) {
      of += field_bytes(9, tensor.data);
    } else {
      for (const auto& [key, value] : {std::pair{"location", tensor.file}, {"length", std::string("8")}})
        of += field_bytes(13, field_bytes(1, key) + field_bytes(2, value));
      of += field_number(14, 1);
    }
    bytes += field_bytes(5, of);
  }
  return bytes;
}

std::string pickle_text(std::string_view text) {
  std::string bytes = "X";
  put_number(bytes, static_cast<uint32_t>(text.size()));
  return bytes + std::string(text);
}
std::string pickle_number(int64_t value) {
  std::string bytes = "J";
  put_number(bytes, static_cast<int32_t>(value));
  return bytes;
}

/// A state dict: an OrderedDict with its metadata as state. `old`: storages have a sixth part.
std::string ordered_dict(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors, bool old) {
  const std::string dict = "ccollections\nOrderedDict\n)R";
  std::string bytes = dict + "(";
  int64_t storage = 0;
  for (const auto& [name, shape] : tensors) {
    int64_t elements = 1;
    std::string sizes = "(", strides = "(";
    for (const int64_t n : shape) elements *= n, sizes += pickle_number(n);
    int64_t stride = elements;
    for (const int64_t n : shape) stride /= n, strides += pickle_number(stride);
    bytes += pickle_text(name) + "ctorch._utils\n_rebuild_tensor_v2\n((" + pickle_text("storage") +
             "ctorch\nFloatStorage\n" + pickle_text(std::to_string(storage++)) + pickle_text("cpu") +
             pickle_number(elements) + (old ? "N" : "") + "tQ" + pickle_number(0) + sizes + "t" + strides + "t\x89" +
             dict + "tR";
  }
  return bytes + "u}b";
}

constexpr uint32_t kText = 8, kList = 9, kFlag = 7, kNumber = 4, kReal = 6;
constexpr uint32_t kF32 = 0, kQ8 = 8, kQ3K = 11, kQ4K = 12;
constexpr uint64_t kAlignment = 32;

std::string padded(std::string bytes, uint64_t to) {
  bytes.resize((bytes.size() + to - 1) / to * to, '\0');
  return bytes;
}

}  // namespace

std::string& GgufBytes::key(std::string_view key, uint32_t type) {
  ++pair_count_;
  put_text(pairs_, key);
  put_number(pairs_, type);
  return pairs_;
}
GgufBytes& GgufBytes::text(std::string_view name, std::string_view value) {
  put_text(key(name, kText), value);
  return *this;
}
GgufBytes& GgufBytes::number(std::string_view name, uint32_t value) {
  put_number(key(name, kNumber), value);
  return *this;
}
GgufBytes& GgufBytes::flag(std::string_view name, bool value) {
  key(name, kFlag) += value ? '\1' : '\0';
  return *this;
}
GgufBytes& GgufBytes::real(std::string_view name, float value) {
  put_number(key(name, kReal), value);
  return *this;
}
GgufBytes& GgufBytes::texts(std::string_view name, const std::vector<std::string>& values) {
  std::string& to = key(name, kList);
  put_number(to, kText), put_number(to, uint64_t{values.size()});
  for (const std::string& value : values) put_text(to, value);
  return *this;
}
GgufBytes& GgufBytes::tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type, uint64_t bytes) {
  ++tensor_count_;
  put_text(tensors_, name);
  put_number(tensors_, static_cast<uint32_t>(dims.size()));
  for (const uint64_t n : dims) put_number(tensors_, n);
  put_number(tensors_, type);
  put_number(tensors_, data_);
  data_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return *this;
}
std::string GgufBytes::header() const {
  std::string bytes = "GGUF";
  put_number(bytes, uint32_t{3}), put_number(bytes, tensor_count_), put_number(bytes, pair_count_);
  return padded(bytes + pairs_ + tensors_, kAlignment);
}

GgufBytes gguf_mixture(uint32_t layers) {
  constexpr uint64_t kHidden = 512, kWidth = 256, kExperts = 128, kVocabulary = 1000;
  // Elements and bytes of a block: 32 and 34 of Q8_0, 256 and 110 of Q3_K, 256 and 144 of Q4_K.
  const auto q8 = [](uint64_t elements) { return elements / 32 * 34; };
  GgufBytes file;
  file.text("general.architecture", "qwen3moe").text("general.name", "A made mixture");
  file.number("qwen3moe.block_count", layers).number("qwen3moe.expert_count", kExperts);
  file.number("qwen3moe.expert_used_count", 8).number("general.alignment", kAlignment);
  file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "qwen2");
  file.texts("tokenizer.ggml.tokens", std::vector<std::string>(kVocabulary, "token"));
  file.text("tokenizer.chat_template", "{{ '<|im_start|>' + message.role }}");
  file.tensor("token_embd.weight", {kHidden, kVocabulary}, kQ8, q8(kHidden * kVocabulary));
  file.tensor("output.weight", {kHidden, kVocabulary}, kQ8, q8(kHidden * kVocabulary));
  for (uint32_t l = 0; l < layers; ++l) {
    const std::string layer = "blk." + std::to_string(l) + ".";
    file.tensor(layer + "attn_norm.weight", {kHidden}, kF32, kHidden * 4);
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"})
      file.tensor(layer + name + ".weight", {kHidden, kHidden}, kQ8, q8(kHidden * kHidden));
    file.tensor(layer + "ffn_gate_inp.weight", {kHidden, kExperts}, kF32, kHidden * kExperts * 4);
    const uint64_t elements = kHidden * kWidth * kExperts;
    file.tensor(layer + "ffn_gate_exps.weight", {kHidden, kWidth, kExperts}, kQ4K, elements / 256 * 144);
    file.tensor(layer + "ffn_up_exps.weight", {kHidden, kWidth, kExperts}, kQ4K, elements / 256 * 144);
    const bool is_small = l % 3 == 0;
    file.tensor(layer + "ffn_down_exps.weight", {kWidth, kHidden, kExperts}, is_small ? kQ3K : kQ4K,
                elements / 256 * (is_small ? 110 : 144));
  }
  return file;
}

std::string onnx_bytes(const std::vector<OnnxNode>& nodes, const std::vector<OnnxTensor>& tensors) {
  return field_number(1, 8) + field_bytes(2, "pytorch") + field_bytes(3, "2.8.0") +
         field_bytes(7, onnx_graph(nodes, tensors)) + field_bytes(8, field_bytes(1, "") + field_number(2, 17));
}

std::string pt2_bytes(const std::vector<std::string>& targets) {
  std::string nodes;
  for (const std::string& target : targets)
    nodes += (nodes.empty() ? "" : ",") + std::string("{\"target\":\"") + target +
             "\",\"inputs\":[{\"name\":\"x\",\"arg\":{\"as_tensor\":{\"name\":\"target\"}}}],\"metadata\":{\"nn_module_"
             "stack\":\"a\"}}";
  const std::string program = "{\"graph_module\":{\"graph\":{\"inputs\":[],\"outputs\":[],\"nodes\":[" + nodes +
                              "],\"tensor_values\":{}},\"signature\":{}},\"schema_version\":{\"major\":8,\"minor\":5},"
                              "\"torch_version\":\"2.8.0\"}";
  const std::string weights =
      "{\"config\":{\"layers.0.mlp.gate.weight\":{\"path_name\":\"weight_0\",\"is_param\":true,\"tensor_meta\":{"
      "\"dtype\":7,"
      "\"sizes\":[{\"as_int\":4},{\"as_int\":8}],\"strides\":[{\"as_int\":8},{\"as_int\":1}]}}}}";
  return zip_bytes({{"made/archive_format", "pt2"},
                    {"made/models/model.json", program},
                    {"made/data/weights/model_weights_config.json", weights},
                    {"made/data/weights/weight_0", std::string(128, 'w')}});
}

std::string state_dict_pickle(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors) {
  return "\x80\x02" + ordered_dict(tensors, false) + ".";
}

std::string state_dict_bytes(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors, bool nested,
                             size_t data_bytes) {
  const std::string dict = ordered_dict(tensors, false);
  // A class that nobody knows, made by its constructor and given a state.
  const std::string arguments = "cargparse\nNamespace\n)\x81}(" + pickle_text("lr") + pickle_number(1) + "ub";
  const std::string root = nested ? "}(" + pickle_text("epoch") + pickle_number(3) + pickle_text("arguments") +
                                        arguments + pickle_text("state_dict") + dict + "u"
                                  : dict;
  return zip_bytes({{"made/data.pkl", "\x80\x02" + root + "."},
                    {"made/version", "3\n"},
                    {"made/data/0", std::string(data_bytes, 'w')}});
}

std::string old_state_dict_bytes(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors) {
  using namespace std::string_literals;
  const std::string magic = "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19."s, version = "\x80\x02M\xe9\x03."s,
                    system = "\x80\x02}(" + pickle_text("little_endian") + "\x88u.";
  return magic + version + system + "\x80\x02" + ordered_dict(tensors, true) + ".\x80\x02](" + pickle_text("0") + "e.";
}

std::string safetensors_head(const std::vector<HeaderTensor>& tensors) {
  std::string json = "{\"__metadata__\":{\"format\":\"pt\"}";
  int64_t at = 0;
  for (const HeaderTensor& tensor : tensors) {
    std::string shape;
    for (const int64_t n : tensor.shape) shape += (shape.empty() ? "" : ",") + std::to_string(n);
    json += ",\"" + tensor.name + "\":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[" + shape +
            "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + tensor.bytes) + "]}";
    at += tensor.bytes;
  }
  json += "}";
  std::string bytes;
  put_number(bytes, uint64_t{json.size()});
  return bytes + json;
}

void write_sparse(const std::string& path, std::string_view header, uint64_t data_bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << header;
  std::filesystem::resize_file(path, header.size() + data_bytes);
}

std::vector<HeaderTensor> qwen_tensors(int64_t from, int64_t to, int64_t experts, int64_t hidden, int64_t width) {
  std::vector<HeaderTensor> tensors;
  const auto add = [&](const std::string& name, const std::vector<int64_t>& shape) {
    int64_t bytes = 2;
    for (const int64_t n : shape) bytes *= n;
    tensors.push_back({name, "BF16", shape, bytes});
  };
  for (int64_t l = from; l < to; ++l) {
    const std::string layer = "model.layers." + std::to_string(l) + ".";
    add(layer + "input_layernorm.weight", {hidden});
    for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"})
      add(layer + "self_attn." + name + ".weight", {hidden, hidden});
    add(layer + "mlp.gate.weight", {experts, hidden});
    for (int64_t e = 0; e < experts; ++e) {
      const std::string expert = layer + "mlp.experts." + std::to_string(e) + ".";
      add(expert + "gate_proj.weight", {width, hidden}), add(expert + "up_proj.weight", {width, hidden});
      add(expert + "down_proj.weight", {hidden, width});
    }
  }
  return tensors;
}

std::string qwen_config(int64_t layers, int64_t experts, int64_t k) {
  return "{\"architectures\":[\"Qwen3VLMoeTextModel\"],\"model_type\":\"qwen3_vl_moe_text\",\"num_hidden_layers\":" +
         std::to_string(layers) + ",\"num_experts\":" + std::to_string(experts) +
         ",\"num_experts_per_tok\":" + std::to_string(k) +
         ",\"hidden_size\":64,\"moe_intermediate_size\":32,\"norm_topk_prob\":true,\"vocab_size\":1000}";
}

int64_t write_qwen_folder(const std::string& folder, int64_t layers, int64_t experts, int64_t hidden, int64_t width,
                          int64_t shards) {
  constexpr int64_t kVocabulary = 1000, kPerToken = 8;
  const auto put = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
  };
  std::string map;
  int64_t all = 0;
  for (int64_t s = 0; s < shards; ++s) {
    std::vector<HeaderTensor> tensors =
        qwen_tensors(layers * s / shards, layers * (s + 1) / shards, experts, hidden, width);
    if (s == 0)
      for (const char* name : {"model.embed_tokens.weight", "lm_head.weight"})
        tensors.push_back({name, "BF16", {kVocabulary, hidden}, 2 * kVocabulary * hidden});
    const std::string name = "model-" + std::to_string(s + 1) + "-of-" + std::to_string(shards) + ".safetensors";
    int64_t bytes = 0;
    for (const HeaderTensor& tensor : tensors) {
      bytes += tensor.bytes;
      map += (map.empty() ? "" : ",") + std::string("\"") + tensor.name + "\":\"" + name + "\"";
    }
    write_sparse(folder + "/" + name, safetensors_head(tensors), static_cast<uint64_t>(bytes));
    all += bytes;
  }
  put("model.safetensors.index.json",
      "{\"metadata\":{\"total_size\":" + std::to_string(all) + "},\"weight_map\":{" + map + "}}");
  put("config.json", qwen_config(layers, experts, kPerToken));
  put("tokenizer.json",
      "{\"version\":\"1.0\",\"added_tokens\":[],\"pre_tokenizer\":null,\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},"
      "\"merges\":[]}}");
  put("tokenizer_config.json",
      "{\"chat_template\":\"{{ '<|im_start|>' + role }}\",\"tokenizer_class\":\"Qwen2Tokenizer\"}");
  return all;
}

}  // namespace stormcell::testing
