// Tests the rules of the families that say which layers have experts: against transformers' classes and layers
// (tests/reference/make_expert_layers.py), and by hand for servers' families, nested configurations and wrong files.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/formats/expert_layers.h"
#include "core/formats/expert_rules.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Json = nlohmann::json;

namespace {

constexpr const char* kFile = "config.json";

struct Given {
  const char* name;
  const char* config;
  std::vector<int32_t> layers;  ///< with experts
  int32_t experts, per_token;
};

std::string numbers(const std::vector<int32_t>& list) {
  std::string text;
  for (const int32_t n : list) text += (text.empty() ? "" : " ") + std::to_string(n);
  return text;
}

}  // namespace

class ExpertLayersTest : public QObject {
  Q_OBJECT

  static ExpertLayers read(const std::string& config) { return read_expert_layers(Json::parse(config), kFile); }

 private slots:
  void classes_of_transformers_have_the_layers_of_their_models() {
    const Json cases = Json::parse(Scratch::read(reference_path("expert-layers/cases.json")));
    std::set<std::string> classes;
    for (const Json& c : cases) {
      const std::string name = c["class"].get<std::string>() + " " + c["config"].dump();
      const ExpertLayers found = read_expert_layers(c["config"], kFile);
      QVERIFY2(found.with_experts == c["with_experts"].get<std::vector<int32_t>>(),
               (name + ": " + numbers(found.with_experts)).c_str());
      QVERIFY2(found.layers == c["layers"].get<int32_t>(), name.c_str());
      QVERIFY2(found.experts == c["experts"].get<int32_t>(), name.c_str());
      QVERIFY2(found.per_token == c["per_token"].get<int32_t>(), name.c_str());
      QVERIFY2(found.doubt.empty(), name.c_str());
      classes.insert(c["class"].get<std::string>());
    }
    QVERIFY2(classes.size() >= 70, std::to_string(classes.size()).c_str());
  }

  void no_family_is_in_the_table_twice() {
    std::set<std::string_view> names;
    for (const ExpertFamily& family : expert_families())
      QVERIFY2(names.insert(family.name).second, std::string(family.name).c_str());
    QVERIFY(names.size() >= 90);
  }

  // The expected values are from the sources of vLLM and SGLang and from published configurations.
  void families_and_files_by_hand_data() {
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<std::vector<int32_t>>("layers");
    QTest::addColumn<int>("experts");
    QTest::addColumn<int>("per_token");
    const Given all[] = {
        {"arctic",
         R"({"model_type":"arctic","num_hidden_layers":6,"num_local_experts":128,"num_experts_per_tok":2,"moe_layer_frequency":2})",
         {1, 3, 5},
         128,
         2},
        {"grok-1",
         R"({"model_type":"grok-1","num_hidden_layers":3,"num_local_experts":8,"num_selected_experts":2})",
         {0, 1, 2},
         8,
         2},
        {"dbrx",
         R"({"model_type":"dbrx","n_layers":3,"ffn_config":{"moe_num_experts":16,"moe_top_k":4,"ffn_hidden_size":8}})",
         {0, 1, 2},
         16,
         4},
        {"step3",
         R"({"model_type":"step3_vl","text_config":{"model_type":"step3_text","num_hidden_layers":6,"moe_num_experts":48,
          "moe_top_k":3,"moe_layers_enum":"4,5"}})",
         {4, 5},
         48,
         3},
        {"step3 without a list",
         R"({"model_type":"step3_text","num_hidden_layers":4,"moe_num_experts":48,"moe_top_k":3})",
         {1, 2, 3},
         48,
         3},
        {"bailing v2",
         R"({"model_type":"bailing_moe_v2","num_hidden_layers":4,"num_experts":256,"num_experts_per_tok":8,
          "first_k_dense_replace":1,"num_shared_experts":1})",
         {1, 2, 3},
         256,
         8},
        {"deepseek",
         R"({"model_type":"deepseek","num_hidden_layers":7,"n_routed_experts":64,"num_experts_per_tok":6,
          "first_k_dense_replace":1,"moe_layer_freq":2})",
         {2, 4, 6},
         64,
         6},
        {"kimi vl",
         R"({"model_type":"kimi_vl","text_config":{"model_type":"deepseek_v3","num_hidden_layers":3,"n_routed_experts":64,
          "num_experts_per_tok":6,"first_k_dense_replace":1}})",
         {1, 2},
         64,
         6},
        {"kimi k2",
         R"({"model_type":"kimi_k2","num_hidden_layers":3,"n_routed_experts":384,"num_experts_per_tok":8,
          "first_k_dense_replace":1,"moe_layer_freq":1})",
         {1, 2},
         384,
         8},
        {"internvl",
         R"({"model_type":"internvl_chat","llm_config":{"model_type":"qwen3_moe","num_hidden_layers":4,"num_experts":128,
          "num_experts_per_tok":8,"decoder_sparse_step":1,"mlp_only_layers":[0]}})",
         {1, 2, 3},
         128,
         8},
        {"deepseek vl",
         R"({"model_type":"deepseek_vl_v2","language_config":{"model_type":"deepseek_v2","num_hidden_layers":3,
          "n_routed_experts":72,"num_experts_per_tok":6,"first_k_dense_replace":1}})",
         {1, 2},
         72,
         6},
        {"qwen omni",
         R"({"model_type":"qwen3_omni_moe","thinker_config":{"model_type":"qwen3_omni_moe_thinker","text_config":{
          "model_type":"qwen3_omni_moe_text","num_hidden_layers":4,"num_experts":128,"num_experts_per_tok":8,"decoder_sparse_step":2}},
          "talker_config":{"text_config":{"num_experts":64,"num_hidden_layers":9}}})",
         {1, 3},
         128,
         8},
        {"a part without a name",
         R"({"model_type":"glm4v_moe","text_config":{"num_hidden_layers":3,"n_routed_experts":128,
          "num_experts_per_tok":8}})",
         {1, 2},
         128,
         8},
        {"llama 4 as a whole",
         R"({"model_type":"llama4","text_config":{"model_type":"llama4_text","num_hidden_layers":4,
          "num_local_experts":128,"num_experts_per_tok":1,"interleave_moe_layer_step":2}})",
         {1, 3},
         128,
         1},
        {"mimo with a number",
         R"({"model_type":"mimo_v2_flash","num_hidden_layers":4,"n_routed_experts":8,"num_experts_per_tok":2,
          "moe_layer_freq":[1,0,true,false]})",
         {0, 2},
         8,
         2},
        {"nemotron by words",
         R"({"model_type":"nemotron_h","n_routed_experts":128,"num_experts_per_tok":6,
          "layers_block_type":["mamba","moe","attention","moe"]})",
         {1, 3},
         128,
         6},
        {"nemotron within",
         R"({"model_type":"NemotronH_Nano_VL_V2","llm_config":{"model_type":"nemotron_h","num_hidden_layers":5,
          "n_routed_experts":128,"num_experts_per_tok":6,"hybrid_override_pattern":"MEM*E"}})",
         {1, 4},
         128,
         6},
        {"hunyuan, lists and skipped layers",
         R"({"model_type":"hunyuan","num_hidden_layers":4,"num_experts":[16,16,16,16],
          "moe_topk":[1,1,2,1],"moe_layer_num_skipped":1,"num_shared_expert":[1,1,1,1]})",
         {1, 2, 3},
         16,
         2},
        {"hunyuan, layers with no experts",
         R"({"model_type":"hunyuan_v1_moe","num_hidden_layers":4,"num_experts":[0,16,0,16],
          "moe_topk":2})",
         {1, 3},
         16,
         2},
        {"ernie vl",
         R"({"model_type":"ernie4_5_moe_vl","num_hidden_layers":6,"moe_num_experts":[64,64],"moe_k":6,
          "moe_layer_start_index":[1,2],"moe_layer_end_index":[4,3],"moe_layer_interval":1})",
         {1, 2, 3, 4},
         64,
         6},
        {"layers that predict further tokens",
         R"({"model_type":"step3p5","num_hidden_layers":4,"num_nextn_predict_layers":2,
          "n_routed_experts":8,"num_experts_per_tok":2,"mlp_layer_types":["dense","sparse","dense","sparse","sparse","sparse"]})",
         {1, 3},
         8,
         2},
        {"both names",
         R"({"model_type":"mixtral","num_hidden_layers":2,"num_experts":8,"num_local_experts":8,"num_experts_per_tok":2})",
         {0, 1},
         8,
         2},
        {"null is not there",
         R"({"model_type":"qwen3_moe","num_hidden_layers":3,"num_experts":8,"num_experts_per_tok":2,
          "mlp_only_layers":null,"decoder_sparse_step":null})",
         {0, 1, 2},
         8,
         2},
    };
    for (const Given& g : all) QTest::newRow(g.name) << QByteArray(g.config) << g.layers << g.experts << g.per_token;
  }
  void families_and_files_by_hand() {
    QFETCH(QByteArray, config);
    QFETCH(std::vector<int32_t>, layers);
    QFETCH(int, experts);
    QFETCH(int, per_token);
    const ExpertLayers found = read(config.toStdString());
    QVERIFY2(found.with_experts == layers, numbers(found.with_experts).c_str());
    QCOMPARE(found.experts, experts);
    QCOMPARE(found.per_token, per_token);
    QVERIFY2(found.doubt.empty(), found.doubt.c_str());
  }

  void two_stacks_have_layers_of_their_own() {
    const ExpertLayers s =
        read(R"({"model_type":"switch_transformers","num_layers":6,"num_decoder_layers":4,"num_experts":8,
      "encoder_sparse_step":2,"num_sparse_decoder_layers":1})");
    QVERIFY((s.with_experts == std::vector<int32_t>{1, 3, 5}) && s.layers == 6);
    QVERIFY((s.decoder_with_experts == std::vector<int32_t>{1}) && s.decoder_layers == 4 && s.per_token == 1);
    const ExpertLayers n = read(R"({"model_type":"nllb-moe","encoder_layers":8,"decoder_layers":6,"num_experts":128,
      "encoder_sparse_step":4,"decoder_sparse_step":3})");
    QVERIFY((n.with_experts == std::vector<int32_t>{3, 7}) && (n.decoder_with_experts == std::vector<int32_t>{2, 5}));
  }

  void a_family_that_is_not_known_is_read_by_its_keys_and_named() {
    const ExpertLayers found =
        read(R"({"model_type":"new_moe","num_hidden_layers":4,"num_experts":8,"num_experts_per_tok":2,
      "first_k_dense_replace":1,"decoder_sparse_step":2})");
    QVERIFY((found.with_experts == std::vector<int32_t>{1, 3}));
    QVERIFY2(
        found.doubt.find(
            "\"new_moe\", which is not in the table of families; \"first_k_dense_replace\", \"decoder_sparse_step\"") !=
            std::string::npos,
        found.doubt.c_str());
    const ExpertLayers without =
        read(R"({"model_type":"new_moe","num_hidden_layers":4,"num_experts":8,"num_experts_per_tok":2})");
    QVERIFY(without.with_experts.empty() && without.layers == 4);
    QVERIFY2(without.doubt.find("no key that says which layers have experts") != std::string::npos,
             without.doubt.c_str());
    // default: 3 are dense
    const ExpertLayers small = read(R"({"model_type":"deepseek_v3","num_hidden_layers":2,"n_routed_experts":8})");
    QVERIFY(small.with_experts.empty() && small.layers == 2);
    QVERIFY2(small.doubt.find("by the default of \"deepseek_v3\" none of 2 layers has") != std::string::npos,
             small.doubt.c_str());
  }

  void lists_that_agree_are_read() {
    const char* const kRight[] = {
        R"({"model_type":"mimo_v2_flash","num_hidden_layers":3,"n_routed_experts":8,
        "mlp_layer_types":["dense","sparse","sparse"],"moe_layer_freq":[0,1,1]})",
        R"({"model_type":"nemotron_h","n_routed_experts":8,"layers_block_type":["mamba","moe","moe"],
        "layer_types":["full_attention","full_attention","full_attention"],"hybrid_override_pattern":"MEE"})"};
    for (const char* config : kRight) QVERIFY2((read(config).with_experts == std::vector<int32_t>{1, 2}), config);
    QVERIFY((read(R"({"model_type":"deepseek_v2","num_hidden_layers":1,"n_routed_experts":8,"moe_layer_freq":[1]})")
                 .with_experts == std::vector<int32_t>{0}));
  }

  void numbers_that_differ_between_layers_are_named() {
    const ExpertLayers found =
        read(R"({"model_type":"hunyuan_v1_moe","num_hidden_layers":3,"num_experts":[8,4,8],"moe_topk":[2,2,1],
        "moe_intermediate_size":[32,32,16]})");
    QCOMPARE(found.experts, 8);
    QCOMPARE(found.per_token, 2);
    for (const char* words :
         {"\"num_experts\" differs between layers, from 4 to 8, and the largest is taken for all layers",
          "\"moe_topk\" differs between layers, from 1 to 2, and the largest",
          "\"moe_intermediate_size\" differs between layers, from 16 to 32, and the first"})
      QVERIFY2(found.unlike.find(words) != std::string::npos, found.unlike.c_str());
    // A layer without experts is no other number.
    QVERIFY(read(R"({"model_type":"hunyuan_v1_moe","num_hidden_layers":3,"num_experts":[0,8,8],"moe_topk":[2,2,2]})")
                .unlike.empty());
  }

  void what_contradicts_itself_is_refused_by_its_key_data() {
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const char* config, const char* words) {
      QTest::newRow(name) << QByteArray(config) << words;
    };
    row("no experts", R"({"model_type":"llama","num_hidden_layers":2})", "names no number of experts");
    row("experts of a part",
        R"({"model_type":"gemma4","text_config":{"model_type":"gemma4_text","num_hidden_layers":2}})",
        "names no number of experts");
    row("experts off", R"({"model_type":"doge","num_hidden_layers":2,"num_experts":8})", "\"is_moe\" is false");
    row("two numbers", R"({"model_type":"mixtral","num_hidden_layers":2,"num_experts":8,"num_local_experts":4})",
        "\"num_experts\" is 8");
    row("two numbers a token",
        R"({"model_type":"mixtral","num_hidden_layers":2,"num_experts":8,"num_experts_per_tok":2,"moe_topk":1})",
        "\"moe_topk\" is 1");
    row("short list",
        R"({"model_type":"mimo_v2_flash","num_hidden_layers":4,"n_routed_experts":8,"moe_layer_freq":[0,1,1]})",
        "\"moe_layer_freq\" has 3 entries, the model has 4 layers");
    row("long list",
        R"({"model_type":"laguna","num_hidden_layers":1,"num_experts":8,"mlp_layer_types":["dense","sparse"]})",
        "\"mlp_layer_types\" has 2 entries");
    row("unknown word", R"({"model_type":"laguna","num_hidden_layers":1,"num_experts":8,"mlp_layer_types":["half"]})",
        "says \"half\"");
    row("unknown letter", R"({"model_type":"nemotron_h","n_routed_experts":8,"hybrid_override_pattern":"MEX"})",
        "the letter \"X\"");
    row("pattern of another length",
        R"({"model_type":"nemotron_h","num_hidden_layers":4,"n_routed_experts":8,"hybrid_override_pattern":"MEM"})",
        "\"hybrid_override_pattern\" has 3 entries, the model has 4 layers");
    row("no pattern", R"({"model_type":"nemotron_h","num_hidden_layers":4,"n_routed_experts":8})",
        "\"layers_block_type\" is missing");
    row("layer behind the last",
        R"({"model_type":"llama4_text","num_hidden_layers":4,"num_local_experts":8,"moe_layers":[1,9]})",
        "names layer 9");
    row("no number",
        R"({"model_type":"step3_text","num_hidden_layers":4,"moe_num_experts":8,"moe_layers_enum":"1,two"})",
        "\"moe_layers_enum\" names layer \"two\"");
    row("no layer",
        R"({"model_type":"deepseek_v3","num_hidden_layers":4,"n_routed_experts":8,"first_k_dense_replace":4})",
        "no layer has experts by \"first_k_dense_replace\"");
    row("another type", R"({"model_type":"qwen3_moe","num_hidden_layers":4,"num_experts":8,"decoder_sparse_step":"2"})",
        "\"decoder_sparse_step\" is \"2\"");
    row("a key of a part", R"({"model_type":"kimi_vl","text_config":{"model_type":"deepseek_v3","num_hidden_layers":3,
        "n_routed_experts":8,"first_k_dense_replace":-1.5}})",
        "\"text_config.first_k_dense_replace\" is -1.5");
    row("experts of single layers",
        R"({"model_type":"mixtral","num_hidden_layers":2,"per_layer_config":{"1":{"num_local_experts":4}}})",
        "\"per_layer_config\" gives layer \"1\" \"num_local_experts\"");
    row("one entry for several layers",
        R"({"model_type":"deepseek_v2","num_hidden_layers":4,"n_routed_experts":8,"moe_layer_freq":[1]})",
        "\"moe_layer_freq\" has 1 entry, the model has 4 layers");
    row("two lists that name other layers", R"({"model_type":"mimo_v2_flash","num_hidden_layers":3,"n_routed_experts":8,
        "mlp_layer_types":["dense","sparse","sparse"],"moe_layer_freq":[0,1,0]})",
        "\"mlp_layer_types\" says that layer 2 has experts, \"moe_layer_freq\" says that it has none");
    row("a pattern and words",
        R"({"model_type":"nemotron_h","n_routed_experts":8,"layers_block_type":["mamba","mlp","moe"],
        "hybrid_override_pattern":"MEE"})",
        "\"layers_block_type\" says that layer 1 has no experts, \"hybrid_override_pattern\" says that it has some");
    row("counts of other layers", R"({"model_type":"hunyuan_v1_moe","num_hidden_layers":4,"num_experts":[8,8,8]})",
        "\"num_experts\" has 3 entries");
  }
  void what_contradicts_itself_is_refused_by_its_key() {
    QFETCH(QByteArray, config);
    QFETCH(QString, words);
    VERIFY_BAD_INPUT(read(config.toStdString()), kFile, words.toStdString());
  }

  /// An untrusted file is read or refused in one line, whatever it contains.
  void values_of_any_type_are_read_or_refused() {
    const Json values[] = {nullptr,
                           true,
                           0,
                           -1,
                           1e300,
                           18446744073709551615u,
                           "x",
                           "",
                           "1,2",
                           Json::array(),
                           Json::array({1, "x", nullptr}),
                           Json::array({0, 1, 1, 0}),
                           Json::object(),
                           Json::object({{"num_experts", 3}}),
                           4096,
                           4097};
    std::set<std::string> keys = {"model_type",          "num_hidden_layers",        "text_config",
                                  "ffn_config",          "num_nextn_predict_layers", "num_experts",
                                  "num_experts_per_tok", "n_shared_experts",         "moe_topk"};
    for (const ExpertFamily& family : expert_families())
      for (const ExpertKey& key : family.keys) keys.insert(std::string(key.key));
    int refused = 0, tried = 0;
    for (const ExpertFamily& family : expert_families())
      for (const std::string& key : keys)
        for (const Json& value : values) {
          Json config = {{"model_type", family.name}, {"num_hidden_layers", 4}, {"num_experts", 8}};
          config[key] = value;
          ++tried;
          try {
            const ExpertLayers found = read_expert_layers(config, kFile);
            QVERIFY(std::is_sorted(found.with_experts.begin(), found.with_experts.end()));
            QVERIFY(found.with_experts.empty() || found.with_experts.back() < found.layers);
          } catch (const Error& e) {
            ++refused;
            const std::string text = e.what();
            QVERIFY2(
                e.kind() == ErrorKind::bad_input && text.starts_with(kFile) && text.find('\n') == std::string::npos,
                text.c_str());
          }
        }
    QVERIFY2(refused > tried / 20, std::to_string(refused).c_str());
  }
};
STORMCELL_TEST(ExpertLayersTest)
#include "expert_layers_test.moc"
