// Byte-level BPE and BPE with byte fallback: ids and texts of the `tokenizers` library for small tokenizers in the forms
// of today's families (tests/reference/text, made by make_text.py). With STORMCELL_TEXT_CASES the folder is another one.
#include <QElapsedTimer>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/text_stream.h"
#include "core/formats/tokenizer.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {
constexpr FrameRule kNoRule{.begin = false, .end = false};

std::string text_fixture(const std::string& name) {
  const char* other = std::getenv("STORMCELL_TEXT_CASES");
  return other ? std::string(other) + "/" + name : reference_path("text/" + name);
}
std::shared_ptr<const Tokenizer> text_tokenizer(const std::string& family) {
  const std::string path = text_fixture(family + ".json");
  return Tokenizer::from_json(read_file_text(path, size_t{1} << 24), path, kNoRule);
}
std::string shown_ids(const std::vector<int32_t>& ids) { return nlohmann::json(ids).dump(); }
}  // namespace

class TextParityTest : public QObject {
  Q_OBJECT

  static void families() {
    QTest::addColumn<QString>("family");
    for (const char* name :
         {"olmoe", "llama3", "qwen3", "qwen35", "gpt-oss", "deepseek-v3", "mistral", "smollm", "gemma"})
      QTest::newRow(name) << QString(name);
  }

 private slots:
  void ids_and_texts_equal_the_reference_data() { families(); }
  void ids_and_texts_equal_the_reference() {
    QFETCH(const QString, family);
    const auto tokenizer = text_tokenizer(family.toStdString());
    const nlohmann::json cases = read_json_file(text_fixture("cases.json"));
    const nlohmann::json &strings = cases["strings"], &expected = cases[family.toStdString()];
    QVERIFY(strings.size() >= 60);
    for (size_t i = 0; i < strings.size(); ++i) {
      const auto text = strings[i].get<std::string>();
      const auto wanted = expected["ids"][i].get<std::vector<int32_t>>(), ids = tokenizer->encode(text, true);
      QVERIFY2(
          ids == wanted,
          (strings[i].dump(-1, ' ', true) + ": expected " + shown_ids(wanted) + ", got " + shown_ids(ids)).c_str());
      QCOMPARE(tokenizer->decode(ids), expected["texts"][i].get<std::string>());
      TextStream stream(tokenizer);
      std::string streamed;
      for (const int32_t id : ids) {
        const std::string part = stream.add(id);
        QVERIFY(find_invalid_utf8(part) == std::string_view::npos);
        streamed += part;
      }
      QCOMPARE(streamed + stream.finish(), tokenizer->decode(ids));
    }
  }

  void a_character_is_written_when_its_last_byte_has_come() {
    const auto tokenizer = text_tokenizer("olmoe");
    const std::vector<int32_t> ids = tokenizer->encode("\U0001F9FF", false);  // not in the text of the training
    QVERIFY(ids.size() > 1);
    TextStream stream(tokenizer);
    for (size_t i = 0; i + 1 < ids.size(); ++i) QCOMPARE(stream.add(ids[i]), std::string());
    QCOMPARE(stream.add(ids.back()), std::string("\U0001F9FF"));
    QCOMPARE(stream.add(ids.front()), std::string());
    QCOMPARE(stream.finish(), std::string("\uFFFD"));
  }

  void special_tokens_that_were_typed_are_text() {
    const auto tokenizer = text_tokenizer("qwen3");
    const std::string text = "<|end|><|end|>";
    const auto found = tokenizer->encode(text, false);
    QCOMPARE(found.size(), size_t{2});
    QCOMPARE(found[0], found[1]);
    const TextRange second{7, 14};
    const auto typed = tokenizer->encode_typed(text, std::span(&second, 1));
    QVERIFY(typed.size() > 2);
    QCOMPARE(typed[0], found[0]);
    for (size_t i = 1; i < typed.size(); ++i) QVERIFY(typed[i] != found[0]);
  }

  void a_vocabulary_of_250000_is_read_as_a_small_one() {
    // All words of one to three letters, and of four as many as there is room for; each is its beginning and a letter.
    constexpr size_t kPieces = 250000;
    std::vector<std::string> pieces;
    for (char c = 'a'; c <= 'z'; ++c) pieces.push_back(std::string(1, c));
    std::string merges;
    for (size_t at = 0; pieces.size() < kPieces; ++at)
      for (char c = 'a'; c <= 'z' && pieces.size() < kPieces; ++c) {
        merges += (merges.empty() ? "[\"" : ",[\"") + pieces[at] + "\",\"" + std::string(1, c) + "\"]";
        pieces.push_back(pieces[at] + c);
      }
    std::string json = R"({"model":{"type":"BPE","merges":[)" + merges + R"(],"vocab":{)";
    for (size_t id = 0; id < pieces.size(); ++id)
      json += (id == 0 ? "\"" : ",\"") + pieces[id] + "\":" + std::to_string(id);
    json += "}}}";
    QElapsedTimer timer;
    timer.start();
    const auto tokenizer = Tokenizer::from_json(json, "large.json", kNoRule);
    qInfo("opened %zu pieces in %lld ms", pieces.size(), static_cast<long long>(timer.elapsed()));
    QCOMPARE(tokenizer->vocabulary_size(), static_cast<int32_t>(kPieces));
    // In "abcd" the merge of a and b is the first of the list, that of c and d comes before that of ab and c.
    const std::vector<int32_t> ids = tokenizer->encode("abcd", false);
    QCOMPARE(ids.size(), size_t{2});
    QCOMPARE(tokenizer->piece(ids[0]), std::string("ab"));
    QCOMPARE(tokenizer->piece(ids[1]), std::string("cd"));
    QCOMPARE(tokenizer->decode(tokenizer->encode("zyxwvut", false)), std::string("zyxwvut"));
  }

  void line_ends_of_a_pattern_may_be_characters() {
    const std::string path = text_fixture("deepseek-v3.json"), escaped = "\\\\r\\\\n", characters = "\\r\\n";
    std::string json = read_file_text(path, size_t{1} << 24);
    int replaced = 0;
    for (size_t at; (at = json.find(escaped)) != std::string::npos; ++replaced)
      json.replace(at, escaped.size(), characters);
    QVERIFY(replaced >= 3);
    const std::string text = "def f(x):\n\n  return x;\r\n";
    QCOMPARE(Tokenizer::from_json(json, path, kNoRule)->encode(text, true),
             text_tokenizer("deepseek-v3")->encode(text, true));
  }

  void a_pattern_that_is_not_known_is_refused_by_its_text() {
    const std::string path = text_fixture("qwen3.json");
    std::string json = read_file_text(path, size_t{1} << 24);
    const size_t at = json.find("\\\\p{N}|");
    QVERIFY(at != std::string::npos);
    json.replace(at, 7, "\\\\p{N}{1,9}|");
    VERIFY_BAD_INPUT(Tokenizer::from_json(json, path, kNoRule), path, "is not in this version");
  }
};

STORMCELL_TEST(TextParityTest)
#include "text_parity_test.moc"
