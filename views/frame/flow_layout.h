// Widgets one after another, in as many rows as the width asks for. A label stays beside its control.
#pragma once
#include <QLayout>
#include <QList>

namespace stormcell::views {

class FlowLayout : public QLayout {
 public:
  explicit FlowLayout(int spacing) { setSpacing(spacing); }
  ~FlowLayout() override;
  /// Takes the rest of its row: the next items are at the right.
  void add_stretch();
  void addItem(QLayoutItem* item) override { items_ << item; }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override {
    return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
  }
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  void setGeometry(const QRect& area) override;
  QSize sizeHint() const override;
  QSize minimumSize() const override;

 private:
  /// Items that are never parted: a label and its control, or one alone.
  using Group = QList<QLayoutItem*>;
  struct Row {
    QList<Group> groups;
    int height = 0;
  };
  /// Items on show, by group. A stretch is a group of its own.
  QList<Group> groups() const;
  int width_of(const Group& group) const;
  QList<Row> rows_for(int width) const;
  void place_row(const Row& row, const QRect& area) const;
  QList<QLayoutItem*> items_;
};

}  // namespace stormcell::views
