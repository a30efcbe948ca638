// Sheets of models that are made header by header: every number in them is known.
#include "core/sheet/sheet.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/graph/operator.h"
#include "core/machine/memory.h"
#include "core/sheet/lacks.h"
#include "core/sheet/routing_rule.h"
#include "core/sheet/tensor_role.h"
#include "core/sheet/tensor_tally.h"
#include "core/sheet/text_parts.h"
#include "tests/core/formats/scratch.h"
#include "tests/core/sheet/sheets.h"
#include "tests/testing/model_headers.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class SheetTest : public QObject {
  Q_OBJECT
 private slots:
  void a_gguf_mixture_has_every_number_of_its_header() {
    const Scratch scratch;
    const GgufBytes made = gguf_mixture(6);
    const std::string path = scratch.path("sha256-0123");  // a blob has no suffix
    write_sparse(path, made.header(), made.data_bytes());
    const ModelSheet sheet = sheet_at(path);
    QVERIFY(sheet.kind == "gguf" && sheet.name == "A made mixture" && sheet.family == "qwen3_moe" && !sheet.runnable);
    QVERIFY(sheet.layers == 6 && sheet.layers_with_experts == 6 && sheet.experts == 128 && sheet.k == 8);
    const int64_t expert = 3 * 512 * 256, experts = 6 * 128 * expert,
                  rest = 2 * 1000 * 512 + 6 * (512 + 4 * 512 * 512 + 512 * 128);
    QCOMPARE(sheet.parameters, experts + rest);
    QCOMPARE(sheet.active_parameters, experts / 16 + rest);
    QCOMPARE(sheet.formats.at("experts").at("Q3_K").tensors, int64_t{2});
    QCOMPARE(sheet.formats.at("experts").at("Q4_K").tensors, int64_t{16});
    QCOMPARE(sheet.formats.at("attention").at("Q8_0").tensors, int64_t{24});
    QVERIFY(sheet.formats.contains("router") && sheet.formats.contains("head") && sheet.formats.contains("embedding"));
    QCOMPARE(sheet.memory.expert_bytes + sheet.memory.rest_bytes, sheet.bytes);
    const int64_t embedding = sheet.formats.at("embedding").at("Q8_0").bytes;
    QCOMPARE(sheet.memory.token_bytes, sheet.memory.rest_bytes - embedding + sheet.memory.expert_bytes / 16);
    QCOMPARE(sheet.tokenizer, std::string("BPE by the pattern qwen2, 1,000 tokens"));
    QCOMPARE(sheet.chat_template, std::string("ChatML"));
    QCOMPARE(sheet.recorder, std::string("llama-cpp"));
    QVERIFY(sheet.routing.find("the 8 of 128 experts") != std::string::npos);
    QVERIFY2(lacks(sheet, "Q3_K in 2 tensors"), lines_of(sheet).front().c_str());
  }

  void operations_that_no_operator_does_are_counted_by_layers() {
    const Scratch scratch;
    std::vector<HeaderTensor> tensors;
    for (int l = 0; l < 8; ++l) {
      const std::string layer = "model.layers." + std::to_string(l) + ".";
      if (l % 4 != 3) tensors.push_back({layer + "linear_attn.A_log", "F32", {4}, 16});
      if (l % 4 == 3) tensors.push_back({layer + "self_attn.kv_a_proj_with_mqa.weight", "BF16", {4, 4}, 32});
      tensors.push_back({layer + "mlp.experts.1.up_proj.weight", "F8_E4M3", {4, 4}, 16});
    }
    const std::string path = scratch.path("w.safetensors");
    write_sparse(path, safetensors_head(tensors), 16 * 6 + 32 * 2 + 16 * 8);
    const ModelSheet sheet = sheet_at(path);
    QVERIFY(sheet.layers == 8 && sheet.experts == 2 && sheet.k == 0 && sheet.active_parameters == 0);
    QCOMPARE(lacks(sheet, "needs `delta_rule` in 6 of 8 layers"), find_operator("delta_rule") == nullptr);
    QCOMPARE(lacks(sheet, "needs `latent_attention` in 2 of 8 layers"), find_operator("latent_attention") == nullptr);
    QVERIFY(lacks(sheet, "no config.json is beside the weights") && sheet.recorder == "pytorch");
  }

  void a_traced_program_says_that_it_keeps_one_path() {
    const Scratch scratch;
    const std::string onnx = scratch.write("m.onnx",
                                           onnx_bytes({{"MatMul"}, {"Add"}}, {{"w", {2}, 1, std::string(8, 'x')}})),
                      branches = scratch.write("v.onnx", onnx_bytes({{"If", "", {{"Relu"}}}, {"Add"}}, {})),
                      mixture = scratch.write("x.onnx", onnx_bytes({{"MoE", "com.microsoft"}}, {})),
                      pt2 = scratch.write("m.pt2", pt2_bytes({"torch.ops.aten.add.Tensor"}));
    QVERIFY(lacks(sheet_at(onnx), "a traced program keeps one path: 2 nodes, no router"));
    QVERIFY(lacks(sheet_at(branches), "needs `If`, which chooses a path for a whole input in 1 node"));
    QVERIFY(lacks(sheet_at(mixture), "experts in a fused operator in 1 node"));
    const ModelSheet exported = sheet_at(pt2);
    QVERIFY(lacks(exported, "a traced program keeps one path: 1 node, no router"));
    QVERIFY(exported.family == "torch.export of PyTorch 2.8.0" && exported.recorder == "pytorch" &&
            exported.parameters == 32);
  }

  void names_of_strangers_steer_no_terminal() {
    const Scratch scratch;
    GgufBytes file;
    file.text("general.architecture", "a\x1b[31mb").text("general.name", "x\n\xff").tensor("w", {32}, 0, 128);
    const std::string path = scratch.path("m.gguf");
    write_sparse(path, file.header(), file.data_bytes());
    const ModelSheet sheet = sheet_at(path);
    QCOMPARE(sheet.family, std::string("a [31mb"));
    QCOMPARE(sheet.name, std::string("x "));
    for (const std::string& line : lines_of(sheet)) QVERIFY2(line.find('\x1b') == std::string::npos, line.c_str());
  }

  void numbers_that_no_model_has_overflow_nothing() {
    const Scratch scratch;
    constexpr int64_t kHuge = int64_t{1} << 61;
    std::vector<HeaderTensor> tensors;
    // Tensors of five kinds: two of them are more together than fits into a number.
    for (const char* name : {"layers.0.mlp.experts.1.up_proj.weight", "layers.0.mlp.experts.w", "embed_tokens.weight",
                             "layers.0.self_attn.q_proj.weight", "lm_head.weight", "layers.0.mlp.up.weight"})
      tensors.push_back({name, "F32", {kHuge, kHuge, kHuge}, 4});
    const std::string path = scratch.path("w.safetensors");
    write_sparse(path, safetensors_head(tensors), 4 * 6);
    const ModelSheet sheet = sheet_at(path);
    QCOMPARE(sheet.parameters, INT64_MAX);
    QVERIFY(sheet.experts > 0 && sheet.experts <= 1 << 20 && sheet.bytes == 24 && sheet.active_parameters >= 0);
    GgufBytes file;
    file.text("general.architecture", "qwen3moe").number("qwen3moe.expert_count", 2);
    file.number("qwen3moe.expert_used_count", 4000000000u).number("qwen3moe.block_count", 4000000000u);
    file.tensor("blk.0.ffn_up_exps.weight", {32, 8, 2}, 8, 34 * 16);
    const std::string gguf = scratch.path("m.gguf");
    write_sparse(gguf, file.header(), file.data_bytes());
    const ModelSheet more = sheet_at(gguf);  // more experts a token than there are
    QVERIFY(more.active_parameters == more.parameters && more.memory.token_bytes == more.bytes);
  }

  void a_trace_says_of_which_shape_its_model_is() {
    const Scratch scratch;
    const std::string path = scratch.path("t.safetensors");
    std::string head = safetensors_head({{"layer.0.indices", "I32", {3, 2}, 24},
                                         {"layer.1.indices", "I32", {3, 2}, 24},
                                         {"cell.request", "I32", {3}, 12}});
    const std::string about = R"({"format":"pt")",
                      more = R"({"schema":"stormcell.trace/1","model":"made","layer.0.branches":"8")";
    head.replace(head.find(about), about.size(), more);
    const uint64_t size = head.size() - 8;
    std::memcpy(head.data(), &size, 8);
    write_sparse(path, head, 60);
    const ModelSheet sheet = sheet_at(path);
    QVERIFY2(sheet.kind == "native" && sheet.name == "made" && sheet.layers_with_experts == 2 && sheet.k == 2 &&
                 sheet.experts == 8,
             sheet.kind.c_str());
    QVERIFY(lacks(sheet, "a recording holds where cells went"));
  }

  void a_state_dict_is_known_by_its_names() {
    const Scratch scratch;
    const std::string path = scratch.write(
        "msdnet-step=4-block=5.pth.tar",
        state_dict_bytes(
            {{"blocks.0.1.layers.0.conv_normal.net.0.weight", {4, 3, 1, 1}}, {"classifier.0.linear.weight", {10, 4}}},
            true));
    const ModelSheet sheet = sheet_at(path);
    QVERIFY(sheet.kind == "torch" && sheet.family == "msdnet" && sheet.parameters == 52 && sheet.recorder == "exits");
    QVERIFY(lacks(sheet, "looks like MSDNet-PyTorch") && lacks(sheet, "a state dict holds weights and no program"));
    // This program has no such family, and its decisions can be recorded all the same.
    const ModelSheet tokens = sheet_at(scratch.write(
        "dynamic-vit.pth",
        state_dict_bytes({{"score_predictor.0.in_conv.1.weight", {4, 4}}, {"blocks.0.w", {4, 4}}}, false)));
    QVERIFY(tokens.family.empty() && tokens.recorder == "pytorch");
  }

  void a_tensor_belongs_to_a_part_by_its_name_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<int>("layer");
    QTest::addColumn<int>("expert");
    const auto row = [](const char* name, const char* kind, int layer, int expert) {
      QTest::newRow(name) << name << kind << layer << expert;
    };
    row("model.layers.3.mlp.experts.17.up_proj.weight", "experts", 3, 17);
    row("model.language_model.layers.3.mlp.experts.gate_up_proj", "experts", 3, -1);
    row("model.layers.3.mlp.gate.weight", "router", 3, -1);
    row("model.layers.3.mlp.gate_proj.weight", "feed-forward", 3, -1);
    row("model.layers.3.mlp.shared_expert.up_proj.weight", "shared experts", 3, -1);
    row("model.layers.3.self_attn.q_norm.weight", "norms", 3, -1);
    row("model.layers.3.self_attn.q_proj.weight", "attention", 3, -1);
    row("model.layers.3.linear_attn.in_proj_qkvz.weight", "recurrence", 3, -1);
    row("model.embed_tokens.weight", "embedding", -1, -1);
    row("lm_head.weight", "head", -1, -1);
    row("model.visual.blocks.3.attn.qkv.weight", "other inputs", 3, -1);
    row("mtp.layers.0.mlp.experts.1.up_proj.weight", "further tokens", 0, 1);
    row("blk.12.ffn_down_exps.weight", "experts", 12, -1);
    row("blk.12.ffn_gate.7.weight", "experts", 12, 7);
    row("blk.12.ffn_gate.weight", "feed-forward", 12, -1);
    row("blk.12.ffn_gate_inp.weight", "router", 12, -1);
    row("blk.12.ffn_up_shexp.weight", "shared experts", 12, -1);
    row("blk.12.ssm_out.weight", "recurrence", 12, -1);
    row("blk.12.attn_output.weight", "attention", 12, -1);
    row("token_embd.weight", "embedding", -1, -1);
    row("output.weight", "head", -1, -1);
    row("encoder.block.1.layer.1.mlp.experts.expert_5.wi.weight", "experts", 1, 5);
    row("encoder.block.1.layer.1.mlp.router.classifier.weight", "router", 1, -1);
  }
  void a_tensor_belongs_to_a_part_by_its_name() {
    QFETCH(QString, name);
    QFETCH(QString, kind);
    QFETCH(int, layer);
    QFETCH(int, expert);
    const std::string text = name.toStdString();
    const TensorRole role = role_of(text);
    QCOMPARE(std::string(role.kind), kind.toStdString());
    QCOMPARE(role.layer, layer);
    if (kind != "further tokens") QCOMPARE(role.expert, expert);
  }

  void packed_numbers_are_counted_one_by_one_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("dtype");
    QTest::addColumn<QString>("method");
    QTest::addColumn<int>("bits");
    QTest::addColumn<qint64>("parameters");  // of 64 elements
    QTest::newRow("plain") << "a.weight"
                           << "BF16"
                           << "" << 0 << qint64{64};
    QTest::newRow("GPTQ") << "a.qweight"
                          << "I32"
                          << "gptq" << 4 << qint64{512};
    QTest::newRow("GPTQ of 8 bits") << "a.qweight"
                                    << "I32"
                                    << "gptq" << 8 << qint64{256};
    QTest::newRow("its zero points") << "a.qzeros"
                                     << "I32"
                                     << "gptq" << 4 << qint64{0};
    QTest::newRow("gpt-oss") << "mlp.experts.gate_up_proj_blocks"
                             << "U8"
                             << "mxfp4" << 0 << qint64{128};
    QTest::newRow("its scales") << "mlp.experts.gate_up_proj_scales"
                                << "U8"
                                << "mxfp4" << 0 << qint64{0};
    QTest::newRow("compressed-tensors") << "a.weight_packed"
                                        << "I32"
                                        << "compressed-tensors" << 4 << qint64{512};
    QTest::newRow("FP8") << "a.weight"
                         << "F8_E4M3"
                         << "fp8" << 0 << qint64{64};
    QTest::newRow("its scale") << "a.weight_scale_inv"
                               << "F32"
                               << "fp8" << 0 << qint64{0};
    QTest::newRow("MLX") << "a.weight"
                         << "U32"
                         << "mlx" << 4 << qint64{512};
    QTest::newRow("bitsandbytes") << "a.weight"
                                  << "U8"
                                  << "bitsandbytes" << 4 << qint64{128};
  }
  void packed_numbers_are_counted_one_by_one() {
    QFETCH(QString, name);
    QFETCH(QString, dtype);
    QFETCH(QString, method);
    QFETCH(int, bits);
    QFETCH(qint64, parameters);
    TensorTally tally(method.toStdString(), bits);
    tally.add({name.toStdString(), dtype.toStdString(), {8, 8}, 64});
    QCOMPARE(tally.parameters(), int64_t{parameters});
  }

  void a_rule_is_told_in_words() {
    using nlohmann::json;
    QCOMPARE(routing_text(routing_rule("mixtral", json::object()), 8, 2, 0),
             std::string("each token takes the 2 of 8 experts with the largest softmax over all of them; their weights "
                         "are made to sum to 1"));
    QCOMPARE(routing_text(routing_rule("qwen2_moe", json::object()), 60, 4, 1),
             std::string("each token takes the 4 of 60 experts with the largest softmax over all of them; their "
                         "weights stay as they are; "
                         "one expert is shared by all tokens"));
    RoutingRule groups =
        routing_rule("deepseek_v3", json{{"n_group", 8}, {"topk_group", 4}, {"routed_scaling_factor", 2.5}});
    groups.choice_bias = true;
    QCOMPARE(
        routing_text(groups, 256, 8, 1),
        std::string(
            "each token takes the 8 of 256 experts, out of the 4 best of 8 groups, with the largest sigmoid, to which "
            "a bias is "
            "added for the choice; their weights are made to sum to 1, times 2.5; one expert is shared by all tokens"));
    QCOMPARE(routing_text(routing_rule("new_moe", json::object()), 4, 2, 0),
             std::string(
                 "each token takes the 2 of 4 experts with the largest scores; how these become weights is not known"));
    QVERIFY(routing_text({}, 0, 0, 0).empty());
  }

  void a_template_is_known_by_its_tokens() {
    QCOMPARE(chat_form("{{'<|start_header_id|>'}}"), std::string("Llama 3"));
    QCOMPARE(chat_form("<start_of_turn>user"), std::string("Gemma"));
    QCOMPARE(chat_form("<\xEF\xBD\x9CUser\xEF\xBD\x9C>"), std::string("DeepSeek"));
    QCOMPARE(chat_form("hello"), std::string("of a form that is not known"));
    QVERIFY(chat_form("").empty());
  }

  void a_rate_is_told_where_something_can_be_said() {
    const Scratch scratch;
    const GgufBytes made = gguf_mixture(2);
    const std::string path = scratch.path("m.gguf");
    write_sparse(path, made.header(), made.data_bytes());
    ModelSheet sheet = sheet_at(path);
    if (available_memory() < sheet.bytes) QSKIP("less memory than a small model takes");
    QVERIFY(has_rate(sheet));
    set_rate(sheet, {});
    QVERIFY(!sheet.tokens_per_s);
    DeviceProbe ceilings;
    ceilings.f32_gflops = 100, ceilings.read_gbs = 10;
    set_rate(sheet, ceilings);
    const double reading = static_cast<double>(sheet.memory.token_bytes) / 10e9,
                 arithmetic = 2.0 * static_cast<double>(sheet.active_parameters) / 100e9;
    QVERIFY(sheet.tokens_per_s && qFuzzyCompare(sheet.tokens_per_s->low, 1 / (reading + arithmetic)));
    QVERIFY(qFuzzyCompare(sheet.tokens_per_s->high, 1 / std::max(reading, arithmetic)));
    sheet.memory.fits = MemoryFit::not_at_all;
    QVERIFY(!has_rate(sheet));
  }
};

STORMCELL_TEST(SheetTest)

}  // namespace stormcell::testing

#include "sheet_test.moc"
