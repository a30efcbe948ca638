// Importance matrices of llama.cpp whose counts are not those of single experts.
#include <numeric>

#include "tests/contract/imports.h"

namespace stormcell::testing {
namespace {

using CountRow = std::vector<float>;

/// Makes a GGUF with layers from 0 on. Each layer has the counts of its three stacks of experts and, if there are
/// tokens, those of its router.
std::string imatrix_of(const std::vector<CountRow>& layers, uint32_t chunks, uint32_t chunk_size,
                       const std::vector<float>& tokens = {}) {
  std::string head, tensors, data;
  const auto put = [](std::string& to, auto value) { to.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const auto text = [&](std::string& to, std::string_view t) {
    put(to, uint64_t{t.size()});
    to += t;
  };
  uint64_t count = 0;
  const auto tensor = [&](const std::string& name, const CountRow& values) {
    text(tensors, name);
    put(tensors, uint32_t{2}), put(tensors, uint64_t{1}), put(tensors, uint64_t{values.size()}),
        put(tensors, uint32_t{0});
    put(tensors, uint64_t{data.size()});
    data.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    data.resize((data.size() + 31) / 32 * 32);
    ++count;
  };
  for (size_t l = 0; l < layers.size(); ++l) {
    const std::string layer = "blk." + std::to_string(l) + ".ffn_";
    for (const char* stack : {"gate", "up", "down"}) tensor(layer + stack + "_exps.weight.counts", layers[l]);
    if (!tokens.empty()) tensor(layer + "gate_inp.weight.counts", {tokens[l]});
  }
  head = "GGUF";
  put(head, uint32_t{3}), put(head, count), put(head, uint64_t{3});
  text(head, "general.type"), put(head, uint32_t{8}), text(head, "imatrix");
  text(head, "imatrix.chunk_count"), put(head, uint32_t{4}), put(head, chunks);
  text(head, "imatrix.chunk_size"), put(head, uint32_t{4}), put(head, chunk_size);
  head += tensors;
  head.resize((head.size() + 31) / 32 * 32);
  return head + data;
}

/// Counts of 16 tokens with k = 2 over 8 experts.
const CountRow kFresh = {9, 7, 4, 4, 3, 3, 1, 1};
/// Adds `tokens` of an older file, which counted each token for each expert.
CountRow merged(const CountRow& fresh, float tokens) {
  CountRow counts = fresh;
  for (float& c : counts) c += tokens;
  return counts;
}

}  // namespace

class ContractImatrixTest : public QObject, private Imports {
  Q_OBJECT
  std::string config() {
    return scratch_.write("eight/config.json", R"({"model_type": "qwen3_moe", "num_hidden_layers": 2, "num_experts": 8,
 "num_experts_per_tok": 2, "hidden_size": 64, "moe_intermediate_size": 32})");
  }

 private slots:
  void counts_of_single_experts_are_read_data() {
    QTest::addColumn<bool>("tokens");
    QTest::addColumn<bool>("config");
    QTest::newRow("by chunks") << false << false;
    QTest::newRow("by the router's count") << true << false;
    QTest::newRow("with a configuration") << false << true;
    QTest::newRow("with both") << true << true;
  }
  void counts_of_single_experts_are_read() {
    QFETCH(bool, tokens);
    QFETCH(bool, config);
    const std::string file = scratch_.write(
        "fresh.gguf", imatrix_of({kFresh, kFresh}, 2, 8, tokens ? std::vector<float>{16, 16} : std::vector<float>{}));
    const std::string session = scratch_.path(std::string("fresh") + QTest::currentDataTag() + ".storm");
    const Json import = imported(file, session, config ? Arguments{"--model-config", this->config()} : Arguments{});
    QVERIFY2(import["model"]["k"] == 2 && import["warnings"].empty(), import.dump().c_str());
    QVERIFY((loads_of(analyzed(session), 1) == std::vector<int64_t>(kFresh.begin(), kFresh.end())));
  }

  void counts_of_a_dat_are_refused_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<bool>("config");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const std::string& file, bool config, const char* words) {
      QTest::newRow(name) << QByteArray::fromStdString(file) << config << words;
    };
    const CountRow one = {16}, all(8, 16), more = merged(kFresh, 16);
    const char* const of_stack =
        "blk.0.ffn_down_exps.weight.counts is one count of all experts together, not one of each: it was made from a "
        ".dat";
    row("converted", imatrix_of({one, one}, 2, 8), false, of_stack);
    row("converted, with a configuration", imatrix_of({one, one}, 2, 8), true, of_stack);
    row("converted in part", imatrix_of({one, kFresh}, 2, 8), false, of_stack);
    row("every expert by every token", imatrix_of({all, all}, 2, 8), false,
        "layer 0 counts 8 choices of a token, which are all experts");
    row("the same against a configuration", imatrix_of({all, all}, 2, 8), true, "config.json says 2: a .dat");
    row("the same in one layer", imatrix_of({kFresh, all}, 2, 8), false, "layer 1 counts 8 choices");
    row("the same by the router's count", imatrix_of({all, all}, 0, 0, {16, 16}), false,
        "layer 0 counts 8 choices of a token");
    row("merged into a fresh one", imatrix_of({more, more}, 4, 8), true, "layer 0 counts 5 choices of a token, ");
    row("merged, no whole number", imatrix_of({merged(kFresh, 5), merged(kFresh, 5)}, 3, 7, {21, 21}), false,
        "layer 0 counts 3.43 choices of a token, no whole number");
    CountRow half = kFresh;
    half[2] = 4.5F;
    row("half a token", imatrix_of({kFresh, half}, 2, 8), false,
        "blk.1.ffn_down_exps.weight.counts: the count of expert 2 is 4.5, no whole number");
    row("half a token of a layer", imatrix_of({kFresh, kFresh}, 2, 8, {16, 16.5F}), false,
        "layer 1: the count of its tokens is 16.5, no whole number");
    row("one expert too often", imatrix_of({{30, 2}, {30, 2}}, 2, 8), false,
        "layer 0 counts 30 tokens of one expert, and 16 in all");
    row("too few choices", imatrix_of({{16, 0, 0, 0, 0, 0, 0, 0}, kFresh}, 2, 8, {16, 16}), true,
        "layer 0 counts 1 choice of a token, ");
  }
  void counts_of_a_dat_are_refused() {
    QFETCH(QByteArray, file);
    QFETCH(bool, config);
    QFETCH(QString, words);
    const std::string path = scratch_.write("old.gguf", file.toStdString()), none = scratch_.path("none.storm");
    Arguments arguments = {"import", path, "-o", none};
    if (config) arguments.insert(arguments.end(), {"--model-config", this->config()});
    VERIFY_REFUSED(arguments, path, words.toStdString());
    QVERIFY(!std::filesystem::exists(none));
  }

  // No file states k, and 5 of 8 is possible: a warning doubts it.
  void many_choices_of_a_token_are_doubted() {
    const std::string file = scratch_.write("many.gguf", imatrix_of({merged(kFresh, 16), merged(kFresh, 16)}, 4, 8));
    const Json import = imported(file, scratch_.path("many.storm"));
    QVERIFY2(import["warnings"].size() == 1 && import["warnings"][0].get<std::string>().find(
                                                   "5 choices of a token among 8 experts") != std::string::npos,
             import.dump().c_str());
    // A model may have two experts that every token goes to.
    QVERIFY(imported(scratch_.write("two.gguf", imatrix_of({{16, 16}}, 2, 8)), scratch_.path("two.storm"))["warnings"]
                .empty());
  }

  void equal_counts_of_an_unknown_number_of_tokens_are_doubted() {
    const CountRow all(8, 16);
    const Json import =
        imported(scratch_.write("equal.gguf", imatrix_of({all, kFresh, all}, 0, 0)), scratch_.path("equal.storm"));
    QVERIFY2(import["warnings"].size() == 1 &&
                 import["warnings"][0].get<std::string>().find(
                     "layer 0 counts 16 tokens of each of its 8 experts (2 of 3 layers do so), and no chunk count says "
                     "how many tokens there were") != std::string::npos,
             import.dump().c_str());
    QVERIFY(imported(scratch_.write("unequal.gguf", imatrix_of({kFresh, kFresh}, 0, 0)),
                     scratch_.path("unequal.storm"))["warnings"]
                .empty());
  }

  void a_layer_that_counts_nothing_is_named() {
    const std::string file = scratch_.write("zeros.gguf", imatrix_of({kFresh, CountRow(8)}, 2, 8));
    const Json import = imported(file, scratch_.path("zeros.storm"), {"--model-config", config()});
    QVERIFY2(import["warnings"].size() == 1 &&
                 import["warnings"][0].get<std::string>().find(
                     "zeros.gguf: counts nothing in layer 1, which has experts by ") != std::string::npos,
             import.dump().c_str());
  }

  void a_dat_is_named() {
    std::string dat;
    const auto put = [&](int32_t value) { dat.append(reinterpret_cast<const char*>(&value), sizeof value); };
    put(2);
    for (const std::string name : {"blk.0.ffn_gate_exps.weight", "blk.0.ffn_up_exps.weight"}) {
      put(static_cast<int32_t>(name.size()));
      dat += name;
      put(2), put(32);
      dat.append(32 * sizeof(float), '\x3f');
    }
    for (const char* name : {"imatrix.dat", "imatrix.gguf"}) {
      const std::string file = scratch_.write(name, dat);
      VERIFY_REFUSED((Arguments{"import", file, "-o", scratch_.path("none.storm")}), file,
                     "a .dat without counts of single experts, not a routing trace (it cannot be converted: make it "
                     "again in a fresh run "
                     "of llama-imatrix "
                     "--output-format gguf -o imatrix.gguf)");
    }
  }
};

STORMCELL_TEST(ContractImatrixTest)

}  // namespace stormcell::testing

#include "imatrix_test.moc"
