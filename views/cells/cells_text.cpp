// Words and tables of the view of cells.
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "views/cells/cells_model.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// "3", "3 + 5", "dropped by 2", "none"; for an exit "leaves", "goes on", "none".
QString branches_text(const CellLine::Routed& routed, size_t cell, int fan_out, const ExitRole& test) {
  QStringList parts;
  for (int j = 0; j < fan_out; ++j) {
    const int32_t choice = routed.choice[cell * fan_out + j];
    if (choice == kNoChoice) continue;
    parts << (choice < 0       ? tr("dropped by %1").arg(~choice)
              : test.exit >= 0 ? to_qstring(branch_name(test, choice))
                               : QString::number(choice));
  }
  return parts.isEmpty() ? tr("none") : parts.join(" + ");
}

Value weight_value(const CellLine::Routed& routed, size_t cell, int fan_out) {
  if (routed.weight.empty()) return {};
  return static_cast<double>(routed.weight[cell * fan_out]);
}

}  // namespace

QString describe(const CellPage& page, const ShownPage& shown, size_t line_number, size_t chip_number) {
  const CellLine& line = page.lines[line_number];
  const Chip& chip = shown.lines[line_number].chips[chip_number];
  const size_t cell = chip.cell;
  QString text = tr("<b>cell %1:%2</b> of \"%3\"")
                     .arg(line.sequence)
                     .arg(line.position[cell])
                     .arg(QString::fromStdString(page.space));
  if (line.columns > 0)
    text += tr(", row %1, column %2").arg(line.position[cell] / line.columns).arg(line.position[cell] % line.columns);
  if (!line.token.empty())
    text += tr(", token %1 <b>%2</b>")
                .arg(line.token[cell])
                .arg((chip.part.isEmpty() ? chip.text : chip.part).toHtmlEscaped());
  if (!line.label.empty()) text += ", " + QString::fromStdString(line.label).toHtmlEscaped();
  if (!line.text.empty()) text += "<br>" + QString::fromStdString(line.text).left(200).toHtmlEscaped();
  if (!chip.real)
    text += chip.seen ? tr("<br>padding: no cell of the data, but computed") : tr("<br>padding: not computed");
  if (chip.real && !chip.seen) text += tr("<br>no router got it");
  text += "<table>";
  for (size_t r = 0; r < page.routers.size(); ++r) {
    const RouterLine& router = page.routers[r];
    const CellLine::Routed& routed = line.routed[r];
    QString row = branches_text(routed, cell, router.fan_out, shown.exits[r]);
    if (!is_exit(router)) row = tr("branch %1").arg(row);
    if (const Value w = weight_value(routed, cell, router.fan_out); std::holds_alternative<double>(w))
      row += tr(", weight %1").arg(std::get<double>(w), 0, 'g', 3);
    if (!routed.margin.empty()) row += tr(", margin %1").arg(static_cast<double>(routed.margin[cell]), 0, 'g', 3);
    const QString name = QString::fromStdString(router.name).toHtmlEscaped();
    text += QString("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                .arg(static_cast<int>(r) == shown.router ? "<b>" + name + "</b>" : name, row);
  }
  text += "</table>";
  if (chip.differs) text += tr("The other run sent it elsewhere.<br>");
  const ColorText color = text_of(shown.options.color);
  if (shown.options.color == CellColor::parts && chip.tone >= 0)
    text += tr("%1 of %2 parts computed<br>").arg(chip.value).arg(shown.high);
  return text + tr("<i>%1: %2</i>").arg(color.name, color.definition);
}

Table make_cells_table(const CellPage& page, const CellOptions& options) {
  Table table;
  table.columns = {{tr("sequence"), tr("its number in the run, from 0")},
                   {tr("position"), tr("of the cell in its sequence, from 0")},
                   {tr("token"), tr("its id in the vocabulary")},
                   {tr("text"), tr("the token as the vocabulary has it")},
                   {tr("label"), tr("of the sequence, as the dataset has it")},
                   {tr("weight"), tr("at %1: %2").arg(options.router, text_of(CellColor::weight).definition)},
                   {tr("margin"), tr("at %1: %2").arg(options.router, text_of(CellColor::margin).definition)},
                   {tr("work"), text_of(CellColor::work).definition}};
  const bool grid =
      std::any_of(page.lines.begin(), page.lines.end(), [](const CellLine& line) { return line.columns > 0; });
  if (grid)
    table.columns.insert(table.columns.begin() + 2,
                         {{tr("row"), tr("in the grid of the sequence's cells, from 0")},
                          {tr("column"), tr("in the grid of the sequence's cells, from 0")}});
  for (const RouterLine& r : page.routers)
    table.columns.push_back({QString::fromStdString(r.name),
                             is_exit(r)
                                 ? tr("whether the cell leaves at this exit or goes on; measured")
                                 : tr("the branches that this router gave the cell, in descending score; measured")});
  const std::vector<ExitRole> exits = exit_roles(page.routers);
  for (const CellLine& line : page.lines)
    for (size_t c = 0; c < line.position.size(); ++c) {
      if (!line.real[c] && !options.padding) continue;
      const auto piece = line.token.empty() ? page.pieces.end() : page.pieces.find(line.token[c]);
      std::vector<Value> row;
      row.emplace_back(static_cast<qlonglong>(line.sequence));
      row.emplace_back(static_cast<qlonglong>(line.position[c]));
      if (grid && line.columns > 0) {
        row.emplace_back(static_cast<qlonglong>(line.position[c] / line.columns));
        row.emplace_back(static_cast<qlonglong>(line.position[c] % line.columns));
      } else if (grid) {
        row.resize(row.size() + 2);
      }
      row.emplace_back();
      if (!line.token.empty()) row.back() = static_cast<qlonglong>(line.token[c]);
      row.emplace_back();
      if (piece != page.pieces.end()) row.back() = QString::fromStdString(piece->second);
      row.emplace_back(QString::fromStdString(line.label));
      Value weight, margin;
      std::vector<Value> branches;
      for (size_t r = 0; r < page.routers.size(); ++r) {
        const int k = page.routers[r].fan_out;
        branches.emplace_back(line.seen[c] ? branches_text(line.routed[r], c, k, exits[r]) : tr("not computed"));
        if (QString::fromStdString(page.routers[r].name) != options.router || !line.seen[c]) continue;
        weight = weight_value(line.routed[r], c, k);
        if (!line.routed[r].margin.empty()) margin = static_cast<double>(line.routed[r].margin[c]);
      }
      row.push_back(weight);
      row.push_back(margin);
      row.emplace_back(static_cast<qlonglong>(work_of(page, line, c)));
      row.insert(row.end(), branches.begin(), branches.end());
      table.rows.push_back(std::move(row));
    }
  return table;
}

std::vector<BranchDictionary::Entry> ordered(const BranchDictionary& dictionary, DictionaryOrder order) {
  std::vector<BranchDictionary::Entry> entries = dictionary.entries;
  if (order == DictionaryOrder::count) return entries;
  std::erase_if(entries, [](const auto& e) { return e.count < kLeastForLift; });
  std::stable_sort(entries.begin(), entries.end(), [](const auto& x, const auto& y) { return x.lift > y.lift; });
  return entries;
}

Table make_dictionary_table(const BranchDictionary& dictionary, DictionaryOrder order) {
  Table table;
  const QString where = tr("branch %1 of %2").arg(dictionary.branch).arg(QString::fromStdString(dictionary.router));
  table.columns = {
      {tr("token"), tr("its id in the vocabulary")},
      {tr("text"), tr("the token as the vocabulary has it")},
      {tr("cells"), tr("cells with this token that %1 got over the whole run, without padding; measured").arg(where)},
      {tr("share of branch"), tr("these cells / all cells of the branch")},
      {tr("cells of all branches"), tr("cells with this token that any branch of the router got")},
      {tr("share of all"), tr("those / all cells that the router's branches got")},
      {tr("lift"), tr("share of branch / share of all: 1 means the branch takes the token as often as any other")}};
  for (const BranchDictionary::Entry& e : ordered(dictionary, order))
    table.rows.push_back({static_cast<qlonglong>(e.token), QString::fromStdString(e.piece),
                          static_cast<qlonglong>(e.count), static_cast<double>(e.count) / dictionary.cells,
                          static_cast<qlonglong>(e.everywhere), static_cast<double>(e.everywhere) / dictionary.all,
                          e.lift});
  return table;
}

}  // namespace stormcell::views
