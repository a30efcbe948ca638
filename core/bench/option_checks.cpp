#include "core/bench/option_checks.h"

#include <utility>

#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/formats/file_text.h"

namespace stormcell {

void check_dense(const ExperimentOptions& options) {
  if (!options.dense) return;
  if (work_phase(options.phase) != WorkPhase::forward)
    bad_input("--dense", "measures a forward pass, and --phase " + options.phase + " decodes", "leave one of them out");
  if (options.weight_budget > 0)
    bad_input("--dense",
              "needs the weights of all branches for every cell, and --weight-budget holds only a part of them",
              "leave one of them out");
}

void check_target(const ExperimentOptions& options) {
  const std::string option = target_option(options);
  if (option.empty()) return;
  if (!options.target_quality.empty() && !options.target_latency.empty())
    bad_input("--target-latency",
              "asks for the best answers within a cost, and --target-quality for the least cost of a quality",
              "leave one of them out");
  if (work_phase(options.phase) != WorkPhase::forward)
    bad_input(option, "is of a forward pass, and --phase " + options.phase + " decodes", "leave one of them out");
}

void check_prompts(const ExperimentOptions& o) {
  if (o.prompts.empty() && o.data.empty()) bad_input("--data", "is missing", "name data, or give a text with --prompt");
  if (!o.prompts.empty() && !o.data.empty())
    bad_input("--prompt", "is a second source of texts beside --data " + o.data, "leave one of them out");
  const auto check_text = [](const char* option, const std::string& text) {
    if (text.empty()) bad_input(option, "is empty", "write a text");
    if (const size_t at = find_invalid_utf8(text); at != std::string::npos)
      bad_input(option, "byte " + std::to_string(at + 1) + " is not valid UTF-8",
                "type it in a terminal whose character set is UTF-8, or name a file with --data");
  };
  for (const std::string& prompt : o.prompts) check_text("--prompt", prompt);
  for (const std::string& text : o.stop) check_text("--stop", text);
  if (!o.system.empty()) check_text("--system", o.system);
  if (o.chat) return;
  if (o.special_tokens && o.prompts.empty())
    bad_input("--special-tokens", "has no effect without --prompt or --chat",
              "leave it out: in a file they are tokens");
  for (const auto& [option, text] : {std::pair{"--system", &o.system}, {"--date", &o.date}})
    if (!text->empty()) bad_input(option, "belongs to a chat, and there is none", "add --chat, or leave it out");
}

std::string target_option(const ExperimentOptions& o) {
  return !o.target_quality.empty() ? "--target-quality" : !o.target_latency.empty() ? "--target-latency" : "";
}

}  // namespace stormcell
