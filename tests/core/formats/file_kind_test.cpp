// Tests the recogniser: it knows every kind of its list by the bytes that real writers produce, and it accepts any
// bytes.
#include "core/formats/file_kind.h"

#include <set>

#include "core/formats/gzip_file.h"
#include "core/formats/json_outline.h"
#include "core/formats/unfinished_download.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/file_heads.h"
#include "tests/testing/gzip_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class FileKindTest : public QObject {
  Q_OBJECT
 private slots:
  void a_file_is_known_by_its_content_data() {
    QTest::addColumn<int>("row");
    int row = 0;
    for (const FileHead& head : file_heads()) QTest::newRow((head.id + ": " + head.name).c_str()) << row++;
  }
  void a_file_is_known_by_its_content() {
    QFETCH(int, row);
    const FileHead head = file_heads()[static_cast<size_t>(row)];
    const Scratch scratch;
    const std::string path = scratch.write(head.name, head.bytes);
    for (const std::optional<KnownFile>& known : {known_file(path), known_kind({head.bytes, path}, path)}) {
      QVERIFY2(known, head.id.c_str());
      QCOMPARE(known->kind->id, std::string_view(head.id));
      QVERIFY2(known->name.find(head.words) == 0, known->name.c_str());
      QVERIFY2(known->remedy.find(head.advice) != std::string::npos, known->remedy.c_str());
      QVERIFY2(known->remedy.find("FILE") == std::string::npos, known->remedy.c_str());
      QCOMPARE(known->remedy.empty(), head.advice.empty());
    }
  }

  void every_kind_of_the_list_is_tested() {
    std::set<std::string_view> listed, tested;
    const std::vector<FileHead> heads = file_heads();
    for (const FileKind& kind : file_kinds()) listed.insert(kind.id);
    for (const FileHead& head : heads) tested.insert(head.id);
    for (const std::string_view id : listed) QVERIFY2(tested.contains(id), std::string(id).c_str());
    QVERIFY(listed.size() >= 90);  // kinds of one id are several rows
  }

  void what_is_no_file_and_what_nobody_knows_is_no_kind() {
    const Scratch scratch;
    QVERIFY(!known_file(scratch.folder()));
    QVERIFY(!known_file(scratch.path("nothing")));
    QVERIFY(!known_file("/dev/zero"));
    QVERIFY(!known_file(scratch.write("noise", "\x01\xf3\x88\x1c\x9d\x02\xee\x5b\x7f\x00\xc4")));
  }

  void a_large_file_is_known_by_its_ends() {
    // The key is after the beginning of the file, and the middle of a file is not read.
    std::string counts = "{\"steps\": [" + std::string(300000, ' ') + "0], \"logical_count\": [[1]]}";
    const Scratch scratch;
    QCOMPARE(known_file(scratch.write("x.json", counts))->kind->id, std::string_view("logical-count"));
    const std::string zeros = scratch.write("x.bin", std::string(300000, '\0')),
                      weights = scratch.write("y.bin", std::string(300000, '\0') + "\1");
    QCOMPARE(known_file(zeros)->kind->id, std::string_view("zeros"));
    QVERIFY(!known_file(weights));
  }

  void a_vocabulary_may_hold_the_words_of_traces() {
    const std::string tokenizer =
        R"({"version":"1.0","added_tokens":[],"model":{"vocab":{"selections":1,"logical_count":2,"top_indices":3,)"
        R"("num_tokens":4,"routed_experts":5,"eplb_load_stats":6}}})";
    QCOMPARE(known_kind({tokenizer, "tokenizer.json"}, "tokenizer.json")->kind->id, std::string_view("tokenizer"));
    // A recording of vLLM also contains its placement.
    const std::string loads = "{\"record_type\":\"eplb_load_stats\",\"physical_to_logical_map\":[[0,1]]}\n";
    QCOMPARE(known_kind({loads, "x"}, "x")->kind->id, std::string_view("vllm-eplb"));
  }

  void a_model_quantised_with_a_matrix_is_no_matrix() {
    int models = 0;
    for (const FileHead& head : file_heads()) {
      if (head.id != "gguf") continue;
      ++models;
      QVERIFY(head.bytes.find("imatrix") != std::string::npos);  // else it tests nothing
      QCOMPARE(known_kind({head.bytes, "imatrix.gguf"}, "imatrix.gguf")->kind->id, std::string_view("gguf"));
    }
    QCOMPARE(models, 1);
  }

  void a_text_may_begin_like_another_kind() {
    for (const std::string text :
         {"ORCs are strong\n", "ID3 tags\n", "Forbidden fruit\nis sweet\n", "Access denied\nsaid the door\n"})
      QCOMPARE(known_kind({text, "x.txt"}, "x.txt")->kind->id, std::string_view("text"));
    for (const std::string text : {"Forbidden\n", "HTTP/1.1 404 Not Found\r\nServer: x\r\n\r\n"})
      QCOMPARE(known_kind({text, "x.txt"}, "x.txt")->kind->id, std::string_view("server-error"));
    const std::string questions = R"({"question":"x","choices":["a","b"]})";
    QCOMPARE(known_kind({questions, "x.json"}, "x.json")->kind->id, std::string_view("json"));
  }

  void a_header_of_any_length_is_a_header_of_safetensors() {
    // 40,056 bytes are 0x9c78: the first two bytes of a zlib stream.
    for (const size_t size : {size_t{40056}, size_t{55928}, size_t{40064}}) {
      std::string header = R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
      header.resize(size, ' ');
      const std::string bytes = safetensors_bytes(header, 1);
      QCOMPARE(known_kind({bytes, "x.safetensors"}, "x.safetensors")->kind->id, std::string_view("safetensors"));
    }
  }

  void a_download_that_has_not_ended_is_known_by_any_of_its_endings() {
    for (const std::string_view end : kUnfinishedEndings)
      QCOMPARE(known_kind({"{}", "Model" + std::string(end)}, "x")->kind->id, std::string_view("download"));
    QVERIFY(!has_unfinished_ending("a.party") && !has_unfinished_ending("part"));
  }

  void a_packed_file_is_known_by_what_is_packed() {
    const Scratch scratch;
    const std::string page = scratch.write("x.npy", gzip_of("<!DOCTYPE html>\n<html></html>\n"));
    VERIFY_BAD_INPUT(refuse_other_kind(page, FileUse::data), page, "is a gzip file");
    VERIFY_BAD_INPUT(refuse_other_kind(open_unpacked(page), FileUse::data), page, "is an HTML page");
    refuse_other_kind(open_unpacked(scratch.write("y.npy", gzip_of("\x93NUMPY"))), FileUse::data);
  }

  void no_part_of_a_file_crashes_the_list() {
    for (const FileHead& head : file_heads())
      for (size_t size = 0; size < std::min<size_t>(head.bytes.size(), 700); ++size) {
        const std::string part = head.bytes.substr(0, size);
        const std::optional<KnownFile> known = known_kind({part, "x"}, "x");
        if (known) QVERIFY(!known->name.empty() && known->name.find('\n') == std::string::npos);
      }
  }

  void a_refusal_names_the_kind_and_what_to_do() {
    const Scratch scratch;
    const std::string pointer = scratch.write("a b.bin", "version https://git-lfs.github.com/spec/v1\n"),
                      text = scratch.write("x", "some words\n"), zip = scratch.write("it's.gz", "\x1f\x8b\x08"),
                      config = scratch.write("config.json", R"({"model_type":"mixtral"})");
    VERIFY_BAD_INPUT(refuse_other_kind(pointer, FileUse::trace), pointer,
                     "is a Git LFS pointer, not a routing trace (fetch the file itself");
    VERIFY_BAD_INPUT(refuse_other_kind(zip, FileUse::data), zip, "(unpack it: gunzip -k '");
    VERIFY_BAD_INPUT(refuse_other_kind(zip, FileUse::data), zip, "it'\\''s.gz')");
    VERIFY_BAD_INPUT(refuse_other_kind(config, FileUse::session), config,
                     "is a model's config.json, model_type \"mixtral\", not a session");
    refuse_other_kind(config, FileUse::model_config);
    // The advice depends on what the file was named for.
    const std::string answers = scratch.write("a.json", R"({"choices":[],"object":"chat.completion"})");
    VERIFY_BAD_INPUT(refuse_other_kind(answers, FileUse::trace), answers,
                     "not a routing trace (ask the server for routed_experts");
    VERIFY_BAD_INPUT(refuse_other_kind(answers, FileUse::data), answers,
                     "not data for a model (name the texts that were sent to the server");
    VERIFY_BAD_INPUT(refuse_file(answers, FileUse::data, "no data", "name some"), answers,
                     "(name the texts that were sent to the server");
    refuse_other_kind(text, FileUse::model);  // a form that any content may have: the reader's message says more
    VERIFY_BAD_INPUT(refuse_file(text, FileUse::model, "no model", "name one"), text,
                     "is a text file, not a model that this version reads (name one)");
    VERIFY_BAD_INPUT(refuse_file(text, FileUse::data, "no data", "name some"), text,
                     "no data: it is a text file (name some)");
    VERIFY_BAD_INPUT(refuse_file("nowhere", FileUse::data, "no data", "name some"), "nowhere", "no data (name some)");
  }

  void json_is_outlined_as_far_as_it_goes() {
    const JsonOutline whole = outline_json(" {\"a\\\"b\": \"x\", \"c\": [{\"d\": 1}], \"e\" : 1.5e3, \"f\": null}");
    QCOMPARE(whole.keys, (std::vector<std::string>{"a\\\"b", "c", "e", "f"}));
    QCOMPARE(whole.text("a\\\"b"), std::string_view("x"));
    QVERIFY(whole.shape == JsonOutline::Shape::object);
    QVERIFY(outline_json("{\"a\": [1, 2").has("a"));
    QVERIFY(outline_json("{\"a").shape == JsonOutline::Shape::none);
    QVERIFY(outline_json("{a: 1}").shape == JsonOutline::Shape::none);
    QVERIFY(outline_json("{}").shape == JsonOutline::Shape::object);
    QVERIFY(outline_json("{\"a\":1}\n{\"a\":2}").shape == JsonOutline::Shape::lines);
    QVERIFY(outline_json("{\"a\":1},\n{\"a\":2},\n").shape == JsonOutline::Shape::lines);
    QVERIFY(outline_json("{\"a\":1},\n").shape == JsonOutline::Shape::object);
    QVERIFY(outline_json("[{\"a\":1}]").shape == JsonOutline::Shape::list && outline_json("[{\"a\":1}]").has("a"));
    QVERIFY(outline_json("[ [1]]").lists_lists);
    QVERIFY(outline_json("[x").shape == JsonOutline::Shape::none);
    QVERIFY(outline_json("").shape == JsonOutline::Shape::none);
    QCOMPARE(outline_json(std::string(1000000, '[')).keys.size(), size_t{0});
  }
};

STORMCELL_TEST(FileKindTest)

#include "file_kind_test.moc"
