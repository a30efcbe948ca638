// Formats of exports: one file a format, one row in the list.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/base/progress.h"
#include "core/exports/export_options.h"

namespace stormcell {

struct ExportFormat {
  std::string_view id, summary;
  bool text = true;  ///< may go to standard output
  void (*write)(const ExportOptions& options, const Progress& progress) = nullptr;
  bool shared_experts = false;  ///< its file places them too
  bool placement = false;       ///< it writes one of the session's placements
};

/// The visible list.
std::span<const ExportFormat> export_formats();
/// Ids of the contract whose formats are still to come.
std::span<const std::string_view> planned_export_formats();
/// Says which placement the options choose, and whether there are others: "placement #4 (joint) of run #1, the newest of
/// 2 (#2, #4)". Empty: the format writes none. Throws as export_session() does.
std::string exported_placement_text(std::string_view format, const ExportOptions& options);
/// Throws Error(bad_input): an unknown format, with the list; one that this version does not have; an output it cannot
/// go to.
void export_session(std::string_view format, const ExportOptions& options, const Progress& progress = {});

}  // namespace stormcell
