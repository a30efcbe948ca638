// A session as one self-contained HTML page.
#pragma once
#include <string>

namespace stormcell {

/// Writes the report of one run; `session`: S.storm, S.storm#3 or S.storm#name (the newest run with a summary
/// otherwise), `output`: a file or "-". A session of up to 64 MiB is checked first, and a damaged one refused; the page
/// says whether it was. Everything comes from the session; nothing in the page refers to anything outside it.
void write_report(const std::string& session, const std::string& output);

}  // namespace stormcell
