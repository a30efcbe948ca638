// torch/_export/serde/schema.py and torch/export/pt2_archive/constants.py of PyTorch name the keys and entries.
#include "core/formats/pt2_header.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"
#include "core/formats/json_walk.h"
#include "core/formats/zip_directory.h"

namespace stormcell {
namespace {

constexpr uint64_t kMostProgram = uint64_t{512} << 20;
constexpr size_t kMostTargets = 4096, kMostTarget = 256, kMostSizes = 32;

/// ScalarType of the schema.
constexpr std::array kScalarTypes = {std::pair{1, "U8"},       std::pair{2, "I8"},      std::pair{3, "I16"},
                                     std::pair{4, "I32"},      std::pair{5, "I64"},     std::pair{6, "F16"},
                                     std::pair{7, "F32"},      std::pair{8, "F64"},     std::pair{10, "C64"},
                                     std::pair{12, "BOOL"},    std::pair{13, "BF16"},   std::pair{28, "U16"},
                                     std::pair{29, "F8_E4M3"}, std::pair{30, "F8_E5M2"}};

std::string scalar_name(int64_t type) {
  for (const auto& [id, name] : kScalarTypes)
    if (id == type) return name;
  return "type " + std::to_string(type);
}

class ProgramVisitor : public JsonVisitor {
 public:
  explicit ProgramVisitor(Pt2Header& to) : to_(to) {}

  void text(const JsonPath& path, const std::string& value) override {
    const size_t levels = path.size();
    if (levels >= 3 && path.key(levels - 1) == "target" && path.key(levels - 2) == "*" &&
        path.key(levels - 3) == "nodes") {
      ++to_.nodes;
      const std::string target = value.substr(0, kMostTarget);
      if (to_.operators.size() < kMostTargets || to_.operators.contains(target)) ++to_.operators[target];
    } else if (levels == 1 && path.key(0) == "torch_version") {
      to_.torch_version = value.substr(0, kMostTarget);
    }
  }
  void whole(const JsonPath& path, int64_t value) override {
    if (path.size() == 2 && path.key(0) == "schema_version" && path.key(1) == "major") to_.schema = value;
  }

 private:
  Pt2Header& to_;
};

/// {"config": {NAME: {"tensor_meta": {"dtype": 7, "sizes": [{"as_int": 4}]}}}}
class WeightsVisitor : public JsonVisitor {
 public:
  WeightsVisitor(Pt2Header& to, const SeeTensor& see) : to_(to), see_(see) {}

  void open(const JsonPath& path, bool) override {
    if (path.size() == 2 && path.key(0) == "config") tensor_ = {.name = std::string(path.key(1))};
  }
  void whole(const JsonPath& path, int64_t value) override {
    if (path.size() < 4 || path.key(0) != "config" || path.key(2) != "tensor_meta") return;
    if (path.size() == 4 && path.key(3) == "dtype") tensor_.format = scalar_name(value);
    if (path.size() == 6 && path.key(3) == "sizes" && path.key(5) == "as_int" && value >= 0 &&
        tensor_.shape.size() < kMostSizes)
      tensor_.shape.push_back(value);
  }
  void close(const JsonPath& path) override {
    if (path.size() != 2 || path.key(0) != "config" || tensor_.format.empty()) return;
    ++to_.tensors;
    see_(tensor_);
  }

 private:
  Pt2Header& to_;
  const SeeTensor& see_;
  DescribedTensor tensor_;
};

/// The graph, as versions of PyTorch have named it.
const ZipEntry* program_of(const ZipDirectory& directory) {
  for (const std::string_view name : {"serialized_exported_program.json", "models/model.json"})
    if (const ZipEntry* entry = directory.find_ending(name)) return entry;
  for (const ZipEntry& entry : directory.entries())
    if (entry.name.find("models/") != std::string::npos && entry.name.ends_with(".json")) return &entry;
  return nullptr;
}

void walk_entry(HeaderBytes& bytes, const ZipDirectory& directory, const ZipEntry& entry, JsonVisitor& visitor) {
  const std::string where = bytes.where() + ": " + in_quotes(entry.name);
  if (entry.method != 0) bad_input(where, "is compressed", "write it with torch.export.save()");
  if (entry.size > kMostProgram) bad_input(where, "is too large", "at most 512 MiB are read");
  directory.go_to_data(bytes, entry);
  walk_json(bytes, entry.size, visitor, where);
}

}  // namespace

Pt2Header read_pt2_header(HeaderBytes& bytes, const SeeTensor& see) {
  const ZipDirectory directory(bytes);
  const ZipEntry* program = program_of(directory);
  if (!program) bad_input(bytes.where(), "holds no program of torch.export", "write it with torch.export.save()");
  Pt2Header header;
  header.program = program->name;
  ProgramVisitor program_visitor(header);
  walk_entry(bytes, directory, *program, program_visitor);
  for (const ZipEntry& entry : directory.entries()) {
    if (entry.name.find("data/weights/") != std::string::npos && !entry.name.ends_with(".json"))
      header.weight_bytes += static_cast<int64_t>(std::min<uint64_t>(
          entry.size, bytes.size() - std::min(bytes.size(), static_cast<uint64_t>(header.weight_bytes))));
    if (!entry.name.ends_with("_weights_config.json")) continue;
    WeightsVisitor weights_visitor(header, see);
    walk_entry(bytes, directory, entry, weights_visitor);
  }
  return header;
}

}  // namespace stormcell
