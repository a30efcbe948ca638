// The tokens before and after a text: by the post-processor, by tokenizer_config.json, by the family. Also the choice
// among several tokenizers of a folder.
#include "core/formats/token_frame.h"

#include <nlohmann/json.hpp>

#include "core/formats/sentencepiece_model.h"
#include "core/formats/tokenizer.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Ids = std::vector<int32_t>;

namespace {
constexpr FrameRule kT5{}, kMixtral{.begin = true, .end = false};

// Ids: 0 <unk>, 1 <s>, 2 </s>, 3 ▁a, 4 b, 5 <x>
std::string model(const std::string& last = "<x>") {
  return plain_unigram_model(std::vector<Piece>{{"<unk>", 0, PieceType::unknown},
                                                {"<s>", 0, PieceType::control},
                                                {"</s>", 0, PieceType::control},
                                                {"▁a", -1},
                                                {"b", -1},
                                                {last, -2}},
                             false);
}
std::string json(const std::string& post_processor = {}) {
  return R"({"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["<s>",0],["</s>",0],["▁a",-1],["b",-1],["<x>",-2]]})" +
         (post_processor.empty() ? "" : ",\"post_processor\":" + post_processor) + "}";
}
std::string processor(const std::string& single) {
  return R"({"type":"TemplateProcessing","single":[)" + single +
         R"(],"special_tokens":{"B":{"ids":[1]},"E":{"ids":[2]},"X":{"ids":[5,4]}}})";
}
const std::string kText = R"({"Sequence":{"id":"A"}})", kB = R"({"SpecialToken":{"id":"B"}})",
                  kE = R"({"SpecialToken":{"id":"E"}})", kX = R"({"SpecialToken":{"id":"X"}})";
}  // namespace

class TokenFrameTest : public QObject {
  Q_OBJECT

 private slots:
  void the_frame_is_that_of_the_files_then_of_the_family_data() {
    QTest::addColumn<QByteArray>("post_processor");  // "model": the folder has a SentencePiece model instead
    QTest::addColumn<QByteArray>("config");          // empty: there is none
    QTest::addColumn<bool>("mixtral");
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("behind");
    QTest::addColumn<int>("warnings");
    const auto row = [](const char* name, const std::string& post, const char* config, bool mixtral, const char* before,
                        const char* behind, int warnings = 0) {
      QTest::newRow(name) << QByteArray::fromStdString(post) << QByteArray(config) << mixtral << QByteArray(before)
                          << QByteArray(behind) << warnings;
    };
    const std::string sp = "model";
    row("T5's model", sp, "", false, "[]", "[2]");
    row("Mixtral's model", sp, "", true, "[1]", "[]");
    row("a configuration that says nothing", sp, R"({"model_max_length":5,"add_bos_token":null})", true, "[1]", "[]");
    row("Mixtral's, no begin", sp, R"({"add_bos_token":false})", true, "[]", "[]");
    row("Mixtral's, an end too", sp, R"({"add_eos_token":true})", true, "[1]", "[2]");
    row("T5's, no end", sp, R"({"add_eos_token":false})", false, "[]", "[]");
    row("T5's, a begin too", sp, R"({"add_bos_token":true,"add_eos_token":true})", false, "[1]", "[2]");
    row("a begin token by its text", sp, R"({"add_bos_token":true,"bos_token":"<x>"})", true, "[5]", "[]");
    row("as an object", sp,
        R"({"bos_token":{"content":"<x>","lstrip":false},"eos_token":{"content":"b"},"add_eos_token":true})", true,
        "[5]", "[4]");
    row("a begin token that is null", sp, R"({"bos_token":null,"add_bos_token":true})", true, "[]", "[]");
    row("an added begin token", sp, R"({"bos_token":"<y>","added_tokens_decoder":{"7":{"content":"<y>"}}})", true,
        "[7]", "[]");
    row("T5's, no post-processor", "", "", false, "[]", "[2]");
    row("no post-processor, flags", "", R"({"add_bos_token":true})", true, "[1]", "[]", 1);
    row("no post-processor, no flag set", "", R"({"add_bos_token":false,"add_eos_token":false})", true, "[]", "[]");
    row("a template of a begin", processor(kB + "," + kText), "", true, "[1]", "[]");
    row("a template for T5's", processor(kText + "," + kE), "", true, "[]", "[2]");
    row("a template of the text alone", processor(kText), "", false, "[]", "[]");
    row("several tokens and ids", processor(kB + "," + kX + "," + kText + "," + kE + "," + kX), "", true, "[1,5,4]",
        "[2,5,4]");
    row("bytes alone", R"({"type":"ByteLevel","trim_offsets":true})", "", true, "[]", "[]");
    row("bytes, then a template",
        R"({"type":"Sequence","processors":[{"type":"ByteLevel"},)" + processor(kB + "," + kText) + "]}", "", true,
        "[1]", "[]");
    row("a template around another",
        R"({"type":"Sequence","processors":[)" + processor(kText + "," + kE) + "," +
            processor(kX + "," + kText + "," + kB) + "]}",
        "", true, "[5,4]", "[2,1]");
    row("flags as the template", processor(kB + "," + kText), R"({"add_bos_token":true,"add_eos_token":false})", true,
        "[1]", "[]");
    row("a flag against the template", processor(kB + "," + kText), R"({"add_bos_token":false})", true, "[1]", "[]", 1);
    row("both flags against it", processor(kB + "," + kText), R"({"add_bos_token":false,"add_eos_token":true})", true,
        "[1]", "[]", 2);
  }
  void the_frame_is_that_of_the_files_then_of_the_family() {
    QFETCH(const QByteArray, post_processor);
    QFETCH(const QByteArray, config);
    QFETCH(const bool, mixtral);
    QFETCH(const QByteArray, before);
    QFETCH(const QByteArray, behind);
    QFETCH(const int, warnings);
    const Scratch scratch;
    if (post_processor == "model")
      scratch.write("tokenizer.model", model());
    else
      scratch.write("tokenizer.json", json(post_processor.toStdString()));
    if (!config.isEmpty()) scratch.write("tokenizer_config.json", config.toStdString());
    const auto tokenizer = Tokenizer::open(scratch.folder(), mixtral ? kMixtral : kT5);
    const Ids b = nlohmann::json::parse(before.toStdString()).get<Ids>(),
              e = nlohmann::json::parse(behind.toStdString()).get<Ids>();
    QCOMPARE(tokenizer->frame().before, b);
    QCOMPARE(tokenizer->frame().behind, e);
    QCOMPARE(static_cast<int>(tokenizer->warnings().size()), warnings);
    for (const std::string& sentence : tokenizer->warnings())
      QVERIFY(sentence.starts_with(scratch.path("tokenizer_config.json")));
    Ids all = b;
    all.insert(all.end(), {3, 4});
    all.insert(all.end(), e.begin(), e.end());
    QCOMPARE(tokenizer->encode("▁ab", true), all);
    QCOMPARE(tokenizer->encode("▁ab", false), (Ids{3, 4}));
  }

  void a_blank_against_the_configuration_is_named_data() {
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<bool>("dummy_prefix");
    QTest::addColumn<int>("warnings");
    QTest::newRow("false, and the model puts one") << QByteArray(R"({"add_prefix_space":false})") << true << 1;
    QTest::newRow("true, and the model puts one") << QByteArray(R"({"add_prefix_space":true})") << true << 0;
    QTest::newRow("not stated") << QByteArray(R"({"add_prefix_space":null})") << true << 0;
    QTest::newRow("false, and the model puts none") << QByteArray(R"({"add_prefix_space":false})") << false << 0;
  }
  void a_blank_against_the_configuration_is_named() {
    QFETCH(const QByteArray, config);
    QFETCH(const bool, dummy_prefix);
    QFETCH(const int, warnings);
    const Scratch scratch;
    scratch.write("tokenizer.model", dummy_prefix ? Scratch::read(reference_path("tokenizers/spiece.model")) : model());
    scratch.write("tokenizer_config.json", config.toStdString());
    const auto tokenizer = Tokenizer::open(scratch.folder(), kT5);  // spiece.model has no begin token
    QCOMPARE(static_cast<int>(tokenizer->warnings().size()), warnings);
    for (const std::string& sentence : tokenizer->warnings())
      QVERIFY2(sentence.find("\"add_prefix_space\" is false") != std::string::npos, sentence.c_str());
  }

  void older_files_name_the_tokens_apart() {
    const Scratch scratch;
    scratch.write("tokenizer.model", model());
    scratch.write("special_tokens_map.json", R"({"bos_token":{"content":"<x>"},"eos_token":"b"})");
    QCOMPARE(Tokenizer::open(scratch.folder(), kMixtral)->frame().before, Ids{5});
    QCOMPARE(Tokenizer::open(scratch.folder(), kT5)->frame().behind, Ids{4});
    scratch.write("tokenizer_config.json", R"({"bos_token":"<s>"})");
    QCOMPARE(Tokenizer::open(scratch.folder(), kMixtral)->frame().before, Ids{1});
  }

  void a_frame_that_nobody_can_know_is_refused_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QByteArray>("where");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* name, const char* file, const std::string& content, const char* config,
                        const char* where, const char* words) {
      QTest::newRow(name) << QByteArray(file) << QByteArray(content.data(), static_cast<qsizetype>(content.size()))
                          << QByteArray(config) << QByteArray(where) << QByteArray(words);
    };
    const char *json_file = "tokenizer.json", *model_file = "tokenizer.model", *config_file = "tokenizer_config.json";
    row("no post-processor and no flag", json_file, json(), "{}", json_file, "\"add_bos_token\"");
    row("a begin token that is none", model_file, model(), R"({"bos_token":"<z>"})", config_file,
        "\"<z>\" is not a token of");
    row("a begin token that is a number", model_file, model(), R"({"bos_token":1})", config_file, "not a token");
    row("a flag that is a text", model_file, model(), R"({"add_bos_token":"yes"})", config_file,
        "neither true nor false");
    row("a configuration that is a list", model_file, model(), "[]", config_file, "not a JSON object");
    row("no begin token at all", model_file,
        plain_unigram_model(std::vector<Piece>{{"a", 0}, {"<unk>", 0, PieceType::unknown}}, false), "{}", model_file,
        "has no begin token <s>");
    row("no end token at all", model_file,
        plain_unigram_model(std::vector<Piece>{{"a", 0}, {"<unk>", 0, PieceType::unknown}}, false),
        R"({"add_bos_token":false,"add_eos_token":true})", model_file,
        "has no end token </s>, which the model expects after a text");
    row("a template without the text", json_file, json(processor(kB)), "{}", json_file, "0 times, expected once");
    row("a template with the text twice", json_file, json(processor(kText + "," + kText)), "{}", json_file, "2 times");
    row("a template of a stranger", json_file, json(processor(R"({"SpecialToken":{"id":"Z"}})")), "{}", json_file,
        "has no \"Z\"");
    row("a template of an id outside", json_file,
        json(R"({"type":"TemplateProcessing","single":[)" + kText + "," + kE +
             R"(],"special_tokens":{"E":{"ids":[6]}}})"),
        "{}", json_file, "the id 6 around a text");
    row("another post-processor", json_file, json(R"({"type":"BertProcessing"})"), "{}", json_file,
        "\"BertProcessing\"");
    row("a tokenizer of Mistral's later kind", "tekken.json", "{}", "{}", "tekken.json",
        "a kind that is not in this version");
    row("a vocabulary and its merges", "vocab.json", "{}", "{}", "vocab.json", "give token ids");
    row("a vocabulary of tiktoken", model_file, "IQ== 0\nIg== 1\n", "{}", model_file, "tiktoken");
  }
  void a_frame_that_nobody_can_know_is_refused() {
    QFETCH(const QByteArray, file);
    QFETCH(const QByteArray, content);
    QFETCH(const QByteArray, config);
    QFETCH(const QByteArray, where);
    QFETCH(const QByteArray, words);
    const Scratch scratch;
    scratch.write(file.toStdString(), {content.constData(), static_cast<size_t>(content.size())});
    scratch.write("tokenizer_config.json", config.toStdString());
    VERIFY_BAD_INPUT(Tokenizer::open(scratch.folder(), kMixtral), scratch.path(where.toStdString()),
                     words.toStdString());
  }

  void a_text_with_a_token_behind_the_vocabulary_is_refused() {
    const Scratch scratch;
    scratch.write("tokenizer.model", model());
    scratch.write("tokenizer_config.json",
                  R"({"added_tokens_decoder":{"2":{"content":"</s>"},"6":{"content":"<|user|>"}}})");
    const auto tokenizer = Tokenizer::open(scratch.folder(), kMixtral);
    QCOMPARE(tokenizer->encode("b", true), (Ids{1, 4}));
    QCOMPARE(tokenizer->vocabulary_size(), 7);
    QCOMPARE(tokenizer->piece(6), std::string("<|user|>"));
    VERIFY_BAD_INPUT(tokenizer->encode("b<|user|>b", true), scratch.path("tokenizer.model"),
                     "the added token \"<|user|>\"");
  }

  void of_two_tokenizers_the_json_is_used_and_a_difference_is_said_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QByteArray>("words");  // empty: no warning
    const auto row = [](const char* kind, const char* name, const std::string& content, const char* words) {
      QTest::newRow(kind) << QByteArray(name) << QByteArray(content.data(), static_cast<qsizetype>(content.size()))
                          << QByteArray(words);
    };
    row("one vocabulary", "tokenizer.model", model(), "");
    row("one vocabulary, T5's name", "spiece.model", model(), "");
    row("another piece", "tokenizer.model", model("y"), "differ in 1 id of 6, the first: id 5 is \"<x>\" and \"y\"");
    row("another piece, T5's name", "spiece.model", model("y"), "spiece.model differ in 1 id of 6");
    row("a broken one", "tokenizer.model", "no model", "is not a SentencePiece model");
    row("an empty one", "tokenizer.model", "", "is empty");
  }
  void of_two_tokenizers_the_json_is_used_and_a_difference_is_said() {
    QFETCH(const QByteArray, name);
    QFETCH(const QByteArray, content);
    QFETCH(const QByteArray, words);
    const Scratch scratch;
    scratch.write("tokenizer.json", json(processor(kB + "," + kText)));
    scratch.write(name.toStdString(), {content.constData(), static_cast<size_t>(content.size())});
    const auto tokenizer = Tokenizer::open(scratch.folder(), kMixtral);
    QCOMPARE(tokenizer->path(), scratch.path("tokenizer.json"));
    QCOMPARE(tokenizer->warnings().empty(), words.isEmpty());
    if (words.isEmpty()) return;
    const std::string& warning = tokenizer->warnings().front();
    QVERIFY2(warning.find(words.toStdString()) != std::string::npos, warning.c_str());
    QVERIFY2(warning.ends_with("tokenizer.json is used, as transformers, vLLM and SGLang do"), warning.c_str());
  }

  void a_link_that_leads_nowhere_is_no_missing_file() {
    const Scratch scratch;
    scratch.write("tokenizer.model", model());
    std::filesystem::create_symlink("../blobs/x", scratch.path("tokenizer.json"));
    VERIFY_BAD_INPUT(Tokenizer::open(scratch.folder()), scratch.path("tokenizer.json"),
                     "is a link to ../blobs/x, which does not exist");
  }
};

STORMCELL_TEST(TokenFrameTest)
#include "token_frame_test.moc"
