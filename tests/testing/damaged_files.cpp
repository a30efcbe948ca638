#include "tests/testing/damaged_files.h"

#include <QByteArray>
#include <QTest>

#include "tests/testing/file_bytes.h"

namespace stormcell::testing {

std::vector<DamagedFile> damaged_safetensors() {
  std::vector<DamagedFile> files;
  const auto row = [&](const std::string& name, const std::string& bytes, const std::string& words) {
    files.push_back({name, bytes, words});
  };
  const auto header_row = [&](const char* name, const std::string& header, size_t data, const char* words) {
    row(name, safetensors_bytes(header, data), words);
  };
  const auto entry_row = [&](const char* name, const std::string& entry, size_t data, const char* words) {
    header_row(name, "{\"x\":" + entry + "}", data, words);
  };
  row("empty", "", "is empty");
  row("shorter than its length field", "abc", "truncated");
  row("truncated header", safetensors_bytes("{}", 0).substr(0, 9), "truncated: the header needs 2 bytes");
  row("header of 2^63 bytes", std::string("\0\0\0\0\0\0\0\x80{}", 10), "at most 100000000");
  row("header above the limit", std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10), "at most 100000000");
  row("no header", std::string(8, '\0'), "does not begin with {");
  header_row("header is a list", "[]", 0, "does not begin with {");
  header_row("header is not JSON", "{\"x\"", 0, "not valid JSON at line 1");
  header_row(
      "header with a duplicate tensor",
      R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
      "occurs twice");
  header_row("header with invalid UTF-8", "{\"\xff\":1}", 0, "not valid JSON");
  header_row("nested header", "{\"x\":" + std::string(100000, '[') + std::string(100000, ']') + "}", 0,
             "nested deeper");
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
  entry_row("shape beyond 2^64", R"({"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,1]})", 1,
            "expected a count");
  entry_row("overflowing shape", R"({"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]})", 0,
            "more than 2^63");
  entry_row("overflowing shape with a zero", R"({"dtype":"U8","shape":[4294967296,0,4294967296],"data_offsets":[0,0]})",
            0, "more than 2^63");
  entry_row("overflowing bytes", R"({"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]})", 0,
            "more than 2^63");
  entry_row("shape disagrees with bytes", R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", 4, "takes 8 bytes");
  entry_row("empty shape with bytes", R"({"dtype":"U8","shape":[0],"data_offsets":[0,4]})", 4, "takes 0 bytes");
  entry_row("three offsets", R"({"dtype":"U8","shape":[1],"data_offsets":[0,1,2]})", 1, "not a pair");
  entry_row("negative offset", R"({"dtype":"U8","shape":[1],"data_offsets":[-1,0]})", 1, "not two counts");
  entry_row("reversed offsets", R"({"dtype":"U8","shape":[1],"data_offsets":[1,0]})", 1, "ends before it begins");
  entry_row("offset beyond the file", R"({"dtype":"U8","shape":[9],"data_offsets":[0,9]})", 4, "may be truncated");
  entry_row("offset near 2^63",
            R"({"dtype":"U8","shape":[1],"data_offsets":[9223372036854775807,9223372036854775807]})", 1,
            "may be truncated");
  entry_row("hole before the first tensor", R"({"dtype":"U8","shape":[1],"data_offsets":[1,2]})", 2,
            "hole of 1 byte before");
  entry_row("bytes behind the last tensor", R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})", 3,
            "2 bytes at its end");
  header_row(
      "overlapping tensors",
      R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3,
      "overlaps");
  header_row(
      "two tensors in one place",
      R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2,
      "overlaps");
  entry_row("a name as long as a book",
            R"({"dtype":"U8","shape":[1],"data_offsets":[0,1],")" + std::string(100000, 'n') + R"(":1})", 1,
            "unknown key");
  return files;
}

std::vector<DamagedFile> damaged_npy() {
  std::vector<DamagedFile> files;
  const auto row = [&](const std::string& name, const std::string& bytes, const std::string& words) {
    files.push_back({name, bytes, words});
  };
  const std::string data(24, '\0'), good = npy_header("(2, 3)");
  const auto header_row = [&](const char* name, const std::string& header, const char* words) {
    row(name, npy_bytes(header, data), words);
  };
  row("empty", "", "is empty");
  row("not numpy", "hello, world", "no .npy file");
  row("magic only", "\x93NUMPY", "truncated");
  row("version 9", npy_bytes(good, data, 9), "version 9");
  row("header beyond the file", npy_bytes(good, data).substr(0, 20), "truncated in its header");
  row("header of 4 GB", std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), "its header would have");
  row("truncated data", npy_bytes(good, data.substr(1)), "may be truncated");
  row("more data", npy_bytes(good, data + "x"), "25 are there");
  header_row("no literal", "hello", "header is not that");
  header_row("unclosed", "{'descr': '<i4'", "header is not that");
  header_row("a key twice", "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}",
             "header is not that");
  header_row("a key missing", "{'descr': '<i4', 'shape': (2, 3)}", "header is not that");
  header_row("an unknown key", "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}",
             "header is not that");
  header_row("negative shape", npy_header("(-2, 3)"), "header is not that");
  header_row("shape beyond 2^63", npy_header("(99999999999999999999,)"), "header is not that");
  header_row("overflowing shape", npy_header("(4611686018427387904, 4611686018427387904)"), "more than 2^64");
  header_row(
      "33 dimensions",
      npy_header("(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)"),
      "header is not that");
  header_row("big-endian", "{'descr': '>i4', 'fortran_order': False, 'shape': (2, 3)}", "astype");
  header_row("objects", "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "astype");
  header_row("records", "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2, 3)}", "header is not that");
  header_row("Fortran order", "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran order");
  header_row("text behind", good + " import os", "header is not that");
  return files;
}

std::vector<DamagedFile> damaged_json() {
  std::vector<DamagedFile> files;
  const auto row = [&](const std::string& name, const std::string& bytes, const std::string& words) {
    files.push_back({name, bytes, words});
  };
  row("empty", "", "line 1, column 0");
  row("place", "{\n  \"a\": 1,\n  \"b\": x\n}", "line 3, column 8");
  row("trailing comma", "[1,]", "line 1, column 4");
  row("two values", "1 2", "column 3");
  row("comment", "// no\n1", "line 1");
  row("single quotes", "{'a':1}", "line 1");
  row("nan", "[nan]", "line 1");
  row("infinite number", "[1e999]", "line 1");
  row("duplicate key", "{\"a\":1,\n\"a\":2}", "line 2, column 3: the key \"a\" occurs twice");
  row("duplicate key by escape", R"({"a":1,"\u0061":2})", "occurs twice");
  row("duplicate key deep inside", R"([{"x":{"a":1,"b":2,"a":3}}])", "occurs twice");
  row("invalid UTF-8", "[\"\xc3\x28\"]", "invalid");
  row("overlong UTF-8", "[\"\xc0\xaf\"]", "invalid");
  row("lone surrogate", R"(["\ud800"])", "surrogate");
  row("control character", "[\"a\nb\"]", "control character");
  row("zero byte", std::string("[1]\0", 4), "column 4: a zero byte");
  row("truncated", R"({"a":[1,2)", "unexpected end of input");
  row("deep list", std::string(65, '[') + std::string(65, ']'), "nested deeper than 64");
  row("very deep list", std::string(10'000'000, '['), "nested deeper than 64");
  row(
      "deep object",
      [] {
        std::string text;
        for (int i = 0; i < 100; ++i) text += "{\"a\":";
        return text;
      }(),
      "nested deeper than 64");
  row("long key", "{\"" + std::string(100000, 'k') + "\":1,\"" + std::string(100000, 'k') + "\":1}", "occurs twice");
  row("long wrong word", std::string(100000, 'w'), "line 1");
  return files;
}

void add_rows(const std::vector<DamagedFile>& files) {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QByteArray>("words");
  for (const DamagedFile& f : files)
    QTest::newRow(f.name.c_str()) << QByteArray::fromStdString(f.bytes) << QByteArray::fromStdString(f.words);
}

}  // namespace stormcell::testing
