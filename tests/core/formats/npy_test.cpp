#include "core/formats/npy.h"

#include <filesystem>

#include "tests/core/formats/scratch.h"
#include "tests/testing/damaged_files.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class NpyTest : public QObject {
  Q_OBJECT

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
    const NpyArray array = open_npy(scratch.write(
        "a.npy", npy_bytes(npy_header("(2, 3)"), {reinterpret_cast<const char*>(ids), sizeof ids}, version)));
    QVERIFY(array.dtype == DType::i32 && array.shape == (std::vector<int64_t>{2, 3}));
    std::vector<int32_t> read(6);
    array.bytes.read(0, std::as_writable_bytes(std::span(read)));
    QCOMPARE(read, std::vector<int32_t>(ids, ids + 6));
  }

  void other_dtypes_and_shapes_are_read() {
    const Scratch scratch;
    QVERIFY(open_npy(scratch.write("a.npy", npy_bytes(R"({"shape": (1,), "fortran_order": True, "descr": "<i8"})",
                                                      std::string(8, '\0'))))
                .dtype == DType::i64);
    QVERIFY(open_npy(scratch.write("b.npy", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                                                      std::string(4, '\0'))))
                .shape.empty());
    QVERIFY(open_npy(scratch.write("c.npy", npy_bytes(npy_header("(0, 5)"), ""))).bytes.size() == 0);
  }

  void a_broken_file_is_refused_data() { add_rows(damaged_npy()); }
  void a_broken_file_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    const Scratch scratch;
    const std::string path =
        scratch.write("broken.npy", std::string_view(bytes.constData(), static_cast<size_t>(bytes.size())));
    VERIFY_BAD_INPUT(open_npy(path), path, words.toStdString());
  }
};

STORMCELL_TEST(NpyTest)
#include "npy_test.moc"
