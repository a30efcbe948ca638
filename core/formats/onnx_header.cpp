// onnx.proto of ONNX gives the numbers of the fields, and protobuf's encoding page how they are written: a key of number
// and type, then a varint, 8 or 4 bytes, or a length and as many bytes.
#include "core/formats/onnx_header.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"

namespace stormcell {
namespace {

constexpr int kDeepestGraph = 16;
constexpr int64_t kMostNodesOnnx = 10'000'000;
constexpr uint64_t kMostWord = 512, kMostExtentsOnnx = 32;
constexpr size_t kMostOperators = 4096, kMostFiles = 256;

/// TensorProto.DataType: its names as those of other formats, by number.
constexpr std::array<std::string_view, 24> kOnnxTypes = {
    "",    "F32", "U8",  "I8",   "U16",  "I16",     "I32",         "I64",     "TEXT",        "BOOL", "F16", "F64",
    "U32", "U64", "C64", "C128", "BF16", "F8_E4M3", "F8_E4M3FNUZ", "F8_E5M2", "F8_E5M2FNUZ", "U4",   "I4",  "F4"};

class OnnxReader {
 public:
  OnnxReader(HeaderBytes& bytes, const SeeTensor& see) : bytes_(bytes), see_(see) {}

  OnnxHeader read() {
    each_field(bytes_.size(), [&](const Field& f) {
      if (f.number == 1) header_.ir_version = f.whole();
      if (f.number == 2) header_.producer = word(f);
      if (f.number == 3) header_.producer_version = word(f);
      if (f.number == 7) has_graph_ = true, read_graph(f, 0);
      if (f.number == 8) read_opset(f);
      if (f.number == 25) read_function(f);
    });
    if (!has_graph_) wrong("holds no graph");
    return std::move(header_);
  }

 private:
  /// A field; the bytes of a long one are [begin, end).
  struct Field {
    uint64_t number = 0, value = 0, begin = 0, end = 0;
    bool is_long = false;
    int64_t whole() const { return static_cast<int64_t>(value); }
  };

  [[noreturn]] void wrong(const std::string& what) const {
    bad_input(bytes_.where(), "as an ONNX model it is damaged: " + what, "get the file again");
  }

  uint64_t take_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = bytes_.take<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    wrong("a number does not end");
  }

  /// Visits the fields up to `end`, and skips those that the visitor does not read.
  template <class Visit>
  void each_field(uint64_t end, Visit visit) {
    while (bytes_.at() < end) {
      const uint64_t key = take_varint();
      Field f{.number = key >> 3};
      switch (key & 7) {
        case 0:
          f.value = take_varint();
          break;
        case 1:
          f.value = bytes_.take<uint64_t>();
          break;
        case 2:
          f.is_long = true, f.value = take_varint();
          if (f.value > bytes_.rest()) bytes_.refuse_end();
          break;
        case 5:
          f.value = bytes_.take<uint32_t>();
          break;
        default:
          wrong("a field of an unknown type");
      }
      f.begin = bytes_.at(), f.end = f.begin + (f.is_long ? f.value : 0);
      if (f.end > end) wrong("a field is longer than its message");
      if (f.number == 0) wrong("a field without a number");
      visit(f);
      bytes_.go_to(f.end);
    }
    if (bytes_.at() != end) wrong("a message ends in the middle of a field");
  }

  /// The visitor reads messages; fields of other types are skipped.
  template <class Visit>
  void each_field(const Field& message, Visit visit) {
    if (!message.is_long) wrong("a number where a message should be");
    bytes_.go_to(message.begin);
    each_field(message.end, visit);
  }
  std::string word(const Field& f) {
    if (!f.is_long) wrong("a number where a text should be");
    bytes_.go_to(f.begin);
    const uint64_t size = std::min(f.value, kMostWord);
    return bytes_.take_text(size, size);
  }

  void read_opset(const Field& of) {
    std::string domain;
    int64_t version = 0;
    each_field(of, [&](const Field& f) {
      if (f.number == 1) domain = word(f);
      if (f.number == 2) version = f.whole();
    });
    if (domain.empty() || domain == "ai.onnx") header_.opset = version;
  }

  void read_function(const Field& of) {
    each_field(of, [&](const Field& f) {
      if (f.number == 7) read_node(f, 0);
    });
  }

  void read_graph(const Field& of, int depth) {
    if (depth > kDeepestGraph) wrong("graphs are nested too deeply");
    ++header_.graphs;
    each_field(of, [&](const Field& f) {
      if (f.number == 1) read_node(f, depth);
      if (f.number == 2 && depth == 0) header_.graph = word(f);
      if (f.number == 5) read_tensor(f);
    });
  }

  void read_node(const Field& of, int depth) {
    if (++header_.nodes > kMostNodesOnnx) wrong("too many nodes");
    std::string name, domain;
    each_field(of, [&](const Field& f) {
      if (f.number == 4) name = word(f);
      if (f.number == 7) domain = word(f);
      if (f.number == 5) read_attribute(f, depth);
    });
    if (!domain.empty() && domain != "ai.onnx") name = domain + "." + name;
    if (header_.operators.size() < kMostOperators || header_.operators.contains(name)) ++header_.operators[name];
  }

  void read_attribute(const Field& of, int depth) {
    each_field(of, [&](const Field& f) {
      if (f.number == 6 || f.number == 11) read_graph(f, depth + 1);
    });
  }

  void add_extent(DescribedTensor& tensor, uint64_t extent) {
    if (extent > uint64_t{1} << 48 || tensor.shape.size() == kMostExtentsOnnx)
      wrong("the tensor " + in_quotes(tensor.name) + " has an impossible shape");
    tensor.shape.push_back(static_cast<int64_t>(extent));
  }

  void read_tensor(const Field& of) {
    DescribedTensor tensor;
    uint64_t type = 0, stored = 0, elsewhere = 0;
    each_field(of, [&](const Field& f) {
      if (f.number == 1 && !f.is_long) add_extent(tensor, f.value);
      if (f.number == 1 && f.is_long) {
        bytes_.go_to(f.begin);
        while (bytes_.at() < f.end) add_extent(tensor, take_varint());
      }
      if (f.number == 2) type = f.value;
      if (f.number == 8) tensor.name = word(f);
      if (f.is_long &&
          (f.number == 4 || f.number == 5 || f.number == 7 || f.number == 9 || f.number == 10 || f.number == 11))
        stored += f.value;
      if (f.number == 13) elsewhere = std::max(elsewhere, read_external(f));
    });
    if (type >= kOnnxTypes.size() || type == 0)
      tensor.format = "type " + std::to_string(type);
    else
      tensor.format = kOnnxTypes.at(type);
    tensor.bytes = static_cast<int64_t>(std::min(std::max(stored, elsewhere), uint64_t{1} << 62));
    ++header_.tensors;
    see_(tensor);
  }

  /// A pair of texts that says where the numbers are; the number under "length", else 0.
  uint64_t read_external(const Field& of) {
    std::string key, value;
    each_field(of, [&](const Field& f) {
      if (f.number == 1) key = word(f);
      if (f.number == 2) value = word(f);
    });
    if (key == "location" && header_.files.size() < kMostFiles) header_.files.insert(value);
    if (key != "length") return 0;
    uint64_t length = 0;
    for (const char c : value.substr(0, 18)) {
      if (c < '0' || c > '9') return 0;
      length = 10 * length + static_cast<uint64_t>(c - '0');
    }
    return length;
  }

  HeaderBytes& bytes_;
  const SeeTensor& see_;
  OnnxHeader header_;
  bool has_graph_ = false;
};

}  // namespace

OnnxHeader read_onnx_header(HeaderBytes& bytes, const SeeTensor& see) { return OnnxReader(bytes, see).read(); }

}  // namespace stormcell
