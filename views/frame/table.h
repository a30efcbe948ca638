// The table twin of every picture: the same figures for the keyboard, for screen readers and for spreadsheets.
#pragma once
#include <QAbstractTableModel>
#include <QString>
#include <QStringList>
#include <variant>
#include <vector>

namespace stormcell::views {

/// A value: nothing, a text, a count or a figure.
using Value = std::variant<std::monostate, QString, qlonglong, double>;
/// The value for people: grouped counts, figures with four digits.
QString to_text(const Value& value);

struct Table {
  struct Column {
    QString name, tip;  ///< tip: definition, formula, origin
  };
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;  ///< each as long as `columns`
};
/// Its own tip and what the glossary says about the words of its name, as HTML.
QString tip_of(const Table::Column& column);
/// CSV by RFC 4180, with a dot as decimal point and full precision. `comments` come first, each in a line of its own
/// that begins with '#'.
QString to_csv(const Table& table, const QStringList& comments = {});

class TableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  static constexpr int kSortRole = Qt::UserRole;
  using QAbstractTableModel::QAbstractTableModel;
  void set(Table table);
  const Table& table() const { return table_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  Table table_;
};

}  // namespace stormcell::views
