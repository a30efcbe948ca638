#include "core/formats/event_stream.h"

#include <algorithm>

namespace stormcell {

bool is_event_line(std::string_view line) {
  return line.starts_with(':') || line.starts_with("data:") || line.starts_with("event:") || line.starts_with("id:") ||
         line.starts_with("retry:");
}

bool begins_http_head(std::string_view line) { return line.starts_with("HTTP/"); }

bool is_event_stream(std::string_view text) {
  for (;;) {
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    text.remove_prefix(first);
    if (!begins_http_head(text)) return is_event_line(text);
    const size_t end = std::min(text.find("\n\r\n"), text.find("\n\n"));
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end);
  }
}

}  // namespace stormcell
