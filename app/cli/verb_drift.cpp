#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/page.h"
#include "app/cli/told_result.h"
#include "core/base/counted.h"
#include "core/comparison/session_drift.h"

namespace stormcell::cli {
namespace {

Page page_of_drift(const SessionDrift& d) {
  const std::string a = d.a + "#" + std::to_string(d.run), b = d.other.session + "#" + std::to_string(d.other.run);
  if (!d.other.drift) return {{"Not judged: " + d.other.why_not + ".", sentence_of(d.other.doubt)}, ""};
  const DriftFigures& drift = *d.other.drift;
  return {{drift.p_value <= .05 ? a + " goes elsewhere than " + b + "."
                                : a + " differs from " + b + " by no more than chance.",
           sentence_of(d.other.doubt)},
          "total variation " + number_text(drift.distance) + ", between random parts of both " +
              number_text(drift.expected) + ", 95 % of them " + number_text(drift.by_chance.low) + " to " +
              number_text(drift.by_chance.high) + ", by drawing (p = " + number_text(drift.p_value) + ", " +
              counted(drift.blocks, "block") + " of steps)\n"};
}

class DriftVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "A", a_,
                 "Names a session: S.storm, S.storm#3 or S.storm#name (default: the newest run of the session).");
    add_argument(app, "B", b_, "Names another recording of the same model.");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    const auto judge = [&](const Progress& progress) {
      SessionDrift drift = session_drift(a_, b_, progress);
      warn_of(console, drift.a, drift.run, drift.status, drift.batches);
      warn_of(console, drift.other.session, drift.other.run, drift.other.status, drift.other.batches);
      return drift;
    };
    tell_result(console, json_, judge, page_of_drift);
    return 0;
  }

 private:
  static void warn_of(Console& console, const std::string& session, int64_t run, RunStatus status, int64_t batches) {
    if (status != RunStatus::finished)
      console.warning(session + "#" + std::to_string(run) + " is " + std::string(to_text(status)) +
                      ": what it recorded until then is " + counted(batches, "batch"));
  }
  std::string a_, b_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_drift() { return std::make_unique<DriftVerb>(); }

}  // namespace stormcell::cli
