#include "core/formats/npy.h"

#include <cstring>

#include "core/formats/mapped_file.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class NpyTest : public QObject {
  Q_OBJECT

  static std::string npy(int version, std::string header, const std::string& data) {
    header += '\n';
    std::string bytes = "\x93NUMPY";
    bytes += static_cast<char>(version);
    bytes += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xFF);
    return bytes + header + data;
  }
  static std::string good_header(const std::string& shape = "(2, 3)") {
    return "{'descr': '<i4', 'fortran_order': False, 'shape': " + shape + ", }";
  }

 private slots:
  void arrays_are_read_data() {
    QTest::addColumn<int>("version");
    QTest::newRow("version 1") << 1;
    QTest::newRow("version 2") << 2;
    QTest::newRow("version 3") << 3;
  }
  void arrays_are_read() {
    QFETCH(int, version);
    const Scratch scratch;
    const int32_t ids[6] = {1, 2, 3, 4, 5, -6};
    const NpyArray array =
        open_npy(scratch.write("a.npy", npy(version, good_header(), std::string(reinterpret_cast<const char*>(ids), sizeof ids))));
    QVERIFY(array.dtype == DType::i32 && array.shape == (std::vector<int64_t>{2, 3}));
    QCOMPARE(std::memcmp(array.bytes.data(), ids, sizeof ids), 0);
  }

  void other_dtypes_and_shapes_are_read() {
    const Scratch scratch;
    QVERIFY(
        open_npy(scratch.write("a.npy", npy(1, R"({"shape": (1,), "fortran_order": True, "descr": "<i8"})", std::string(8, '\0')))).dtype ==
        DType::i64);
    QVERIFY(open_npy(scratch.write("b.npy", npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}", std::string(4, '\0'))))
                .shape.empty());
    QVERIFY(open_npy(scratch.write("c.npy", npy(1, good_header("(0, 5)"), ""))).bytes.empty());
  }

  void a_broken_file_is_refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* name, const std::string& bytes, const char* words) {
      QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())) << QByteArray(words);
    };
    const std::string data(24, '\0');
    const auto header_row = [&](const char* name, const std::string& header, const char* words) { row(name, npy(1, header, data), words); };
    row("empty", "", "is empty");
    row("not numpy", "hello, world", "no .npy file");
    row("magic only", "\x93NUMPY", "truncated");
    row("version 9", npy(9, good_header(), data), "version 9");
    row("header beyond the file", npy(1, good_header(), data).substr(0, 20), "truncated in its header");
    row("header of 4 GB", std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), "its header would have");
    row("truncated data", npy(1, good_header(), data.substr(1)), "may be truncated");
    row("more data", npy(1, good_header(), data + "x"), "25 are there");
    header_row("no literal", "hello", "header is not that");
    header_row("unclosed", "{'descr': '<i4'", "header is not that");
    header_row("a key twice", "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}", "header is not that");
    header_row("a key missing", "{'descr': '<i4', 'shape': (2, 3)}", "header is not that");
    header_row("an unknown key", "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", "header is not that");
    header_row("negative shape", good_header("(-2, 3)"), "header is not that");
    header_row("shape beyond 2^63", good_header("(99999999999999999999,)"), "header is not that");
    header_row("overflowing shape", good_header("(4611686018427387904, 4611686018427387904)"), "more than 2^64");
    header_row("33 dimensions",
               good_header("(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)"),
               "header is not that");
    header_row("big-endian", "{'descr': '>i4', 'fortran_order': False, 'shape': (2, 3)}", "astype");
    header_row("objects", "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "astype");
    header_row("records", "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2, 3)}", "header is not that");
    header_row("Fortran order", "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran order");
    header_row("text behind", good_header() + " import os", "header is not that");
  }
  void a_broken_file_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    const Scratch scratch;
    const std::string path = scratch.write("broken.npy", std::string_view(bytes.constData(), static_cast<size_t>(bytes.size())));
    VERIFY_BAD_INPUT(open_npy(path), path, words.toStdString());
  }
};

STORMCELL_TEST(NpyTest)
#include "npy_test.moc"
