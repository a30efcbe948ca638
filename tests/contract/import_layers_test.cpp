// Tests `import --model-config`: the rule of a family says which layers have experts. Recordings of SGLang have rows of
// all layers, with zeros in those without experts. Lines of vLLM have only the layers with experts, without their
// numbers.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/contract/imports.h"
#include "tests/contract/server_traces.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kExperts = 4;

int64_t count_of(int64_t step, int64_t layer, int64_t expert) { return 1 + (3 * step + 5 * layer + 7 * expert) % 11; }

/// The text "[[...], ...]" of a step. `all` adds rows of zeros for layers that are not in `with`.
std::string rows(int64_t step, int64_t layers, const std::vector<int32_t>& with, bool all) {
  std::string text;
  for (int32_t l = 0; l < layers; ++l) {
    const bool has = std::find(with.begin(), with.end(), l) != with.end();
    if (!has && !all) continue;
    std::string row;
    for (int64_t e = 0; e < kExperts; ++e) row += (e > 0 ? "," : "") + std::to_string(has ? count_of(step, l, e) : 0);
    text += (text.empty() ? "[" : ",[") + row + "]";
  }
  return "[" + text + "]";
}

/// Recordings of two steps.
std::string sglang_counts(int64_t layers, const std::vector<int32_t>& with) {
  return R"({"logical_count": [)" + rows(0, layers, with, true) + "," + rows(1, layers, with, true) + "]}";
}
std::string vllm_lines(int64_t layers, const std::vector<int32_t>& with) {
  std::string map, text;
  for (size_t l = 0; l < with.size(); ++l) map += (l > 0 ? ",[" : "[") + std::string("0,1,2,3]");
  for (int64_t step = 0; step < 2; ++step)
    text += R"({"record_type":"eplb_load_stats","version":1,"step":)" + std::to_string(step) +
            R"(,"num_ranks":2,"num_layers":)" + std::to_string(with.size()) + R"(,"expert_load":)" +
            rows(step, layers, with, false) + R"(,"p2l_map":[)" + map + "]}\n";
  return text;
}

struct Given {
  const char* name;
  int layers;
  std::vector<int32_t> with;
  const char* config;  ///< the inside of the object
};

// The expected values, by hand: the number of layers, those with experts, and how the family says it.
const std::vector<Given> kGiven = {
    // Configurations from reports about wrong layers.
    {"deepseek-first-dense", 6, {2, 3, 4, 5}, R"("model_type":"deepseek_v3","num_hidden_layers":6,"n_routed_experts":4,
      "num_experts_per_tok":2,"first_k_dense_replace":2,"moe_layer_freq":1,"n_shared_experts":1)"},
    {"ernie", 6, {1, 2, 3, 4, 5}, R"("model_type":"ernie4_5_moe","num_hidden_layers":6,"moe_num_experts":4,"moe_k":2,
      "moe_layer_start_index":1,"moe_layer_end_index":5,"moe_layer_interval":1,"moe_num_shared_experts":2)"},
    {"hunyuan-lists", 6, {0, 1, 2, 3, 4, 5}, R"("model_type":"hunyuan_v1_moe","num_hidden_layers":6,"num_experts":4,
      "moe_topk":[2,2,2,2,2,2],"num_shared_expert":[1,1,1,1,1,1],"moe_intermediate_size":[32,32,32,32,32,32],"hidden_size":64)"},
    {"lfm2-num-dense-layers",
     6,
     {2, 3, 4, 5},
     R"("model_type":"lfm2_moe","num_hidden_layers":6,"num_experts":4,"num_experts_per_tok":2,
      "num_dense_layers":2,"layer_types":["conv","conv","conv","conv","conv","conv"])"},
    {"llama4-maverick",
     6,
     {1, 3, 5},
     R"("model_type":"llama4_text","num_hidden_layers":6,"num_local_experts":4,"num_experts_per_tok":1,
      "interleave_moe_layer_step":2,"intermediate_size":32,"intermediate_size_mlp":64)"},
    {"mimo-moe-layer-freq-list",
     6,
     {1, 2, 3, 4, 5},
     R"("model_type":"mimo_v2_flash","num_hidden_layers":6,"n_routed_experts":4,
      "num_experts_per_tok":2,"moe_layer_freq":[0,1,1,1,1,1])"},
    {"qwen-sparse-step",
     6,
     {1, 3},
     R"("model_type":"qwen3_moe","num_hidden_layers":6,"num_experts":4,"num_experts_per_tok":2,
      "decoder_sparse_step":2,"mlp_only_layers":[5])"},
    // Further configurations.
    {"minimax-m3-within", 5, {2, 4}, R"("model_type":"minimax_m3_vl","text_config":{"model_type":"minimax_m3_vl_text",
      "num_hidden_layers":5,"num_local_experts":4,"num_experts_per_tok":2,"moe_layer_freq":[0,0,1,0,1]})"},
    {"nemotron-pattern", 6, {1, 5}, R"("model_type":"nemotron_h","n_routed_experts":4,"num_experts_per_tok":2,
      "hybrid_override_pattern":"ME*M-E")"},
    {"arctic", 5, {1, 3}, R"("model_type":"arctic","num_hidden_layers":5,"num_local_experts":4,"num_experts_per_tok":2,
      "moe_layer_frequency":2)"},
    {"step-3-enum",
     6,
     {3, 5},
     R"("model_type":"step3_vl","text_config":{"model_type":"step3_text","num_hidden_layers":6,
      "moe_num_experts":4,"moe_top_k":2,"moe_layers_enum":"3,5"})"},
    {"dbrx",
     3,
     {0, 1, 2},
     R"("model_type":"dbrx","n_layers":3,"d_model":64,"ffn_config":{"moe_num_experts":4,"moe_top_k":2})"},
    {"jamba", 6, {1, 3, 5}, R"("model_type":"jamba","num_hidden_layers":6,"num_experts":4,"num_experts_per_tok":2)"},
    {"glm-without-the-key",
     4,
     {1, 2, 3},
     R"("model_type":"glm4_moe","num_hidden_layers":4,"n_routed_experts":4,"num_experts_per_tok":2)"},
    {"words", 4, {0, 3}, R"("model_type":"laguna","num_hidden_layers":4,"num_experts":4,"num_experts_per_tok":2,
      "mlp_layer_types":["sparse","dense","dense","sparse"])"},
    {"omni",
     4,
     {1, 3},
     R"("model_type":"qwen3_omni_moe","thinker_config":{"text_config":{"model_type":"qwen3_omni_moe_text",
      "num_hidden_layers":4,"num_experts":4,"num_experts_per_tok":2,"decoder_sparse_step":2}},"talker_config":{"text_config":{
      "num_hidden_layers":9,"num_experts":2}})"},
    {"internvl",
     3,
     {1, 2},
     R"("model_type":"internvl_chat","llm_config":{"model_type":"qwen2_moe","num_hidden_layers":3,"num_experts":4,
      "num_experts_per_tok":2,"mlp_only_layers":[0]})"},
    {"ernie-interval", 6, {1, 3}, R"("model_type":"ernie4_5_moe","num_hidden_layers":6,"moe_num_experts":4,"moe_k":2,
      "moe_layer_start_index":1,"moe_layer_end_index":4,"moe_layer_interval":2)"},
    {"grok", 2, {0, 1}, R"("model_type":"grok-1","num_hidden_layers":2,"num_local_experts":4,"num_experts_per_tok":2)"},
    {"afmoe", 4, {1, 2, 3}, R"("model_type":"afmoe","num_hidden_layers":4,"num_experts":4,"num_experts_per_tok":2)"},
};

}  // namespace

class ContractImportLayersTest : public QObject, private Imports {
  Q_OBJECT

  std::string config_of(const std::string& inside) const { return scratch_.write("config.json", "{" + inside + "}"); }

 private slots:
  void layers_with_experts_have_the_numbers_of_the_family_s_rule_data() {
    QTest::addColumn<int>("given");
    for (size_t i = 0; i < kGiven.size(); ++i) QTest::newRow(kGiven[i].name) << static_cast<int>(i);
  }
  void layers_with_experts_have_the_numbers_of_the_family_s_rule() {
    QFETCH(int, given);
    const Given& g = kGiven[static_cast<size_t>(given)];
    const std::string config = config_of(g.config);
    for (const bool lines : {false, true}) {
      const std::string trace = scratch_.write(lines ? "eplb.jsonl" : "counts.json",
                                               lines ? vllm_lines(g.layers, g.with) : sglang_counts(g.layers, g.with)),
                        session = scratch_.path(std::string(g.name) + (lines ? "-lines" : "-counts") + ".storm");
      const Json import = imported(trace, session, {"--model-config", config});
      QVERIFY2(import["warnings"].empty(), import.dump().c_str());
      QCOMPARE(import["model"]["layers"].get<size_t>(), g.with.size());
      const Json analysis = analyzed(session);
      QCOMPARE(analysis["routers"].size(), g.with.size());
      for (size_t r = 0; r < g.with.size(); ++r) {
        QCOMPARE(analysis["routers"][r]["layer"].get<int>(), g.with[r]);
        std::vector<int64_t> loads;
        for (int64_t e = 0; e < kExperts; ++e) loads.push_back(count_of(0, g.with[r], e) + count_of(1, g.with[r], e));
        QVERIFY2(loads_of(analysis, r) == loads, analysis["routers"][r].dump().c_str());
      }
    }
  }

  void what_contradicts_the_rule_is_named_data() {
    QTest::addColumn<bool>("lines");
    QTest::addColumn<int>("layers");
    QTest::addColumn<std::vector<int32_t>>("with");
    QTest::addColumn<QString>("words");
    QTest::newRow("counts where there are no experts")
        << false << 4 << std::vector<int32_t>{0, 1, 2, 3} << "counts experts in layers 0, 2, which have none by ";
    QTest::newRow("zeros where there are experts")
        << false << 4 << std::vector<int32_t>{3} << "is zero in every step in layer 1, which has experts by ";
    QTest::newRow("another number of layers") << false << 5 << std::vector<int32_t>{1, 3} << "has 5 layers";
    QTest::newRow("lines of all layers") << true << 4 << std::vector<int32_t>{0, 1, 2, 3}
                                         << "has 4 layers, 2 of 4 have experts by ";
  }
  void what_contradicts_the_rule_is_named() {
    QFETCH(bool, lines);
    QFETCH(int, layers);
    QFETCH(std::vector<int32_t>, with);
    QFETCH(QString, words);
    const std::string config =
        config_of(R"("model_type":"qwen3_moe","num_hidden_layers":4,"num_experts":4,"num_experts_per_tok":2,
      "decoder_sparse_step":2)");
    const std::string trace = lines ? scratch_.write("wrong.jsonl", vllm_lines(layers, with))
                                    : scratch_.write("wrong.json", sglang_counts(layers, with));
    const std::string good = scratch_.write("right.json", sglang_counts(4, {1, 3}));
    verify_refused(trace, words.toStdString(), {"--model-config", config}, good);
    if (words.contains("by "))
      verify_refused(trace, config + " (\"decoder_sparse_step\")", {"--model-config", config}, good);
  }

  // Every reader: what a trace numbers or counts is held against the configuration.
  void no_reader_takes_layers_that_the_configuration_lacks_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("trace");
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* title, const char* name, const std::string& trace, const char* config,
                        const char* words) {
      QTest::newRow(title) << name << QByteArray::fromStdString(trace) << config << words;
    };
    const char* const first_dense =
        R"("model_type":"qwen3_moe","num_hidden_layers":3,"num_experts":8,"mlp_only_layers":[0])";
    const char* const two_layers = R"("model_type":"mixtral","num_hidden_layers":2,"num_local_experts":8)";
    const char* const five_layers = R"("model_type":"mixtral","num_hidden_layers":5,"num_local_experts":8)";
    const char* const six_experts = R"("model_type":"mixtral","num_hidden_layers":3,"num_local_experts":6)";
    row("route_trace, a dense layer", "t.csv", route_trace(), first_dense,
        "chooses experts in layer 0, which has none by ");
    row("route_trace, too many layers", "t.csv", route_trace(), two_layers,
        "chooses experts in layer 2, which has none by ");
    row("route_trace, too few layers", "t.csv", route_trace(), five_layers, "has 3 layers, ");
    row("route_trace, too many experts", "t.csv", route_trace(), six_experts, "has 8 experts a layer, ");
    row("RouterTrace, a dense layer", "t.json", router_trace(), first_dense, "has 3 layers, 2 of 3 have experts by ");
    row("RouterTrace, too many layers", "t.json", router_trace(), two_layers, "has 3 layers, 2 of 2 have experts by ");
    row("RouterTrace, too many experts", "t.json", router_trace(), six_experts, "has 8 experts a layer, ");
    row("Megatron, too many layers", "t.jsonl", megatron_trace(),
        R"("model_type":"mixtral","num_hidden_layers":2,"num_local_experts":4)",
        "chooses experts in layer 2, which has none by ");
    row("Megatron, a dense layer", "t.jsonl", megatron_trace(),
        R"("model_type":"qwen3_moe","num_hidden_layers":3,"num_experts":4,"mlp_only_layers":[1])",
        "chooses experts in layer 1, which has none by ");
    SmallTrace small;
    small.about["layer.0.layer"] = "3";
    const std::string native = Scratch::read(small.write(scratch_.path("small.safetensors")));
    row("native, too many layers", "t.safetensors", native,
        R"("model_type":"mixtral","num_hidden_layers":2,"num_local_experts":4)",
        "chooses experts in layer 3, which has none by ");
    row("native, too many experts", "t.safetensors", native,
        R"("model_type":"mixtral","num_hidden_layers":4,"num_local_experts":3)", "has 4 experts a layer, ");
  }
  void no_reader_takes_layers_that_the_configuration_lacks() {
    QFETCH(QString, name);
    QFETCH(QByteArray, trace);
    QFETCH(QString, config);
    QFETCH(QString, words);
    const std::string told = config_of(config.toStdString());
    verify_refused(scratch_.write(name.toStdString(), trace.toStdString()), words.toStdString(),
                   {"--model-config", told});
  }

  void layers_of_which_nothing_was_recorded_are_named_data() {
    QTest::addColumn<QString>("format");
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("words");
    QTest::newRow("TensorRT-LLM") << "trtllm"
                                  << R"("model_type":"mixtral","num_hidden_layers":5,"num_local_experts":3)"
                                  << "counts nothing in layers 0, 1, 2, which have experts by ";
    QTest::newRow("a rank") << "megatron"
                            << R"("model_type":"mixtral","num_hidden_layers":4,"num_local_experts":4)"
                            << "counts nothing in layers 0, 3, which have experts by ";
    QTest::newRow("another number of choices")
        << "megatron"
        << R"("model_type":"mixtral","num_hidden_layers":3,"num_local_experts":4,"num_experts_per_tok":3)"
        << "has 2 choices of a token, ";
    QTest::newRow("unnumbered layers") << "native"
                                       << R"("model_type":"mixtral","num_hidden_layers":2,"num_local_experts":4)"
                                       << "has 1 layer with experts, which are not numbered; 2 have experts by ";
    QTest::newRow("numbers of experts that differ")
        << "megatron"
        << R"("model_type":"hunyuan_v1_moe","num_hidden_layers":3,"num_experts":[0,4,2])"
        << "\"num_experts\" differs between layers, from 2 to 4";
  }
  void layers_of_which_nothing_was_recorded_are_named() {
    QFETCH(QString, format);
    QFETCH(QString, config);
    QFETCH(QString, words);
    const std::string folder = scratch_.path("named-" + std::string(QTest::currentDataTag()));
    std::filesystem::create_directory(folder);
    std::string trace = folder + "/trace";
    if (format == "trtllm")
      std::ofstream(trace) << trtllm_statistics(folder);
    else if (format == "megatron")
      std::ofstream(trace) << megatron_trace();
    else
      trace = SmallTrace().write(trace);
    const Json import = imported(trace, folder + ".storm", {"--model-config", config_of(config.toStdString())});
    const Json& warnings = import["warnings"];
    QVERIFY2(
        std::any_of(warnings.begin(), warnings.end(),
                    [&](const Json& w) { return w.get<std::string>().find(words.toStdString()) != std::string::npos; }),
        warnings.dump().c_str());
  }

  void a_key_that_is_not_understood_is_named() {
    const std::string trace = scratch_.write("counts.json", sglang_counts(4, {1, 3})),
                      none = scratch_.path("none.storm");
    const std::string config =
        config_of(R"("model_type":"laguna","num_hidden_layers":4,"num_experts":4,"num_experts_per_tok":2,
      "mlp_layer_types":["dense","sparse","half","sparse"])");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", none, "--model-config", config}), config,
                   "\"mlp_layer_types\" says \"half\"");
    QVERIFY(!std::filesystem::exists(none));
  }

  // Counts of all layers show which have experts. Lines of fewer layers than the model has do not.
  void a_family_that_is_not_known_is_named_and_its_layers_are_those_that_count() {
    const std::string config =
        config_of(R"("model_type":"new_moe","num_hidden_layers":4,"num_experts":4,"num_experts_per_tok":2)");
    const std::string session = scratch_.path("unknown.storm");
    const Json import =
        imported(scratch_.write("counts.json", sglang_counts(4, {1, 3})), session, {"--model-config", config});
    QVERIFY2(import["warnings"].dump().find("new_moe") != std::string::npos, import.dump().c_str());
    const Json analysis = analyzed(session);
    QVERIFY(analysis["routers"].size() == 2 && analysis["routers"][1]["layer"] == 3);
    const Json lines = imported(scratch_.write("all.jsonl", vllm_lines(4, {0, 1, 2, 3})), scratch_.path("all.storm"),
                                {"--model-config", config});
    QCOMPARE(lines["model"]["layers"].get<int>(), 4);
    QCOMPARE(analyzed(scratch_.path("all.storm"))["routers"][3]["layer"].get<int>(), 3);
  }
};

STORMCELL_TEST(ContractImportLayersTest)

}  // namespace stormcell::testing

#include "import_layers_test.moc"
