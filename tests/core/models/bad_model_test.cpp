// A fault of a model is said in one line that names the file, what was expected and what came.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <list>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/safetensors_writer.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
namespace fs = std::filesystem;

class BadModelTest : public QObject {
  Q_OBJECT

  fs::path folder_;

  /// A fresh copy of a small valid model.
  void copy_model(const char* from = "switch/encoder-decoder-8-experts") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const char* name : {"config.json", "generation_config.json", "model.safetensors"})
      if (const fs::path file = fs::path(source_folder()) / "tests/reference" / from / name; fs::exists(file))
        fs::copy_file(file, folder_ / name);
  }
  nlohmann::json config() { return nlohmann::json::parse(std::ifstream(folder_ / "config.json")); }
  void write(const char* name, const std::string& text) { std::ofstream(folder_ / name, std::ios::binary) << text; }
  void set(const char* key, const nlohmann::json& value) {
    nlohmann::json c = config();
    c[key] = value;
    write("config.json", c.dump());
  }
  /// The message of the error that opening gives, one line and of kind bad_input; empty: it opens.
  std::string error_of(const ModelOptions& options = {}, std::string spec = {}) {
    const std::string text =
        testing::bad_input_complaint([&] { open_model(spec.empty() ? folder_.string() : spec, options); });
    return text.find('\n') == std::string::npos ? text : "not one line: " + text;
  }
  void expect(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      QVERIFY2(text.find(part) != std::string::npos, (part + " is not in: " + text).c_str());
  }
  struct Changed {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    std::vector<std::byte> bytes;
  };
  /// The model's tensors written again: `change` edits each, and keeps it by returning true.
  template <class Change>
  void rewrite(Change change) {
    const std::string path = (folder_ / "model.safetensors").string();
    std::list<Changed> kept;
    std::vector<TensorToWrite> tensors;
    const auto file = SafetensorsFile::open(path);
    for (const StoredTensor& t : file->tensors()) {
      Changed c{t.name, t.dtype, t.shape, {t.bytes.begin(), t.bytes.end()}};
      if (!change(c)) continue;
      kept.push_back(std::move(c));
      tensors.push_back({kept.back().name, kept.back().dtype, kept.back().shape, kept.back().bytes.data()});
    }
    write_safetensors(path, tensors);
  }

 private slots:
  void initTestCase() {
    folder_ = fs::temp_directory_path() / ("stormcell-bad-model-" + std::to_string(QCoreApplication::applicationPid()));
  }
  void cleanupTestCase() { fs::remove_all(folder_); }
  void init() { copy_model(); }

  void the_unchanged_copy_opens() { QCOMPARE(error_of(), std::string()); }

  void missing_files_are_named() {
    expect(error_of({}, (folder_ / "nothing").string()), {"nothing", "no such model"});
    expect(error_of({}, "preset:gpt-9"), {"preset:gpt-9", "switch-base-8"});
    expect(error_of({}, "demo:none"), {"demo:none", "known demos"});
    expect(error_of({}, "demo:none-sample"), {"demo:none-sample", "known demos"});
    expect(error_of({}, "demo:switch-names-sample"),
           {"is data, no model (optimize demo:switch-names --data demo:switch-names-sample)"});
    fs::remove(folder_ / "config.json");
    expect(error_of(), {"config.json", "does not exist"});
    copy_model();
    fs::remove(folder_ / "model.safetensors");
    expect(error_of(), {"holds no weights"});
    write("pytorch_model.bin", "pickle");
    expect(error_of(), {"pytorch_model.bin", "1.", "2.", "3.", "safetensors"});
    fs::remove(folder_ / "config.json");
    expect(error_of(), {"pytorch_model.bin"});
  }

  void broken_weight_files_are_refused() {
    const auto size = fs::file_size(folder_ / "model.safetensors");
    fs::resize_file(folder_ / "model.safetensors", size - 100);
    expect(error_of(), {"model.safetensors"});
    fs::resize_file(folder_ / "model.safetensors", 5);
    expect(error_of(), {"model.safetensors"});
    fs::resize_file(folder_ / "model.safetensors", 0);
    expect(error_of(), {"model.safetensors"});
  }

  void broken_configurations_are_refused() {
    write("config.json", "");
    expect(error_of(), {"config.json"});
    write("config.json", "{\"model_type\": ");
    expect(error_of(), {"config.json"});
    write("config.json", "[1]");
    expect(error_of(), {"config.json", "object"});
    write("config.json", std::string(100000, '['));
    expect(error_of(), {"config.json"});
    write("config.json", "{}");
    expect(error_of(), {"config.json", "model_type", "switch_transformers", "mixtral"});
    write("config.json", "{\"model_type\": \"gpt2\"}");
    expect(error_of(), {"config.json", "gpt2", "not in this version", "switch_transformers", "mixtral"});
  }

  void absurd_sizes_are_refused_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    for (const char* key : {"d_model", "d_ff", "d_kv", "num_heads", "num_layers", "num_experts", "vocab_size",
                            "expert_capacity", "relative_attention_num_buckets", "num_decoder_layers"})
      for (const char* value :
           {"0", "-3", "1e30", "9223372036854775807", "18446744073709551615", "\"8\"", "[8]", "2.5"})
        QTest::addRow("%s = %s", key, value) << key << value;
    QTest::addRow("epsilon") << "layer_norm_epsilon"
                             << "-1";
    QTest::addRow("activation") << "dense_act_fn"
                                << "\"gated-gelu\"";
    QTest::addRow("router dtype") << "router_dtype"
                                  << "\"bfloat16\"";
    QTest::addRow("distance") << "relative_attention_max_distance"
                              << "3";
    QTest::addRow("end") << "eos_token_id"
                         << "50";
    QTest::addRow("pad") << "pad_token_id"
                         << "1000";
    QTest::addRow("tied") << "tie_word_embeddings"
                          << "1";
    QTest::addRow("dropped") << "stormcell_dropped"
                             << "\"half\"";
    QTest::addRow("architectures") << "architectures"
                                   << "\"x\"";
  }
  void absurd_sizes_are_refused() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    fs::remove(folder_ / "generation_config.json");  // it would be asked first for token ids
    set(key.toStdString().c_str(), nlohmann::json::parse(value.toStdString()));
    expect(error_of(), {"config.json", key.toStdString(), "expected"});
  }

  void large_but_possible_sizes_miss_their_weights() {
    set("num_layers", 1024);
    expect(error_of(), {"encoder.block.4.", "missing"});
  }

  void wrong_shapes_and_missing_tensors_are_named() {
    set("d_ff", 49);
    expect(error_of(), {"model.safetensors", "wi.weight", "[48, 32]", "[49, 32]"});
    copy_model();
    set("num_experts", 9);
    expect(error_of(), {"router.classifier.weight", "[8, 32]", "[9, 32]"});
    copy_model();
    rewrite([](Changed& t) { return t.name != "decoder.block.1.layer.2.mlp.experts.expert_3.wo.weight"; });
    expect(error_of(), {"decoder.block.1.layer.2.mlp.experts.expert_3.wo.weight", "missing", "[32, 48]"});
  }

  void formats_that_are_not_computed_with_are_refused() {
    rewrite([](Changed& t) {
      if (t.name == "encoder.final_layer_norm.weight") t.dtype = DType::i32;
      return true;
    });
    expect(error_of(), {"encoder.final_layer_norm.weight", "i32", "f32, f16 or bf16"});
  }

  void weights_that_are_not_finite_are_named_and_refused() {
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      copy_model();
      rewrite([&](Changed& t) {
        if (t.name == "decoder.block.0.layer.2.mlp.wi.weight") std::memcpy(t.bytes.data() + 4 * 100, &bad, 4);
        return true;
      });
      expect(error_of(), {"decoder.block.0.layer.2.mlp.wi.weight", std::isnan(bad) ? "NaN" : "infinity", "at element [",
                          "--allow-nonfinite"});
      ModelOptions allowed;
      allowed.allow_nonfinite = true;
      const auto model = open_model(folder_.string(), allowed);
      QCOMPARE(model->warnings.size(), size_t{1});
      ModelOptions unread;
      unread.check_weights = false;
      QCOMPARE(error_of(unread), std::string());
    }
  }

  void half_formats_are_checked_too() {
    for (const char* name : {"switch/stored-bf16", "switch/stored-f16"}) {
      copy_model(name);
      QCOMPARE(error_of(), std::string());
      rewrite([&](Changed& t) {
        if (t.name == "shared.weight") t.bytes[21] = std::byte{0x7f}, t.bytes[20] = std::byte{0xff};
        return true;
      });
      expect(error_of(), {"shared.weight", "NaN", "element [0, 10]"});
    }
  }

  void strangers_are_a_warning() {
    rewrite([](Changed& t) {
      if (t.name == "decoder.final_layer_norm.weight") t.name = "zzz.adapter.weight";
      return true;
    });
    expect(error_of(), {"decoder.final_layer_norm.weight", "missing"});
    copy_model();
    set("architectures", std::vector<std::string>{"SwitchTransformersEncoderModel"});
    const auto model = open_model(folder_.string());
    QCOMPARE(model->warnings.size(), size_t{1});
    expect(model->warnings[0], {"decoder.block.0", "not used"});
  }

  void layers_that_the_configuration_leaves_out_are_refused() {
    copy_model();
    set("num_decoder_layers", 1);
    set("decoder_sparse_step", 0);
    expect(error_of(), {"config.json", "decoder.block.1", "decoder.block.0"});
  }

  void one_file_with_its_configuration_beside_it_is_a_model() {
    const auto model = open_model((folder_ / "model.safetensors").string());
    QCOMPARE(model->fingerprint, open_model(folder_.string())->fingerprint);
  }

  void mixtral_s_keys_are_checked() {
    copy_model("mixtral/top-2-of-4-left-padding");
    QCOMPARE(error_of(), std::string());
    set("num_key_value_heads", 3);
    expect(error_of(), {"num_key_value_heads", "divisor"});
    set("num_key_value_heads", 1);
    set("head_dim", 7);
    expect(error_of(), {"head_dim", "even"});
    set("head_dim", 10);
    set("num_experts_per_tok", 5);
    expect(error_of(), {"num_experts_per_tok"});
    set("num_experts_per_tok", 2);
    set("rope_scaling", {{"type", "linear"}});
    expect(error_of(), {"rope_scaling"});
  }
};
STORMCELL_TEST(BadModelTest)
#include "bad_model_test.moc"
