#include "core/formats/gguf_parts.h"

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

constexpr std::string_view kGetAllParts = "get all parts of one version";

}  // namespace

void check_gguf_part(const GgufEntries& keys, const GgufEntries& first, size_t i, size_t parts,
                     const std::string& path) {
  if (parts == 1) return;
  const auto of = keys.number("split.count"), number = keys.number("split.no");
  if (of && *of != static_cast<int64_t>(parts))
    bad_input(path, "says that it is one of " + counted(*of, "part") + ", its name says " + std::to_string(parts),
              kGetAllParts);
  if (number && *number != static_cast<int64_t>(i))
    bad_input(path, "says that it is part " + std::to_string(*number + 1) + ", its name says " + std::to_string(i + 1),
              kGetAllParts);
  const std::string_view architecture = keys.text("general.architecture"),
                         of_first = first.text("general.architecture");
  if (i > 0 && !architecture.empty() && architecture != of_first)
    bad_input(path,
              "is a part of another model: its architecture is " + in_quotes(architecture) +
                  ", that of the first part is " + in_quotes(of_first),
              "get all parts of one model");
}

void check_gguf_tensors(const GgufEntries& first, size_t parts, int64_t tensors, const std::string& path) {
  const int64_t stated = first.number("split.tensors.count").value_or(tensors);
  if (parts > 1 && stated != tensors)
    bad_input(path, "says that its parts have " + counted(stated, "tensor") + ", and they have " + with_commas(tensors),
              kGetAllParts);
}

void check_gguf_end(const GgufHeader& header, const std::string& name, uint64_t end, uint64_t file_bytes,
                    const std::string& path) {
  if (header.tensors == 0 || (end <= file_bytes && header.data_begin <= file_bytes - end)) return;
  bad_input(path,
            "is shorter than its header says: " + in_quotes(name) + " ends at byte " +
                std::to_string(header.data_begin + end) + " of " + with_commas(static_cast<int64_t>(file_bytes)),
            "it may still be downloading, or is truncated");
}

}  // namespace stormcell
