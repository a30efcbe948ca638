// Each key of a config.json is read under any of its names, ignored, named in a warning, or refused.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/models/family.h"
#include "core/models/presets.h"
#include "tests/core/models/configuration_complaint.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Json = nlohmann::json;

namespace {

constexpr const char* kWithBase500 = "mixtral/top-3-of-8-sliding-window";  // its rope_theta is 500

}  // namespace

class ConfigKeysTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  std::string reference(const std::string& name) const { return reference_path(name); }
  /// A copy of a case with a changed configuration; null removes a key.
  std::string changed(const std::string& name, const Json& change) const {
    Json config = Json::parse(Scratch::read(reference(name) + "/config.json"));
    for (const auto& [key, value] : change.items())
      if (value.is_null())
        config.erase(key);
      else
        config[key] = value;
    scratch_.write("model/config.json", config.dump(1));
    scratch_.write("model/model.safetensors", Scratch::read(reference(name) + "/model.safetensors"));
    return scratch_.path("model");
  }
  std::vector<float> logits(const std::string& folder) const {
    const auto model = open_model(folder);
    return run_oracle<float>(*model, *model->forward, read_inputs(reference(kWithBase500) + "/input.safetensors"))
        .output(kLogits)
        .reals;
  }

 private slots:
  void the_base_of_rotary_positions_is_read_in_each_form_data() {
    QTest::addColumn<QByteArray>("change");
    const auto row = [](const char* name, const char* change) { QTest::newRow(name) << QByteArray(change); };
    row("transformers 5", R"({"rope_theta": null, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}})");
    row("a whole number", R"({"rope_theta": null, "rope_parameters": {"rope_type": "default", "rope_theta": 500}})");
    row("without a type", R"({"rope_theta": null, "rope_parameters": {"rope_theta": 500.0}})");
    row("the whole head",
        R"({"rope_theta": null, "rope_parameters": {"type": "default", "rope_theta": 500.0, "partial_rotary_factor": 1.0}})");
    row("both alike", R"({"rope_theta": 500.0, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}})");
    row("base beside an object", R"({"rope_theta": 500.0, "rope_parameters": {"rope_type": "default"}})");
    row("rope_scaling of no scaling", R"({"rope_theta": 500.0, "rope_scaling": {"type": "default"}})");
    row("base within rope_scaling",
        R"({"rope_theta": null, "rope_scaling": {"rope_type": "default", "rope_theta": 500.0}})");
  }
  void the_base_of_rotary_positions_is_read_in_each_form() {
    QFETCH(QByteArray, change);
    const std::vector<float> right = logits(reference(kWithBase500));
    QVERIFY(logits(changed(kWithBase500, Json::parse(change.toStdString()))) == right);  // bit for bit
    QVERIFY(open_model(scratch_.path("model"))->warnings.empty());
    QVERIFY(logits(changed(kWithBase500, {{"rope_theta", nullptr}})) != right);  // the default base
  }

  void what_changes_the_result_is_refused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("change");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const char* change, const char* words) {
      const QString model = QString(name).startsWith("switch") ? "switch/encoder-decoder-8-experts" : kWithBase500;
      QTest::newRow((std::string(name) + ": " + words).c_str()) << model << QByteArray(change) << words;
    };
    row("yarn", R"({"rope_parameters": {"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0}})",
        "\"rope_parameters.rope_type\"");
    row("llama3", R"({"rope_parameters": {"rope_type": "llama3", "rope_theta": 500.0}})", "got \"llama3\"");
    row("dynamic", R"({"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}})", "\"rope_scaling.rope_type\"");
    row("linear", R"({"rope_scaling": {"type": "linear", "factor": 2.0}})", "\"rope_scaling.type\"");
    row("part of a head",
        R"({"rope_parameters": {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5}})",
        "\"rope_parameters.partial_rotary_factor\"");
    row("part of a head", R"({"partial_rotary_factor": 0.5})", "\"partial_rotary_factor\": expected 1.0");
    row("by layer", R"({"rope_parameters": {"full_attention": {"rope_theta": 500.0}}})",
        "\"rope_parameters.full_attention\"");
    row("two bases", R"({"rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}})",
        "\"rope_parameters.rope_theta\"");
    row("no object", R"({"rope_parameters": 500.0})", "\"rope_parameters\": expected an object");
    row("bias", R"({"attention_bias": true})", "\"attention_bias\": expected false");
    row("caps", R"({"final_logit_softcapping": 30.0})", "\"final_logit_softcapping\"");
    row("norms", R"({"use_qk_norm": true})", "\"use_qk_norm\"");
    row("scale", R"({"embedding_multiplier": 12.0})", "\"embedding_multiplier\"");
    row("shared experts", R"({"n_shared_experts": 1})", "\"n_shared_experts\"");
    row("dense layers", R"({"first_k_dense_replace": 1})", "\"first_k_dense_replace\"");
    row("routing", R"({"scoring_func": "sigmoid"})", "\"scoring_func\"");
    row("routing", R"({"norm_topk_prob": false})", "\"norm_topk_prob\"");
    row("activation", R"({"hidden_act": "xielu"})", "\"hidden_act\"");
    row("quantised", R"({"quantization_config": {"quant_method": "gptq"}})", "\"quantization_config\"");
    row("two names", R"({"num_experts": 4})", "\"num_experts\": expected 8, the value of \"num_local_experts\"");
    row("switch, gates", R"({"is_gated_act": true})", "\"is_gated_act\"");
    row("switch, window", R"({"sliding_window": 8})", "\"sliding_window\"");
    row("switch, rotary", R"({"rope_parameters": {"rope_theta": 500.0}})", "\"rope_parameters\"");
    row("switch, two names", R"({"hidden_size": 31})", "\"hidden_size\": expected 32, the value of \"d_model\"");
  }
  void what_changes_the_result_is_refused() {
    QFETCH(QString, name);
    QFETCH(QByteArray, change);
    QFETCH(QString, words);
    const std::string folder = changed(name.toStdString(), Json::parse(change.toStdString()));
    VERIFY_BAD_INPUT(open_model(folder), folder + "/config.json", words.toStdString());
  }

  void values_that_change_nothing_pass_without_a_word() {
    const Json mixtral = Json::parse(
        R"({"attention_bias": false, "partial_rotary_factor": 1, "rope_scaling": null, "n_shared_experts": 0,
      "mlp_only_layers": [], "norm_topk_prob": true, "num_experts": 8, "use_cache": false, "attention_dropout": 0.3,
      "router_aux_loss_coef": 0.5, "output_router_logits": true, "router_jitter_noise": 0.1, "is_encoder_decoder": false, "layer_types": null,
      "some_new_key": null, "_attn_implementation": "sdpa", "_name_or_path": "a/b", "_commit_hash": "0", "_private": null,
      "_experts_implementation": "eager", "temperature": 1.0, "num_beams": 1, "top_k": 50, "id2label": {"0": "a"},
      "transformers_version": "5.24.0", "dtype": "bfloat16", "quantization_config": null, "chunk_size_feed_forward": 4})");
    const std::string folder = changed(kWithBase500, mixtral);
    const auto model = open_model(folder);
    QVERIFY2(model->warnings.empty(), model->warnings.empty() ? "" : model->warnings[0].c_str());
    const Json switches = Json::parse(
        R"({"n_positions": 512, "feed_forward_proj": "relu", "is_gated_act": false, "router_type": "tokens_masked",
      "batch_prioritized_routing": false, "output_past": true, "task_specific_params": {"summarization": {}}, "num_attention_heads": 4})");
    const auto other = open_model(changed("switch/encoder-decoder-8-experts", switches));
    QVERIFY2(other->warnings.empty(), other->warnings.empty() ? "" : other->warnings[0].c_str());
  }

  void all_that_nothing_reads_is_named_in_one_warning() {
    const Json change =
        Json::parse(R"({"moe_dropout_kind": "x", "temperature": 0.7, "num_beams": 4, "unread": [1], "_gate_scale": 2,
      "auto_map": {"AutoModel": "m.M"},
      "rope_parameters": {"rope_type": "default", "rope_theta": 500.0, "factor": 4.0, "beta": 2}})");
    const std::string folder = changed(kWithBase500, change);
    const auto model = open_model(folder);
    QCOMPARE(model->warnings.size(), size_t{1});
    const std::string expected =
        folder +
        "/config.json: nothing reads \"_gate_scale\", \"auto_map\", \"moe_dropout_kind\", \"num_beams\", "
        "\"rope_parameters.beta\", \"rope_parameters.factor\", \"temperature\", \"unread\"; the keys of mixtral are ";
    QVERIFY2(model->warnings[0].starts_with(expected), model->warnings[0].c_str());
  }

  void a_value_may_have_either_of_its_names() {
    const std::string folder = changed(kWithBase500, {{"num_local_experts", nullptr}, {"num_experts", 8}});
    QVERIFY(logits(folder) == logits(reference(kWithBase500)));
    const auto model =
        open_model(changed("switch/encoder-decoder-8-experts", {{"d_model", nullptr}, {"hidden_size", 32}}));
    QCOMPARE(model->fingerprint.size(), size_t{64});
  }

  /// Each key that a family declares is read: a useless value is refused with the key's name.
  void every_declared_key_is_read() {
    int checked = 0;
    for (const Family& family : families())
      for (const ConfigKey& row : family.keys()) {
        if (row.use != KeyUse::read) continue;
        const std::string name(row.key), wrong = R"({"a": {"b": 1}})";
        const size_t point = name.find('.');
        std::string config = point == std::string::npos ? "\"" + name + "\": " + wrong
                                                        : "\"" + name.substr(0, point) + "\": {\"" +
                                                              name.substr(point + 1) + "\": " + wrong + "}";
        if (family.name == "patch_mixture" && name != "branch_channels") config += ", \"branch_channels\": [4]";
        if (name == "capacity_factor") config += ", \"num_experts\": 4";
        const std::string said = configuration_complaint(std::string(family.name), config);
        QVERIFY2(said.find("\"" + name + "\"") != std::string::npos,
                 (std::string(family.name) + ": " + name + ": " + said).c_str());
        ++checked;
      }
    QVERIFY(checked > 120);
  }

  void models_of_this_house_have_no_key_that_nothing_reads() {
    const auto verify = [](const Json& config, const std::string& name) {
      const Config view(config, name);
      for (const std::string& warning : check_keys(family_of(view), view)) QFAIL(warning.c_str());
    };
    for (const std::string& name : reference_cases())
      verify(Json::parse(Scratch::read(reference(name) + "/config.json")), name);
    for (const std::string_view name : preset_names()) verify(preset_config(name), std::string(name));
  }

  void no_table_has_a_key_twice() {
    for (const Family& family : families()) {
      std::set<std::string_view> keys;
      for (const ConfigKey& row : family.keys()) QVERIFY2(keys.insert(row.key).second, std::string(row.key).c_str());
    }
    for (const auto table : {keys_of_all(), keys_of_text(), keys_of_generation()}) {
      std::set<std::string_view> keys;
      for (const ConfigKey& row : table) QVERIFY2(keys.insert(row.key).second, std::string(row.key).c_str());
    }
  }
};
STORMCELL_TEST(ConfigKeysTest)
#include "config_keys_test.moc"
