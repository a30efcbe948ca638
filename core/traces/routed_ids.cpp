#include "core/traces/routed_ids.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/formats/base64.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/npy.h"
#include "core/formats/safetensors.h"
#include "core/formats/whole_number.h"
#include "core/traces/id_encodings.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

class RoutedIdsReader {
 public:
  RoutedIdsReader(const std::string& name, const JsonRow& row) : name_(name), row_(row) {}

  RoutedIds read(const Json& value) {
    if (value.is_null()) return {};
    out_.there = true;
    if (value.is_string())
      read_base64(value.get_ref<const std::string&>());
    else if (value.is_array())
      read_lists(value);
    else if (value.is_object())
      read_object(value);
    else
      wrong("is neither base64 nor a list [tokens][layers][k]");
    return std::move(out_);
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const { row_.wrong(name_ + " " + what); }

  /// Encoders for mail and the program base64 break their output into lines.
  std::string decoded(std::string text) const {
    std::erase_if(text, [](char c) { return c == '\n' || c == '\r'; });
    std::optional<std::string> bytes = decode_base64(text);
    if (!bytes)
      wrong("is not base64 of int32 or of an .npy: it begins with " + in_quotes(std::string_view(text).substr(0, 12)) +
            looks_like(text_encoding_like(text)));
    return std::move(*bytes);
  }

  void read_base64(const std::string& text) {
    if (text.empty()) {
      out_.there = false;  // an answer without routed experts
      return;
    }
    const std::string bytes = decoded(text);
    if (bytes.starts_with(kNpyMagic)) return read_npy(bytes);
    if (bytes.size() % sizeof(int32_t))
      wrong("is not base64 of int32: it has " + std::to_string(bytes.size()) + " bytes" +
            looks_like(id_type_like(bytes)));
    out_.like_int64 = is_like_int64(bytes);
    for (size_t at = 0; at < bytes.size(); at += sizeof(int32_t)) {
      const int64_t id = whole_number_at(reinterpret_cast<const std::byte*>(bytes.data() + at), DType::i32, 0);
      if (id < -1 || id >= kMostTracedBranches)
        wrong("is not base64 of int32: it names expert " + std::to_string(id) + looks_like(id_type_like(bytes)));
    }
    take(bytes, DType::i32);
  }
  static std::string looks_like(std::string_view other) {
    return other.empty() ? "" : ", and looks like " + std::string(other);
  }

  void read_npy(const std::string& bytes) {
    const NpyHeader header = read_npy_header(bytes, row_.place() + ": " + name_, NpyTypes::whole, NpyOrders::any);
    set_shape(header.shape);
    take(std::string_view(bytes).substr(header.data_begin), header.dtype);
    if (header.first_index_runs) sort_by_token();
  }
  /// Puts ids in Fortran order, in which tokens run fastest, into the order of tokens, layers and choices.
  void sort_by_token() {
    std::vector<int32_t> by_token;
    by_token.reserve(out_.ids.size());
    for (int64_t token = 0; token < out_.rows; ++token)
      for (int64_t layer = 0; layer < out_.layers; ++layer)
        for (int64_t choice = 0; choice < out_.width; ++choice)
          by_token.push_back(out_.ids[token + out_.rows * (layer + out_.layers * choice)]);
    out_.ids = std::move(by_token);
  }

  void set_shape(const std::vector<int64_t>& shape) {
    // An array without rows is empty, whatever the rest of its shape is.
    const bool nothing = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (!nothing && shape.size() != 3) wrong("has the shape " + shape_text(shape) + ", expected [tokens, layers, k]");
    out_.rows = nothing ? 0 : shape[0], out_.layers = nothing ? 0 : shape[1], out_.width = nothing ? 0 : shape[2];
  }

  void take(std::string_view bytes, DType type) {
    const size_t count = bytes.size() / element_size(type);
    out_.ids.reserve(count);
    for (size_t i = 0; i < count; ++i) push(whole_number_at(reinterpret_cast<const std::byte*>(bytes.data()), type, i));
  }
  void push(int64_t id) {
    if (id < -1 || id >= kMostTracedBranches) wrong("names expert " + std::to_string(id));
    out_.ids.push_back(static_cast<int32_t>(id));
  }

  void read_lists(const Json& rows) {
    out_.rows = std::ssize(rows), out_.layers = out_.width = 0;
    for (const Json& layers : rows) {
      if (!layers.is_array()) wrong("is a list, but not of lists, expected [tokens][layers][k]");
      if (&layers == &rows[0]) out_.layers = std::ssize(layers);
      if (std::ssize(layers) != out_.layers) wrong("has tokens with different numbers of layers");
      for (const Json& choices : layers) {
        if (!choices.is_array()) wrong("is a list of lists, but not of lists of lists, expected [tokens][layers][k]");
        if (&choices == &rows[0][0]) out_.width = std::ssize(choices);
        if (std::ssize(choices) != out_.width) wrong("has layers with different numbers of choices");
        for (const Json& id : choices) push(whole(id));
      }
    }
    if (out_.ids.empty()) out_.rows = 0;
  }
  /// Some programming languages write 3 as 3.0.
  int64_t whole(const Json& id) const {
    if (id.is_number_unsigned() && id.get<uint64_t>() > INT32_MAX) wrong("names expert " + id.dump());
    if (const std::optional<int64_t> value = whole_value(id)) return *value;
    wrong("holds something that is not a whole number: " + shown_json(id).substr(0, 40));
  }

  void read_object(const Json& object) {
    if (const std::string encoding = text_at(object, "encoding"); !encoding.empty() && encoding != "base64")
      wrong("is encoded as " + in_quotes(encoding) + ", expected base64");
    std::vector<int64_t> shape;
    for (const Json& extent : list_at(object, "shape")) {
      const std::optional<int64_t> size = whole_value(extent);
      if (!size || *size < 0 || *size > INT32_MAX) wrong("has a shape of no whole numbers");
      shape.push_back(*size);
    }
    if (shape.size() != 3 || !value_at(object, "data").is_string())
      wrong("is an object without data and a shape [tokens, layers, k]");
    const std::string bytes = decoded(text_at(object, "data"));
    if (bytes.starts_with(kNpyMagic))
      read_npy(bytes);
    else
      read_raw(bytes, shape, text_at(object, "dtype"));
    if (const std::optional<int64_t> start = whole_value(value_at(object, "start")))
      out_.start = std::max<int64_t>(*start, 0);
  }

  void read_raw(const std::string& bytes, const std::vector<int64_t>& shape, std::string dtype) {
    set_shape(shape);
    uint64_t elements = 1;
    for (const int64_t extent : shape)
      if (__builtin_mul_overflow(elements, static_cast<uint64_t>(extent), &elements))
        wrong("has a shape of more than 2^64 numbers");
    std::erase_if(dtype, [](char c) { return c == '<' || c == '|' || c == '=' || c == '"'; });
    for (const std::string_view program : {"torch.", "numpy.", "np."})
      if (dtype.starts_with(program)) dtype.erase(0, program.size());
    struct Named {
      std::string_view numpy, in_short;
      DType type;
    };
    static constexpr Named kTypes[] = {{"uint8", "u1", DType::u8},  {"int8", "i1", DType::i8},
                                       {"int16", "i2", DType::i16}, {"uint16", "u2", DType::u16},
                                       {"int32", "i4", DType::i32}, {"uint32", "u4", DType::u32},
                                       {"int64", "i8", DType::i64}};
    for (const Named& named : kTypes) {
      // Without a dtype, the number of bytes gives the width of an element.
      const bool is_it = dtype.empty() ? elements > 0 && bytes.size() / element_size(named.type) == elements
                                       : dtype == named.numpy || dtype == named.in_short;
      if (!is_it) continue;
      if (bytes.size() % element_size(named.type) || bytes.size() / element_size(named.type) != elements)
        wrong("has " + std::to_string(bytes.size()) + " bytes of " + std::string(named.numpy) + " for the shape " +
              shape_text(shape));
      return take(bytes, named.type);
    }
    if (elements == 0 && bytes.empty()) return;
    wrong(dtype.empty() ? "has " + std::to_string(bytes.size()) + " bytes for the shape " + shape_text(shape)
                        : "holds " + in_quotes(dtype) + ", expected whole numbers");
  }

  const std::string& name_;
  const JsonRow& row_;
  RoutedIds out_;
};

}  // namespace

RoutedIds read_routed_ids(const Json& value, const std::string& name, const JsonRow& row) {
  return RoutedIdsReader(name, row).read(value);
}

}  // namespace stormcell
