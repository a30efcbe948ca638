// Pages of reports that are made from given figures.
#pragma once
#include <string>
#include <vector>

#include "core/profile/recorder.h"
#include "core/report/report.h"
#include "core/session/session_writer.h"
#include "core/summary/results.h"
#include "core/summary/summary_json.h"
#include "tests/core/profile/synthetic.h"
#include "tests/core/report/report_pages.h"

namespace stormcell::testing {

class FigurePages : protected ReportPages {
 protected:
  /// An optimisation of a made-up model, verified, 1.94 times as fast.
  static RunSummaryFigures some_figures() {
    RunSummaryFigures f;
    f.verb = "optimize";
    f.model = {"switch-tiny", "switch_transformers", "seeded", 1000, 4000, 5, 37, "0123456789abcdef"};
    f.dataset = {"random:4x12", 6, 288, 200, 24, 0};
    f.device = {.name = "some processor",
                .backend = "cpu",
                .isa = "avx2",
                .core_placement = "two cores",
                .threads = 2,
                .peak_gflops = 63.5,
                .peak_bf16_gflops = 63.5,
                .read_gbps = 11.25};
    f.baseline = PlanFigures{{8.25, 9, 7, 20}, 1000, 0.5, 5000, 700};
    f.optimized = PlanFigures{{4.0625, 5, 4, 20}, 2000, 0.75, 4000, 600};
    f.speedup = 1.9375;
    f.speedup_ci95 = {1.8125, 2.0625};
    f.verified = Verification{true, "6 of 6 batches against the oracle", {}, {}, 1e-4, 2e-6, 3e-6, 3e-6, 6};
    f.passes = {{"dead-path", true, "3 branches without load", 1.375, 1.9375, std::array{1.3, 1.4375},
                 std::array{1.8125, 2.0625}, 12, 1},
                {"vertical-fusion", false, "nothing to fuse"}};
    f.baseline_operators = {{"linear", 12, 5.5, 2.75}};
    f.optimized_operators = {{"linear", 12, 3.5, 2.75}, {"grouped_linear", 4, .5, .25}};
    f.unloaded_weight_bytes = 1024;
    f.settings = R"({"batch":8,"data":"random:4x12"})";
    f.config = "{}";
    return f;
  }

  /// The session of the page that was written last.
  std::string last_session() const { return folder_.filePath("s" + QString::number(made_) + ".storm").toStdString(); }

  /// A run of `layout` with labels, in a session of its own; the page that is written from it.
  std::string page(const RunSummaryFigures& figures, const RunLayout& layout, int batches = 6,
                   const std::vector<std::string>& labels = {"de", "el"}) {
    ++made_;
    const std::string path = last_session();
    {
      SessionWriter writer(path, {"0123456789abcdef", figures.model.name, figures.model.family, "{}"});
      RunStart start;
      start.kind = figures.verb;
      start.layout = layout;
      start.machine = R"({"name":"some processor","threads":2})";
      start.dataset = R"({"name":"random:4x12","sequences":24,"settings":{"batch":8,"data":"random:4x12"}})";
      auto run = writer.begin_run(start);
      Recorder recorder({run.get()});
      for (int64_t i = 0; i < batches; ++i) {
        BatchRecord& batch = recorder.begin_batch();
        fill(layout, i, {}, batch);
        batch.guards = {{0, 2, 1}};
        for (size_t s = 0; s < 4 && !labels.empty(); ++s)
          batch.add_sequence(labels[(static_cast<size_t>(i) + s) % labels.size()]);
        recorder.submit();
      }
      recorder.finish();
      run->finish(RunStatus::finished, to_json(figures));
      run.reset();
      writer.close();
    }
    return written(path);
  }
  std::string written(const std::string& session) {
    return page_of([&](const std::string& file) { write_report(session, file); });
  }
  /// The tables of a page.
  static std::string tables(const std::string& html) {
    std::string all;
    for (size_t at = 0; (at = html.find("<table", at)) != std::string::npos; ++at)
      all += html.substr(at, html.find("</table>", at) - at);
    return all;
  }

 private:
  int made_ = 0;
};

}  // namespace stormcell::testing
