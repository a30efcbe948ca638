#include "core/formats/tokenizer.h"

#include <cstring>
#include <random>

#include "core/formats/sentencepiece_model.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Ids = std::vector<int32_t>;

class TokenizerTest : public QObject {
  Q_OBJECT

  // Ids: 0 <pad>, 1 </s>, 2 <unk>, 3 ▁, 4 a, 5 b, 6 ▁ab, 7 ä
  static std::string model(std::vector<Piece> more = {}, bool byte_fallback = false) {
    std::vector<Piece> pieces = {{"<pad>", 0, PieceType::control},
                                 {"</s>", 0, PieceType::control},
                                 {"<unk>", 0, PieceType::unknown},
                                 {"▁", -3},
                                 {"a", -3},
                                 {"b", -3},
                                 {"▁ab", -1},
                                 {"ä", -4}};
    pieces.insert(pieces.end(), more.begin(), more.end());
    return plain_unigram_model(pieces, byte_fallback);
  }
  static std::vector<Piece> all_bytes() {
    std::vector<Piece> pieces;
    for (int i = 0; i < 256; ++i)
      pieces.push_back({QString::asprintf("<0x%02X>", i).toStdString(), 0, PieceType::byte});
    return pieces;
  }
  // A tokenizer.json with the same pieces; `parts` go between model and added tokens.
  static std::string json(const std::string& parts = {}, const std::string& added = "[]",
                          const std::string& vocabulary = kVocabulary) {
    return R"({"version":"1.0","model":{"type":"Unigram","unk_id":2,"vocab":)" + vocabulary + "}" + parts +
           ",\"added_tokens\":" + added + "}";
  }
  static constexpr const char* kVocabulary =
      R"([["<pad>",0],["</s>",0],["<unk>",0],["▁",-3],["a",-3],["b",-3],["▁ab",-1],["ä",-4]])";
  static constexpr const char* kMetaspace =
      R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"})";
  static std::shared_ptr<const Tokenizer> from_json(const std::string& text) {
    return Tokenizer::from_json(text, "t.json");
  }

 private slots:
  void t5_conventions_hold() {
    const auto tokenizer = Tokenizer::from_sentencepiece(model(), "spiece.model");
    QCOMPARE(tokenizer->pad_id(), 0);
    QCOMPARE(tokenizer->frame().behind, Ids{1});
    QCOMPARE(tokenizer->vocabulary_size(), 8);
    QCOMPARE(tokenizer->encode("ab", false), (Ids{4, 5}));
    QCOMPARE(tokenizer->encode("ab", true), (Ids{4, 5, 1}));
    QCOMPARE(tokenizer->encode("", true), Ids{1});
    QCOMPARE(tokenizer->encode("▁ab", true), (Ids{6, 1}));
    QCOMPARE(tokenizer->piece(6), std::string("▁ab"));
    QCOMPARE(tokenizer->piece(-1) + tokenizer->piece(8), std::string());
  }

  void decoding_skips_what_is_no_text() {
    const auto tokenizer = Tokenizer::from_sentencepiece(model(), "spiece.model");
    QCOMPARE(tokenizer->decode(Ids{4, 7, 1, 0, 0, -1, 99}), std::string("aä"));
    QCOMPARE(tokenizer->decode(Ids{}), std::string());
  }

  void unknown_characters_become_bytes_where_the_model_has_them() {
    const auto tokenizer = Tokenizer::from_sentencepiece(model(all_bytes(), true), "spiece.model");
    QCOMPARE(tokenizer->encode("aé", true), (Ids{4, 8 + 0xC3, 8 + 0xA9, 1}));
    QCOMPARE(tokenizer->decode(tokenizer->encode("aé😀b", true)), std::string("aé😀b"));
    QCOMPARE(tokenizer->decode(Ids{8 + 0xC3, 4}), std::string("\uFFFDa"));
  }

  void neighbouring_unknown_characters_are_one_token() {
    QCOMPARE(Tokenizer::from_sentencepiece(model(), "spiece.model")->encode("axyb", false), (Ids{4, 2, 5}));
    QCOMPARE(from_json(json())->encode("axyb", false), (Ids{4, 2, 5}));
  }

  void text_that_is_not_utf8_is_refused() {
    const auto sentencepiece = Tokenizer::from_sentencepiece(model(), "spiece.model");
    const auto from_json = TokenizerTest::from_json(json());
    for (const char* text : {"a\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "ab\xe2\x82"}) {
      VERIFY_BAD_INPUT(sentencepiece->encode(text, true), "spiece.model", "not valid UTF-8");
      VERIFY_BAD_INPUT(from_json->encode(text, true), "t.json", "not valid UTF-8");
    }
  }

  void metaspace_puts_a_space_before_words() {
    const auto tokenizer = from_json(json(kMetaspace));
    QCOMPARE(tokenizer->encode("ab ab", true), (Ids{6, 6, 1}));
    QCOMPARE(tokenizer->encode("▁ab", true), (Ids{6, 1}));
    QCOMPARE(tokenizer->encode("", true), Ids{1});
    QCOMPARE(tokenizer->decode(Ids{6, 6, 1}), std::string("ab ab"));
    const auto bare =
        from_json(json(R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"never"})"));
    QCOMPARE(bare->encode("ab ab", true), (Ids{4, 5, 6, 1}));
    const auto old =
        from_json(json(R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"▁","add_prefix_space":true})"));
    QCOMPARE(old->encode("ab", true), (Ids{6, 1}));
  }

  void added_tokens_are_found_before_all_else() {
    const std::string added = R"([{"id":1,"content":"</s>","special":true,"normalized":false},
                                  {"id":8,"content":"<x>","special":true,"normalized":false},
                                  {"id":9,"content":"<x><y>","special":false,"normalized":false,"lstrip":true,"rstrip":true}])";
    const auto tokenizer = from_json(json(kMetaspace, added));
    QCOMPARE(tokenizer->vocabulary_size(), 10);
    QCOMPARE(tokenizer->encode("ab<x>ab</s>", false), (Ids{6, 8, 6, 1}));
    QCOMPARE(tokenizer->encode("ab <x><y>  ab", false), (Ids{6, 9, 6}));  // the longest, with the space around it
    QCOMPARE(tokenizer->encode("<x", false), (Ids{3, 2}));
    QCOMPARE(tokenizer->decode(Ids{6, 8, 9, 6, 1}), std::string("ab<x><y> ab"));
    QCOMPARE(tokenizer->piece(9), std::string("<x><y>"));
    const auto first =
        from_json(json(R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"})", added));
    QCOMPARE(first->encode("ab<x>ab", false), (Ids{6, 8, 4, 5}));
  }

  void tokens_may_be_looked_for_in_normalised_text() {
    const std::string added = R"([{"id":8,"content":"ba","special":false,"normalized":true}])";
    const auto tokenizer =
        from_json(json(R"(,"normalizer":{"type":"Replace","pattern":{"String":"X"},"content":"b"})", added));
    QCOMPARE(tokenizer->encode("aXab", false), (Ids{4, 8, 5}));
  }

  void the_end_token_is_that_of_the_template() {
    const std::string processor =
        R"(,"post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"E"}}],"special_tokens":{"E":{"ids":[7]}}})";
    QCOMPARE(from_json(json(processor))->encode("a", true), (Ids{4, 7}));
    QCOMPARE(from_json(json())->encode("a", true), (Ids{4, 1}));
  }

  void a_json_that_cannot_be_done_alike_is_refused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* name, const std::string& text, const char* words) {
      QTest::newRow(name) << QByteArray::fromStdString(text) << QByteArray(words);
    };
    row("no JSON", "{", "not valid JSON");
    row("a list", "[]", "not a JSON object");
    row("no model", "{}", "no \"model\"");
    row("words", R"({"model":{"type":"WordLevel","vocab":{}}})", "\"WordLevel\" is not in this version");
    row("no pieces", R"({"model":{"type":"Unigram","vocab":[]}})", "no pieces");
    row("a piece of another form", json({}, "[]", R"([["a"]])"), "piece 0");
    row("an empty piece", json({}, "[]", R"([["a",0],["b",0],["",0]])"), "piece 2 is empty");
    row("a piece twice", json({}, "[]", R"([["a",0],["b",0],["a",0]])"), "occurs twice");
    row("a zero byte in a piece", json({}, "[]", R"([["a",0],["b",0],["c\u0000",0]])"), "zero byte");
    row("an endless score", json({}, "[]", R"([["a",1e300],["b",0],["c",0]])"), "no usable score");
    row("unknown id outside", json({}, "[]", R"([["a",0]])"), "unk_id is outside");
    row("byte fallback without bytes",
        R"({"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["a",0]]}})", "byte pieces");
    row("unknown normalizer", json(R"(,"normalizer":{"type":"NFKC"})"), "\"NFKC\" is not in this version");
    row("unknown pattern", json(R"(,"normalizer":{"type":"Replace","pattern":{"Regex":"a+"},"content":""})"),
        "\"a+\" is not in this version");
    row("rules that are not base64", json(R"(,"normalizer":{"type":"Precompiled","precompiled_charsmap":"!"})"),
        "not base64");
    row("rules that are not table", json(R"(,"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"})"),
        "truncated or broken");
    row("unknown pre-tokenizer", json(R"(,"pre_tokenizer":{"type":"BertPreTokenizer"})"),
        "\"BertPreTokenizer\" is not in this version");
    row("unknown scheme", json(R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"often"})"),
        "\"often\"");
    row("no replacement", json(R"(,"pre_tokenizer":{"type":"Metaspace"})"), "replacement");
    row("unknown post-processor", json(R"(,"post_processor":{"type":"BertProcessing"})"), "\"BertProcessing\"");
    row("unknown decoder", json(R"(,"decoder":{"type":"WordPiece"})"), "\"WordPiece\"");
    row("an added token with a piece's id", json({}, R"([{"id":4,"content":"x"}])"), "has the id of the piece \"a\"");
    row("an added token that is another piece", json({}, R"([{"id":8,"content":"a"}])"), "in the vocabulary it has 4");
    row("two added tokens with one id", json({}, R"([{"id":8,"content":"x"},{"id":8,"content":"y"}])"), "the same id");
    row("a negative id", json({}, R"([{"id":-1,"content":"x"}])"), "not a token id");
    row("a huge id", json({}, R"([{"id":4294967296,"content":"x"}])"), "not a token id");
    row("deeply nested", json(",\"normalizer\":" + std::string(100000, '[')), "nested deeper");
  }
  void a_json_that_cannot_be_done_alike_is_refused() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, words);
    VERIFY_BAD_INPUT(from_json(text.toStdString()),
                     text.startsWith("{") && words == "not valid JSON" ? "t.json" : "t.json", words.toStdString());
  }

  void a_broken_model_is_refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* name, const std::string& bytes, const char* words) {
      QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())) << QByteArray(words);
    };
    row("empty", "", "no pieces");
    row("text", "hello, world", "not a SentencePiece model");
    row("truncated", model().substr(0, model().size() - 3), "truncated");
    row("an endless varint", std::string(20, '\xff'), "not a SentencePiece model");
    row("no unknown piece", plain_unigram_model(std::vector<Piece>{{"a", 0}}, false), "0 pieces for the unknown");
    row("two unknown pieces", model({{"x", 0, PieceType::unknown}}), "2 pieces for the unknown");
    row("a piece twice", model({{"a", 0}}), "occurs twice");
    row("an empty piece", model({{"", 0}}), "is empty");
    row("a piece that is not UTF-8", model({{"\xff", 0}}), "not valid UTF-8");
    row("a piece with a zero byte", model({{std::string("x\0y", 3), 0}}), "zero byte");
    row("a score that is not a number", model({{"x", NAN}}), "no usable score");
    row("bytes without byte fallback", model(all_bytes()), "256 byte pieces, expected none");
    row("byte fallback without bytes", model({}, true), "0 byte pieces, expected 256");
    row("no end token", plain_unigram_model(std::vector<Piece>{{"a", 0}, {"<unk>", 0, PieceType::unknown}}, false),
        "no end token");
    std::vector<Piece> nested;
    for (size_t i = 2; i < 80; ++i) nested.push_back({std::string(i, 'a'), 0, PieceType::user_defined});
    row("nested user-defined pieces", model(nested), "begin alike");
  }
  void a_broken_model_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    VERIFY_BAD_INPUT(Tokenizer::from_sentencepiece(
                         std::string_view(bytes.constData(), static_cast<size_t>(bytes.size())), "spiece.model"),
                     "spiece.model", words.toStdString());
  }

  void a_model_with_flipped_bytes_is_refused_or_works() {
    const std::string good = Scratch::read(reference_path("tokenizers/spiece.model"));
    if (good.empty()) QSKIP("tests/reference/tokenizers is not there");
    testing::Drawn<std::mt19937> random(1);
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
      std::string bytes = good;
      for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      try {
        const auto tokenizer = Tokenizer::from_sentencepiece(bytes, "spiece.model");
        tokenizer->decode(tokenizer->encode("Où est la clé ? ｶﾒﾗ ½ e\u0301 ჰ", true));
      } catch (const Error&) {
        ++refused;
      }
    }
    QVERIFY(refused > 10 && refused < 300);
  }

  void a_folder_gives_its_best_tokenizer() {
    const Scratch scratch;
    VERIFY_BAD_INPUT(Tokenizer::open(scratch.folder()), scratch.folder(), "has no tokenizer");
    QVERIFY(!Tokenizer::open_if_present(scratch.folder()));
    scratch.write("tokenizer.model", model());
    QCOMPARE(Tokenizer::open(scratch.folder())->path(), scratch.path("tokenizer.model"));
    scratch.write("spiece.model", model());
    QCOMPARE(Tokenizer::open(scratch.folder())->path(), scratch.path("spiece.model"));
    scratch.write("spiece.model", "");
    VERIFY_BAD_INPUT(Tokenizer::open(scratch.folder()), scratch.path("spiece.model"), "is empty");
    scratch.write("tokenizer.json", json());
    QCOMPARE(Tokenizer::open(scratch.folder())->path(), scratch.path("tokenizer.json"));
  }

  void extra_ids_of_the_model_folder_are_known() {
    const Scratch scratch;
    scratch.write("spiece.model", model());
    scratch.write("tokenizer_config.json", R"({"added_tokens_decoder":{"1":{"content":"</s>","special":true},
                                              "8":{"content":"<extra_id_1>","lstrip":true,"rstrip":true,"special":true},"9":{"content":"<extra_id_0>"}}})");
    const auto tokenizer = Tokenizer::open(scratch.folder());
    QCOMPARE(tokenizer->encode("a <extra_id_1> b<extra_id_0>", true), (Ids{4, 8, 5, 9, 1}));
    QCOMPARE(tokenizer->decode(Ids{4, 8, 5, 9, 1}), std::string("ab"));
    QCOMPARE(tokenizer->vocabulary_size(), 10);
    const std::string config = scratch.write("tokenizer_config.json", R"({"added_tokens_decoder":{"x":{}}})");
    VERIFY_BAD_INPUT(Tokenizer::open(scratch.folder()), config, "is not a token");
  }
};

STORMCELL_TEST(TokenizerTest)
#include "tokenizer_test.moc"
