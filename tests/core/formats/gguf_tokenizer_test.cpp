// Tokenizers from the vocabulary of a GGUF file: the vocabularies of tests/reference/text and byte-pairs, written as
// llama.cpp's converter writes them, must give the ids of the libraries.
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"
#include "core/formats/json_file.h"
#include "core/formats/sentencepiece_model.h"
#include "core/formats/tokenizer.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {
/// The bytes of a GGUF file without tensors.
class VocabularyFile {
 public:
  VocabularyFile& text(const std::string& key, const std::string& value) {
    begin(key, 8);
    put_text(value);
    return *this;
  }
  VocabularyFile& number(const std::string& key, uint32_t value) {
    begin(key, 4);
    put(value);
    return *this;
  }
  VocabularyFile& flag(const std::string& key, bool value) {
    begin(key, 7);
    put(static_cast<uint8_t>(value));
    return *this;
  }
  VocabularyFile& texts(const std::string& key, const std::vector<std::string>& values) {
    begin_list(key, 8, values.size());
    for (const std::string& value : values) put_text(value);
    return *this;
  }
  VocabularyFile& numbers(const std::string& key, const std::vector<float>& values) {
    begin_list(key, 6, values.size());
    for (const float value : values) put(value);
    return *this;
  }
  VocabularyFile& types(const std::vector<int32_t>& values) {
    begin_list("tokenizer.ggml.token_type", 5, values.size());
    for (const int32_t value : values) put(value);
    return *this;
  }
  std::shared_ptr<Tokenizer> open() const {
    std::string file = "GGUF";
    const auto add = [&](const auto value) { file.append(reinterpret_cast<const char*>(&value), sizeof value); };
    add(uint32_t{3});
    add(uint64_t{0});
    add(pairs_);
    file += body_;
    HeaderBytes bytes(std::as_bytes(std::span(file)), "m.gguf");
    return Tokenizer::from_gguf(bytes);
  }

 private:
  template <class T>
  void put(T value) {
    body_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(const std::string& value) {
    put(static_cast<uint64_t>(value.size()));
    body_ += value;
  }
  void begin(const std::string& key, uint32_t type) {
    ++pairs_;
    put_text(key);
    put(type);
  }
  void begin_list(const std::string& key, uint32_t type, size_t count) {
    begin(key, 9);
    put(type);
    put(static_cast<uint64_t>(count));
  }
  std::string body_;
  uint64_t pairs_ = 0;
};

/// The vocabulary of a tokenizer.json as the converter writes it.
VocabularyFile converted(const std::string& family, const std::string& pre) {
  const nlohmann::json root = read_json_file(reference_path("text/" + family + ".json"));
  std::vector<std::string> tokens, merges;
  std::vector<int32_t> types;
  const auto put = [&](size_t id, const std::string& token, int32_t type) {
    if (id >= tokens.size()) tokens.resize(id + 1), types.resize(id + 1, 1);
    tokens[id] = token, types[id] = type;
  };
  for (const auto& [token, id] : root["model"]["vocab"].items()) put(id.get<size_t>(), token, 1);
  for (const nlohmann::json& added : root["added_tokens"])
    if (added["special"].get<bool>()) put(added["id"].get<size_t>(), added["content"].get<std::string>(), 3);
  for (const nlohmann::json& merge : root["model"]["merges"])
    merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  VocabularyFile file;
  file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", pre).texts("tokenizer.ggml.tokens", tokens);
  file.types(types).texts("tokenizer.ggml.merges", merges);
  for (size_t id = 0; id < tokens.size(); ++id)
    if (tokens[id] == "<|begin|>") file.number("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(id));
  return file;
}
VocabularyFile small(const std::string& model = "llama") {
  VocabularyFile file;
  file.text("tokenizer.ggml.model", model);
  return file;
}
}  // namespace

class GgufTokenizerTest : public QObject {
  Q_OBJECT

 private slots:
  void words_by_merges_equal_the_reference_data() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("pre");
    const auto row = [](const char* family, const char* pre) {
      QTest::newRow(family) << QString(family) << QString(pre);
    };
    row("olmoe", "olmo");
    row("llama3", "llama-bpe");
    row("qwen3", "qwen2");
    row("qwen35", "qwen35");
    row("gpt-oss", "gpt-4o");
    row("deepseek-v3", "deepseek-v3");
    row("smollm", "smollm");
  }
  void words_by_merges_equal_the_reference() {
    QFETCH(const QString, family);
    QFETCH(const QString, pre);
    const auto tokenizer = converted(family.toStdString(), pre.toStdString()).open();
    const nlohmann::json cases = read_json_file(reference_path("text/cases.json"));
    int compared = 0;
    for (size_t i = 0; i < cases["strings"].size(); ++i) {
      const auto text = cases["strings"][i].get<std::string>();
      // Tokens that swallow blanks or want whole words are not in a GGUF file.
      if (text.find("<mask>") != std::string::npos || text.find("[TOK]") != std::string::npos) continue;
      const auto expected = cases[family.toStdString()]["ids"][i].get<std::vector<int32_t>>();
      const std::vector<int32_t> ids = tokenizer->encode(text, true);
      QVERIFY2(ids == expected, (cases["strings"][i].dump() + ": expected " + nlohmann::json(expected).dump() +
                                 ", got " + nlohmann::json(ids).dump())
                                    .c_str());
      ++compared;
    }
    QVERIFY(compared > 50);
  }

  void words_by_scores_equal_sentencepiece() {
    const std::string path = reference_path("byte-pairs/tokenizer.model");
    std::vector<std::string> tokens;
    std::vector<float> scores;
    std::vector<int32_t> types;
    for (const Piece& piece : sentencepiece_pieces(read_file_text(path, size_t{1} << 24), path)) {
      tokens.push_back(piece.text);
      scores.push_back(piece.score);
      types.push_back(static_cast<int32_t>(piece.type));
    }
    VocabularyFile file = small();
    file.texts("tokenizer.ggml.tokens", tokens).numbers("tokenizer.ggml.scores", scores).types(types);
    file.number("tokenizer.ggml.bos_token_id", 1).number("tokenizer.ggml.unknown_token_id", 0);
    const auto tokenizer = file.open();
    const nlohmann::json cases = read_json_file(reference_path("byte-pairs/cases.json"));
    for (const nlohmann::json& entry : cases) {
      const auto text = entry["text"].get<std::string>();
      // Here <s> in a text is the token, as in llama.cpp; the library takes it for letters.
      if (text.find("<s>") != std::string::npos || text.find("</s>") != std::string::npos || text.empty()) continue;
      const auto expected = entry["model"].get<std::vector<int32_t>>(), ids = tokenizer->encode(text, true);
      QVERIFY2(ids == expected, (entry["text"].dump() + ": expected " + nlohmann::json(expected).dump() + ", got " +
                                 nlohmann::json(ids).dump())
                                    .c_str());
    }
    QCOMPARE(tokenizer->decode(tokenizer->encode("The cat sat", true)), std::string("The cat sat"));
  }

  void a_vocabulary_that_cannot_be_done_alike_is_refused() {
    const std::vector<std::string> two = {"a", "b"};
    VERIFY_BAD_INPUT(VocabularyFile().open(), "m.gguf", "no tokenizer");
    VERIFY_BAD_INPUT(small("bert").texts("tokenizer.ggml.tokens", two).open(), "m.gguf", "\"bert\"");
    VERIFY_BAD_INPUT(small("gpt2").text("tokenizer.ggml.pre", "viking").texts("tokenizer.ggml.tokens", two).open(),
                     "m.gguf", "\"viking\" is not in this version");
    VERIFY_BAD_INPUT(small().texts("tokenizer.ggml.tokens", two).open(), "m.gguf", "0 scores for 2 tokens");
    VERIFY_BAD_INPUT(small().texts("tokenizer.ggml.tokens", {"a", "a"}).open(), "m.gguf", "occurs twice");
    VERIFY_BAD_INPUT(small().texts("tokenizer.ggml.tokens", {"a", "\xFF"}).open(), "m.gguf", "not valid UTF-8");
    VERIFY_BAD_INPUT(small().texts("tokenizer.ggml.tokens", two).types({1}).open(), "m.gguf", "1 types for 2 tokens");
    VERIFY_BAD_INPUT(small().texts("tokenizer.ggml.tokens", two).types({1, 9}).open(), "m.gguf", "unknown type");
    VERIFY_BAD_INPUT(small().texts("tokenizer.ggml.tokens", two).numbers("tokenizer.ggml.scores", {0, -1}).open(),
                     "m.gguf", "no key names");
    VERIFY_BAD_INPUT(small("gpt2")
                         .text("tokenizer.ggml.pre", "qwen2")
                         .texts("tokenizer.ggml.tokens", two)
                         .texts("tokenizer.ggml.merges", {"a x"})
                         .open(),
                     "m.gguf", "does not have");
  }
};

STORMCELL_TEST(GgufTokenizerTest)
#include "gguf_tokenizer_test.moc"
