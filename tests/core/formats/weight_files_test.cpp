#include "core/formats/weight_files.h"

#include "core/base/counted.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class WeightFilesTest : public QObject {
  Q_OBJECT

  static std::string one_tensor(const std::string& name, char value) {
    return safetensors_bytes("{\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, value);
  }
  static void write_shards(const Scratch& scratch) {
    scratch.write("model-00001-of-00002.safetensors", one_tensor("b", 'B'));
    scratch.write("model-00002-of-00002.safetensors", one_tensor("a", 'A'));
  }
  static std::string read(const WeightFiles& weights, const std::string& name) {
    const TensorPlace& tensor = *weights.find(name);
    std::string bytes(static_cast<size_t>(tensor.bytes), '?');
    weights.read(tensor, 0, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }
  static std::string index_path(const Scratch& scratch) { return scratch.path("model.safetensors.index.json"); }
  static void write_index(const Scratch& scratch, const std::string& weight_map) {
    scratch.write("model.safetensors.index.json",
                  "{\"metadata\":{\"total_size\":2},\"weight_map\":" + weight_map + "}");
  }

 private slots:
  void a_folder_with_one_file_is_read() {
    const Scratch scratch;
    scratch.write("model.safetensors", one_tensor("x", 'X'));
    const auto weights = WeightFiles::open(scratch.folder());
    QCOMPARE(read(*weights, "x"), std::string("X"));
    QCOMPARE(weights->total_bytes(), int64_t{1});
    QCOMPARE(weights->file_count(), size_t{1});
    QVERIFY(weights->header_bytes(0).starts_with("{\"x\""));
    QCOMPARE(WeightFiles::open(scratch.path("model.safetensors"))->tensors().size(), size_t{1});
  }

  void shards_are_one_set_of_tensors_in_name_order() {
    const Scratch scratch;
    write_shards(scratch);
    write_index(scratch, R"({"a":"model-00002-of-00002.safetensors","b":"model-00001-of-00002.safetensors"})");
    const auto weights = WeightFiles::open(scratch.folder());
    QCOMPARE(weights->tensors()[0].name, std::string("a"));
    QCOMPARE(weights->tensors()[1].name, std::string("b"));
    QCOMPARE(weights->file_path(static_cast<size_t>(weights->find("a")->file)),
             scratch.path("model-00002-of-00002.safetensors"));
    QCOMPARE(read(*weights, "b"), std::string("B"));
    QCOMPARE(read(*weights, "a"), std::string("A"));
    QCOMPARE(weights->total_bytes(), int64_t{2});
  }

  // A mapping would end the program with SIGBUS.
  void a_file_that_becomes_shorter_is_an_error_with_its_true_size() {
    const Scratch scratch;
    const std::string path = scratch.write("model.safetensors", one_tensor("x", 'X'));
    const auto weights = WeightFiles::open(scratch.folder());
    const auto size = std::filesystem::file_size(path);
    for (const uintmax_t left : {size - 1, uintmax_t{3}, uintmax_t{0}}) {
      std::filesystem::resize_file(path, left);
      std::string told;
      try {
        read(*weights, "x");
      } catch (const Error& e) {
        QVERIFY(e.kind() == ErrorKind::failed);
        told = e.what();
      }
      QVERIFY2(told.starts_with(path + ": has become shorter while it was used: it had " +
                                counted(static_cast<int64_t>(size), "byte") + " and has " +
                                with_commas(static_cast<int64_t>(left)) + " now"),
               told.c_str());
    }
  }

  void an_index_that_disagrees_with_its_shards_is_refused_data() {
    QTest::addColumn<QByteArray>("weight_map");
    QTest::addColumn<QByteArray>("words");
    QTest::newRow("tensor in another shard")
        << QByteArray(R"({"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"})")
        << QByteArray("the index says");
    QTest::newRow("tensor in no shard")
        << QByteArray(
               R"({"a":"model-00002-of-00002.safetensors","b":"model-00001-of-00002.safetensors","c":"model-00001-of-00002.safetensors"})")
        << QByteArray("\"c\" is not in");
    QTest::newRow("tensor that the index does not name")
        << QByteArray(R"({"a":"model-00002-of-00002.safetensors","c":"model-00001-of-00002.safetensors"})")
        << QByteArray("does not name the tensor \"b\"");
    QTest::newRow("leads out of the folder")
        << QByteArray(R"({"a":"../other.safetensors"})") << QByteArray("not the name of a .safetensors file beside it");
    QTest::newRow("no safetensors file") << QByteArray(R"({"a":"/etc/passwd"})")
                                         << QByteArray("not the name of a .safetensors file beside it");
    QTest::newRow("shard is a number") << QByteArray(R"({"a":1})") << QByteArray("not a file name");
    QTest::newRow("empty map") << QByteArray("{}") << QByteArray("no weight_map");
    QTest::newRow("map is a list") << QByteArray("[]") << QByteArray("no weight_map");
    QTest::newRow("duplicate tensor") << QByteArray(R"({"a":"x.safetensors","a":"y.safetensors"})")
                                      << QByteArray("occurs twice");
  }
  void an_index_that_disagrees_with_its_shards_is_refused() {
    QFETCH(QByteArray, weight_map);
    QFETCH(QByteArray, words);
    const Scratch scratch;
    write_shards(scratch);
    write_index(scratch, weight_map.toStdString());
    VERIFY_BAD_INPUT(WeightFiles::open(scratch.folder()), index_path(scratch), words.toStdString());
  }

  void a_missing_shard_is_named() {
    const Scratch scratch;
    write_index(scratch, R"({"a":"model-00001-of-00001.safetensors"})");
    VERIFY_BAD_INPUT(WeightFiles::open(scratch.folder()), index_path(scratch),
                     "\"model-00001-of-00001.safetensors\" (not there)");
  }

  void a_pickled_model_comes_with_its_conversion() {
    const Scratch scratch;
    scratch.write("pytorch_model.bin", "x");
    const std::string message = bad_input_of([&] { WeightFiles::open(scratch.folder()); }, scratch.folder());
    for (const char* part : {"1. pip install", "2. cd ", "3. python3 -c", "safetensors"})
      QVERIFY2(message.find(part) != std::string::npos, message.c_str());
  }

  void a_folder_without_weights_is_refused() {
    const Scratch scratch;
    VERIFY_BAD_INPUT(WeightFiles::open(scratch.folder()), scratch.folder(), "holds no weights");
    scratch.write("adapter.safetensors", one_tensor("x", 'X'));
    VERIFY_BAD_INPUT(WeightFiles::open(scratch.folder()), scratch.folder(), "adapter.safetensors");
    VERIFY_BAD_INPUT(WeightFiles::open(scratch.path("none")), scratch.path("none"), "check the path");
    const std::string text = scratch.write("notes.txt", "x");
    VERIFY_BAD_INPUT(WeightFiles::open(text), text, "not a safetensors file");
  }
};

STORMCELL_TEST(WeightFilesTest)
#include "weight_files_test.moc"
