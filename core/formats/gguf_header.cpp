// docs/gguf.md of ggml: magic, version, counts, key-value pairs, descriptions of tensors, padding to the alignment,
// data.
#include "core/formats/gguf_header.h"

#include <algorithm>
#include <array>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"
#include "core/formats/open_file.h"

namespace stormcell {
namespace {

struct GgufType {
  enum : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64, count };
};
constexpr std::array<uint64_t, GgufType::count> kGgufSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr int64_t kGgufAlignment = 32, kMostGgufAlignment = 1 << 20;
constexpr uint64_t kMostGgufDims = 4, kMostGgufPairs = 65536, kMostGgufTensors = 1'000'000, kMostGgufKey = 65535,
                   kMostGgufText = uint64_t{4} << 20, kMostGgufTexts = uint64_t{16} << 20, kMostGgufNumbers = 4096,
                   kMostGgufWords = uint64_t{1} << 24, kMostGgufHeader = uint64_t{512} << 20,
                   kMostGgufElements = uint64_t{1} << 48;

// ggml.h and ggml-common.h of llama.cpp: elements and bytes of a block.
constexpr std::array kGgmlTypes = {
    GgmlType{0, "F32", 1, 4},         GgmlType{1, "F16", 1, 2},         GgmlType{2, "Q4_0", 32, 18},
    GgmlType{3, "Q4_1", 32, 20},      GgmlType{6, "Q5_0", 32, 22},      GgmlType{7, "Q5_1", 32, 24},
    GgmlType{8, "Q8_0", 32, 34},      GgmlType{9, "Q8_1", 32, 40},      GgmlType{10, "Q2_K", 256, 84},
    GgmlType{11, "Q3_K", 256, 110},   GgmlType{12, "Q4_K", 256, 144},   GgmlType{13, "Q5_K", 256, 176},
    GgmlType{14, "Q6_K", 256, 210},   GgmlType{15, "Q8_K", 256, 292},   GgmlType{16, "IQ2_XXS", 256, 66},
    GgmlType{17, "IQ2_XS", 256, 74},  GgmlType{18, "IQ3_XXS", 256, 98}, GgmlType{19, "IQ1_S", 256, 50},
    GgmlType{20, "IQ4_NL", 32, 18},   GgmlType{21, "IQ3_S", 256, 110},  GgmlType{22, "IQ2_S", 256, 82},
    GgmlType{23, "IQ4_XS", 256, 136}, GgmlType{24, "I8", 1, 1},         GgmlType{25, "I16", 1, 2},
    GgmlType{26, "I32", 1, 4},        GgmlType{27, "I64", 1, 8},        GgmlType{28, "F64", 1, 8},
    GgmlType{29, "IQ1_M", 256, 56},   GgmlType{30, "BF16", 1, 2},       GgmlType{34, "TQ1_0", 256, 54},
    GgmlType{35, "TQ2_0", 256, 66},   GgmlType{39, "MXFP4", 32, 17},    GgmlType{40, "NVFP4", 64, 36},
    GgmlType{41, "Q1_0", 128, 18},
};

class GgufHeaderReader {
 public:
  GgufHeaderReader(HeaderBytes& bytes, const std::function<void(GgufPlace&&)>& see, GgufListTaker* taker)
      : bytes_(bytes), see_(see), taker_(taker) {}

  GgufHeader read() {
    if (bytes_.rest() < 4 || !is_gguf(bytes_.take_text(4, 4))) wrong("does not begin as GGUF does");
    header_.version = bytes_.take<uint32_t>();
    if (header_.version >> 24 != 0) wrong("is big-endian, and this program reads little-endian files");
    if (header_.version != 2 && header_.version != 3)
      wrong("is of version " + std::to_string(header_.version) + ", 2 and 3 are known");
    header_.tensors = bytes_.take<uint64_t>();
    const auto pairs = bytes_.take<uint64_t>();
    if (pairs > kMostGgufPairs) wrong("would have " + std::to_string(pairs) + " keys");
    if (header_.tensors > kMostGgufTensors) wrong("would have " + std::to_string(header_.tensors) + " tensors");
    for (uint64_t i = 0; i < pairs; ++i) read_pair();
    for (uint64_t i = 0; i < header_.tensors; ++i) read_tensor();
    const int64_t stated = header_.keys.number("general.alignment").value_or(kGgufAlignment);
    if (stated <= 0 || stated > kMostGgufAlignment) wrong("its alignment is " + std::to_string(stated));
    const auto alignment = static_cast<uint64_t>(stated);
    header_.data_begin = (bytes_.at() + alignment - 1) / alignment * alignment;
    return std::move(header_);
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const { bad_input(bytes_.where(), what, "get the file again"); }

  std::string take_text() {
    const auto size = bytes_.take<uint64_t>();
    std::string text = bytes_.take_text(size, kMostGgufText);
    texts_ += text.size();
    if (texts_ > kMostGgufTexts)
      wrong("has more than " + with_commas(kMostGgufTexts) + " bytes of texts in its header");
    return text;
  }
  std::string take_key() {
    if (bytes_.at() > kMostGgufHeader) wrong("has a header of more than " + with_commas(kMostGgufHeader) + " bytes");
    const auto size = bytes_.take<uint64_t>();
    std::string key = bytes_.take_text(size, kMostGgufKey);
    texts_ += key.size();
    return key;
  }

  int64_t take_whole(uint32_t type) {
    switch (type) {
      case GgufType::u8:
      case GgufType::boolean:
        return bytes_.take<uint8_t>();
      case GgufType::i8:
        return bytes_.take<int8_t>();
      case GgufType::u16:
        return bytes_.take<uint16_t>();
      case GgufType::i16:
        return bytes_.take<int16_t>();
      case GgufType::u32:
        return bytes_.take<uint32_t>();
      case GgufType::i32:
        return bytes_.take<int32_t>();
      default:
        return static_cast<int64_t>(bytes_.take<uint64_t>());
    }
  }

  double take_number(uint32_t type) {
    if (type == GgufType::f32) return static_cast<double>(bytes_.take<float>());
    if (type == GgufType::f64) return bytes_.take<double>();
    return static_cast<double>(take_whole(type));
  }

  void read_pair() {
    const std::string key = take_key();
    const auto type = bytes_.take<uint32_t>();
    if (type == GgufType::text) {
      header_.keys.texts[key] = take_text();
    } else if (type == GgufType::list) {
      header_.keys.lists[key] = take_list(key);
    } else if (type == GgufType::f32) {
      header_.keys.reals[key] = bytes_.take<float>();
    } else if (type == GgufType::f64) {
      header_.keys.reals[key] = bytes_.take<double>();
    } else if (type < GgufType::count) {
      header_.keys.numbers[key] = take_whole(type);
    } else {
      wrong(in_quotes(key) + " is of a type that is not known");
    }
  }

  GgufList take_list(const std::string& key) {
    const auto of = bytes_.take<uint32_t>();
    GgufList found{.count = bytes_.take<uint64_t>()};
    if (of >= GgufType::count || of == GgufType::list) wrong(in_quotes(key) + " is a list of an unknown type");
    const bool is_taken = taker_ && taker_->takes(key);
    if (of == GgufType::text) {
      if (found.count > kMostGgufWords) wrong(in_quotes(key) + " would have " + std::to_string(found.count) + " texts");
      for (uint64_t i = 0; i < found.count; ++i) {
        if (is_taken)
          taker_->text(key, bytes_.take_text(bytes_.take<uint64_t>(), kMostGgufText));
        else if (i == 0)
          found.first = take_text();
        else
          bytes_.skip(bytes_.take<uint64_t>());
      }
      return found;
    }
    if (found.count > bytes_.rest() / kGgufSizes[of]) wrong(in_quotes(key) + " is longer than the file");
    if (is_taken) {
      for (uint64_t i = 0; i < found.count; ++i) taker_->number(key, take_number(of));
      return found;
    }
    uint64_t left = found.count;
    if (of != GgufType::f32 && of != GgufType::f64)
      for (; left > 0 && found.numbers.size() < kMostGgufNumbers; --left) found.numbers.push_back(take_whole(of));
    bytes_.skip(left * kGgufSizes[of]);
    return found;
  }

  void read_tensor() {
    GgufPlace place;
    place.name = bytes_.take_text(bytes_.take<uint64_t>(), kMostGgufKey);
    const auto dims = bytes_.take<uint32_t>();
    if (dims == 0 || dims > kMostGgufDims)
      wrong(in_quotes(place.name) + " has " + std::to_string(dims) + " dimensions");
    uint64_t elements = 1;
    for (uint32_t d = 0; d < dims; ++d) {
      const auto n = bytes_.take<uint64_t>();
      if (n == 0 || n > kMostGgufElements || elements > kMostGgufElements / n)
        wrong(in_quotes(place.name) + " has an impossible size");
      elements *= n;
      place.dims.push_back(static_cast<int64_t>(n));
    }
    place.type = bytes_.take<uint32_t>();
    place.offset = bytes_.take<uint64_t>();
    see_(std::move(place));
  }

  HeaderBytes& bytes_;
  const std::function<void(GgufPlace&&)>& see_;
  GgufListTaker* const taker_;  // null: lists are passed over
  GgufHeader header_;
  uint64_t texts_ = 0;  ///< bytes of all texts that are kept
};

}  // namespace

const GgmlType* ggml_type(uint32_t id) {
  const auto row = std::find_if(kGgmlTypes.begin(), kGgmlTypes.end(), [&](const GgmlType& t) { return t.id == id; });
  return row == kGgmlTypes.end() ? nullptr : &*row;
}

std::string_view GgufEntries::text(std::string_view key) const {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<int64_t> GgufEntries::number(std::string_view key) const {
  const auto found = numbers.find(key);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::optional<uint64_t> GgufPlace::bytes() const {
  const GgmlType* row = ggml_type(type);
  if (!row || dims.empty() || dims[0] % row->block_elements != 0) return std::nullopt;
  uint64_t blocks = static_cast<uint64_t>(dims[0]) / static_cast<uint64_t>(row->block_elements);
  for (size_t d = 1; d < dims.size(); ++d) blocks *= static_cast<uint64_t>(dims[d]);
  return blocks * static_cast<uint64_t>(row->block_bytes);
}

GgufHeader read_gguf_header(HeaderBytes& bytes, const std::function<void(GgufPlace&&)>& see, GgufListTaker* taker) {
  return GgufHeaderReader(bytes, see, taker).read();
}

bool has_gguf_mark(const std::string& path) {
  constexpr std::string_view kMark = "GGUF";
  const OpenFile file = OpenFile::open_regular(path);
  HeaderBytes bytes(file);
  return bytes.rest() >= kMark.size() && is_gguf(bytes.take_text(kMark.size(), kMark.size()));
}

}  // namespace stormcell
