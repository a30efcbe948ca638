#include "core/formats/trace_marks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/formats/delimited_text.h"
#include "core/formats/event_stream.h"
#include "core/formats/file_marks.h"

namespace stormcell {
namespace {

/// True if a text begins as JSON that opens with one of `opens`, and has the key, with its quotes, near its beginning
/// or its end.
bool is_json_with(std::string_view content, std::string_view opens, std::string_view key) {
  constexpr size_t kLookedFor = 65536;  // keys come in any order, and the values between them are long
  const size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || opens.find(content[first]) == std::string_view::npos) return false;
  return content.substr(0, kLookedFor).find(key) != std::string_view::npos ||
         content.substr(content.size() - std::min(content.size(), kLookedFor)).find(key) != std::string_view::npos;
}

}  // namespace

bool is_route_trace_csv(std::string_view content) {
  content = behind_separator_line(content);
  const size_t first = content.find_first_not_of(" \t\r\n\"");
  return first != std::string_view::npos && content.substr(first).starts_with(kRouteTrace);
}

bool is_router_trace_json(std::string_view content) {
  const size_t begin = content.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || content[begin] != '{') return false;
  constexpr size_t kLookedFor = 65536;  // keys come in any order, and the selections are long
  const std::string_view head = content.substr(0, kLookedFor),
                         tail = content.substr(content.size() - std::min(content.size(), kLookedFor));
  return head.find("\"selections\"") != std::string_view::npos ||
         tail.find("\"expertsPerLayer\"") != std::string_view::npos;
}

bool is_logical_count_json(std::string_view content) { return is_json_with(content, "{", kLogicalCount); }

bool is_sglang_dump(std::string_view content) { return is_sglang_torch(FileLook(content, {})); }

bool is_routed_experts_json(std::string_view content) {
  constexpr size_t kLookedFor = size_t{16} << 20;  // long texts and other numbers may come first
  const size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || !(content[first] == '{' || content[first] == '[' || is_event_stream(content)))
    return false;
  const std::string_view head = content.substr(0, kLookedFor);
  // The second form of each is in an answer that a log holds as a text.
  for (const std::string_view key :
       {"\"routed_experts\"", "\"prompt_routed_experts\"", "\"completion_routed_experts\"", "\"routed_experts\\\"",
        "\"prompt_routed_experts\\\"", "\"completion_routed_experts\\\""})
    if (head.find(key) != std::string_view::npos || is_json_with(content, "{[", key)) return true;
  return false;
}

bool is_vllm_eplb_jsonl(std::string_view content) { return is_json_with(content, "{", "\"eplb_load_stats\""); }

bool is_trtllm_statistics(std::string_view content) {
  constexpr size_t kMostMeta = 65536;  // a few numbers; the config.json of a model says more
  return content.size() <= kMostMeta && is_json_with(content, "{", "\"num_experts_per_token\"") &&
         content.find("\"num_experts\"") != std::string_view::npos &&
         content.find("\"hidden_size\"") == std::string_view::npos;
}

bool is_megatron_jsonl(std::string_view content) {
  return is_json_with(content, "{", "\"top_indices\"") && is_json_with(content, "{", "\"num_tokens\"");
}

bool is_imatrix_gguf(std::string_view content) { return is_imatrix_header(content); }

bool is_native_trace(std::string_view content) {
  uint64_t header = 0;
  if (content.size() < 8) return false;
  std::memcpy(&header, content.data(), sizeof header);
  const std::string_view text = content.substr(8, std::min<uint64_t>(header, content.size() - 8));
  return text.starts_with("{") && (text.find("\"layer.0.indices\"") != std::string_view::npos ||
                                   text.find("stormcell.trace/1") != std::string_view::npos);
}

bool is_npy_trace(std::string_view content) { return content.starts_with("\x93NUMPY"); }

}  // namespace stormcell
