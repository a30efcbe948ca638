#include "core/readings/lacks.h"

#include <nlohmann/json.hpp>

#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/traces/trace.h"

namespace stormcell {

std::vector<std::string> lacks_of_import(const RunSummary& run) {
  std::vector<std::string> lacks;
  const nlohmann::json about = json_or_null(run.dataset);
  for (const nlohmann::json& fact : list_at(about, "lacks"))
    if (fact.is_string()) lacks.push_back(fact.get<std::string>());
  return lacks;
}

std::string how_to_get(const RunSummary& run, std::string_view fact, std::string_view otherwise) {
  const std::string_view how = how_to_record(text_at(json_or_null(run.dataset), "format"), fact);
  return std::string(how.empty() ? otherwise : how);
}

}  // namespace stormcell
