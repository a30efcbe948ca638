#include "views/data/data_model.h"

#include <QFileInfo>
#include <QStringList>

#include "core/base/run_kind.h"
#include "core/summary/budget_text.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

QString escaped(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }
QString title(const RunContents& run) {
  const bool decodes = says_decoding(run.line.phase, run.line.kind);
  return QString("#%1 %2 %3")
      .arg(run.line.id)
      .arg(escaped(run.line.kind) + (decodes ? tr(" decode") : QString()), escaped(run.line.name))
      .trimmed();
}

/// A table row by row; the first row is its head.
class HtmlTable {
 public:
  explicit HtmlTable(const Theme& theme) : theme_(theme) {}
  void head(const QStringList& cells) {
    html_ += "<tr>";
    for (const QString& c : cells)
      html_ += "<th align='left' style='color:" + theme_.faint.name() + "; font-weight:normal'>" + c + "</th>";
    html_ += "</tr>";
  }
  void row(const QStringList& cells, bool strong = false) {
    html_ += strong ? "<tr bgcolor='" + theme_.grid.name() + "'>" : QString("<tr>");
    for (const QString& c : cells) html_ += "<td style='" + rule() + "'>" + c + "</td>";
    html_ += "</tr>";
  }
  /// Adds a row with a name and its text, in a table of such rows only.
  void pair(const QString& name, const QString& text) {
    html_ +=
        "<tr><td width='14%' style='" + rule() + "'>" + name + "</td><td style='" + rule() + "'>" + text + "</td></tr>";
  }
  /// As wide as the page except for the rules, with a rule below each row that guides the eye across the gaps.
  QString text() const { return "<table width='99%' cellspacing='0' cellpadding='3'>" + html_ + "</table>"; }

 private:
  QString rule() const { return "border-bottom:1px solid " + theme_.grid.name(); }
  const Theme& theme_;
  QString html_;
};

QString mark(bool there, const Theme& theme) {
  // A sign and a word's worth of colour: neither alone.
  return there ? "<span style='color:" + theme.good.name() + "'>" + QString(QChar(0x2713)) + "</span>"
               : "<span style='color:" + theme.faint.name() + "'>" + QString(QChar(0x2013)) + "</span>";
}

QString model_part(const SessionData& d, const Theme& theme) {
  HtmlTable table(theme);
  table.pair(tr("model"), "<b>" + escaped(d.model) + "</b>");
  table.pair(tr("family"), escaped(d.family));
  if (d.parameters > 0)
    table.pair(tr("parameters"),
               tr("%1 in %2").arg(count_text(d.parameters), bytes_text(static_cast<double>(d.weight_bytes))));
  if (!d.weights.empty()) table.pair(tr("weights"), d.weights_stated ? escaped(d.weights) : tr("as stored"));
  table.pair(tr("file"), escaped(d.file) + ", " + bytes_text(static_cast<double>(d.bytes)));
  table.pair(tr("begun"), tr("%1 by Stormcell %2, schema %3")
                              .arg(moment_text(d.created).toHtmlEscaped(), escaped(d.program))
                              .arg(d.schema));
  return table.text();
}

/// Batches of the data. A recording of decoding has more: one for the input of a batch and one for each turn.
qlonglong batches_of(const RunContents& run) {
  if (run.line.batches_of_data > 0) return run.line.batches_of_data;
  return run.line.result && run.line.result->generated ? run.line.result->generated->batches : run.line.batches;
}

QString run_part(const RunContents& run, const Theme& theme) {
  HtmlTable about(theme);
  about.pair(tr("data"), run.dataset.empty() ? tr("not known") : escaped(run.dataset));
  const QString items =
      run.sizes.empty() ? counted_text(run.sequences, "sequence") : QString::fromStdString(run.items_text());
  about.pair(tr("size"), tr("%1 in %2").arg(items, counted_text(batches_of(run), "batch")));
  if (!run.labels.empty()) {
    QStringList labels;
    for (const std::string& l : run.labels) labels << escaped(l);
    const qsizetype count = labels.size();
    about.pair(tr("labels"), tr("%1: %2").arg(count).arg(labels.mid(0, 20).join(", ") + (count > 20 ? ", ..." : "")));
  }
  if (!run.machine.empty())
    about.pair(tr("machine"), tr("%1, %2, %3 threads").arg(escaped(run.machine), escaped(run.isa)).arg(run.threads));
  if (run.line.weight_budget > 0) about.pair(tr("budget"), QString::fromStdString(budget_word(run.line.weight_budget)));
  about.pair(tr("status"),
             tr("%1; begun %2, ended %3")
                 .arg(escaped(std::string(to_text(run.line.status))), moment_text(run.line.started).toHtmlEscaped(),
                      run.line.finished.empty() ? tr("never") : moment_text(run.line.finished).toHtmlEscaped()));
  QString html = "<h3>" + tr("Run on show: %1").arg(title(run)) + "</h3>" + about.text();
  if (run.routers.empty()) return html + "<p>" + tr("Its model has no routers.") + "</p>";
  HtmlTable routers(theme);
  routers.head({tr("router"), tr("cell space"), tr("protocol"), tr("branches"), tr("a cell gets"), tr("used"),
                tr("choices"), tr("of these padding")});
  for (const RunContents::Router& r : run.routers)
    routers.row({escaped(r.line.name), escaped(r.line.space), escaped(r.line.protocol),
                 QString::number(r.line.branches), QString::number(r.line.fan_out),
                 r.touched < r.line.branches ? tr("%1 of %2").arg(r.touched).arg(r.line.branches) : tr("all"),
                 count_text(r.cells),
                 r.cells > 0 ? QString::number(100.0 * static_cast<double>(r.padding) / r.cells, 'f', 1) + " %"
                             : QString("0 %")});
  return html + "<p></p>" + routers.text();
}

}  // namespace

KeptText text_of(Kept kept) {
  switch (kept) {
    case Kept::sums:
      return {tr("sums"), tr("loads, weights, drops and transitions by windows of batches: heatmap, transitions"),
              tr("every run with routers")};
    case Kept::decisions:
      return {tr("decisions"), tr("which branches each single cell got: cells, following a cell"),
              tr("stormcell profile, or optimize")};
    case Kept::weights:
      return {tr("weights"), tr("what a branch's result was multiplied by, cell by cell"), tr("come with decisions")};
    case Kept::tokens:
      return {tr("tokens"), tr("token ids of the input, place by place: cells"),
              tr("--record-inputs, or the demo's data")};
    case Kept::texts:
      return {tr("texts"), tr("the sequences' texts; whoever gets the file can read them"),
              tr("--record-inputs with data that is text")};
    case Kept::pieces:
      return {tr("pieces"), tr("the text of each token"), tr("--record-inputs with a model that has a tokenizer")};
    case Kept::pictures:
      return {tr("pictures"), tr("some of the pictures, made small: cells, exits; whoever gets the file can see them"),
              tr("--record-inputs with data that are pictures, or the demo's data")};
    case Kept::labels:
      return {tr("labels"), tr("a label of each sequence: loads by label"), tr("--label-field with .jsonl data")};
    case Kept::margins:
      return {tr("margins"), tr("how near each decision was to another one: near ties"), tr("--record-scores")};
    case Kept::scores:
      return {tr("scores"), tr("every branch's score for every cell: export --what scores"), tr("--record-scores")};
    case Kept::events:
      return {tr("events"), tr("begin and end of every executed step"), tr("stormcell profile, or optimize")};
    case Kept::guards:
      return {tr("guards"), tr("hits and misses of guarded optimisations"),
              tr("optimised runs whose plan has guards that were tested")};
  }
  return {};
}

QString make_page(const SessionData& d, int64_t run, const Theme& theme) {
  QString html = "<h2>" + tr("What this session holds") + "</h2>" + model_part(d, theme);
  HtmlTable runs(theme);
  QStringList head{tr("run"), tr("batches")};
  for (size_t k = 0; k < kKeptKinds; ++k) head << text_of(static_cast<Kept>(k)).name;
  runs.head(head);
  const RunContents* shown = nullptr;
  for (const RunContents& r : d.runs) {
    QStringList cells{title(r).replace(' ', "&nbsp;"), count_text(batches_of(r))};
    for (const bool there : r.kept) cells << mark(there, theme);
    runs.row(cells, r.line.id == run);
    if (r.line.id == run) shown = &r;
  }
  html += "<h3>" + tr("Runs, and what each of them recorded") + "</h3>" + runs.text();
  if (shown) html += run_part(*shown, theme);
  HtmlTable kinds(theme);
  kinds.head(
      {tr("record"), shown ? tr("run #%1").arg(run) : QString(), tr("what it answers"), tr("where it comes from")});
  for (size_t k = 0; k < kKeptKinds; ++k) {
    const KeptText text = text_of(static_cast<Kept>(k));
    kinds.row({text.name, shown ? mark(shown->kept[k], theme) : QString(), text.use, text.how});
  }
  return html + "<h3>" + tr("Records") + "</h3>" + kinds.text();
}

Table make_table(const SessionData& data) {
  Table table;
  table.columns = {
      {tr("run"), tr("its number in the session")},
      {tr("kind"), tr("the verb that made it")},
      {tr("status"), tr("finished, running, interrupted or failed")},
      {tr("batches"), tr("of the data that were recorded")},
      {tr("sequences"), tr("or pictures, that were recorded")},
      {tr("data"), tr("what it ran on, as it was named")},
      {tr("budget"), tr("bytes that weights of branches could take; empty: all that there are")},
      {tr("record"), tr("a kind of record")},
      {tr("there"), tr("whether the run's first batch has it: what is recorded is recorded for all of a run")},
      {tr("what it answers"), tr("for what it is needed")},
      {tr("where it comes from"), tr("which command or option records it")}};
  for (const RunContents& r : data.runs)
    for (size_t k = 0; k < kKeptKinds; ++k) {
      const KeptText text = text_of(static_cast<Kept>(k));
      table.rows.push_back({static_cast<qlonglong>(r.line.id), QString::fromStdString(r.line.kind),
                            to_qstring(to_text(r.line.status)), batches_of(r), static_cast<qlonglong>(r.sequences),
                            QString::fromStdString(r.dataset),
                            r.line.weight_budget > 0 ? Value(static_cast<qlonglong>(r.line.weight_budget)) : Value(),
                            text.name, r.kept[k] ? tr("yes") : tr("no"), text.use, text.how});
    }
  return table;
}

}  // namespace stormcell::views
