// Tables for spreadsheets and scripts. The first line, a comment, says where the table comes from, the second names the
// columns.
#pragma once
#include <span>
#include <string_view>

#include "core/base/progress.h"
#include "core/exports/export_options.h"

namespace stormcell {

struct CsvTable {
  std::string_view what, summary;
};
std::span<const CsvTable> csv_tables();

void write_csv(const ExportOptions& options, const Progress& progress);

}  // namespace stormcell
