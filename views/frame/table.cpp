#include "views/frame/table.h"

#include <QLocale>

#include "views/words/glossary.h"

namespace stormcell::views {

QString to_text(const Value& value) {
  const QLocale locale = QLocale::c();
  if (const auto* text = std::get_if<QString>(&value)) return *text;
  if (const auto* count = std::get_if<qlonglong>(&value)) {
    QLocale grouped(QLocale::English);
    return grouped.toString(*count);
  }
  if (const auto* figure = std::get_if<double>(&value)) return locale.toString(*figure, 'g', 4);
  return {};
}

QString tip_of(const Table::Column& column) {
  const QString own =
      column.tip.isEmpty() ? QString() : "<b>" + column.name.toHtmlEscaped() + "</b>: " + column.tip.toHtmlEscaped();
  const QString words = glossary_tip(column.name);
  return own.isEmpty() || words.isEmpty() ? own + words : own + "<hr>" + words;
}

QString to_csv(const Table& table, const QStringList& comments) {
  const auto quoted = [](QString text) {
    // A text that begins as a comment does would be taken for one.
    if (text.contains(',') || text.contains('"') || text.contains('\n') || text.startsWith('#'))
      text = '"' + text.replace('"', "\"\"") + '"';
    return text;
  };
  QString csv;
  for (QString comment : comments) csv += "# " + comment.replace('\n', ' ').replace('\r', ' ') + "\r\n";
  for (size_t c = 0; c < table.columns.size(); ++c) csv += (c ? "," : "") + quoted(table.columns[c].name);
  csv += "\r\n";
  for (const auto& row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (c) csv += ',';
      if (const auto* text = std::get_if<QString>(&row[c])) csv += quoted(*text);
      if (const auto* count = std::get_if<qlonglong>(&row[c])) csv += QString::number(*count);
      if (const auto* figure = std::get_if<double>(&row[c])) csv += QString::number(*figure, 'g', 17);
    }
    csv += "\r\n";
  }
  return csv;
}

void TableModel::set(Table table) {
  beginResetModel();
  table_ = std::move(table);
  endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}
int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Value& value = table_.rows[index.row()][index.column()];
  switch (role) {
    case Qt::DisplayRole:
      return to_text(value);
    case Qt::AccessibleTextRole:
      return table_.columns[index.column()].name + ": " + to_text(value);
    case Qt::ToolTipRole:
      return tip_of(table_.columns[index.column()]);
    case Qt::TextAlignmentRole:
      return QVariant::fromValue(std::holds_alternative<QString>(value) ? Qt::AlignVCenter | Qt::AlignLeft
                                                                        : Qt::AlignVCenter | Qt::AlignRight);
    case kSortRole:
      if (const auto* count = std::get_if<qlonglong>(&value)) return *count;
      if (const auto* figure = std::get_if<double>(&value)) return *figure;
      return to_text(value);
    default:
      return {};
  }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Vertical) return role == Qt::DisplayRole ? QVariant(section + 1) : QVariant();
  if (section < 0 || section >= columnCount()) return {};
  const Table::Column& column = table_.columns[section];
  if (role == Qt::DisplayRole) return column.name;
  if (role == Qt::ToolTipRole) return tip_of(column);
  return {};
}

}  // namespace stormcell::views
