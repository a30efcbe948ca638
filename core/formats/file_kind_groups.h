// The groups of the list of kinds. file_kinds() has their order.
#pragma once
#include <span>
#include <string_view>

#include "core/formats/file_kind.h"

namespace stormcell {

/// Advice that several groups share.
namespace remedy {
inline constexpr std::string_view
    kTimesAlone = "it has times and no routing: record the routing itself, as the guide's page recordings shows",
    kPicture = "convert it to PNG or JPEG", kNoProgram = "name the file that it reads or writes",
    kAsTable = "export it as a table in UTF-8 with commas, or as JSON lines",
    kFolderOfModel = "it belongs to a model: name the model's folder",
    kTakeFolder = "take the model's Hugging Face folder, with config.json and *.safetensors",
    kImport = "stormcell import FILE -o S.storm";
}  // namespace remedy
/// The kind has no reader.
inline constexpr FileUses kNoUse;

std::span<const FileKind> replacement_kinds();  ///< files that replace the one that was wanted
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
