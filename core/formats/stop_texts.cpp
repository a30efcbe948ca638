#include "core/formats/stop_texts.h"

#include <algorithm>
#include <utility>

namespace stormcell {

std::string StopTexts::add(std::string_view piece) {
  if (stopped_) return {};
  held_ += piece;
  // The one that begins first ends the text.
  size_t end = std::string::npos;
  for (const std::string& stop : stops_) end = std::min(end, held_.find(stop));
  if (end != std::string::npos) {
    stopped_ = true;
    return std::exchange(held_, {}).substr(0, end);
  }
  size_t kept = 0;
  for (const std::string& stop : stops_)
    for (size_t size = std::min(stop.size() - 1, held_.size()); size > kept; --size)
      if (held_.ends_with(std::string_view(stop).substr(0, size))) kept = size;
  std::string certain = held_.substr(0, held_.size() - kept);
  held_.erase(0, certain.size());
  return certain;
}

std::string StopTexts::finish() { return std::exchange(held_, {}); }

}  // namespace stormcell
