// The pages of published figures: every table, chance beside each figure, the command; well-formed, refers to nothing.
#include "core/report/patterns_report.h"

#include <QRegularExpression>

#include "core/base/error.h"
#include "tests/core/report/report_pages.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

LoadsBesideChance planted_chance() {
  LoadsBesideChance chance;
  chance.imbalance.range = {1.1, 1.05, 1.25}, chance.entropy_bits.range = {1.98, 1.95, 1.99};
  chance.gini.range = {.06, .03, .125};
  return chance;
}

/// Two routers of four branches; the first has everything, the second nothing but loads within chance.
PatternFigures planted_patterns() {
  PatternFigures f;
  f.recordings = {"code=a<1>.storm", "b & co.st"}, f.origin = "traces a<1>", f.model = "moe <x>";
  f.cells = 96, f.cells_without_label = 7, f.first_choices = 2, f.fewest_cells = 10;
  PatternRouter first, second;
  first.router = "layer.<0>", first.layer = 0, first.branches = 4, first.k = 2, first.cells = 48;
  first.load = {60, 20, 10, 6}, first.imbalance = 2.5, first.entropy_bits = 1.5, first.gini = .4375;
  first.chance = planted_chance(), first.beyond = true;
  MarginFigures cut;
  cut.cells = 48, cut.quarter = .125, cut.median = .25, cut.three_quarters = .5;
  cut.below = {{.03, 12}}, cut.edges = {.0625, .375}, cut.bins = {17, 31};
  first.margins = {cut};
  TogetherFigures together;
  together.all = PairTable(), together.neighbours = PairTable();
  together.strongest = {{1, 3, 24, 8, 3}};
  together.largest_lift = ChanceRange{1.2, 1.1, 1.4};
  together.chance.tested = 6, together.chance.beyond = {{1, 3, 24, .001}}, together.chance.rarer = {{0, 1, 0, .002}};
  first.together = together;
  LabelFigures label;
  label.label = "<code>", label.cells = 24, label.load = {24, 12, 6, 6}, label.gini = .3125;
  label.chance = planted_chance(), label.shares.assign(4, ChanceFigure{{.5, .375, .625}});
  first.labels = {label}, first.label_bits = .75, first.label_chance = ChanceFigure{{.02, .01, .0625}};
  PatternVocabulary words;
  words.figures.tokens = 3, words.figures.tokens_left_out = 11, words.figures.specialization = .875;
  words.figures.branches = {{2, .9375, {{17, 20, .75}, {99, 12, .5}}}, {}};
  words.chance.range = {.6, .5625, .6875}, words.beyond = true;
  first.vocabulary = words;
  second.router = "layer.1", second.branches = 4, second.k = 2, second.cells = 48, second.load = {24, 24, 24, 24};
  second.imbalance = 1, second.entropy_bits = 2, second.chance = planted_chance();
  f.routers = {first, second};
  GapFigures gap;
  gap.from = 0, gap.to = 1;
  gap.figures.likeliest = .8125, gap.figures.likeliest_by_load = .53125;
  gap.figures.strongest = {{2, 3, 21, 30, .7, .28, 2.5}};
  gap.published.likeliest = .34375, gap.likeliest = ChanceFigure{{.6, .575, .625}};
  gap.chance.tested = 16;
  f.gaps = {gap};
  f.pieces = {{17, "<b>the"}};
  f.lacks = {"no <scores>"}, f.warnings = {"a warning & more"};
  return f;
}

SaturationFigures planted_saturation() {
  SaturationFigures f;
  f.names = {"1%", "<10%>", "last"}, f.recordings = {"a&b.st", "c.st", "d.st"}, f.origin = "traces", f.cells = 48;
  f.by_tokens = true;
  SaturationPoint early, late;
  early.cells = 48, early.share = .53125, early.first_share = .40625, early.by_load = .51;
  early.chance.range = {.5, .46875, .5625};
  late = early, late.share = .875, late.beyond = true;
  f.routers = {{"layer.<0>", 0, 4, 2, {early, late}}, {"layer.1", 1, 4, 2, {early, SaturationPoint()}}};
  f.all = {early, late};
  f.warnings = {"a warning & more"};
  return f;
}

}  // namespace

class PatternsReportTest : public QObject, private testing::ReportPages {
  Q_OBJECT

  std::string patterns_html(const PatternFigures& figures) {
    return page_of([&](const std::string& file) { write_patterns_report(figures, "stormcell patterns a<1>", file); });
  }
  std::string saturation_html(const SaturationFigures& figures) {
    return page_of(
        [&](const std::string& file) { write_saturation_report(figures, "stormcell saturation a&b", file); });
  }
  static bool has_section(const std::string& html, const std::string& id) {
    return has(html, "<section id=\"" + id + "\"");
  }

 private slots:
  void they_are_well_formed_and_refer_to_nothing() {
    for (const std::string& html : {patterns_html(planted_patterns()), saturation_html(planted_saturation())}) {
      QVERIFY2(flaw(html).isEmpty(), qPrintable(flaw(html)));
      const QString text = QString::fromStdString(html);
      QVERIFY(text.startsWith("<!DOCTYPE html>") && !text.contains("<script") && !text.contains("http"));
      QVERIFY(!text.contains(QRegularExpression("<(link|img|iframe|object)|\\bsrc=|\\bhref=|url\\(|@import")));
    }
  }

  void every_table_has_chance_beside_it() {
    const std::string html = patterns_html(planted_patterns());
    for (const char* id :
         {"layers", "labels", "transitions", "coactivation", "vocabulary", "margins", "lacks", "pattern-warnings"})
      QVERIFY2(has_section(html, id), id);
    for (const char* text : {"Patterns of moe &lt;x&gt;",
                             "code=a&lt;1&gt;.storm",
                             "b &amp; co.st",
                             "first 2 choices of each cell",
                             "7 cells without a label",
                             "layer.&lt;0&gt;",
                             "(1.05 to 1.25)",
                             "(1.95 to 1.99)",
                             "(0.0300 to 0.125)",
                             "&lt;code&gt;",
                             "37.5 % to 62.5 %",
                             "(0.0100 to 0.0625)",
                             "81.2 %",
                             "57.5 % to 62.5 %",
                             "34.4 %",
                             "0 of 16",
                             "1 of 6",
                             "“&lt;b&gt;the” 75.0 %",
                             "#99 50.0 %",
                             "93.8 %",
                             "below 0.03",
                             "25.0 %",
                             ">17<",
                             ">31<",
                             "no &lt;scores&gt;",
                             "a warning &amp; more",
                             "beyond chance",
                             "within chance"})
      QVERIFY2(has(html, text), text);
    QVERIFY(has(html, "<code>stormcell patterns a&lt;1&gt;</code>"));
  }

  void loads_within_chance_are_grey() {
    const std::string some = patterns_html(planted_patterns());
    PatternFigures f = planted_patterns();
    for (PatternRouter& router : f.routers) {
      router.beyond = true;
      for (LabelFigures& label : router.labels) label.beyond = true;
    }
    const std::string none = patterns_html(f);
    QVERIFY(has(some, "class=\"grey\"") && !has(none, "class=\"grey\""));
  }

  void what_is_not_recorded_has_no_table() {
    PatternFigures f = planted_patterns();
    f.gaps.clear(), f.routers.erase(f.routers.begin());
    const std::string html = patterns_html(f);
    QVERIFY2(flaw(html).isEmpty(), qPrintable(flaw(html)));
    QVERIFY(has_section(html, "layers") && has_section(html, "lacks"));
    for (const char* id : {"labels", "transitions", "coactivation", "vocabulary", "margins"})
      QVERIFY2(!has_section(html, id), id);
  }

  void saturation_has_each_router_at_each_checkpoint() {
    const std::string html = saturation_html(planted_saturation());
    for (const char* text : {"Saturation towards last", "a&amp;b.st", "&lt;10%&gt;", "53.1 % (within chance)", "87.5 %",
                             "46.9 % to 56.2 %", "40.6 %", "layer.&lt;0&gt;", "token ids agree",
                             "<code>stormcell saturation a&amp;b</code>", "a warning &amp; more"})
      QVERIFY2(has(html, text), text);
    QVERIFY(!has(html, "87.5 % (within chance)"));
  }

  void the_command_is_the_one_that_was_asked_for() {
    PatternOptions options;
    options.recordings = {"code=my file.st"};
    QCOMPARE(command_of(options), std::string("stormcell patterns 'code=my file.st'"));
    options.recordings = {"s.storm#2"}, options.labels = "l.csv", options.layer_pairs = {{0, 7}, {7, 15}};
    options.first_choices = 1, options.fewest_cells = 1, options.margins = {.01, .5};
    QCOMPARE(command_of(options), std::string("stormcell patterns s.storm#2 --labels l.csv --layers 0-7,7-15 --first 1 "
                                              "--fewest-cells 1 --below 0.01,0.5"));
    options = {};
    options.recordings = {"a.st"}, options.gap = 3;
    QCOMPARE(command_of(options), std::string("stormcell patterns a.st --gap 3"));
    QCOMPARE(command_of(SaturationOptions{{"1%=a.st", "b.st"}}), std::string("stormcell saturation 1%=a.st b.st"));
  }

  void a_page_that_cannot_be_written_is_refused() {
    const std::string nowhere = folder_.filePath("none/page.html").toStdString();
    QVERIFY_THROWS_EXCEPTION(Error, write_patterns_report(planted_patterns(), "c", nowhere));
    QVERIFY_THROWS_EXCEPTION(Error, write_saturation_report(planted_saturation(), "c", nowhere));
  }
};

STORMCELL_TEST(PatternsReportTest)

}  // namespace stormcell

#include "patterns_report_test.moc"
