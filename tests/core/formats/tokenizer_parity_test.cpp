// The ids of the reference implementations, string by string: tests/reference/tokenizers, made by
// tests/reference/make_tokenizer.py.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/tokenizer.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;

class TokenizerParityTest : public QObject {
  Q_OBJECT

  static std::string fixture(const std::string& name) {
    return testing::reference_path(std::string("tokenizers/") + name);
  }
  static std::shared_ptr<const Tokenizer> open(const std::string& name) {
    const std::string content = read_file_text(fixture(name), size_t{1} << 24);
    return name.ends_with(".json") ? Tokenizer::from_json(content, fixture(name))
                                   : Tokenizer::from_sentencepiece(content, fixture(name));
  }

 private slots:
  void ids_equal_the_reference_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("key");
    QTest::newRow("SentencePiece") << "spiece.model"
                                   << "ids_spm";
    QTest::newRow("tokenizer.json as transformers converts today") << "tokenizer.json"
                                                                   << "ids_json";
    QTest::newRow("tokenizer.json as T5 and Switch were published") << "tokenizer-white-space-split.json"
                                                                    << "ids_json_white_space_split";
  }
  void ids_equal_the_reference() {
    QFETCH(QString, file);
    QFETCH(QString, key);
    if (!std::filesystem::exists(fixture("cases.json"))) QSKIP("tests/reference/tokenizers is not there");
    const auto tokenizer = open(file.toStdString());
    const nlohmann::json cases = read_json_file(fixture("cases.json"));
    QVERIFY(cases.size() > 50);
    for (const auto& entry : cases) {
      const auto text = entry["text"].get<std::string>();
      const auto expected = entry[key.toStdString()].get<std::vector<int32_t>>();
      const std::vector<int32_t> ids = tokenizer->encode(text, true);
      if (ids == expected) continue;
      const auto as_text = [](const std::vector<int32_t>& values) { return nlohmann::json(values).dump(); };
      QFAIL((nlohmann::json(text).dump(-1, ' ', true) + ": expected " + as_text(expected) + ", got " + as_text(ids))
                .c_str());
    }
  }

  void decoding_gives_sentences_back() {
    if (!std::filesystem::exists(fixture("cases.json"))) QSKIP("tests/reference/tokenizers is not there");
    for (const char* file : {"spiece.model", "tokenizer.json", "tokenizer-white-space-split.json"}) {
      const auto tokenizer = open(file);
      for (const char* text : {"The cat sat on the sill.", "Die Brücke über den Fluss", "Старый мост", "the garden"})
        QCOMPARE(tokenizer->decode(tokenizer->encode(text, true)), std::string(text));
    }
  }
};

STORMCELL_TEST(TokenizerParityTest)
#include "tokenizer_parity_test.moc"
