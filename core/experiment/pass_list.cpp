#include "core/experiment/pass_list.h"

#include "core/base/error.h"
#include "core/passes/pass.h"

namespace stormcell {

std::vector<PassLine> list_passes() {
  std::vector<PassLine> list;
  for (const Pass& pass : passes()) list.push_back({std::string(pass.id), std::string(pass.summary), pass.lossy});
  return list;
}

void check_pass_ids(const std::string& option, const std::vector<std::string>& ids) {
  std::string known;
  for (const Pass& pass : passes()) known += (known.empty() ? "" : ", ") + std::string(pass.id);
  for (const std::string& id : ids)
    if (!find_pass(id))
      bad_input(option, "\"" + id + "\" is " + (is_planned_pass(id) ? "not in this version" : "no pass"), "one of " + known);
}

}  // namespace stormcell
