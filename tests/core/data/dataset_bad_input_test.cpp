#include <cstring>
#include <utility>
#include <vector>

#include "core/data/dataset.h"
#include "core/formats/safetensors_writer.h"
#include "tests/core/data/letters.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/gzip_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class DatasetBadInputTest : public QObject {
  Q_OBJECT

  static void row(const char* name, const char* file, const std::string& content, const char* words) {
    QTest::newRow(name) << QString(file) << QByteArray(content.data(), static_cast<qsizetype>(content.size()))
                        << QByteArray(words);
  }

 private slots:
  void broken_data_is_refused_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QByteArray>("words");
    row("empty text", "x.txt", "", "is empty, not data for a model");
    row("empty file of JSON lines", "x.jsonl", "", "is empty, not data for a model");
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n",
                      page = "<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n";
    for (const char* name : {"x.txt", "x.jsonl", "x.npy", "x.safetensors"}) {
      row((std::string("a pointer as ") + name).c_str(), name, pointer, "is a Git LFS pointer, not ");
      row((std::string("a page as ") + name).c_str(), name, page,
          "is an HTML page, as a server sends it in place of a file, not ");
      row((std::string("a packed page as ") + name).c_str(), (std::string(name) + ".gz").c_str(), gzip_of(page),
          "is an HTML page, as a server");
      row((std::string("a packed pointer as ") + name).c_str(), (std::string(name) + ".gz").c_str(), gzip_of(pointer),
          "git lfs pull");
    }
    row("an answer of a server", "x.txt", "Entry not found",
        "is an error that a server sent instead of the file, not data");
    row("an archive as text", "x.txt", std::string("PK\x03\x04\0\0", 6),
        "is a zip archive, not data for a model (unpack it: unzip ");
    row("a profile as JSON lines", "x.jsonl", "{\"traceEvents\": []}\n",
        "is a profile of PyTorch or Chrome, not data for a model");
    row("answers as JSON lines", "x.jsonl", "{\"object\":\"text_completion\",\"choices\":[]}\n",
        "is a file of answers of a server without routed_experts, not data for a model");
    row("white space only", "x.txt", " \n\t\n\n", "no sequence");
    row("invalid UTF-8", "x.txt", "ab\na\xffz\n", "line 2: byte 2 is not valid UTF-8");
    row("empty JSON lines", "x.jsonl", "\n", "no sequence");
    row("not JSON", "x.jsonl", "{\"text\":\"a\",\"out\":\"b\",\"label\":\"c\"}\n{\n",
        "line 2: the file ends in the middle of the JSON that begins here");
    row("not an object", "x.jsonl", "[1]\n", "line 1: is not a JSON object");
    row("missing text", "x.jsonl", "{\"text\":\"a\",\"out\":\"b\",\"label\":\"c\"}\n\n{\"txt\":\"a\"}\n",
        "line 3: has no field \"text\" (choose another with --field)");
    row("missing target", "x.jsonl", "{\"text\":\"a\"}\n",
        "line 1: has no field \"out\" (choose another with --target-field)");
    row("missing label", "x.jsonl", "{\"text\":\"a\",\"out\":\"b\"}\n",
        "has no field \"label\" (choose another with --label-field)");
    row("text that is a number", "x.jsonl", "{\"text\":1}\n", "is not a text");
    row("a key twice", "x.jsonl", "{\"text\":\"a\",\"text\":\"b\"}\n", "occurs twice");
    row("deeply nested line", "x.jsonl", "{\"text\":" + std::string(1000, '['), "nested deeper");
    row("empty array file", "x.npy", "", "is empty");
    row("no sequences", "x.npy", npy_ids("(0, 4)", {}), "is empty: [0, 4]");
    row("no tokens", "x.npy", npy_ids("(4, 0)", {}), "is empty: [4, 0]");
    row("one dimension", "x.npy", npy_ids("(2,)", {1, 2}), "expected [sequences, length]");
    row("id outside the vocabulary", "x.npy", npy_ids("(2, 2)", {1, 2, 3, 30}),
        "sequence 1, position 1 of the input: id 30 is outside the model's vocabulary of 30");
    row("negative id", "x.npy", npy_ids("(1, 2)", {1, -1}), "position 1 of the input: id -1");
    row("too long", "x.npy", npy_ids("(1, 9)", {1, 1, 1, 1, 1, 1, 1, 1, 1}),
        "the model takes at most 8 (--truncate cuts it)");
    row("unknown kind", "x.csv", "1,2", "is a table with the columns \"1\", \"2\", not data for a model");
  }
  void broken_data_is_refused() {
    QFETCH(QString, file);
    QFETCH(QByteArray, content);
    QFETCH(QByteArray, words);
    const Scratch scratch;
    const std::string path =
        scratch.write(file.toStdString(), std::string_view(content.constData(), static_cast<size_t>(content.size())));
    const DataOptions options{.max_length = 8, .target_field = "out", .label_field = "label", .vocabulary = 30};
    VERIFY_BAD_INPUT(open_data(path, letters(), options), path, words.toStdString());
  }

  void texts_that_only_begin_like_another_kind_are_read() {
    const Scratch scratch;
    const std::vector<std::pair<std::string, std::string>> texts = {
        {"x.txt", "forbidden\nfruit\n"},
        {"x.txt", "aa\rbb\r"},
        {"x.jsonl", "{\"text\":\"a\",\"choices\":[1],\"error\":1}\n{\"text\":\"b\"}\n"},
        {"x.jsonl", "{\"text\":\"a\",\"traceEvents\":[]}\n{\"text\":\"b\"}\n"},
    };
    for (const auto& [name, text] : texts) {
      const auto data = open_data(scratch.write(name, text), letters(), {.vocabulary = 256});
      QVERIFY2(data->items() == 2, text.c_str());
    }
  }

  void broken_tensors_are_refused() {
    const Scratch scratch;
    const std::string path = scratch.path("x.safetensors");
    const std::vector<int64_t> values = {1, 1, 1, 1, 2, 5'000'000'000};
    const auto refuse = [&](const std::vector<TensorToWrite>& tensors, const char* words) {
      write_safetensors(path, tensors);
      VERIFY_BAD_INPUT(open_data(path, nullptr, {.inputs = decoder_inputs()}), path, words);
    };
    refuse({{"ids", DType::i64, {1, 2}, values.data()}}, "has no tensor input_ids; it holds ids");
    refuse({{"input_id", DType::i64, {1, 2}, values.data()}}, "has a tensor input_id and no input_ids");
    refuse({{"input_ids", DType::f32, {1, 2}, values.data()}}, "input_ids holds f32, expected integers");
    refuse({{"input_ids", DType::i64, {2}, values.data()}}, "expected [sequences, length]");
    refuse({{"input_ids", DType::i64, {2, 3}, values.data()}}, "sequence 1, position 2: 5000000000 is out of range");
    refuse({{"input_ids", DType::i64, {1, 2}, values.data()}, {"attention_mask", DType::i64, {2, 1}, values.data()}},
           "attention_mask has the shape [2, 1]");
    refuse(
        {{"input_ids", DType::i64, {1, 2}, values.data()}, {"attention_mask", DType::i64, {1, 2}, values.data() + 3}},
        "expected 0 or 1");
    refuse({{"input_ids", DType::i64, {1, 2}, values.data()}, {"labels", DType::i64, {3}, values.data()}},
           "labels has the shape [3], the items are 1");
    refuse({{"input_ids", DType::i64, {1, 2}, values.data()}, {"decoder_input_ids", DType::i64, {2, 2}, values.data()}},
           "has 2 rows");
    refuse({{"input_ids", DType::i64, {1, 2}, values.data()},
            {"decoder_attention_mask", DType::i64, {1, 2}, values.data()}},
           "but no decoder_input_ids");
  }

  void a_batch_without_a_real_cell_is_refused() {
    const Scratch scratch;
    const std::string path = scratch.path("padding.safetensors");
    const std::vector<int64_t> ids = {1, 2, 3, 4, 5, 6, 7, 8};
    const auto open = [&](const std::vector<uint8_t>& mask, int64_t batch, bool by_length = false) {
      const std::vector<TensorToWrite> tensors = {{"input_ids", DType::i64, {4, 2}, ids.data()},
                                                  {"attention_mask", DType::boolean, {4, 2}, mask.data()}};
      write_safetensors(path, tensors);
      return open_data(path, nullptr, {.batch = batch, .bucket_by_length = by_length, .inputs = decoder_inputs()});
    };
    VERIFY_BAD_INPUT(open({0, 0, 0, 0, 0, 0, 0, 0}, 4), path,
                     "batch 0, sequence 0 and 3 others: the mask leaves no real cell");
    VERIFY_BAD_INPUT(open({1, 1, 1, 0, 0, 0, 0, 0}, 2), path,
                     "batch 1, sequence 2 and 1 other: the mask leaves no real cell");
    VERIFY_BAD_INPUT(open({1, 1, 0, 0, 1, 1, 1, 1}, 1), path, "batch 1, sequence 1: the mask leaves no real cell");
    VERIFY_BAD_INPUT(open({1, 1, 0, 0, 1, 1, 1, 1}, 1, true), path, "sequence 1: the mask leaves no real cell");
    // An item of padding alone beside others is data as any.
    QCOMPARE(open({1, 1, 0, 0, 1, 1, 1, 1}, 2)->cells().real, int64_t{12});
  }

  void a_wrong_spec_is_refused_data() {
    QTest::addColumn<QString>("spec");
    QTest::addColumn<QByteArray>("words");
    for (const char* spec : {"random:", "random:8", "random:0x8", "random:8x0", "random:-1x8", "random:8x8x8x8",
                             "random:8x", "random:x8", "random:8 x8", "random:99999999999999999999x1"})
      QTest::newRow(spec) << QString(spec) << QByteArray("is not random:NxT");
    QTest::newRow("too many") << QString("random:1000000000000x1") << QByteArray("too large");
    QTest::newRow("too long") << QString("random:1x1000000000") << QByteArray("too large");
    QTest::newRow("missing") << QString("/none/x.txt") << QByteArray("check the path");
    QTest::newRow("unknown") << QString("/none/x") << QByteArray("no such file");
    QTest::newRow("demo that is not there") << QString("demo:other") << QByteArray("no such demo");
  }
  void a_wrong_spec_is_refused() {
    QFETCH(QString, spec);
    QFETCH(QByteArray, words);
    VERIFY_BAD_INPUT(open_data(spec.toStdString(), letters(), {.vocabulary = 100}), spec.toStdString(),
                     words.toStdString());
  }

  void wrong_options_are_refused() {
    VERIFY_BAD_INPUT(open_data("random:2x2", nullptr, {.batch = 0, .vocabulary = 9}), "--batch", "1 to");
    VERIFY_BAD_INPUT(open_data("random:2x2", nullptr, {.batches = 0, .vocabulary = 9}), "--batches", "at least 1");
    VERIFY_BAD_INPUT(open_data("random:2x2", nullptr, {.length = -1, .vocabulary = 9}), "--length", "-1 tokens");
    VERIFY_BAD_INPUT(open_data("random:2x2", nullptr, {}), "random:2x2", "vocabulary");
    VERIFY_BAD_INPUT(open_data("", nullptr, {}), "--data", "names no data");
    VERIFY_BAD_INPUT(open_data("random:1024x16777216", nullptr, {.batch = 1024, .batches = 1, .vocabulary = 9}),
                     "random:1024x16777216", "choose a smaller --batch");
    const Scratch scratch;
    const std::string text = scratch.write("x.txt", "a");
    VERIFY_BAD_INPUT(open_data(text, nullptr, {}), text, "the model has no tokenizer");
  }

  void text_with_another_models_tokenizer_is_noticed() {
    const Scratch scratch;
    const std::string text = scratch.write("x.txt", "a\nz");
    VERIFY_BAD_INPUT(open_data(text, letters(), {.vocabulary = 20}), text,
                     "line 2, position 0 of the input: id 28 is outside");
  }
};

STORMCELL_TEST(DatasetBadInputTest)
#include "dataset_bad_input_test.moc"
