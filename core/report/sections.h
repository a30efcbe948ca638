// The parts of the page, in its order. Each returns HTML, nothing where the run has nothing for it: left_out() says which.
#pragma once
#include <string>

#include "core/report/data.h"

namespace stormcell::report {

/// One sentence that names the parts of which `page` has none.
std::string left_out(const std::string& page);
std::string headline(const ReportData& data);
std::string passes_section(const ReportData& data);
std::string loads_section(const ReportData& data);
std::string labels_section(const ReportData& data);
std::string transitions_section(const ReportData& data);
std::string memory_section(const ReportData& data);
std::string operators_section(const ReportData& data);
std::string guards_section(const ReportData& data);
std::string proof_section(const ReportData& data);
std::string settings_section(const ReportData& data);

}  // namespace stormcell::report
