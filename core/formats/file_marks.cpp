// Marks in bytes; those in text are in text_marks.cpp.
#include "core/formats/file_marks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "core/formats/file_text.h"
#include "core/formats/torch_file.h"

namespace stormcell {
namespace {

using namespace std::string_view_literals;

template <class T>
std::optional<T> number_at(std::string_view bytes, uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<int32_t> big_endian_at(std::string_view bytes, size_t at) {
  if (bytes.size() < at + 4) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return static_cast<int32_t>(value);
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// A CRC with Castagnoli's polynomial, masked as in TFRecord.
uint32_t masked_crc(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) ? 0x82f63b78 : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

/// Reads keys of a GGUF header and their texts, as far as the head of the file goes.
class GgufKeys {
 public:
  explicit GgufKeys(std::string_view head) : head_(head) {
    if (!head.starts_with("GGUF")) return;
    const auto version = number_at<uint32_t>(head, 4);
    const auto pairs = number_at<uint64_t>(head, 16);
    if (!version || (*version != 2 && *version != 3) || !pairs) return;
    at_ = 24;
    for (uint64_t i = 0; i < *pairs && read_pair(); ++i) {
    }
  }
  bool is_matrix() const { return is_matrix_; }
  std::string_view architecture() const { return architecture_; }
  std::string_view type() const { return type_; }

 private:
  bool read_pair() {
    std::string_view key, text;
    if (!take_text(key)) return false;
    const auto type = number_at<uint32_t>(head_, at_);
    if (!type) return false;
    at_ += 4;
    is_matrix_ |= key.starts_with("imatrix.");
    if (*type == kText) {
      if (!take_text(text)) return false;
      is_matrix_ |= key == "general.type" && text == "imatrix";
      if (key == "general.architecture") architecture_ = text;
      if (key == "general.type") type_ = text;
      return true;
    }
    return *type == kList ? skip_list() : skip(size_of(*type));
  }
  bool skip_list() {
    const auto type = number_at<uint32_t>(head_, at_);
    const auto count = number_at<uint64_t>(head_, at_ + 4);
    if (!type || !count || *type == kList) return false;
    at_ += 12;
    if (*count == 0) return true;
    if (*type != kText) return *count <= head_.size() && skip(*count * size_of(*type));
    std::string_view ignored;
    for (uint64_t i = 0; i < *count; ++i)
      if (!take_text(ignored)) return false;
    return true;
  }
  bool take_text(std::string_view& text) {
    const auto size = number_at<uint64_t>(head_, at_);
    if (!size || *size > head_.size() - at_ - 8) return false;
    text = head_.substr(at_ + 8, *size);
    at_ += 8 + *size;
    return true;
  }
  bool skip(uint64_t size) {
    if (size == 0 || size > head_.size() - at_) return false;
    at_ += size;
    return true;
  }
  static uint64_t size_of(uint32_t type) {
    constexpr std::array<uint64_t, 13> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < kSizes.size() ? kSizes[type] : 0;
  }

  static constexpr uint32_t kText = 8, kList = 9;
  std::string_view head_, architecture_, type_;
  uint64_t at_ = 0;
  bool is_matrix_ = false;
};

}  // namespace

bool has_in_name(const FileLook& look, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view p) { return look.name.find(p) != std::string::npos; });
}

bool name_ends(const FileLook& look, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view e) { return look.name.ends_with(e); });
}

bool holds(const FileLook& look, std::string_view text) {
  return look.head.find(text) != std::string_view::npos || look.tail.find(text) != std::string_view::npos;
}

bool is_all_zeros(const FileLook& look) {
  const auto zeros = [](std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
  };
  return look.size >= 16 && zeros(look.head) && zeros(look.tail);
}

bool is_tar(const FileLook& look) {
  constexpr size_t kBlock = 512, kSumAt = 148, kSumSize = 8;
  if (look.head.size() < kBlock || look.head[0] == '\0') return false;
  uint32_t sum = 0, told = 0;
  for (size_t i = 0; i < kBlock; ++i)
    sum += i >= kSumAt && i < kSumAt + kSumSize ? uint32_t{' '} : static_cast<uint8_t>(look.head[i]);
  for (const char c : look.head.substr(kSumAt, kSumSize))
    if (c >= '0' && c <= '7') told = told * 8 + static_cast<uint32_t>(c - '0');
  return sum == told;
}

// A safetensors file whose header has 40,056 or 55,928 bytes begins with the same two bytes.
bool is_zlib(const FileLook& look) {
  return (look.head.starts_with("x\x9c") || look.head.starts_with("x\xda")) && !is_safetensors(look);
}

bool is_pickle(const FileLook& look) {
  constexpr std::string_view kNext = "}])(cKMJXNGqUTBChV\x88\x89\x8a\x8c\x8d\x8e\x95";
  const std::string_view head = look.head;
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
    return kNext.find(head[2]) != std::string_view::npos;
  // Pickles of protocols 0 and 1 have no number at the beginning; both end with a point.
  if (!look.tail.ends_with('.')) return false;
  for (const std::string_view begin :
       {"(dp"sv, "(lp"sv, "ccopy_reg\n"sv, "cnumpy"sv, "}q\0"sv, "]q\0"sv, "ccollections\n"sv})
    if (head.starts_with(begin)) return true;
  return false;
}

bool is_sglang_torch(const FileLook& look) {
  return TorchFile::is_one(look.head) && (holds(look, "logical_count") || holds(look, "last_physical_to_logical_map") ||
                                          (holds(look, "records") && holds(look, "forward_pass_id")));
}

bool is_safetensors(const FileLook& look) {
  constexpr uint64_t kMostHeader = 100'000'000;
  const auto size = number_at<uint64_t>(look.head, 0);
  return size && *size >= 2 && *size <= kMostHeader && look.head.size() > 9 && look.head[8] == '{' &&
         (look.head[9] == '"' || look.head[9] == '}' || look.head[9] == ' ' || look.head[9] == '\n');
}

bool is_rank_counts(const FileLook& look) {
  if (!is_safetensors(look)) return false;
  const JsonOutline header = outline_json(look.head.substr(8));
  bool is_some = false;
  for (const std::string_view key : header.keys) {
    if (key == "__metadata__") continue;
    const size_t line = key.find('_');
    const auto is_number = [](std::string_view s) {
      return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (line == std::string_view::npos || !is_number(key.substr(0, line)) || !is_number(key.substr(line + 1)))
      return false;
    is_some = true;
  }
  return is_some;
}

bool is_imatrix_header(std::string_view content) { return GgufKeys(content.substr(0, kLookedAt)).is_matrix(); }

bool is_gguf_adapter(const FileLook& look) { return GgufKeys(look.head).type() == "adapter"; }

bool is_gguf_projector(const FileLook& look) {
  const GgufKeys keys(look.head);
  return keys.type() == "mmproj" || keys.architecture() == "clip";
}

std::string gguf_detail(const FileLook& look) {
  const std::string_view of = GgufKeys(look.head).architecture();
  return of.empty() || of.size() > 40 || !is_printable(of) ? std::string() : " of " + std::string(of);
}

// The format: i32 entries; for each entry i32 length, name, i32 calls, i32 values, f32 values.
bool is_imatrix_dat(const FileLook& look) {
  const auto entries = number_at<int32_t>(look.head, 0), length = number_at<int32_t>(look.head, 4);
  if (!entries || !length || *entries < 1 || *entries > 1'000'000 || *length < 4 || *length > 256) return false;
  const std::string_view name = look.head.substr(8, *length);
  return name.size() == static_cast<size_t>(*length) && is_printable(name) &&
         (name.ends_with(".weight") || name.starts_with("blk."));
}

// Protobuf: ir_version, then the producer's name and another field.
bool is_onnx(const FileLook& look) {
  const std::string_view head = look.head;
  if (head.size() < 4 || head[0] != 8 || head[1] < 1 || head[1] > 30) return false;
  // Some writers leave the producer out, and the graph or the versions of operators follow.
  if (head[2] != 0x12) return name_ends(look, {".onnx"}) && (head[2] == 0x3a || head[2] == 0x42);
  const uint8_t length = head[3];
  if (length == 0 || length > 100 || head.size() < 5u + length) return false;
  constexpr std::string_view kNext = "\x1a\x22\x28\x32\x3a\x42";
  return is_printable(head.substr(4, length)) && kNext.find(head[4 + length]) != std::string_view::npos;
}

bool is_tf_record(const FileLook& look) {
  const auto crc = number_at<uint32_t>(look.head, 8);
  return crc && *crc == masked_crc(look.head.substr(0, 8));
}

// Protobuf: the first piece {text, score f32}.
bool is_sentencepiece(const FileLook& look) {
  const std::string_view head = look.head;
  if (head.size() < 8 || head[0] != '\n' || head[2] != '\n') return false;
  const auto piece = static_cast<uint8_t>(head[1]), text = static_cast<uint8_t>(head[3]);
  return text > 0 && text < 100 && text + 2 <= piece && head.size() > 4u + text && head[4 + text] == 0x15;
}

bool is_session_database(const FileLook& look) {
  constexpr size_t kVersionAt = 60, kIdAt = 68;
  return look.head.starts_with("SQLite format 3\0"sv) && big_endian_at(look.head, kIdAt) == kSessionApplicationId &&
         big_endian_at(look.head, kVersionAt).value_or(0) > 0;
}

std::string session_detail(const FileLook& look) {
  return " of schema " + std::to_string(big_endian_at(look.head, 60).value_or(0));
}

bool is_media_brand(const FileLook& look, std::initializer_list<std::string_view> brands) {
  return look.head.size() >= 12 && look.head.substr(4, 4) == "ftyp" &&
         std::any_of(brands.begin(), brands.end(),
                     [&](std::string_view b) { return look.head.substr(8).starts_with(b); });
}

bool is_transport_stream(const FileLook& look) {
  constexpr size_t kPacket = 188;
  return look.head.size() > 2 * kPacket && look.head[0] == 'G' && look.head[kPacket] == 'G' &&
         look.head[2 * kPacket] == 'G';
}

}  // namespace stormcell
