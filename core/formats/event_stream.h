// Server-sent events as a text: lines "data: {...}", as `curl` keeps the stream of a server.
#pragma once
#include <string_view>

namespace stormcell {

/// True if a line belongs to a stream of server-sent events.
bool is_event_line(std::string_view line);
/// True if a line begins the head of an HTTP answer, which curl -i writes. An empty line ends the head.
bool begins_http_head(std::string_view line);
/// True if a text is a stream of server-sent events, which may follow the head of an HTTP answer.
bool is_event_stream(std::string_view text);

}  // namespace stormcell
