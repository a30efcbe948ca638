#include "views/kit/view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

namespace stormcell::views {

View::View(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  bar_widget_ = new QWidget(this);
  bar_ = new QHBoxLayout(bar_widget_);
  bar_->setContentsMargins(12, 6, 12, 6);
  bar_->setSpacing(8);
  layout->addWidget(bar_widget_);
  stack_ = new QStackedWidget(this);
  layout->addWidget(stack_, 1);

  message_page_ = new QWidget(stack_);
  auto* page = new QVBoxLayout(message_page_);
  page->addStretch(2);
  message_ = new QLabel(message_page_);
  message_->setAlignment(Qt::AlignCenter);
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  page->addWidget(message_);
  ways_ = new QHBoxLayout();
  ways_->setAlignment(Qt::AlignCenter);
  page->addSpacing(12);
  page->addLayout(ways_);
  page->addStretch(3);
  stack_->addWidget(message_page_);

  model_ = new TableModel(this);
  sorted_ = new QSortFilterProxyModel(this);
  sorted_->setSourceModel(model_);
  sorted_->setSortRole(TableModel::kSortRole);
  twin_ = new QTableView(stack_);
  twin_->setModel(sorted_);
  twin_->setSortingEnabled(true);
  twin_->sortByColumn(-1, Qt::AscendingOrder);
  twin_->setAlternatingRowColors(true);
  twin_->setSelectionBehavior(QAbstractItemView::SelectRows);
  twin_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  twin_->verticalHeader()->setVisible(false);
  twin_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
  twin_->horizontalHeader()->setStretchLastSection(true);
  twin_->setAccessibleName(tr("Table of the view's figures"));
  stack_->addWidget(twin_);
  stack_->setCurrentWidget(message_page_);
  bar_widget_->hide();
}

void View::set_picture(QWidget* picture) {
  shown_ = picture;
  stack_->addWidget(picture);
}

QComboBox* View::add_choice(const QString& name, const QString& tip, const QStringList& texts) {
  auto* box = new QComboBox(bar_widget_);
  box->addItems(texts);
  box->setAccessibleName(name);
  box->setToolTip(tip);
  auto* label = new QLabel(name, bar_widget_);
  label->setBuddy(box);
  bar_->addWidget(label);
  bar_->addWidget(box);
  return box;
}

QString View::message() const { return has_content_ ? QString() : message_->text(); }

void View::show_message(const QString& text, const std::vector<Way>& ways) {
  has_content_ = false;
  message_->setText(text);
  while (QLayoutItem* item = ways_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (const Way& way : ways) {
    auto* button = new QPushButton(way.text, message_page_);
    connect(button, &QPushButton::clicked, this, [this, id = way.action] { emit action_wanted(id); });
    ways_->addWidget(button);
  }
  bar_widget_->hide();
  stack_->setCurrentWidget(message_page_);
}

void View::show_content() {
  has_content_ = true;
  bar_widget_->setVisible(bar_->count() > 0);
  stack_->setCurrentWidget(shows_table_ ? static_cast<QWidget*>(twin_) : shown_);
  refresh_table();
  picture()->update();
}

void View::show_table(bool table) {
  shows_table_ = table;
  if (has_content_) show_content();
}

void View::refresh_table() {
  if (!shows_table_ || !has_content_) return;
  model_->set(table());
  twin_->resizeColumnsToContents();
}

}  // namespace stormcell::views
