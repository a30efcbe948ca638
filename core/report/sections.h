// The parts of the page, in order. Each returns HTML, or nothing if the run has no data for it; the page then says so.
#pragma once
#include <string>

#include "core/report/data.h"

namespace stormcell::report {

std::string headline(const ReportData& data);
/// How much of the loads is beyond chance, in sentences; empty: nothing was judged.
std::string chance_sentences(const ReportData& data);
std::string quality_section(const ReportData& data);
std::string exits_section(const ReportData& data);
std::string item_costs_section(const ReportData& data);
std::string pictures_section(const ReportData& data);
std::string passes_section(const ReportData& data);
std::string loads_section(const ReportData& data);
std::string labels_section(const ReportData& data);
std::string graph_section(const ReportData& data);
std::string transitions_section(const ReportData& data);
std::string placements_section(const ReportData& data);
std::string memory_section(const ReportData& data);
std::string budget_section(const ReportData& data);
std::string operators_section(const ReportData& data);
std::string guards_section(const ReportData& data);
std::string proof_section(const ReportData& data);
std::string settings_section(const ReportData& data);

}  // namespace stormcell::report
