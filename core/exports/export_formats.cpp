#include "core/exports/export_formats.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
#include "core/configuration/plan_config.h"
#include "core/exports/export_csv.h"
#include "core/exports/export_native.h"
#include "core/exports/export_origin.h"
#include "core/exports/export_sglang.h"
#include "core/exports/export_trace.h"
#include "core/exports/export_trtllm.h"
#include "core/exports/export_vllm.h"
#include "core/exports/text_output.h"
#include "core/formats/json_file.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_reader.h"
#include "core/summary/summary_json.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

bool has_config(const SessionReader&, const RunSummary& run) { return has_configuration(run.config); }

void write_config(const ExportOptions& options, const Progress&) {
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  const RunSummary run =
      choose_run(session, path.run, has_config, "holds no configuration: only optimize and run --config leave one");
  if (!json_or_null(run.config).is_object()) bad_input(path.file, "its configuration is damaged");
  auto config = nlohmann::ordered_json::parse(run.config);  // in the order in which it was written
  const ExportOrigin origin = origin_of(session, run);
  config["origin"] = {{"version", origin.version},
                      {"device", origin.device},
                      {"date", origin.date},
                      {"session", origin.session},
                      {"run", origin.run}};
  TextOutput out(options.output);
  out.write(json_text(config));
  out.finish();
}

void write_copy(const ExportOptions& options, const Progress& progress) {
  copy_session(parse_session_path(options.session).file, options.output, progress,
               options.pictures ? CopyPictures::yes : CopyPictures::no);
}

constexpr std::array kFormats = {
    ExportFormat{"stormcell", "the configuration that optimize found, for run --config", true, write_config},
    ExportFormat{"session", "a copy of the session, also of one that is being written", false, write_copy},
    ExportFormat{"native", "the routing trace as safetensors", false, write_native_trace},
    ExportFormat{"sglang", "a placement, for SGLang's --init-expert-location", true, write_sglang_placement, false,
                 true},
    ExportFormat{"vllm-pr41141", "a placement, for vLLM with pull request 41141: eplb_config.initial_mapping_path",
                 true, write_vllm_mapping, false, true},
    ExportFormat{"vllm-pr49572", "a placement, for vLLM with pull request 49572: initial_expert_map_path", true,
                 write_vllm_list, false, true},
    ExportFormat{"vllm-ascend",
                 "a placement, for vllm-ascend's expert_map_path; --shared-experts N with its mix_placement", true,
                 write_vllm_ascend, true, true},
    ExportFormat{"trtllm", "a placement, for TensorRT-LLM's moe_config.load_balancer; --what static or dynamic", true,
                 write_trtllm_placement, false, true},
    ExportFormat{"csv", "a table, by --what", true, write_csv},
    ExportFormat{"chrome-trace", "every executed step, for chrome://tracing or Perfetto", true, write_chrome_trace},
};

constexpr std::string_view kPlanned[] = {"ktransformers-mask", "moe-infinity"};

const ExportFormat& find_export_format(std::string_view id) {
  for (const ExportFormat& format : kFormats)
    if (format.id == id) return format;
  const bool planned = std::find(std::begin(kPlanned), std::end(kPlanned), id) != std::end(kPlanned);
  const std::string advice = advice_on_word(planned ? "" : id, kFormats, [](const ExportFormat& f) { return f.id; });
  if (id.empty()) bad_input("--format", "is missing", advice);
  bad_input("--format", "\"" + std::string(id) + "\" is " + (planned ? "not in this version" : "no format"), advice);
}

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }
std::span<const std::string_view> planned_export_formats() { return kPlanned; }

std::string exported_placement_text(std::string_view id, const ExportOptions& options) {
  if (!find_export_format(id).placement) return {};
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  const StoredPlacement chosen = session.find_placement(path.run);
  std::string text =
      "placement #" + std::to_string(chosen.id) + " (" + chosen.solver + ") of run #" + std::to_string(chosen.run);
  // A number, a name and the newest of a session or a run choose it.
  if (!path.run.empty() && session.named_placement(path.run)) return text;
  std::string others;
  int64_t count = 0;
  for (const StoredPlacement& p : session.placements())
    if (path.run.empty() || p.run == chosen.run) add_to_list(others, "#" + std::to_string(p.id)), ++count;
  return count > 1 ? text + ", the newest of " + std::to_string(count) + " (" + others + ")" : text;
}

void export_session(std::string_view id, const ExportOptions& options, const Progress& progress) {
  const ExportFormat& format = find_export_format(id);
  if (!format.text && (options.output.empty() || options.output == "-"))
    bad_input("-o", "is missing: " + std::string(id) + " is binary, so it does not go to standard output", "-o FILE");
  if (options.shared_experts > 0 && !format.shared_experts)
    bad_input("--shared-experts",
              "works with --format vllm-ascend only: other servers compute shared experts outside of their placement",
              "leave it out");
  if (options.shared_experts > kMostSharedExperts)
    bad_input("--shared-experts", "is " + std::to_string(options.shared_experts),
              "at most " + std::to_string(kMostSharedExperts));
  format.write(options, progress);
}

}  // namespace stormcell
