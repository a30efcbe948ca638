// A simulation's page has every figure, is one well-formed document, and refers to nothing.
#include "simulator/simulation_report.h"

#include <QRegularExpression>

#include "core/summary/step_contents.h"
#include "tests/core/report/report_pages.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

SimulateFigures simulation() {
  SimulateFigures f;
  f.session = "<s>.storm", f.run = 3, f.model = "<script>m", f.branches = 16;
  f.cluster = "2x4-<x>", f.nodes = 2, f.ranks = 8, f.oversubscription = 2;
  f.placement = "#4 & more", f.slot_count = 16, f.phase = Phase::decode;
  f.replicas = ReplicaRule::nearest, f.overlap = Overlap::two_batch, f.steps = 12;
  f.mean_ms = 7.5, f.p50_ms = 7.25, f.p95_ms = 9.5, f.serial_ms = 8.5;
  f.contents = "experts, exchange and a stated rest of 4 ms; a <lower> bound if the rest is right", f.rest_ms = 4;
  f.tokens_per_step = 64, f.tokens_per_s = 8533.3, f.remote_bytes = 1048576, f.wire_bytes = 2097152;
  f.sizes.source = "config.json";
  f.capacity = CapacityFigures{.factor = 1.25, .choices = 64, .dropped = 4};
  CalibratedPhase dispatch, experts;
  dispatch.phase = LayerPhase::dispatch, dispatch.kind = PredictionKind::borrowed;
  dispatch.like = "G of here", dispatch.held_out = 0.125;
  experts.phase = LayerPhase::experts, experts.why_not = "16 bits <were> not measured";
  f.calibration = CalibrationUse{"cal.json", 64, {dispatch, experts}};
  f.layers = {{"layer.<0>", 0, 0.5, 2.5, 0.75, 0.375}, {"layer.1", 1, 0.25, 3.25, 0.25, 0.125}};
  f.gpus = {{0, 5.125, 0.25, 2048, 1024, 4096}};
  f.links = {{"GPU 0, fabric out", 2048, 0.0625}};
  f.sensitivity = {{"fabric bandwidth", -0.2}, {"bytes of an expert", 0.9}};
  SimulatedCollective c;
  c.layer = "layer.1", c.step = 2;
  c.dispatch = {.messages = 1, .bytes = 3072, .closed_form_ms = 0.5, .filled_ms = 0.625, .means = true};
  c.dispatch.sent = {{0, 5, 3072, 0.625}};
  f.collective = c;
  f.deployment.emplace().mean = {0.15625, 0.21875, {}};
  f.assumptions = {"rates are <those> of data sheets"}, f.lacks = {"requests"}, f.warnings = {"two & two"};
  return f;
}

/// A simulation that has no parts.
SimulateFigures bare_simulation() {
  SimulateFigures f;
  f.model = "m", f.contents = step_contents(f.rest_ms);
  return f;
}

}  // namespace

class SimulationReportTest : public QObject, private testing::ReportPages {
  Q_OBJECT

  std::string page(const SimulateFigures& figures) {
    return page_of([&](const std::string& file) { write_simulation_report(figures, file); });
  }

 private slots:
  void it_is_well_formed_and_refers_to_nothing() {
    const std::string html = page(simulation());
    QVERIFY2(flaw(html).isEmpty(), qPrintable(flaw(html)));
    const QString text = QString::fromStdString(html);
    QVERIFY(text.startsWith("<!DOCTYPE html>") && !text.contains("<script") && !text.contains("http"));
    QVERIFY(!text.contains(QRegularExpression("<(link|img|iframe|object)|\\bsrc=|\\bhref=|url\\(|@import")));
  }

  void every_figure_is_on_the_page() {
    const std::string html = page(simulation());
    for (const char* text : {"&lt;script&gt;m on 2x4-&lt;x&gt;",
                             "placement #4 &amp; more: 12 recorded steps of decode of run #3",
                             "<dd>7.50 ms",
                             "95 % below 9.50 ms",
                             "<dd>8.50 ms",
                             "<dd>8,533",
                             "64.0 tokens a step: experts, exchange and a stated rest of 4 ms<",
                             "Experts, exchange and a stated rest of 4 ms; a &lt;lower&gt; bound if the rest is right.",
                             "<dt>stated rest of a step</dt><dd>4.00 ms",
                             "<dd>1.0 MiB",
                             "<dd>6.2 %",
                             "by a capacity factor of 1.25: not lossless",
                             "layer.&lt;0&gt;",
                             ">2.50<",
                             ">3.75<",
                             ">0.375<",
                             "+9.0 %",
                             "−2.0 %",
                             "waits 25.0 %",
                             ">5.12<",
                             ">4.0 KiB<",
                             ">6.2 %<",
                             "<h3>dispatch</h3>",
                             "GPU 0 to 5",
                             "Each message is a mean",
                             ">3.0 KiB<",
                             ">0.625<",
                             ">0.156<",
                             ">0.219<",
                             "borrowed",
                             "16 bits &lt;were&gt; not measured",
                             "12.5 %",
                             "rates are &lt;those&gt; of data sheets",
                             "they go to the nearest replicas",
                             "an uplink carries 1 / 2.00",
                             "the data lacks requests",
                             "two &amp; two"})
      QVERIFY2(html.find(text) != std::string::npos, text);
    for (const char* id : {"layers", "sensitivity", "gpus", "exchange", "deployment", "calibration", "assumed"})
      QVERIFY2(html.find(std::string("<section id=\"") + id + "\"") != std::string::npos, id);
    QVERIFY(html.find("<h3>combine</h3>") == std::string::npos);  // it has no message
  }

  void the_largest_change_stands_first() {
    const std::string html = page(simulation());
    QVERIFY(html.find(">bytes of an expert<") < html.find(">fabric bandwidth<"));
  }

  void what_is_not_told_leaves_no_trace() {
    const std::string html = page(bare_simulation());
    QVERIFY(html.find("Experts and exchange only; a lower bound.") != std::string::npos);
    for (const char* id : {"layers", "sensitivity", "gpus", "exchange", "deployment", "calibration"})
      QVERIFY2(html.find(std::string("<section id=\"") + id + "\"") == std::string::npos, id);
    QVERIFY(html.find("tokens a second") == std::string::npos && html.find("capacity") == std::string::npos);
  }

  void a_difference_that_rounding_makes_is_no_imbalance() {
    SimulateFigures f = bare_simulation();
    f.layers = {{"l", 0, 0.5, 2.5, 0.75, -8.88e-16}};
    f.deployment.emplace().mean = {4.4e-16, 0.5, -2.2e-16};
    const std::string html = page(f);
    QVERIFY2(html.find("e-16") == std::string::npos && html.find(">0<") != std::string::npos, html.c_str());
  }

  void a_rate_that_is_not_stated_has_its_reason() {
    SimulateFigures f = bare_simulation();
    f.why_no_tokens_per_s = "no <attention>";
    const std::string html = page(f);
    QVERIFY2(html.find("<dt>tokens a second</dt><dd>not stated<small>no &lt;attention&gt;") != std::string::npos,
             html.c_str());
  }
};

STORMCELL_TEST(SimulationReportTest)

}  // namespace stormcell

#include "simulation_report_test.moc"
