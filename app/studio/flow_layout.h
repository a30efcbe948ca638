// Widgets one after another, in as many rows as the width asks for.
#pragma once
#include <QLayout>
#include <QList>

namespace stormcell::studio {

class FlowLayout : public QLayout {
 public:
  explicit FlowLayout(int spacing) { setSpacing(spacing); }
  ~FlowLayout() override;
  void addItem(QLayoutItem* item) override { items_ << item; }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override {
    return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
  }
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return place({0, 0, width, 0}, false); }
  void setGeometry(const QRect& area) override;
  QSize sizeHint() const override;
  QSize minimumSize() const override;

 private:
  /// Returns the height used.
  int place(const QRect& area, bool move) const;
  QList<QLayoutItem*> items_;
};

}  // namespace stormcell::studio
