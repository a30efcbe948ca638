#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/page.h"
#include "app/cli/told_result.h"
#include "core/base/counted.h"
#include "core/machine/doctor.h"

namespace stormcell::cli {
namespace {

std::string words_or_none(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  return text.empty() ? "none" : text;
}

std::string report_text(const DoctorReport& r) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"stormcell", r.version});
  rows.push_back({"processor", r.processor});
  rows.push_back({"cores", counted(r.cores, "core") + ", " + counted(r.logical_processors, "hardware thread") +
                               ", all used" +
                               (r.cpu_limit > 0 ? "; the control group gives " + number_text(r.cpu_limit) : "")});
  if (r.l3_bytes > 0) rows.push_back({"caches", "L2 " + bytes_text(r.l2_bytes) + ", L3 " + bytes_text(r.l3_bytes)});
  rows.push_back({"features", words_or_none(r.features)});
  rows.push_back({"kernels", r.isa + " (there are " + words_or_none(r.available_isas) + ")"});
  for (const std::string& reason : r.not_used) rows.push_back({"  not used", reason});
  rows.push_back(
      {"memory", bytes_text(r.memory_bytes) + ", " + bytes_text(r.available_bytes) + " available" +
                     (r.memory_limit_bytes > 0 ? "; the control group allows " + bytes_text(r.memory_limit_bytes)
                                               : "; no limit of a control group")});
  rows.push_back({"CUDA", r.cuda_reason.empty() ? r.cuda_module + " (" + r.cuda_architectures + ")"
                                                : "not used: " + r.cuda_reason});
  for (const DoctorCard& card : r.cuda_cards)
    rows.push_back({"  GPU", card.name + ", compute capability " + card.capability + ", " +
                                 bytes_text(card.free_bytes) + " of " + bytes_text(card.bytes) + " free" +
                                 (card.reason.empty() ? "; its speed is not measured" : "; not used")});
  for (const LibraryVersion& l : r.libraries)
    rows.push_back({l.name, (l.version.empty() ? "" : l.version + ": ") + l.note});
  rows.push_back({"resources", r.resources.empty() ? "not found" : r.resources});
  return table_text(rows, {});
}

std::vector<std::string> doctor_conclusions(const DoctorReport& r) {
  const bool card = r.cuda_reason.empty();
  return {"Stormcell " + r.version + " uses all " + counted(r.cores, "core") + " of this machine with its " + r.isa +
              " kernels.",
          bytes_text(r.available_bytes) + " of memory are available for models and data.",
          card ? "Models run on the GPU with --device cuda." : "No model runs on a GPU here: " + r.cuda_reason + ".",
          next_command({"optimize", "demo:switch-names", "--data", "demo:switch-names-sample"})};
}

class DoctorVerb : public Verb {
 public:
  void add_options(CLI::App& app) override { add_json_option(app, json_); }

  int execute(Console& console) override {
    tell_result(
        console, json_, [](const Progress&) { return examine_machine(); },
        [](const DoctorReport& report) {
          return Page{doctor_conclusions(report), report_text(report)};
        });
    return 0;
  }

 private:
  std::string json_;
};

}  // namespace

std::unique_ptr<Verb> make_doctor() { return std::make_unique<DoctorVerb>(); }

}  // namespace stormcell::cli
