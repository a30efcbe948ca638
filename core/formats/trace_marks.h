// Marks of routing traces, in the order of the list in core/traces/trace_formats.cpp. Their readers are in core/traces.
// The marks are here because file_kinds() names a trace too, for readers that wanted another kind of file. All accept
// any bytes; a file's name does not count.
#pragma once
#include <string_view>

namespace stormcell {

/// The first words of a route_trace.
inline constexpr std::string_view kRouteTrace = "# route_trace";
/// The key of SGLang's counts, with its quotes.
inline constexpr std::string_view kLogicalCount = "\"logical_count\"";

bool is_route_trace_csv(std::string_view content);
bool is_router_trace_json(std::string_view content);
bool is_logical_count_json(std::string_view content);
bool is_sglang_dump(std::string_view content);
bool is_routed_experts_json(std::string_view content);
bool is_vllm_eplb_jsonl(std::string_view content);
bool is_trtllm_statistics(std::string_view content);
bool is_megatron_jsonl(std::string_view content);
/// The keys of the header decide, because a model that was quantised with a matrix names it too.
bool is_imatrix_gguf(std::string_view content);
bool is_native_trace(std::string_view content);
bool is_npy_trace(std::string_view content);

}  // namespace stormcell
