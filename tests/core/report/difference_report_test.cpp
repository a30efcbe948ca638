// The page of two recordings: verdict, map, first differences, margins, experts; well-formed, and refers to nothing.
#include "core/report/difference_report.h"

#include <QRegularExpression>
#include <algorithm>

#include "core/base/error.h"
#include "tests/core/report/report_pages.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

/// Two routers over three groups of two positions; no cell meets the second router in the last group.
DifferenceFigures planted_difference() {
  DifferenceFigures f;
  f.a = "trainer<1>.storm#2", f.b = "engine & co.st";
  f.matched_requests = 4, f.matched_cells = 24, f.differing_cells = 6;
  f.differing = 7, f.compared = 40, f.consequences = 1, f.origins = 6, f.near_ties = 2;
  f.position_width = 2;
  DiffLayer first, second;
  first.router = first.router_b = "layer.<0>";
  first.cells = 24, first.differing = 6, first.first_here = 6, first.near_ties = 2, first.share = .25;
  first.share_ci95 = {{.125, .5}};
  first.margin = .5, first.margin_first = .0625;
  first.positions = {{8, 0, {}}, {8, 2, {}}, {8, 4, {}}};
  first.branches = {{7, 1234, 4}, {3, 0, 60}};
  second.router = "layer.1", second.router_b = "mlp.1";
  second.cells = 16, second.differing = 1, second.share = .0625;
  second.positions = {{8, 0, {}}, {8, 1, {}}, {0, 0, {}}};
  f.layers = {first, second};
  f.sequences_differing = 2;
  f.sequences = {{10, 3, "layer.<0>", 17, "<b>the"}, {12, 5, "layer.1", 99, ""}};
  f.margins = DiffMargins{{.001, .01, .1}, {10, 20, 10}, {4, 1, 1}};
  DiffSample begun, later;
  begun.layer = 0, begun.group = 1, begun.request = 10, begun.position = 3, begun.token = 17, begun.text = "<b>the";
  begun.margin = .0625, begun.a = {1, 42}, begun.b = {1, 43};
  later = begun, later.layer = 1, later.consequence = true, later.a = {5, 66}, later.b = {5, 67};
  f.samples = {begun, later};
  f.verdict.cause = "unlike", f.verdict.confidence = 0, f.verdict.evidence = "17.5 % of <40> choices of cells differ";
  f.verdict.next = "weights & inputs of both sides";
  f.verdict.also = {{"token-shift", "some tokens", "the first position", .5}};
  f.warnings = {"a warning & more"};
  return f;
}

int boxes_of(const std::string& html, const std::string& css) {
  const std::string begin = "<path class=\"" + css + "\" d=\"";
  const size_t at = html.find(begin);
  if (at == std::string::npos) return 0;
  const std::string path = html.substr(at + begin.size(), html.find('"', at + begin.size()) - at - begin.size());
  return static_cast<int>(std::count(path.begin(), path.end(), 'z'));
}

}  // namespace

class DifferenceReportTest : public QObject, private testing::ReportPages {
  Q_OBJECT

  std::string difference_page_of(const DifferenceFigures& figures) {
    return page_of([&](const std::string& file) { write_difference_report(figures, file); });
  }
  static bool has_section(const std::string& html, const std::string& id) {
    return has(html, "<section id=\"" + id + "\"");
  }

 private slots:
  void it_is_well_formed_and_refers_to_nothing() {
    const std::string html = difference_page_of(planted_difference());
    QVERIFY2(flaw(html).isEmpty(), qPrintable(flaw(html)));
    const QString text = QString::fromStdString(html);
    QVERIFY(text.startsWith("<!DOCTYPE html>") && !text.contains("<script") && !text.contains("http"));
    QVERIFY(!text.contains(QRegularExpression("<(link|img|iframe|object)|\\bsrc=|\\bhref=|url\\(|@import")));
    QVERIFY(text.contains("prefers-color-scheme:dark"));
  }

  void the_verdict_its_evidence_and_the_next_check_come_first() {
    const std::string html = difference_page_of(planted_difference());
    const size_t verdict = html.find("<h1>Verdict: unlike</h1>"),
                 evidence = html.find("17.5 % of &lt;40&gt; choices of cells differ."),
                 next = html.find("weights &amp; inputs of both sides."), map = html.find("<section id=\"map\"");
    QVERIFY(verdict != std::string::npos && verdict < evidence && evidence < next && next < map);
    QVERIFY(map != std::string::npos);
    QVERIFY(has(html, "Also token-shift: some tokens."));
  }

  void all_figures_are_there() {
    const std::string html = difference_page_of(planted_difference());
    for (const char* text : {"trainer&lt;1&gt;.storm#2",
                             "engine &amp; co.st",
                             "<dd>17.5 %",
                             "7 of 40 choices of cells",
                             "<dt>where a difference begins</dt><dd>6",
                             "<dt>near ties</dt><dd>2",
                             "<dt>consequences</dt><dd>1",
                             "<code>layer.&lt;0&gt;</code>",
                             "<code>layer.1</code> / <code>mlp.1</code>",
                             "12.5 % to 50.0 %",
                             "A column is 2 positions.",
                             "2 requests of 4 matched ones differ",
                             "“&lt;b&gt;the”",
                             "#99",
                             "1,234",
                             "+1,230",
                             "−60",
                             "a warning &amp; more",
                             ">1, 42<",
                             ">1, 43<"})
      QVERIFY2(has(html, text), text);
    // Consequences are not among the cells where a difference begins.
    QVERIFY(!has(html, ">5, 66<"));
    for (const char* id : {"map", "sequences", "margins", "experts", "cells", "warnings"})
      QVERIFY2(has_section(html, id), id);
  }

  void scores_are_beside_the_choices_of_the_side_that_recorded_them() {
    DifferenceFigures f = planted_difference();
    f.samples[0].scores_b = {.5F, .25F, 2};  // of 1, 42 and 43
    const std::string html = difference_page_of(f);
    QVERIFY2(has(html, ">1, 42<"), "a has no scores");
    QVERIFY(has(html, ">1 (0.5") && has(html, "), 43 (2"));
  }

  void the_map_tells_no_cell_from_no_difference() {
    const std::string html = difference_page_of(planted_difference());
    QCOMPARE(boxes_of(html, "gap"), 1);   // the second router's last group
    QCOMPARE(boxes_of(html, "zero"), 2);  // the first group of both
    // 2 of 8, 4 of 8 and 1 of 8 on a scale of nine steps that ends at one half.
    QVERIFY(boxes_of(html, "q4") == 1 && boxes_of(html, "q8") == 1 && boxes_of(html, "q2") == 1);
    QVERIFY(has(html, "no cell in both"));
  }

  void near_ties_are_named() {
    DifferenceFigures f = planted_difference();
    f.near_ties = 6;
    f.verdict = {};
    f.verdict.cause = "agree", f.verdict.confidence = 1;
    f.verdict.evidence = "these recordings agree but for near ties: 6 of 6";
    f.verdict.next = "nothing; what differs lies within the rounding of the scores";
    const std::string html = difference_page_of(f);
    QVERIFY(flaw(html).isEmpty());
    QVERIFY(has(html, "<h1>Verdict: agree</h1>") && has(html, "These recordings agree but for near ties: 6 of 6."));
    QVERIFY(has(html, "6 of the 6 cells where a difference begins are near ties"));
  }

  void without_margins_the_page_says_what_records_them() {
    DifferenceFigures f = planted_difference();
    f.margins.reset(), f.near_ties.reset(), f.samples.clear();
    f.record_margins = "record scores with: profile --record-<scores>";
    f.verdict = {};
    f.verdict.evidence = "17.5 % differ; why cannot be told from ids";
    f.verdict.cannot_be_told = {"router-precision", "scale-lost"};
    f.verdict.record = "record more";
    const std::string html = difference_page_of(f);
    QVERIFY(flaw(html).isEmpty());
    QVERIFY(has(html, "<h1>Verdict: cannot be told</h1>"));
    QVERIFY(has(html, "lack data to tell router-precision, scale-lost: record more."));
    QVERIFY(has(html, "Record scores with: profile --record-&lt;scores&gt;.") && has(html, "<dd>not known"));
    QVERIFY(has_section(html, "margins") && !has_section(html, "cells"));
  }

  void recordings_that_agree_have_a_page_too() {
    DifferenceFigures f;
    f.a = "a.storm#1", f.b = "b.storm#1";
    f.matched_requests = 1, f.matched_cells = 8, f.compared = 8;
    DiffLayer only;
    only.router = only.router_b = "layer.0", only.cells = 8, only.share = 0;
    only.positions = {{8, 0, {}}};
    f.layers = {only};
    f.verdict.cause = "agree", f.verdict.evidence = "all 8 choices of cells are the same sets";
    f.verdict.next = "nothing";
    const std::string html = difference_page_of(f);
    QVERIFY2(flaw(html).isEmpty(), qPrintable(flaw(html)));
    QVERIFY(has(html, "All 8 choices of cells are the same sets.") && !has(html, "Check next"));
    QVERIFY(has_section(html, "map") && !has_section(html, "sequences") && !has_section(html, "experts"));
  }

  void a_page_that_cannot_be_written_is_refused() {
    QVERIFY_THROWS_EXCEPTION(
        Error, write_difference_report(planted_difference(), folder_.filePath("none/page.html").toStdString()));
  }
};

STORMCELL_TEST(DifferenceReportTest)

}  // namespace stormcell

#include "difference_report_test.moc"
