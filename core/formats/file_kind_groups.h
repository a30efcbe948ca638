// Rows of the list of kinds, group by group; file_kinds() has their order.
#pragma once
#include <span>

#include "core/formats/file_kind.h"

namespace stormcell {

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
