#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/text_encoding.h"
#include "core/formats/trace_marks.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr std::array kFormats = {
    TraceFormat{"route-trace", "route_trace v1: CSV with a preamble, a row a choice", "csv", is_route_trace_csv,
                read_route_trace_csv},
    TraceFormat{"router-trace", "RouterTrace v2: JSON with selections[token][layer][rank]", "json",
                is_router_trace_json, read_router_trace_json},
    TraceFormat{"logical-count",
                "SGLang's logical_count as JSON: counts by layer and expert, or by step, layer and expert", "json",
                is_logical_count_json, read_logical_count_json},
    TraceFormat{
        "sglang",
        "SGLang's expert distribution recorder, .pt in each of its modes: stat, stat_approx, per_pass, per_token", "pt",
        is_sglang_dump, read_sglang_dump},
    TraceFormat{"routed-experts",
                "answers with routed_experts of SGLang or vLLM: JSON with base64 or lists, one, a list, one a line, or "
                "a stream",
                "json", is_routed_experts_json, read_routed_experts_json},
    TraceFormat{"vllm-eplb", "vLLM's recording for offline EPLB: JSON lines of eplb_load_stats", "jsonl",
                is_vllm_eplb_jsonl, read_vllm_eplb_jsonl},
    TraceFormat{"trtllm",
                "TensorRT-LLM's expert statistics: meta_info.json, with rank0.safetensors and the others beside it",
                "json", is_trtllm_statistics, read_trtllm_statistics, trtllm_rank_files},
    TraceFormat{"megatron", "Megatron-LM's --moe-routing-trace-path: JSON lines of a rank", "jsonl", is_megatron_jsonl,
                read_megatron_jsonl, nullptr, true},
    TraceFormat{"imatrix", "llama.cpp's importance matrix as GGUF: counts of each expert", "gguf", is_imatrix_gguf,
                read_imatrix_gguf},
    TraceFormat{"native", "Stormcell's own: safetensors, as export --format native writes it", "safetensors",
                is_native_trace, read_native_trace, nullptr, true},
    TraceFormat{"npy", "numpy.save of whole numbers [tokens, layers, k]", "npy", is_npy_trace, read_npy_trace, nullptr,
                true},
};

std::string known_formats() {
  std::string list;
  for (const TraceFormat& format : kFormats) add_to_list(list, format.id);
  return list;
}

}  // namespace

std::span<const TraceFormat> trace_formats() { return kFormats; }

const TraceFormat& find_trace_format(std::string_view id) {
  for (const TraceFormat& format : kFormats)
    if (format.id == id) return format;
  bad_input("--format", in_quotes(id) + " is not a format of a trace",
            advice_on_word(id, kFormats, [](const TraceFormat& f) { return f.id; }));
}

const TraceFormat* find_trace_format(const MappedFile& file) {
  std::string_view content(reinterpret_cast<const char*>(file.bytes().data()), file.size());
  if (content.empty() || !wide_encoding(content).empty()) return nullptr;
  content = utf8_text(content, file.path());
  for (const TraceFormat& format : kFormats)
    if (format.recognize(content)) return &format;
  return nullptr;
}

const TraceFormat& recognize_trace(const MappedFile& file) {
  if (const TraceFormat* format = find_trace_format(file)) return *format;
  const std::string_view content(reinterpret_cast<const char*>(file.bytes().data()), file.size());
  refuse_other_kind(file.path(), content, FileUse::trace);
  refuse_file(file.path(), utf8_text(content, file.path()), FileUse::trace, "is not a routing trace of a known format",
              "--format names one of " + known_formats());
}

std::vector<std::string> lacks_without(std::initializer_list<TracedFact> facts) {
  std::vector<std::string> lacks;
  for (const std::string_view fact : kTraceFacts)
    if (std::none_of(facts.begin(), facts.end(), [&](const TracedFact& f) { return f.had && f.name == fact; }))
      lacks.emplace_back(fact);
  return lacks;
}

int64_t cells_a_batch(int64_t rows_a_cell) {
  constexpr int64_t kRows = 4096;
  return std::clamp<int64_t>(kRows / std::max<int64_t>(rows_a_cell, 1), 16, kRows);
}

}  // namespace stormcell
