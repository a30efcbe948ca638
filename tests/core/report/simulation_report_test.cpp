// A simulation's page has what the JSON has, is one well-formed document, and refers to nothing.
#include "core/report/simulation_report.h"

#include <QFile>
#include <QRegularExpression>

#include "core/base/error.h"
#include "tests/core/report/report_pages.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

const char* const kSimulation = R"({"schema":"stormcell.simulate/1","version":"0.1.0","session":"<s>.storm","run":3,
 "model":{"name":"<script>m","layers":2,"branches":16},"cluster":{"name":"2x4-<x>","nodes":2,"ranks":8,"oversubscription":2},
 "placement":"#4 & more","slots":16,"phase":"decode","backend":"per-rank","replicas":"nearest","residence":"home","overlap":"two-batch",
 "steps":{"kind":"recorded","count":12},"step_ms":{"mean":7.5,"p50":7.25,"p95":9.5,"without_overlap":8.5},
 "contents":"experts, exchange and a stated rest of 4 ms; a <lower> bound if the rest is right","rest_ms":4,
 "tokens_per_step":64,"tokens_per_s":8533.3,"tokens_per_s_withheld":null,"remote_bytes":1048576,"wire_bytes":2097152,"sizes":{"source":"config.json"},
 "capacity":{"factor":1.25,"choices":64,"dropped":4,"dropped_share":0.0625,"lossless":false},
 "calibration":{"file":"cal.json","phases":[{"phase":"dispatch","kind":"borrowed","like":"G of here","held_out_error":0.125},
                                            {"phase":"experts","kind":null,"why_not":"16 bits <were> not measured"}]},
 "layers":[{"name":"layer.<0>","dispatch_ms":0.5,"compute_ms":2.5,"combine_ms":0.75,"imbalance":0.375},
           {"name":"layer.1","dispatch_ms":0.25,"compute_ms":3.25,"combine_ms":0.25,"imbalance":0.125}],
 "gpus":[{"node":0,"compute_ms":5.125,"waiting_share":0.25,"sent_bytes":2048,"received_bytes":1024,"weight_bytes":4096}],
 "links":[{"name":"GPU 0, fabric out","bytes":2048,"busy_share":0.0625}],
 "sensitivity":[{"figure":"fabric bandwidth","elasticity":-0.2},{"figure":"bytes of an expert","elasticity":0.9}],
 "collective":{"layer":"layer.1","step":2,"links":[],
   "dispatch":{"messages":1,"bytes":3072,"closed_form_ms":0.5,"filled_ms":0.625,"timeline":[],
               "messages_are_means":true,"single_messages":[{"from":0,"to":5,"bytes":3072,"end_ms":0.625}]},
   "combine":{"messages":0,"bytes":0,"closed_form_ms":0,"filled_ms":0,"timeline":[],"single_messages":null}},
 "deployment":{"imbalance":{"predicted":0.15625,"shared_evenly":0.21875,"recorded":null},"layers":[]},
 "assumptions":["rates are <those> of data sheets"],"lacks":["requests"],"warnings":["two & two"]})";

}  // namespace

class SimulationReportTest : public QObject, private testing::ReportPages {
  Q_OBJECT

  std::string page(const std::string& json) {
    return page_of([&](const std::string& file) { write_simulation_report(json, file); });
  }

 private slots:
  void it_is_well_formed_and_refers_to_nothing() {
    const std::string html = page(kSimulation);
    QVERIFY2(flaw(html).isEmpty(), qPrintable(flaw(html)));
    const QString text = QString::fromStdString(html);
    QVERIFY(text.startsWith("<!DOCTYPE html>") && !text.contains("<script") && !text.contains("http"));
    QVERIFY(!text.contains(QRegularExpression("<(link|img|iframe|object)|\\bsrc=|\\bhref=|url\\(|@import")));
  }

  void what_the_json_says_stands_there() {
    const std::string html = page(kSimulation);
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
    const std::string html = page(kSimulation);
    QVERIFY(html.find(">bytes of an expert<") < html.find(">fabric bandwidth<"));
  }

  void what_is_not_told_leaves_no_trace() {
    const std::string html = page(R"({"schema":"stormcell.simulate/1","model":{"name":"m"},"tokens_per_s":null})");
    QVERIFY(html.find("Experts and exchange only; a lower bound.") != std::string::npos);
    for (const char* id : {"layers", "sensitivity", "gpus", "exchange", "deployment", "calibration"})
      QVERIFY2(html.find(std::string("<section id=\"") + id + "\"") == std::string::npos, id);
    QVERIFY(html.find("tokens a second") == std::string::npos && html.find("capacity") == std::string::npos);
  }

  void a_difference_that_rounding_makes_is_no_imbalance() {
    const std::string html = page(
        R"({"schema":"stormcell.simulate/1","model":{"name":"m"},"layers":[{"name":"l","dispatch_ms":0.5,"compute_ms":2.5,
"combine_ms":0.75,"imbalance":-8.88e-16}],"deployment":{"imbalance":{"predicted":4.4e-16,"shared_evenly":0.5,
"recorded":-2.2e-16},"layers":[]}})");
    QVERIFY2(html.find("e-16") == std::string::npos && html.find(">0<") != std::string::npos, html.c_str());
  }

  void a_rate_that_is_not_stated_has_its_reason() {
    const std::string html = page(
        R"({"schema":"stormcell.simulate/1","model":{"name":"m"},"tokens_per_s":null,"tokens_per_s_withheld":"no <attention>"})");
    QVERIFY2(html.find("<dt>tokens a second</dt><dd>not stated<small>no &lt;attention&gt;") != std::string::npos,
             html.c_str());
  }

  void anything_else_is_refused() {
    QFile::remove(folder_.filePath("page.html"));
    for (const char* text : {"", "{}", "[1]", R"({"schema":"stormcell.place/1"})"}) {
      QVERIFY_THROWS_EXCEPTION(Error, page(text));
      QVERIFY(!QFile::exists(folder_.filePath("page.html")));
    }
  }
};

STORMCELL_TEST(SimulationReportTest)

}  // namespace stormcell

#include "simulation_report_test.moc"
