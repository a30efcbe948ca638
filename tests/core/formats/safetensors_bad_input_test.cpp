#include "core/formats/safetensors.h"
#include "tests/core/formats/safetensors_bytes.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class SafetensorsBadInputTest : public QObject {
  Q_OBJECT

  static void row(const char* name, const std::string& bytes, const char* words) {
    QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())) << QByteArray(words);
  }
  static void header_row(const char* name, const std::string& header, size_t data, const char* words) {
    row(name, safetensors_bytes(header, data), words);
  }
  static void entry_row(const char* name, const std::string& entry, size_t data, const char* words) {
    header_row(name, "{\"x\":" + entry + "}", data, words);
  }

 private slots:
  void a_broken_file_is_refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("words");
    row("empty", "", "is empty");
    row("shorter than its length field", "abc", "truncated");
    row("truncated header", safetensors_bytes("{}", 0).substr(0, 9), "truncated: the header needs 2 bytes");
    row("header of 2^63 bytes", std::string("\0\0\0\0\0\0\0\x80{}", 10), "at most 100000000");
    row("header above the limit", std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10), "at most 100000000");
    row("no header", std::string(8, '\0'), "does not begin with {");
    header_row("header is a list", "[]", 0, "does not begin with {");
    header_row("header is not JSON", "{\"x\"", 0, "not valid JSON at line 1");
    header_row("header with a duplicate tensor",
               R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
               "occurs twice");
    header_row("header with invalid UTF-8", "{\"\xff\":1}", 0, "not valid JSON");
    header_row("nested header", "{\"x\":" + std::string(100000, '[') + std::string(100000, ']') + "}", 0, "nested deeper");
    header_row("metadata is not an object", R"({"__metadata__":3})", 0, "__metadata__");
    header_row("metadata is not text", R"({"__metadata__":{"a":1}})", 0, "not a text");
    entry_row("entry is a number", "1", 0, "expected an object");
    entry_row("no dtype", R"({"shape":[1],"data_offsets":[0,1]})", 1, "has no dtype");
    entry_row("no shape", R"({"dtype":"U8","data_offsets":[0,1]})", 1, "has no shape");
    entry_row("no offsets", R"({"dtype":"U8","shape":[1]})", 1, "has no data_offsets");
    entry_row("unknown key", R"({"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":1})", 1, "unknown key");
    entry_row("unknown dtype", R"({"dtype":"F4","shape":[1],"data_offsets":[0,1]})", 1, "unknown dtype");
    entry_row("dtype is a number", R"({"dtype":4,"shape":[1],"data_offsets":[0,1]})", 1, "dtype is not a text");
    entry_row("shape is a number", R"({"dtype":"U8","shape":1,"data_offsets":[0,1]})", 1, "shape is not a list");
    entry_row("negative shape", R"({"dtype":"U8","shape":[-1],"data_offsets":[0,1]})", 1, "expected a count");
    entry_row("fractional shape", R"({"dtype":"U8","shape":[1.5],"data_offsets":[0,1]})", 1, "expected a count");
    entry_row("shape beyond 2^64", R"({"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,1]})", 1, "expected a count");
    entry_row("overflowing shape", R"({"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]})", 0, "more than 2^63");
    entry_row("overflowing shape with a zero", R"({"dtype":"U8","shape":[4294967296,0,4294967296],"data_offsets":[0,0]})", 0,
              "more than 2^63");
    entry_row("overflowing bytes", R"({"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]})", 0, "more than 2^63");
    entry_row("shape disagrees with bytes", R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", 4, "takes 8 bytes");
    entry_row("empty shape with bytes", R"({"dtype":"U8","shape":[0],"data_offsets":[0,4]})", 4, "takes 0 bytes");
    entry_row("three offsets", R"({"dtype":"U8","shape":[1],"data_offsets":[0,1,2]})", 1, "not a pair");
    entry_row("negative offset", R"({"dtype":"U8","shape":[1],"data_offsets":[-1,0]})", 1, "not two counts");
    entry_row("reversed offsets", R"({"dtype":"U8","shape":[1],"data_offsets":[1,0]})", 1, "ends before it begins");
    entry_row("offset beyond the file", R"({"dtype":"U8","shape":[9],"data_offsets":[0,9]})", 4, "may be truncated");
    entry_row("offset near 2^63", R"({"dtype":"U8","shape":[1],"data_offsets":[9223372036854775807,9223372036854775807]})", 1,
              "may be truncated");
    entry_row("hole before the first tensor", R"({"dtype":"U8","shape":[1],"data_offsets":[1,2]})", 2, "hole of 1 bytes");
    entry_row("bytes behind the last tensor", R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})", 3, "2 bytes at its end");
    header_row("overlapping tensors",
               R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3,
               "overlaps");
    header_row("two tensors in one place",
               R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2,
               "overlaps");
    entry_row("a name as long as a book", R"({"dtype":"U8","shape":[1],"data_offsets":[0,1],")" + std::string(100000, 'n') + R"(":1})", 1,
              "unknown key");
  }
  void a_broken_file_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    const Scratch scratch;
    const std::string path = scratch.write("broken.safetensors", std::string_view(bytes.constData(), static_cast<size_t>(bytes.size())));
    VERIFY_BAD_INPUT(SafetensorsFile::open(path), path, words.toStdString());
  }

  void what_is_no_file_is_refused() {
    const Scratch scratch;
    VERIFY_BAD_INPUT(SafetensorsFile::open(scratch.path("none")), scratch.path("none"), "check the path");
    VERIFY_BAD_INPUT(SafetensorsFile::open(scratch.folder()), scratch.folder(), "is a folder");
    VERIFY_BAD_INPUT(SafetensorsFile::open("/dev/null"), "/dev/null", "not a regular file");
  }
};

STORMCELL_TEST(SafetensorsBadInputTest)
#include "safetensors_bad_input_test.moc"
