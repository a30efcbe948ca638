// Tokenizers of the kind BPE, in the forms in which Mixtral's is published: ids of the reference libraries
// (tests/reference/byte-pairs, made by make_byte_pairs.py), and small vocabularies whose ids are worked out by hand.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/tokenizer.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Ids = std::vector<int32_t>;

namespace {
constexpr FrameRule kNothing{.begin = false, .end = false}, kMixtral{.begin = true, .end = false};

std::string fixture(const std::string& name) { return reference_path("byte-pairs/" + name); }

// Ids: 0 <unk>, 1 a, 2 b, 3 c, 4 ab, 5 bc, 6 abc, 7 ▁, 8 ▁a
std::string json(const std::string& more_of_model, const std::string& merges, const std::string& parts = {}) {
  return R"({"model":{"type":"BPE","vocab":{"<unk>":0,"a":1,"b":2,"c":3,"ab":4,"bc":5,"abc":6,"▁":7,"▁a":8},"merges":)" +
         merges + more_of_model + "}" + parts + "}";
}
Ids encoded(const std::string& text, const std::string& file) {
  return Tokenizer::from_json(file, "t.json", kNothing)->encode(text, true);
}
}  // namespace

class BytePairsTest : public QObject {
  Q_OBJECT
 private slots:
  void ids_equal_the_reference_data() {
    QTest::addColumn<QString>("file");
    QTest::newRow("model") << "tokenizer.model";
    QTest::newRow("prepend") << "prepend.json";
    QTest::newRow("metaspace") << "metaspace.json";
  }
  void ids_equal_the_reference() {
    QFETCH(const QString, file);
    const std::string path = fixture(file.toStdString()), content = read_file_text(path, size_t{1} << 24);
    const auto tokenizer = path.ends_with(".json") ? Tokenizer::from_json(content, path, kMixtral)
                                                   : Tokenizer::from_sentencepiece(content, path, kMixtral);
    const nlohmann::json cases = read_json_file(fixture("cases.json"));
    QVERIFY(cases.size() > 100);
    for (const nlohmann::json& entry : cases) {
      const auto text = entry["text"].get<std::string>();
      const auto expected = entry[QTest::currentDataTag()].get<Ids>(), ids = tokenizer->encode(text, true);
      QVERIFY2(ids == expected, (entry["text"].dump() + ": expected " + nlohmann::json(expected).dump() + ", got " +
                                 nlohmann::json(ids).dump())
                                    .c_str());
      QCOMPARE(ids.front(), 1);
      QCOMPARE(tokenizer->encode(text, false), Ids(ids.begin() + 1, ids.end()));
    }
    QCOMPARE(tokenizer->decode(tokenizer->encode("The cat sat; mañana 😀", true)), std::string("The cat sat; mañana 😀"));
    QCOMPARE(tokenizer->pad_id(), -1);
    QCOMPARE(tokenizer->vocabulary_size(), 1000);
  }

  void pairs_are_joined_by_rank_then_from_the_left_data() {
    QTest::addColumn<QByteArray>("merges");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("ids");
    const auto row = [](const char* name, const char* merges, const char* text, const char* ids) {
      QTest::newRow(name) << QByteArray(merges) << QByteArray(text) << QByteArray(ids);
    };
    row("no merges", "[]", "abc", "[1,2,3]");
    row("ab comes first", R"(["a b","b c","ab c"])", "abc", "[6]");
    row("bc comes first, and nothing joins a to it", R"(["b c","a b","ab c"])", "abc", "[1,5]");
    row("pairs as lists", R"([["b","c"],["a","bc"]])", "abcab", "[6,1,2]");
    row("the left one of two that overlap", R"(["a b","b a"])", "aba", "[4,1]");
    row("each of many", R"(["a b"])", "ababab", "[4,4,4]");
    row("a pair that becomes neighbours only later", R"(["b c","a bc"])", "aabc", "[1,6]");
    row("what has no piece is unknown", R"(["a b"])", "abxab", "[4,0,4]");
    row("neighbours without a piece are two", "[]", "xy", "[0,0]");
  }
  void pairs_are_joined_by_rank_then_from_the_left() {
    QFETCH(const QByteArray, merges);
    QFETCH(const QByteArray, text);
    QFETCH(const QByteArray, ids);
    // "b a" has no piece in the row that overlaps, so another merge is used.
    std::string file = json(R"(,"unk_token":"<unk>")", merges.toStdString());
    if (merges.contains("b a")) file.replace(file.find("\"abc\":6"), 7, "\"ba\":6");
    QCOMPARE(encoded(text.toStdString(), file), nlohmann::json::parse(ids.toStdString()).get<Ids>());
  }

  void rules_of_the_model_hold() {
    QCOMPARE(encoded("xy", json(R"(,"unk_token":"<unk>","fuse_unk":true)", "[]")), Ids{0});
    QCOMPARE(encoded("xay", json(R"(,"unk_token":"<unk>","fuse_unk":true)", "[]")), (Ids{0, 1, 0}));
    QCOMPARE(encoded("abc", json(R"(,"ignore_merges":true)", "[]")), Ids{6});
    QCOMPARE(encoded("abca", json(R"(,"ignore_merges":true)", "[]")), (Ids{1, 2, 3, 1}));
    QCOMPARE(encoded("", json("", "[]")), Ids{});
    VERIFY_BAD_INPUT(encoded("ax", json("", "[]")), "t.json", "no piece for the unknown text");
    // Byte fallback without its pieces has no effect.
    QCOMPARE(encoded("x", json(R"(,"unk_token":"<unk>","byte_fallback":true)", "[]")), Ids{0});
    const char* metaspace =
        R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":false})";
    QCOMPARE(encoded("ab a", json("", R"(["▁ a"])", metaspace)), (Ids{8, 2, 8}));
  }

  void a_long_text_takes_no_square_of_its_length() {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += "abc"[i % 3];
    const Ids ids = encoded(text, json("", R"(["a b","ab c"])"));
    QCOMPARE(ids.size(), size_t{66667});
    QCOMPARE(ids.front(), 6);
  }

  void a_model_that_cannot_be_done_alike_is_refused_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* name, const std::string& file, const char* words) {
      QTest::newRow(name) << QByteArray::fromStdString(file) << QByteArray(words);
    };
    const auto model = [](const std::string& text) { return R"({"model":{"type":"BPE",)" + text + "}}"; };
    row("no pieces", model(R"("vocab":{},"merges":[])"), "no pieces");
    row("no merges", model(R"("vocab":{"a":0})"), "no \"merges\"");
    row("a vocabulary that is a list", model(R"("vocab":["a"],"merges":[])"), "not an object");
    row("an id twice", model(R"("vocab":{"a":0,"b":0},"merges":[])"), "two pieces have the id 0");
    row("an id far away", model(R"("vocab":{"a":0,"b":9999999},"merges":[])"), "has the id 9999999");
    row("a negative id", model(R"("vocab":{"a":-1},"merges":[])"), "not a token id");
    row("a merge of three", model(R"("vocab":{"a":0},"merges":["a a a"])"), "not a pair of pieces");
    row("a merge of a stranger", model(R"("vocab":{"a":0},"merges":["a x"])"), "no piece \"x\"");
    row("a merge into a stranger", model(R"("vocab":{"a":0},"merges":["a a"])"), "no piece \"aa\"");
    row("an unknown token that is none", model(R"("vocab":{"a":0},"merges":[],"unk_token":"?")"), "unk_token");
    row("some byte pieces", model(R"("vocab":{"<0x00>":0},"merges":[],"byte_fallback":true)"),
        "1 byte pieces, expected 256 or none");
    row("a prefix", model(R"("vocab":{"a":0},"merges":[],"continuing_subword_prefix":"##")"),
        "continuing_subword_prefix");
    row("a suffix", model(R"("vocab":{"a":0},"merges":[],"end_of_word_suffix":"</w>")"), "end_of_word_suffix");
    row("dropout", model(R"("vocab":{"a":0},"merges":[],"dropout":0.1)"), "dropout");
    row("a piece twice", model(R"("vocab":{"a":0,"a":1},"merges":[])"), "\"a\" occurs twice");
    row("an id that is a text", model(R"("vocab":{"a":"0"},"merges":[])"), "not a token id");
    row("an id that is a list", model(R"("vocab":{"a":[0]},"merges":[])"), "not a token id");
    row("a merge of one in a list", model(R"("vocab":{"a":0},"merges":[["a"]])"), "not a pair of pieces");
    row("a merge that is a number", model(R"("vocab":{"a":0},"merges":[7])"), "not a pair of pieces");
    row("words by another step", json("", "[]", R"(,"pre_tokenizer":{"type":"Punctuation"})"),
        "\"Punctuation\" is not in this version");
    row("words by an expression", json("", "[]", R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a"}})"),
        "\"Split\"");
    row("another kind", R"({"model":{"type":"WordPiece","vocab":{}}})", "\"WordPiece\" is not in this version");
  }
  void a_model_that_cannot_be_done_alike_is_refused() {
    QFETCH(const QByteArray, file);
    QFETCH(const QByteArray, words);
    VERIFY_BAD_INPUT(Tokenizer::from_json(file.toStdString(), "t.json", kNothing), "t.json", words.toStdString());
  }
};

STORMCELL_TEST(BytePairsTest)
#include "byte_pairs_test.moc"
