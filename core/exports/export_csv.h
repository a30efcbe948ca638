// Tables for spreadsheets and scripts. The first line, a comment, says where the table comes from, the second names the columns.
#pragma once
#include "core/exports/export_formats.h"

namespace stormcell {

struct CsvTable {
  std::string_view what, summary;
};
std::span<const CsvTable> csv_tables();

void write_csv(const ExportOptions& options, const Progress& progress);

}  // namespace stormcell
