// GGUF files as weights: places of tensors in one file or in parts, and files that are damaged or of two models.
#include "core/formats/gguf_weights.h"

#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>

#include "core/formats/weight_files.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/model_headers.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

constexpr uint32_t kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ8_0 = 8, kQ3_K = 11, kQ4_K = 12, kQ5_K = 13, kQ6_K = 14, kBf16 = 30,
                   kMxfp4 = 39, kUnknown = 99;

/// The header, and data whose byte i is i modulo 251.
std::string with_data(const GgufBytes& made) {
  std::string bytes = made.header();
  for (uint64_t i = 0; i < made.data_bytes(); ++i) bytes += static_cast<char>(i % 251);
  return bytes;
}

/// Overwrites the offset of a tensor in a header.
std::string with_offset(std::string bytes, const std::string& tensor, size_t dims, uint64_t offset) {
  const size_t at = bytes.find(tensor) + tensor.size() + 4 + 8 * dims + 4;
  std::memcpy(bytes.data() + at, &offset, sizeof offset);
  return bytes;
}

std::string stored_text(const WeightFiles& files, const std::string& name) {
  const TensorPlace& tensor = *files.find(name);
  std::string bytes(static_cast<size_t>(tensor.bytes), '?');
  files.read(tensor, 0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

/// A part of a split model, with one tensor of 8 floats.
GgufBytes split_part(const std::string& tensor, uint32_t number, uint32_t of,
                     const std::string& architecture = "olmoe") {
  GgufBytes file;
  file.text("general.architecture", architecture).number("split.no", number).number("split.count", of);
  file.number("split.tensors.count", 2);
  file.tensor(tensor, {8}, kF32, 32);
  return file;
}

}  // namespace

class GgufWeightsTest : public QObject {
  Q_OBJECT

  static void write_parts(const Scratch& scratch, const GgufBytes& first, const GgufBytes& second) {
    scratch.write("m-00001-of-00002.gguf", with_data(first));
    scratch.write("m-00002-of-00002.gguf", with_data(second));
  }

 private slots:
  void tensors_are_read_as_they_are_stored() {
    const Scratch scratch;
    GgufBytes made;
    made.text("general.architecture", "olmoe");
    const struct {
      const char* name;
      std::vector<uint64_t> dims;
      uint32_t type;
      DType format;
      uint64_t bytes;
    } tensors[] = {{"norm", {8}, kF32, DType::f32, 32},          {"half", {4, 3}, kF16, DType::f16, 24},
                   {"brain", {2, 3, 4}, kBf16, DType::bf16, 48}, {"q4_0", {64, 3}, kQ4_0, DType::q4_0, 108},
                   {"q8_0", {32, 5}, kQ8_0, DType::q8_0, 170},   {"q4_k", {512, 3, 2}, kQ4_K, DType::q4_k, 1728},
                   {"q5_k", {256, 2}, kQ5_K, DType::q5_k, 352},  {"q6_k", {256, 1}, kQ6_K, DType::q6_k, 210},
                   {"mxfp4", {32, 7}, kMxfp4, DType::mxfp4, 119}};
    uint64_t at = 0;
    std::map<std::string, uint64_t> begins;
    int64_t all = 0;
    for (const auto& t : tensors) {
      made.tensor(t.name, t.dims, t.type, t.bytes);
      begins[t.name] = at;
      at += (t.bytes + 31) / 32 * 32, all += static_cast<int64_t>(t.bytes);
    }
    made.tensor("three", {256, 2}, kQ3_K, 220).tensor("ids", {4}, 26, 16).tensor("new", {7}, kUnknown, 32);
    // A blob has no suffix.
    const std::string bytes = with_data(made), path = scratch.write("sha256-0123", bytes);
    const auto files = WeightFiles::open(path);
    QCOMPARE(files->tensors().size(), std::size(tensors));
    QCOMPARE(files->total_bytes(), all);
    QCOMPARE(files->listing(), path);
    for (const auto& t : tensors) {
      const TensorPlace* place = files->find(t.name);
      QVERIFY2(place && place->dtype == t.format && place->bytes == static_cast<int64_t>(t.bytes), t.name);
      // The extent of neighbours comes last.
      QVERIFY2(place->shape == std::vector<int64_t>(t.dims.rbegin(), t.dims.rend()), t.name);
      int64_t elements = 1;
      for (const uint64_t n : t.dims) elements *= static_cast<int64_t>(n);
      QCOMPARE(place->elements(), elements);
      QVERIFY2(stored_text(*files, t.name) == bytes.substr(made.header().size() + begins[t.name], t.bytes), t.name);
    }
    // Others have their format's name alone.
    QVERIFY(!files->find("three") && !files->find("new") && !files->find("ids") && !files->other_format("norm"));
    QCOMPARE(*files->other_format("three"), std::string("Q3_K"));
    QCOMPARE(*files->other_format("ids"), std::string("I32"));
    QCOMPARE(*files->other_format("new"), std::string("type 99"));
    QVERIFY(!files->other_format("none"));
  }

  void each_type_that_products_read_has_the_blocks_of_the_file() {
    for (uint32_t id = 0; id < 64; ++id) {
      const GgmlType* type = ggml_type(id);
      if (!type) continue;
      std::string name(type->name);
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      const std::optional<DType> dtype = parse_dtype(name);
      if (!dtype) continue;
      QCOMPARE(format_of(*dtype).block_elements, type->block_elements);
      QCOMPARE(format_of(*dtype).block_bytes, type->block_bytes);
    }
  }

  void parts_are_one_set_of_tensors_whichever_is_named() {
    const Scratch scratch;
    write_parts(scratch, split_part("b", 0, 2), split_part("a", 1, 2));
    for (const char* named : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}) {
      const auto files = WeightFiles::open(scratch.path(named));
      QCOMPARE(files->file_count(), size_t{2});
      QCOMPARE(files->tensors()[0].name, std::string("a"));
      QCOMPARE(files->tensors()[0].file, 1);
      QCOMPARE(stored_text(*files, "a").size(), size_t{32});
      QCOMPARE(files->file_path(1), scratch.path("m-00002-of-00002.gguf"));
      QVERIFY(files->header_bytes(0) != files->header_bytes(1));
    }
  }

  void parts_that_are_missing_or_of_two_models_are_refused() {
    const Scratch scratch;
    const std::string first = scratch.path("m-00001-of-00002.gguf"), second = scratch.path("m-00002-of-00002.gguf");
    scratch.write("m-00001-of-00002.gguf", with_data(split_part("b", 0, 2)));
    VERIFY_BAD_INPUT(WeightFiles::open(first), first, "\"m-00002-of-00002.gguf\"");
    write_parts(scratch, split_part("b", 0, 2), split_part("a", 0, 2));
    VERIFY_BAD_INPUT(WeightFiles::open(first), second, "says that it is part 1, its name says 2");
    write_parts(scratch, split_part("b", 0, 3), split_part("a", 1, 3));
    VERIFY_BAD_INPUT(WeightFiles::open(first), first, "says that it is one of 3 parts, its name says 2");
    write_parts(scratch, split_part("b", 0, 2), split_part("a", 1, 2, "qwen3moe"));
    VERIFY_BAD_INPUT(WeightFiles::open(first), second, "is a part of another model");
    write_parts(scratch, split_part("b", 0, 2), split_part("a", 1, 2).tensor("c", {8}, kF32, 32));
    VERIFY_BAD_INPUT(WeightFiles::open(first), first, "says that its parts have 2 tensors, and they have 3");
    write_parts(scratch, split_part("b", 0, 2), split_part("b", 1, 2));
    VERIFY_BAD_INPUT(WeightFiles::open(first), second, "tensor \"b\": occurs twice");
    write_parts(scratch, split_part("b", 0, 2), split_part("a", 1, 2));
    scratch.write("m-00002-of-00002.gguf.aria2", "");
    VERIFY_BAD_INPUT(WeightFiles::open(first), second, "is a download that did not end");
  }

  void damaged_files_are_refused_by_name() {
    const Scratch scratch;
    const auto refused = [&](const GgufBytes& made, const std::string& words) {
      const std::string path = scratch.write("x.gguf", with_data(made));
      VERIFY_BAD_INPUT(WeightFiles::open(path), path, words);
    };
    refused(GgufBytes().tensor("w", {300, 2}, kQ4_K, 400),
            "tensor \"w\": has rows of 300 elements, which are no whole blocks of 256 in Q4_K");
    refused(GgufBytes().tensor("w", {1, 32}, kQ8_0, 34), "no whole blocks of 32 in Q8_0");
    refused(GgufBytes().tensor("w", {256, 3}, kQ4_K, 288), "is shorter than its header says: \"w\" ends at byte ");
    refused(GgufBytes().tensor("w", {uint64_t{1} << 47, 2, 2}, kF32, 32), "has an impossible size");
    refused(GgufBytes().tensor("w", {uint64_t{1} << 40}, kQ8_0, 32), "is shorter than its header says");
    refused(GgufBytes().tensor("w", {8}, kF32, 32).tensor("w", {8}, kF32, 32), "tensor \"w\": occurs twice");
    const std::string whole = with_data(GgufBytes().tensor("one", {8}, kF32, 32).tensor("two", {8}, kF32, 32));
    const std::string path = scratch.write("o.gguf", with_offset(whole, "two", 1, 0));
    VERIFY_BAD_INPUT(WeightFiles::open(path), path, "overlap those of");
    for (const uint64_t offset : {uint64_t{1} << 32, UINT64_MAX, UINT64_MAX - 31}) {
      scratch.write("o.gguf", with_offset(whole, "two", 1, offset));
      VERIFY_BAD_INPUT(WeightFiles::open(path), path, "is shorter than its header says: \"two\"");
    }
    // Cut anywhere, the header or the data end too early.
    for (size_t size = 4; size < whole.size(); size += 7) {
      scratch.write("o.gguf", whole.substr(0, size));
      QVERIFY2(!bad_input_of([&] { WeightFiles::open(path); }, path).empty(), QByteArray::number(size).constData());
    }
    scratch.write("o.gguf", "GGU");
    QVERIFY(!bad_input_of([&] { WeightFiles::open(path); }, path).empty());
  }

  void a_file_that_becomes_shorter_is_an_error_of_who_reads() {
    const Scratch scratch;
    const std::string whole = with_data(GgufBytes().tensor("w", {256, 8}, kQ4_K, 1152)),
                      path = scratch.write("x.gguf", whole);
    const auto files = WeightFiles::open(path);
    QVERIFY(files->changes().empty());
    std::filesystem::resize_file(path, whole.size() - 200);
    QCOMPARE(files->changes().size(), size_t{1});
    try {
      stored_text(*files, "w");
      QFAIL("a file that became shorter was read");
    } catch (const Error& error) {
      QVERIFY(error.kind() == ErrorKind::failed);
    }
  }
};

STORMCELL_TEST(GgufWeightsTest)
#include "gguf_weights_test.moc"
