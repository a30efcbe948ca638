#include <vector>

#include "core/formats/file_kind_groups.h"

namespace stormcell {

std::span<const FileKind> file_kinds() {
  // Files that replace the wanted one come first, then kinds known by their first bytes, then text by its form.
  static const std::vector<FileKind> kinds = [] {
    std::vector<FileKind> list;
    for (const std::span<const FileKind> group :
         {replacement_kinds(), archive_kinds(), zip_kinds(), tensor_kinds(), table_kinds(), media_kinds(),
          coding_kinds(), own_kinds(), json_kinds(), text_trace_kinds(), server_kinds(), text_table_kinds(),
          text_form_kinds()})
      list.insert(list.end(), group.begin(), group.end());
    return list;
  }();
  return kinds;
}

}  // namespace stormcell
