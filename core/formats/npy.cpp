#include "core/formats/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/gzip_file.h"
#include "core/formats/open_file.h"
#include "core/formats/whole_number.h"

namespace stormcell {
namespace {
constexpr std::string_view kSaveAgain = "save it again with numpy.save";

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// The header is a Python literal: {'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  std::optional<Header> parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take("{")) return {};
    while (!take("}")) {
      const auto key = text();
      if (!key || !take(":")) return {};
      if (*key == "descr" && !has_descr) {
        const auto descr = text();
        if (!descr) return {};
        header.descr = *descr;
        has_descr = true;
      } else if (*key == "fortran_order" && !has_order) {
        header.fortran_order = take("True");
        if (!header.fortran_order && !take("False")) return {};
        has_order = true;
      } else if (*key == "shape" && !has_shape) {
        if (!shape(header.shape)) return {};
        has_shape = true;
      } else {
        return {};
      }
      if (!take(",") && !at("}")) return {};
    }
    skip_space();
    if (!rest_.empty() || !has_descr || !has_order || !has_shape) return {};
    return header;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool at(std::string_view word) {
    skip_space();
    return rest_.starts_with(word);
  }
  bool take(std::string_view word) {
    if (!at(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> text() {
    skip_space();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return {};
    const size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return {};
    std::string value(rest_.substr(1, end - 1));
    if (value.find('\\') != std::string::npos) return {};
    rest_.remove_prefix(end + 1);
    return value;
  }
  bool shape(std::vector<int64_t>& sizes) {
    if (!take("(")) return false;
    while (!take(")")) {
      skip_space();
      int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || size < 0 || sizes.size() == 32) return false;  // NumPy allows 32 dimensions
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      sizes.push_back(size);
      if (!take(",") && !at(")")) return false;
    }
    return true;
  }

  std::string_view rest_;
};

std::optional<DType> parse_descr(std::string_view descr) {
  struct Named {
    std::string_view descr;
    DType type;
  };
  static constexpr Named kTypes[] = {{"<i4", DType::i32}, {"<i8", DType::i64}, {"<f4", DType::f32},
                                     {"|u1", DType::u8},  {"|i1", DType::i8},  {"<i2", DType::i16},
                                     {"<u2", DType::u16}, {"<u4", DType::u32}, {"<u8", DType::u64}};
  for (const Named& named : kTypes)
    if (named.descr == descr) return named.type;
  return {};
}

using ReadAt = std::function<void(size_t, std::span<std::byte>)>;

/// Reads the header's text; `data_begin` is where the data start.
std::string header_text(const ReadAt& read, size_t file_size, const std::string& path, size_t& data_begin) {
  std::string first(std::min(size_t{12}, file_size), '\0');  // magic, version, and at most four bytes of a size
  read(0, std::as_writable_bytes(std::span(first)));
  if (first.empty()) bad_input(path, "is empty", kSaveAgain);
  if (!first.starts_with(kNpyMagic)) {
    std::string head(std::min(kLookedAt, file_size), '\0');  // by `read`: the file itself may be packed
    read(0, std::as_writable_bytes(std::span(head)));
    refuse_other_kind(path, head, FileUse::array);
  }
  if (!first.starts_with(kNpyMagic)) bad_input(path, "is no .npy file", kSaveAgain);
  if (first.size() < 10) bad_input(path, "is truncated", kSaveAgain);
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(first[i])); };
  const size_t version = byte(6);
  if (version < 1 || version > 3)
    bad_input(path, "has version " + std::to_string(version) + " of the format, 1 to 3 are known", kSaveAgain);
  const size_t size_bytes = version == 1 ? 2 : 4;
  if (first.size() < 8 + size_bytes) bad_input(path, "is truncated", kSaveAgain);
  size_t size = 0;
  for (size_t i = 0; i < size_bytes; ++i) size |= byte(8 + i) << (8 * i);
  constexpr size_t kMaxHeader = 1 << 20;
  if (size > kMaxHeader) bad_input(path, "its header would have " + std::to_string(size) + " bytes", kSaveAgain);
  data_begin = 8 + size_bytes + size;
  if (data_begin > file_size) bad_input(path, "is truncated in its header", kSaveAgain);
  std::string text(size, '\0');
  read(8 + size_bytes, std::as_writable_bytes(std::span(text)));
  return text;
}
}  // namespace

NpyHeader read_npy_header(const ReadAt& read, size_t size, const std::string& path, NpyTypes types, NpyOrders orders) {
  NpyHeader out;
  const std::string text = header_text(read, size, path, out.data_begin);
  std::optional<Header> header = HeaderParser(text).parse();
  if (!header) bad_input(path, "its header is not that of an .npy file: " + in_quotes(text), kSaveAgain);
  const auto type = parse_descr(header->descr);
  if (types == NpyTypes::whole && (!type || !is_whole_type(*type)))
    bad_input(path,
              "holds " + in_quotes(header->descr) + ", expected whole numbers of 1 to 8 bytes ('<i4', '<i8', ...)",
              header->descr.find('f') == std::string::npos
                  ? "numpy.save(FILE, array.astype('<i4'))"
                  : "save the numbers of the chosen experts, not their scores: take the top-k first");
  if (!type)
    bad_input(
        path,
        "holds " + in_quotes(header->descr) + ", expected whole numbers of 1 to 8 bytes ('<i4', '<i8', ...) or '<f4'",
        // Reals must not become integers.
        header->descr.find('f') == std::string::npos ? "numpy.save(FILE, array.astype('<i4'))"
                                                     : "numpy.save(FILE, array.astype('<f4'))");
  out.first_index_runs = header->fortran_order && header->shape.size() > 1;
  if (out.first_index_runs && orders == NpyOrders::c)
    bad_input(path, "is in Fortran order", "numpy.save(FILE, numpy.ascontiguousarray(array))");
  out.dtype = *type;
  out.shape = std::move(header->shape);
  size_t expected = element_size(*type);
  for (const int64_t extent : out.shape)
    if (__builtin_mul_overflow(expected, static_cast<size_t>(extent), &expected))
      bad_input(path, "its shape has more than 2^64 bytes", kSaveAgain);
  out.data_bytes = size - out.data_begin;
  if (out.data_bytes != expected)
    bad_input(path,
              "its shape takes " + counted(static_cast<int64_t>(expected), "byte") + ", " +
                  counted(static_cast<int64_t>(out.data_bytes), "is", "are") + " there" +
                  (out.data_bytes < expected ? " (it may be truncated)" : ""),
              kSaveAgain);
  return out;
}

NpyHeader read_npy_header(std::string_view bytes, const std::string& where, NpyTypes types, NpyOrders orders) {
  return read_npy_header(
      [&](size_t at, std::span<std::byte> to) { std::memcpy(to.data(), bytes.data() + at, to.size()); }, bytes.size(),
      where, types, orders);
}

NpyArray open_npy(const std::string& path, const Progress& progress, NpyTypes types) {
  const auto file = std::make_shared<const OpenFile>(open_unpacked(path, progress));
  NpyHeader header =
      read_npy_header([&](size_t at, std::span<std::byte> to) { file->read(at, to); }, file->size(), path, types);
  return {header.dtype, std::move(header.shape), FileRange(file, header.data_begin, header.data_bytes)};
}

}  // namespace stormcell
