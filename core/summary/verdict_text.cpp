#include "core/summary/verdict_text.h"

#include <algorithm>

namespace stormcell {

bool is_inconclusive(const std::string& reason) { return reason.find(kInconclusive) != std::string::npos; }

bool is_inconclusive(const std::vector<std::string>& reasons) {
  return !reasons.empty() && std::all_of(reasons.begin(), reasons.end(), [](const std::string& r) { return is_inconclusive(r); });
}

std::string reason_text(const std::string& reason) { return is_inconclusive(reason) ? reason : "failed: " + reason; }

}  // namespace stormcell
