// Rows of the list of kinds, group by group; file_kinds() has their order.
#pragma once
#include <span>
#include <string_view>

#include "core/formats/file_kind.h"

namespace stormcell {

/// What to do with files of several groups.
namespace remedy {
inline constexpr std::string_view kTimesAlone = "it has times and no routing: record the routing itself, docs/servers says how",
                                  kPicture = "convert it to PNG or JPEG", kNoProgram = "name the file that it was to read or has written",
                                  kAsTable = "export it as a table in UTF-8 with commas, or as JSON lines",
                                  kFolderOfModel = "it belongs to a model: name the model's folder",
                                  kTakeFolder = "take the model's Hugging Face folder, with config.json and *.safetensors",
                                  kImport = "stormcell import FILE -o S.storm";
}  // namespace remedy
/// No reader takes it.
inline constexpr FileUses kNoUse;

std::span<const FileKind> replacement_kinds();  ///< what stands in place of a file
std::span<const FileKind> archive_kinds();
std::span<const FileKind> zip_kinds();
std::span<const FileKind> tensor_kinds();
std::span<const FileKind> table_kinds();
std::span<const FileKind> media_kinds();
std::span<const FileKind> coding_kinds();
std::span<const FileKind> text_trace_kinds();
std::span<const FileKind> own_kinds();  ///< JSON and text of this program
std::span<const FileKind> json_kinds();
std::span<const FileKind> server_kinds();
std::span<const FileKind> text_table_kinds();
std::span<const FileKind> text_form_kinds();

}  // namespace stormcell
