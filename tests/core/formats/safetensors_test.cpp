#include "core/formats/safetensors.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "core/formats/safetensors_writer.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class SafetensorsTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_written_is_read_back() {
    const Scratch scratch;
    const std::vector<float> matrix = {1.5f, -2, 3, 4, 5, INFINITY};
    const std::vector<int64_t> ids = {7, -1};
    const uint16_t scalar = f32_to_bf16(0.5f);
    const uint8_t flags[3] = {1, 0, 1};
    const std::vector<TensorToWrite> tensors = {{"matrix", DType::f32, {2, 3}, matrix.data()},
                                                {"flags", DType::boolean, {3}, flags},
                                                {"empty", DType::i8, {0, 4}, nullptr},
                                                {"ids", DType::i64, {2}, ids.data()},
                                                {"scalar", DType::bf16, {}, &scalar}};
    const std::string path = scratch.path("out.safetensors");
    write_safetensors(path, tensors, {{"made by", "a test"}, {"umlaut", "ü\n"}});

    const auto file = SafetensorsFile::open(path);
    QCOMPARE(file->tensors().size(), size_t{5});
    QCOMPARE(file->metadata().at("made by"), std::string("a test"));
    QCOMPARE(file->metadata().at("umlaut"), std::string("ü\n"));
    QVERIFY(std::is_sorted(file->tensors().begin(), file->tensors().end(),
                           [](const auto& a, const auto& b) { return a.name < b.name; }));
    const StoredTensor* stored = file->find("matrix");
    QVERIFY(stored && stored->dtype == DType::f32 && stored->shape == (std::vector<int64_t>{2, 3}) &&
            stored->aligned());
    QCOMPARE(std::memcmp(stored->bytes.data(), matrix.data(), 24), 0);
    QCOMPARE(stored->elements(), int64_t{6});
    QCOMPARE(std::memcmp(file->find("ids")->bytes.data(), ids.data(), 16), 0);
    QVERIFY(file->find("scalar")->shape.empty());
    QCOMPARE(file->find("empty")->bytes.size(), size_t{0});
    QVERIFY(!file->find("other"));
    QVERIFY(!std::filesystem::exists(path + ".partial"));
  }

  void every_dtype_of_the_format_is_read_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<int>("bytes");
    for (const auto& [name, bytes] : std::vector<std::pair<const char*, int>>{{"F32", 4},
                                                                              {"F16", 2},
                                                                              {"BF16", 2},
                                                                              {"F64", 8},
                                                                              {"F8_E4M3", 1},
                                                                              {"F8_E5M2", 1},
                                                                              {"I8", 1},
                                                                              {"U8", 1},
                                                                              {"I16", 2},
                                                                              {"U16", 2},
                                                                              {"I32", 4},
                                                                              {"U32", 4},
                                                                              {"I64", 8},
                                                                              {"U64", 8},
                                                                              {"BOOL", 1}})
      QTest::newRow(name) << QByteArray(name) << bytes;
  }
  void every_dtype_of_the_format_is_read() {
    QFETCH(QByteArray, name);
    QFETCH(int, bytes);
    const Scratch scratch;
    const std::string header = "{\"x\":{\"dtype\":\"" + name.toStdString() + "\",\"shape\":[3],\"data_offsets\":[0," +
                               std::to_string(3 * bytes) + "]}}";
    const auto file = SafetensorsFile::open(
        scratch.write("x.safetensors", safetensors_bytes(header, static_cast<size_t>(3 * bytes))));
    QCOMPARE(element_size(file->find("x")->dtype), static_cast<size_t>(bytes));
    QCOMPARE(file->find("x")->elements(), int64_t{3});
  }

  void a_file_without_tensors_is_legal() {
    const Scratch scratch;
    QVERIFY(SafetensorsFile::open(scratch.write("none.safetensors", safetensors_bytes("{}", 0)))->tensors().empty());
    QVERIFY(SafetensorsFile::open(scratch.write("padded.safetensors", safetensors_bytes("{}      ", 0)))
                ->tensors()
                .empty());
  }

  void data_of_old_writers_may_be_unaligned() {
    const Scratch scratch;
    const auto file = SafetensorsFile::open(scratch.write(
        "x.safetensors", safetensors_bytes(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} )", 4)));
    QVERIFY(!file->find("x")->aligned());
  }

  void opening_reads_no_tensor() {
    const Scratch scratch;
    constexpr int64_t kSize = int64_t{5} << 29;  // 2.5 GiB, sparse
    const std::string path = scratch.write(
        "large.safetensors", safetensors_bytes("{\"x\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(kSize) +
                                                   "],\"data_offsets\":[0," + std::to_string(kSize) + "]}}",
                                               0));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + static_cast<uintmax_t>(kSize));
    const auto file = SafetensorsFile::open(path);
    // Behind what a fault at the header brings with it, no page of the file is even in the page cache.
    const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::span<const std::byte> bytes = file->find("x")->bytes;
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(bytes.data()) + (uintptr_t{16} << 20)) / page * page;
    std::vector<unsigned char> resident((uintptr_t{1} << 30) / page);
    QCOMPARE(::mincore(reinterpret_cast<void*>(begin), uintptr_t{1} << 30, resident.data()), 0);
    QCOMPARE(std::count_if(resident.begin(), resident.end(), [](unsigned char r) { return r & 1; }), 0);
  }

  void a_streaming_writer_takes_pieces_in_any_order() {
    const Scratch scratch;
    const std::string path = scratch.path("out.safetensors");
    SafetensorsWriter writer(path, {{"b", DType::u8, {4}}, {"a", DType::f32, {2}}});
    const float values[2] = {1, 2};
    writer.append("b", "xy", 2);
    writer.append("a", &values[0], 4);
    writer.append("b", "zw", 2);
    writer.append("a", &values[1], 4);
    QVERIFY(!std::filesystem::exists(path));
    writer.finish();
    const auto file = SafetensorsFile::open(path);
    QCOMPARE(std::memcmp(file->find("b")->bytes.data(), "xyzw", 4), 0);
    QCOMPARE(std::memcmp(file->find("a")->bytes.data(), values, 8), 0);
  }

  void misuse_of_the_writer_is_a_mistake_of_the_program() {
    const Scratch scratch;
    const std::string path = scratch.path("out.safetensors");
    QVERIFY_THROWS_EXCEPTION(std::logic_error, SafetensorsWriter(path, {{"a", DType::u8, {1}}, {"a", DType::u8, {1}}}));
    SafetensorsWriter writer(path, {{"a", DType::u8, {2}}});
    QVERIFY_THROWS_EXCEPTION(std::logic_error, writer.append("b", "x", 1));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, writer.append("a", "xyz", 3));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, writer.finish());
  }

  void an_abandoned_file_leaves_nothing_and_spares_the_old_one() {
    const Scratch scratch;
    const std::string path = scratch.write("out.safetensors", "old");
    { SafetensorsWriter writer(path, {{"a", DType::u8, {1}}}); }
    QCOMPARE(Scratch::read(path), std::string("old"));
    QVERIFY(!std::filesystem::exists(path + ".partial"));
  }

  void a_folder_that_is_not_there_is_bad_input() {
    const Scratch scratch;
    const std::string path = scratch.path("none/out.safetensors");
    VERIFY_BAD_INPUT(write_safetensors(path, {}), path, "create its folder");
    const std::string device = "/proc/out.safetensors";  // nobody may create files there, not even root
    VERIFY_BAD_INPUT(write_safetensors(device, {}), device, "cannot be created");
  }

  void a_file_that_outgrows_its_limit_fails_and_is_removed() {
    const Scratch scratch;
    const std::string path = scratch.path("out.safetensors");
    rlimit old{};
    QCOMPARE(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const rlimit small{1 << 16, old.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
    ErrorKind kind = ErrorKind::bad_input;
    try {
      SafetensorsWriter writer(path, {{"a", DType::u8, {1 << 20}}});
    } catch (const Error& error) {
      kind = error.kind();
    }
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    QVERIFY(kind == ErrorKind::failed);
    QVERIFY(std::filesystem::is_empty(scratch.folder()));
  }
};

STORMCELL_TEST(SafetensorsTest)
#include "safetensors_test.moc"
