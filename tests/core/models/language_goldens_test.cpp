// Decoders with experts, against recorded logits, choices and tokens of the reference implementation. Weights are drawn
// by a recipe; the same ones are written as a folder and as GGUF.
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "core/models/family.h"
#include "core/models/gguf_model.h"
#include "tests/core/formats/scratch.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/model_headers.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using Json = nlohmann::json;

struct Drawn {
  std::vector<int64_t> shape;
  std::vector<float> values;
};
using DrawnWeights = std::map<std::string, Drawn>;

/// What an element's eight random bits, from -128 to 127, mean in a tensor of this name.
float value_of(const std::string& name, int q) {
  const auto ends = [&](const char* with) { return name.ends_with(with); };
  if (ends("norm.weight")) return 1 + static_cast<float>(std::floor(q / 4.0)) / 128;
  const float part = static_cast<float>(q) / 128;
  if (ends("embed_tokens.weight")) return part;
  if (ends("mlp.gate.weight") || ends("block_sparse_moe.gate.weight")) return part / 2;
  return part / 4;
}

Drawn draw(const std::string& name, uint64_t salt, std::vector<int64_t> shape) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : std::to_string(salt) + ":" + name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  Drawn drawn{std::move(shape), std::vector<float>(static_cast<size_t>(n))};
  for (size_t i = 0; i < drawn.values.size(); ++i) {
    uint64_t z = hash + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    drawn.values[i] = value_of(name, static_cast<int>(z >> 56) - 128);
  }
  return drawn;
}

const Json& goldens() {
  static const Json all = Json::parse(Scratch::read(reference_path("language-models/goldens.json")));
  return all;
}
const Json& golden(const std::string& label) {
  for (const Json& one : goldens()["cases"])
    if (one["label"] == label) return one;
  qFatal("no golden of this name");
}

DrawnWeights weights_of(const Json& one) {
  constexpr std::string_view kEach = "{e}";
  DrawnWeights weights;
  const int64_t experts = one["config"].value("num_experts", one["config"].value("num_local_experts", int64_t{0}));
  for (const auto& [name, shape] : one["tensors"].items()) {
    const size_t at = name.find(kEach);
    for (int64_t e = 0; e < (at == std::string::npos ? 1 : experts); ++e) {
      std::string full = name;
      if (at != std::string::npos) full.replace(at, kEach.size(), std::to_string(e));
      weights[full] = draw(full, one["salt"].get<uint64_t>(), shape.get<std::vector<int64_t>>());
    }
  }
  return weights;
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string write_folder(const Scratch& scratch, const Json& one) {
  std::vector<HeaderTensor> tensors;
  std::string data;
  for (const auto& [name, drawn] : weights_of(one)) {
    tensors.push_back({name, "F32", drawn.shape, static_cast<int64_t>(drawn.values.size() * sizeof(float))});
    data += bytes_of(drawn.values);
  }
  scratch.write("model/config.json", one["config"].dump());
  scratch.write("model/model.safetensors", safetensors_head(tensors) + data);
  return scratch.path("model");
}

/// Names and keys of a qwen3moe file, written down here a second time.
struct GgufMaker {
  GgufBytes header;
  std::string data;
  void add(const std::string& name, const std::vector<int64_t>& shape, const std::string& bytes) {
    header.tensor(name, {shape.rbegin(), shape.rend()}, 0, bytes.size());
    data += bytes;
    data.resize((data.size() + 31) / 32 * 32);
  }
};

std::string write_qwen3_gguf(const Scratch& scratch, const Json& one,
                             const std::function<void(GgufBytes&)>& more = {}) {
  const DrawnWeights weights = weights_of(one);
  const Json& config = one["config"];
  GgufMaker made;
  made.header.text("general.architecture", "qwen3moe");
  const auto number = [&](const char* theirs, const char* ours) {
    made.header.number(std::string("qwen3moe.") + theirs, config[ours].get<uint32_t>());
  };
  number("block_count", "num_hidden_layers"), number("embedding_length", "hidden_size");
  number("attention.head_count", "num_attention_heads"), number("attention.head_count_kv", "num_key_value_heads");
  number("attention.key_length", "head_dim"), number("context_length", "max_position_embeddings");
  number("expert_count", "num_experts"), number("expert_used_count", "num_experts_per_tok");
  number("expert_feed_forward_length", "moe_intermediate_size"), number("feed_forward_length", "intermediate_size");
  made.header.real("qwen3moe.attention.layer_norm_rms_epsilon", config["rms_norm_eps"].get<float>());
  made.header.real("qwen3moe.rope.freq_base", config["rope_theta"].get<float>());
  made.header.number("tokenizer.ggml.eos_token_id", config["eos_token_id"].get<uint32_t>());
  if (more) more(made.header);
  const auto whole = [&](const std::string& name, const std::string& theirs) {
    made.add(theirs, weights.at(name).shape, bytes_of(weights.at(name).values));
  };
  whole("model.embed_tokens.weight", "token_embd.weight"), whole("lm_head.weight", "output.weight");
  whole("model.norm.weight", "output_norm.weight");
  const auto experts = config["num_experts"].get<int64_t>();
  for (int64_t layer = 0; layer < config["num_hidden_layers"].get<int64_t>(); ++layer) {
    const std::string ours = "model.layers." + std::to_string(layer) + ".",
                      theirs = "blk." + std::to_string(layer) + ".";
    for (const auto& [name, file] :
         std::map<std::string, std::string>{{"input_layernorm", "attn_norm"}, {"post_attention_layernorm", "ffn_norm"},
                                            {"self_attn.q_proj", "attn_q"}, {"self_attn.k_proj", "attn_k"},
                                            {"self_attn.v_proj", "attn_v"}, {"self_attn.o_proj", "attn_output"},
                                            {"self_attn.q_norm", "attn_q_norm"}, {"self_attn.k_norm", "attn_k_norm"},
                                            {"mlp.gate", "ffn_gate_inp"}})
      whole(ours + name + ".weight", theirs + file + ".weight");
    for (const std::string part : {"gate", "up", "down"}) {
      std::string all;
      std::vector<int64_t> shape{experts};
      for (int64_t e = 0; e < experts; ++e) {
        const Drawn& one_expert = weights.at(ours + "mlp.experts." + std::to_string(e) + "." + part + "_proj.weight");
        if (e == 0) shape.insert(shape.end(), one_expert.shape.begin(), one_expert.shape.end());
        all += bytes_of(one_expert.values);
      }
      made.add(theirs + "ffn_" + part + "_exps.weight", shape, all);
    }
  }
  return scratch.write("model.bin", made.header.header() + made.data);
}

ModelInputs prompt() {
  ModelInputs in;
  in.values[std::string(kInputIds)] = goldens()["ids"].get<std::vector<int32_t>>();
  in.sequences = 1, in.length = std::ssize(in.values[std::string(kInputIds)]);
  in.values[std::string(kAttentionMask)].assign(static_cast<size_t>(in.length), 1);
  return in;
}

/// Choices as they were recorded, in falling order of their weights.
void compare_routes(const Json& one, const std::vector<OracleDecision>& decisions) {
  QCOMPARE(decisions.size(), one["routes"].size());
  for (size_t r = 0; r < decisions.size(); ++r) {
    const Json& route = one["routes"][r];
    size_t i = 0;
    for (size_t cell = 0; cell < route["experts"].size(); ++cell)
      for (size_t k = 0; k < route["experts"][cell].size(); ++k, ++i) {
        QCOMPARE(decisions[r].choice.at(i), route["experts"][cell][k].get<int32_t>());
        QVERIFY(std::fabs(decisions[r].weight.at(i) - route["weights"][cell][k].get<float>()) <= 1e-4f);
      }
    QCOMPARE(i, decisions[r].choice.size());
  }
}

}  // namespace

class LanguageGoldensTest : public QObject {
  Q_OBJECT
 private slots:
  void logits_choices_and_tokens_are_the_reference_s_data() {
    QTest::addColumn<QString>("label");
    for (const Json& one : goldens()["cases"])
      QTest::newRow(one["label"].get<std::string>().c_str()) << QString::fromStdString(one["label"]);
  }
  void logits_choices_and_tokens_are_the_reference_s() {
    QFETCH(QString, label);
    const Json& one = golden(label.toStdString());
    const Scratch scratch;
    const auto model = open_model(write_folder(scratch, one));
    QVERIFY2(model->warnings.empty(), model->warnings.empty() ? "" : model->warnings.front().c_str());
    const ModelInputs in = prompt();
    const auto result = run_oracle<float>(*model, *model->forward, in);
    const std::vector<float>& logits = result.output(kLogits).reals;
    constexpr size_t kVocabulary = 96, kPlaces = 12;
    QCOMPARE(logits.size(), kVocabulary * kPlaces);
    for (size_t place = 0; place < kPlaces; ++place)
      for (size_t i = 0; i < 5; ++i)
        QVERIFY(std::fabs(logits[place * kVocabulary + i] - one["logits_first5"][place][i].get<float>()) <= 1e-4f);
    for (size_t i = 0; i < kVocabulary; ++i)
      QVERIFY(std::fabs(logits[(kPlaces - 1) * kVocabulary + i] - one["logits_last"][i].get<float>()) <= 1e-4f);
    compare_routes(one, result.decisions);
    const auto written = run_oracle<float>(*model, *model->generate(), in, 6).output(kGenerated).integers;
    QCOMPARE(written, one["greedy6"].get<std::vector<int32_t>>());
  }

  void a_gguf_file_gives_what_its_folder_gives() {
    const Json& one = golden("qwen3_moe");
    const Scratch scratch;
    const auto folder = open_model(write_folder(scratch, one)), file = open_model(write_qwen3_gguf(scratch, one));
    QVERIFY2(file->warnings.empty(), file->warnings.empty() ? "" : file->warnings.front().c_str());
    QVERIFY(file->family == "qwen3_moe" && file->vocabulary == 96 && file->max_length == 64 && file->tokens.end == 2);
    QCOMPARE(file->unread_tensors, int64_t{0});
    QCOMPARE(file->parameters, folder->parameters);
    const ModelInputs in = prompt();
    // The header has epsilon as a float, config.json as a double.
    const auto right = run_oracle<float>(*folder, *folder->forward, in),
               came = run_oracle<float>(*file, *file->forward, in);
    const std::vector<float>&a = right.output(kLogits).reals, &b = came.output(kLogits).reals;
    QCOMPARE(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) QVERIFY(std::fabs(a[i] - b[i]) <= 1e-5f);
    compare_routes(one, came.decisions);
    QCOMPARE(run_oracle<float>(*file, *file->generate(), in, 6).output(kGenerated).integers,
             one["greedy6"].get<std::vector<int32_t>>());
  }

  void a_gguf_file_of_another_program_is_refused_by_its_key() {
    const Json& one = golden("qwen3_moe");
    const Scratch scratch;
    const auto refused = [&](const std::function<void(GgufBytes&)>& more, const char* words) {
      const std::string path = write_qwen3_gguf(scratch, one, more);
      VERIFY_BAD_INPUT(open_model(path), path, words);
    };
    refused([](GgufBytes& h) { h.text("qwen3moe.rope.scaling.type", "yarn"); }, "\"rope_scaling.rope_type\"");
    refused([](GgufBytes& h) { h.number("qwen3moe.expert_gating_func", 2); },
            "\"qwen3moe.expert_gating_func\": expected 1.0, got 2.0");
    refused([](GgufBytes& h) { h.number("qwen3moe.attention.sliding_window", 128); },
            "\"qwen3moe.attention.sliding_window\": expected 0.0, got 128.0");
  }

  void names_of_tensors_are_those_of_gguf() {
    QCOMPARE(gguf_tensor_name("model.layers.12.mlp.experts.up_proj.weight"), std::string("blk.12.ffn_up_exps.weight"));
    QCOMPARE(gguf_tensor_name("model.layers.0.mlp.gate.weight"), std::string("blk.0.ffn_gate_inp.weight"));
    QCOMPARE(gguf_tensor_name("lm_head.weight"), std::string("output.weight"));
    QCOMPARE(gguf_tensor_name("model.layers"), std::string("model.layers"));
    QVERIFY(family_of_gguf("qwen3moe") == "qwen3_moe" && family_of_gguf("nothing").empty());
  }
};

STORMCELL_TEST(LanguageGoldensTest)

}  // namespace stormcell::testing
#include "language_goldens_test.moc"
