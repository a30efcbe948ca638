#include "core/formats/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;

constexpr std::array<std::pair<DType, std::string_view>, 15> kNames = {{{DType::f32, "F32"},
                                                                        {DType::f16, "F16"},
                                                                        {DType::bf16, "BF16"},
                                                                        {DType::f64, "F64"},
                                                                        {DType::f8_e4m3, "F8_E4M3"},
                                                                        {DType::f8_e5m2, "F8_E5M2"},
                                                                        {DType::i8, "I8"},
                                                                        {DType::u8, "U8"},
                                                                        {DType::i16, "I16"},
                                                                        {DType::u16, "U16"},
                                                                        {DType::i32, "I32"},
                                                                        {DType::u32, "U32"},
                                                                        {DType::i64, "I64"},
                                                                        {DType::u64, "U64"},
                                                                        {DType::boolean, "BOOL"}}};

constexpr std::string_view kGetAgain = "get the file again or write it again with a safetensors library";

std::optional<DType> parse_name(std::string_view name) {
  for (const auto& [type, text] : kNames)
    if (text == name) return type;
  return {};
}

// A count in a header: a JSON integer in [0, 2^63).
std::optional<int64_t> count_of(const Json& value) {
  if (!value.is_number_integer()) return {};
  if (value.is_number_unsigned()) {
    const auto v = value.get<uint64_t>();
    if (v > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return {};
    return static_cast<int64_t>(v);
  }
  const auto v = value.get<int64_t>();
  if (v < 0) return {};
  return v;
}

class EntryParser {
 public:
  EntryParser(const std::string& where, const std::string& name, int64_t data_bytes)
      : where_(where), tensor_("tensor " + in_quotes(name)), data_bytes_(data_bytes) {}

  SafetensorsEntry parse(const std::string& name, const Json& value) const {
    if (!value.is_object()) refuse("expected an object with dtype, shape and data_offsets");
    for (const auto& [key, unused] : value.items())
      if (key != "dtype" && key != "shape" && key != "data_offsets") refuse("has the unknown key " + in_quotes(key));
    SafetensorsEntry entry;
    entry.name = name;
    entry.dtype = dtype(value);
    entry.shape = shape(value);
    std::tie(entry.begin, entry.end) = offsets(value);
    const int64_t expected = bytes_of(entry), stored = entry.end - entry.begin;
    if (expected != stored)
      refuse("the shape " + shape_text(entry.shape) + " of " + std::string(safetensors_dtype_name(entry.dtype)) +
             " takes " + counted(static_cast<int64_t>(expected), "byte") + ", its data_offsets hold " +
             std::to_string(stored));
    return entry;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { bad_input(where_, tensor_ + ": " + what, kGetAgain); }

  const Json& member(const Json& value, const char* key) const {
    const auto it = value.find(key);
    if (it == value.end()) refuse(std::string("has no ") + key);
    return *it;
  }
  DType dtype(const Json& value) const {
    const Json& text = member(value, "dtype");
    if (!text.is_string()) refuse("dtype is not a text");
    const auto& name = text.get_ref<const std::string&>();
    const auto type = parse_name(name);
    if (!type)
      bad_input(where_, tensor_ + ": unknown dtype " + in_quotes(name),
                "F32 F16 BF16 F64 F8_E4M3 F8_E5M2 I8 U8 I16 U16 I32 U32 I64 U64 BOOL can be read");
    return *type;
  }
  std::vector<int64_t> shape(const Json& value) const {
    const Json& list = member(value, "shape");
    if (!list.is_array()) refuse("shape is not a list");
    std::vector<int64_t> shape;
    for (const Json& size : list) {
      const auto count = count_of(size);
      if (!count) refuse("the shape holds " + in_quotes(size.dump()) + ", expected a count from 0 to 2^63 - 1");
      shape.push_back(*count);
    }
    return shape;
  }
  std::pair<int64_t, int64_t> offsets(const Json& value) const {
    const Json& list = member(value, "data_offsets");
    if (!list.is_array() || list.size() != 2) refuse("data_offsets is not a pair");
    const auto begin = count_of(list[0]), end = count_of(list[1]);
    if (!begin || !end) refuse("data_offsets are not two counts");
    if (*end < *begin) refuse("its data ends before it begins");
    if (*end > data_bytes_)
      refuse("its data ends at byte " + std::to_string(*end) + ", the file holds " + std::to_string(data_bytes_) +
             " bytes of data (it may be truncated)");
    return {*begin, *end};
  }
  int64_t bytes_of(const SafetensorsEntry& entry) const {
    int64_t bytes = element_size(entry.dtype);
    // Also an empty tensor must have sizes whose product is a number: readers may multiply them in any order.
    for (const int64_t size : entry.shape)
      if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes))
        refuse("the shape " + shape_text(entry.shape) + " has more than 2^63 bytes");
    if (std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end()) return 0;
    return bytes;
  }

  const std::string& where_;
  std::string tensor_;
  int64_t data_bytes_;
};

std::map<std::string, std::string> parse_metadata(const Json& value, const std::string& where) {
  std::map<std::string, std::string> metadata;
  if (value.is_null()) return metadata;  // some writers have none and say so
  if (!value.is_object()) bad_input(where, "__metadata__ is not an object", kGetAgain);
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) bad_input(where, "__metadata__: " + in_quotes(key) + " is not a text", kGetAgain);
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

void check_coverage(const std::vector<SafetensorsEntry>& entries, int64_t data_bytes, const std::string& where) {
  std::vector<const SafetensorsEntry*> by_place;
  by_place.reserve(entries.size());
  for (const SafetensorsEntry& entry : entries) by_place.push_back(&entry);
  std::sort(by_place.begin(), by_place.end(),
            [](const auto* a, const auto* b) { return std::tie(a->begin, a->end) < std::tie(b->begin, b->end); });
  int64_t at = 0;
  for (const SafetensorsEntry* entry : by_place) {
    if (entry->begin < at)
      bad_input(where, "tensor " + in_quotes(entry->name) + ": its data overlaps that of another tensor", kGetAgain);
    if (entry->begin > at)
      bad_input(where,
                "tensor " + in_quotes(entry->name) + ": there is a hole of " +
                    counted(static_cast<int64_t>(entry->begin - at), "byte") + " before its data",
                kGetAgain);
    at = entry->end;
  }
  if (at != data_bytes)
    bad_input(where,
              counted(static_cast<int64_t>(data_bytes - at), "byte at its end belongs", "bytes at its end belong") +
                  " to no tensor",
              kGetAgain);
}
}  // namespace

std::string_view safetensors_dtype_name(DType type) {
  for (const auto& [known, text] : kNames)
    if (known == type) return text;
  return "?";
}

size_t safetensors_header_size(std::span<const std::byte> first, size_t file_bytes, const std::string& where) {
  uint64_t size = 0;
  if (!first.empty()) std::memcpy(&size, first.data(), std::min(first.size(), sizeof size));
  if (file_bytes < sizeof size)
    bad_input(where, "is truncated: " + counted(static_cast<int64_t>(file_bytes), "byte"), kGetAgain);
  if (size > kMaxSafetensorsHeader)
    bad_input(where,
              "its header would have " + std::to_string(size) + " bytes, at most " +
                  std::to_string(kMaxSafetensorsHeader) + " are allowed",
              "check that it is a safetensors file");
  if (size > file_bytes - sizeof size)
    bad_input(where,
              "is truncated: the header needs " + std::to_string(size) + " bytes, " +
                  std::to_string(file_bytes - sizeof size) + " are there",
              kGetAgain);
  return size;
}

SafetensorsHeader parse_safetensors_header(std::string_view json, int64_t data_bytes, const std::string& where) {
  if (json.empty() || json.front() != '{')
    bad_input(where, "its header does not begin with {", "check that it is a safetensors file");
  const JsonLimits limits{.bytes = kMaxSafetensorsHeader, .depth = 4};
  const Json root = parse_json_text(json, where + ": header", limits);
  SafetensorsHeader header;
  header.entries.reserve(root.size());
  for (const auto& [name, value] : root.items()) {
    if (name == "__metadata__")
      header.metadata = parse_metadata(value, where);
    else
      header.entries.push_back(EntryParser(where, name, data_bytes).parse(name, value));
  }
  // nlohmann's objects are ordered by key, bytewise: so are the entries.
  check_coverage(header.entries, data_bytes, where);
  return header;
}

}  // namespace stormcell
