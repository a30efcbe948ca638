// A model whose files contradict each other, or hold more than is used: one warning says which is used. Also the tokens
// around a text, which the files and the family decide.
#include <cstring>

#include "tests/contract/models.h"
#include "tests/testing/counts.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
using nlohmann::json;
using Ids = std::vector<int32_t>;

namespace {
std::string byte_pairs(const std::string& name) { return Scratch::read(reference_path("byte-pairs/" + name)); }

/// The ids of the reference for "The cat sat on the sill.", by the key of cases.json.
Ids reference_ids(const std::string& key) {
  for (const json& entry : json::parse(byte_pairs("cases.json")))
    if (entry["text"] == "The cat sat on the sill.") return entry[key].get<Ids>();
  return {};
}
}  // namespace

class TwoSourcesTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  ForwardRun run(const std::string& model, const std::string& data, const Arguments& more = {}) {
    return forward_run(scratch_, model, data, more);
  }
  std::string write_ids(const Ids& ids) {
    return scratch_.write("ids.npy", npy_ids("(1, " + std::to_string(ids.size()) + ")", ids));
  }

 private slots:
  void a_text_has_the_tokens_around_it_that_its_tokenizer_says_data() {
    QTest::addColumn<QByteArray>("file");    // of tests/reference/byte-pairs
    QTest::addColumn<QByteArray>("config");  // empty: none
    QTest::addColumn<Ids>("ids");
    QTest::addColumn<int>("warnings");
    Ids plain = reference_ids("model");
    QCOMPARE(plain, reference_ids("prepend"));
    plain.erase(plain.begin());
    const auto row = [](const char* name, const char* file, const char* config, Ids before, const Ids& text,
                        const Ids& behind, int warnings = 0) {
      before.insert(before.end(), text.begin(), text.end());
      before.insert(before.end(), behind.begin(), behind.end());
      QTest::newRow(name) << QByteArray(file) << QByteArray(config) << before << warnings;
    };
    row("a model as published", "tokenizer.model", R"({"add_bos_token":true,"add_eos_token":false,"bos_token":"<s>"})",
        {1}, plain, {});
    row("a model without a word", "tokenizer.model", "", {1}, plain, {});
    row("a model without begin token", "tokenizer.model", R"({"add_bos_token":false})", {}, plain, {});
    row("a model with an end token", "tokenizer.model", R"({"add_eos_token":true})", {1}, plain, {2});
    row("a model with another begin token", "tokenizer.model", R"({"bos_token":{"content":"</s>"}})", {2}, plain, {});
    row("a json of today", "metaspace.json", "", {1}, plain, {});
    row("an older json", "prepend.json", R"({"add_bos_token":true})", {1}, plain, {});
    row("a json against its configuration", "prepend.json", R"({"add_bos_token":false})", {1}, plain, {}, 1);
  }
  void a_text_has_the_tokens_around_it_that_its_tokenizer_says() {
    QFETCH(const QByteArray, file);
    QFETCH(const QByteArray, config);
    QFETCH(const Ids, ids);
    QFETCH(const int, warnings);
    const Scratch scratch;
    const std::string model = mixtral_with_vocabulary(scratch, 1000);
    const ForwardRun expected = run(model, write_ids(ids));
    const bool is_json = file.endsWith(".json");
    scratch.write(is_json ? "mixtral/tokenizer.json" : "mixtral/tokenizer.model", byte_pairs(file.toStdString()));
    if (!config.isEmpty()) scratch.write("mixtral/tokenizer_config.json", config.toStdString());
    const ForwardRun said = run(model, scratch_.write("text.txt", "The cat sat on the sill.\n"));
    QVERIFY(said.logits == expected.logits);
    QCOMPARE(static_cast<int>(said.warnings.size()), warnings);
  }

  void a_text_that_is_cut_keeps_the_tokens_around_it() {
    const Scratch scratch;
    const std::string model = mixtral_with_vocabulary(scratch, 1000),
                      text = scratch.write("text.txt", "The cat sat on the sill.\n");
    scratch.write("mixtral/tokenizer.model", byte_pairs("tokenizer.model"));
    Ids ids = reference_ids("model");
    ids.resize(5);
    const auto cut = [&](const char* config) {
      scratch.write("mixtral/tokenizer_config.json", config);
      return run(model, text, {"--length", "5", "--truncate"}).logits;
    };
    QVERIFY(cut("{}") == run(model, write_ids(ids)).logits);
    ids.back() = 2;
    QVERIFY(cut(R"({"add_eos_token":true})") == run(model, write_ids(ids)).logits);
  }

  void a_tokenizer_that_cannot_be_used_stops_texts_and_no_token_ids_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QByteArray>("words");
    QTest::newRow("another kind") << QByteArray(R"({"model":{"type":"WordPiece","vocab":{}}})")
                                  << QByteArray("token ids");
    QTest::newRow("nobody says what comes before a text")
        << QByteArray(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]}})") << QByteArray("add_bos_token");
    QTest::newRow("a pointer of Git LFS")
        << QByteArray("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
        << QByteArray("git lfs pull");
    QTest::newRow("an empty file") << QByteArray() << QByteArray("is empty");
  }
  void a_tokenizer_that_cannot_be_used_stops_texts_and_no_token_ids() {
    QFETCH(const QByteArray, content);
    QFETCH(const QByteArray, words);
    const ModelCopy model(mixtral_model());
    model.write("tokenizer.json", content.toStdString());
    const std::string text = scratch_.write("text.txt", "a\n"), file = model.file("tokenizer.json");
    VERIFY_REFUSED(short_run("run", model.folder(), text), file, words.toStdString());
    const ForwardRun said = run(model.folder(), write_ids({3, 4}));
    QCOMPARE(said.warnings.size(), size_t{1});
    QVERIFY2(said.warnings[0].starts_with(file) && said.warnings[0].ends_with("token ids need no tokenizer"),
             said.warnings[0].c_str());
  }

  void tied_tensors_with_unlike_values_are_said_data() {
    QTest::addColumn<QByteArray>("copy");
    QTest::addColumn<QByteArray>("words");  // empty: no warning
    QTest::newRow("the same values") << QByteArray("same") << QByteArray();
    QTest::newRow("one other value") << QByteArray("other") << QByteArray("holds other values");
    QTest::newRow("another shape") << QByteArray("short") << QByteArray("has the shape [39, 32] and not [40, 32]");
    QTest::newRow("the same values in another format") << QByteArray("f64") << QByteArray();
  }
  void tied_tensors_with_unlike_values_are_said() {
    QFETCH(const QByteArray, copy);
    QFETCH(const QByteArray, words);
    const ModelCopy model(mixtral_model("top-1-of-4-right-padding-tied"));
    const std::string ids = write_ids({3, 14, 15, 9, 2}), right = run(model.folder(), ids).logits;
    json header = model.header();
    std::string data = model.data();
    const json& offsets = header["model.embed_tokens.weight"]["data_offsets"];
    std::string bytes = data.substr(offsets[0], offsets[1].get<size_t>() - offsets[0].get<size_t>());
    std::vector<int64_t> shape = {40, 32};
    if (copy == "other") bytes.back() = static_cast<char>(bytes.back() ^ 1);
    if (copy == "short") bytes.resize(39 * 32 * 4), shape[0] = 39;
    if (copy == "f64") {
      std::vector<float> values(40 * 32);
      std::memcpy(values.data(), bytes.data(), bytes.size());
      const std::vector<double> wide(values.begin(), values.end());
      bytes.assign(reinterpret_cast<const char*>(wide.data()), wide.size() * 8);
    }
    header["lm_head.weight"] = {{"dtype", copy == "f64" ? "F64" : "F32"},
                                {"shape", shape},
                                {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    model.write("model.safetensors", safetensors_bytes(header.dump(), 0) + data + bytes);
    const ForwardRun said = run(model.folder(), ids);
    QVERIFY(said.logits == right);
    QCOMPARE(said.warnings.size(), words.isEmpty() ? size_t{0} : size_t{1});
    if (words.isEmpty()) return;
    QVERIFY2(said.warnings[0].find("\"lm_head.weight\" " + words.toStdString() +
                                   ", and config.json ties it to "
                                   "\"model.embed_tokens.weight\", which is used for both") != std::string::npos,
             said.warnings[0].c_str());
  }

  void end_tokens_of_both_files_end_a_text() {
    const ModelCopy model(mixtral_model());
    const std::string ids = write_ids({3, 4});
    model.write("generation_config.json", R"({"eos_token_id":[2,5]})");
    QVERIFY(run(model.folder(), ids).warnings.empty());
    model.write("generation_config.json", R"({"eos_token_id":5})");
    const ForwardRun said = run(model.folder(), ids);
    QCOMPARE(said.warnings.size(), size_t{1});
    QVERIFY2(said.warnings[0].starts_with(model.file("generation_config.json") +
                                          ": \"eos_token_id\" is 5, in config.json it is 2"),
             said.warnings[0].c_str());
  }

  void sequences_that_are_masked_whole_are_named() {
    std::string header = R"({"input_ids":{"dtype":"I32","shape":[6,2],"data_offsets":[0,48]},)"
                         R"("attention_mask":{"dtype":"I32","shape":[6,2],"data_offsets":[48,96]}})";
    std::string data = safetensors_bytes(header, 96, 0);
    for (const size_t row : {size_t{1}}) data[data.size() - 48 + row * 8] = 1;
    const ForwardRun said = run(mixtral_model(), scratch_.write("masked.safetensors", data));
    QCOMPARE(said.masked, int64_t{5});
    QCOMPARE(said.warnings.size(), size_t{1});
    QVERIFY2(
        said.warnings[0].ends_with(
            "the mask leaves no real cell of 5 items, which no figure counts: sequence 0, sequence 2, sequence 3, ..."),
        said.warnings[0].c_str());
  }
};

STORMCELL_TEST(TwoSourcesTest)

}  // namespace stormcell::testing

#include "two_sources_test.moc"
