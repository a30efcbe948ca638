#include "views/frame/view.h"

#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "views/words/glossary.h"

namespace stormcell::views {

View::View(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  bar_widget_ = new QWidget(this);
  bar_ = new FlowLayout(8);
  bar_->setContentsMargins(12, 6, 12, 6);
  bar_widget_->setLayout(bar_);
  layout->addWidget(bar_widget_);
  note_ = new QLabel(this);
  note_->setObjectName("note");
  note_->setContentsMargins(12, 2, 12, 4);
  note_->setWordWrap(true);
  note_->hide();
  layout->addWidget(note_);
  stack_ = new QStackedWidget(this);
  layout->addWidget(stack_, 1);

  message_page_ = new QWidget(stack_);
  auto* page = new QVBoxLayout(message_page_);
  page->addStretch(2);
  message_ = new QLabel(message_page_);
  message_->setAlignment(Qt::AlignCenter);
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  message_->setAccessibleName(tr("Message"));
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
  connect(this, &View::load_wanted, this, [this] { wants_load_ = true; });
}

View::Load View::look_at(const Context& context, const Selection& selection) {
  unread_ |= difference(context_, selection_, context, selection);
  context_ = context;
  selection_ = selection;
  wants_load_ = false;
  const int64_t number = ++asked_;
  select(selection);
  Load work = load(context, selection);
  refresh_note();
  if (!work) {
    unread_ = {};
    answered_ = number;
    return nullptr;
  }
  return [this, number, work = std::move(work)](const Progress& progress) -> Deliver {
    Deliver deliver = work(progress);
    return [this, number, deliver = std::move(deliver)] {
      unread_ = {};
      answered_ = number;
      deliver();
      refresh_note();
    };
  };
}

QString View::note() const { return note_->isHidden() ? QString() : note_->text(); }

void View::refresh_note() {
  QStringList left_out;
  for (const Chosen& c : chosen(selection_, kNarrowing & ~heeded())) left_out << c.text;
  QStringList sentences;
  if (!left_out.isEmpty()) sentences << tr("Not applied here: %1.").arg(left_out.join(", "));
  sentences += remarks();
  note_->setText(sentences.join(" "));
  note_->setVisible(!sentences.isEmpty() && has_content_);
}

void View::set_picture(QWidget* picture) {
  shown_ = picture;
  // Gives every control in the row a tip.
  for (QWidget* control : bar_widget_->findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
    if (control->toolTip().isEmpty()) {
      const QString words = glossary_tip(control->accessibleName());
      control->setToolTip(words.isEmpty() ? control->accessibleName() : words);
    }
  for (const QComboBox* box : bar_widget_->findChildren<QComboBox*>(Qt::FindDirectChildrenOnly))
    for (int i = 0; i < box->count(); ++i)
      if (box->itemData(i, Qt::ToolTipRole).isNull())
        box->model()->setData(box->model()->index(i, 0), glossary_tip(box->itemText(i)), Qt::ToolTipRole);
  stack_->addWidget(picture);
}

void View::show_choice(QComboBox* choice, bool shown) {
  choice->setVisible(shown);
  for (QLabel* label : bar_widget_->findChildren<QLabel*>())
    if (label->buddy() == choice) label->setVisible(shown);
}

QComboBox* View::add_choice(const QString& name, const QString& tip, const std::vector<Choice>& choices) {
  auto* box = new QComboBox(bar_widget_);
  for (const Choice& choice : choices) {
    box->addItem(choice.text);
    box->setItemData(box->count() - 1, choice.tip.isEmpty() ? glossary_tip(choice.text) : choice.tip, Qt::ToolTipRole);
  }
  box->setAccessibleName(name);
  box->setToolTip(tip);
  auto* label = new QLabel(name, bar_widget_);
  label->setBuddy(box);
  label->setToolTip(tip);
  bar_->addWidget(label);
  bar_->addWidget(box);
  return box;
}

QString View::message() const { return has_content_ ? QString() : message_->text(); }

void View::show_message(const QString& text, const std::vector<Way>& ways) {
  has_content_ = refuses_ = false;
  message_->setText(text);
  message_->setAccessibleName(text);
  while (QLayoutItem* item = ways_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (const Way& way : ways) {
    auto* button = new QPushButton(way.text, message_page_);
    connect(button, &QPushButton::clicked, this, [this, id = way.action] { emit action_wanted(id); });
    ways_->addWidget(button);
  }
  bar_widget_->setVisible(keeps_controls());
  note_->hide();
  stack_->setCurrentWidget(message_page_);
  emit content_changed();
}

void View::show_refusal(const QString& line) {
  show_message(line);
  refuses_ = true;
}

void View::show_no_run(const Context& context) {
  if (context.session)
    return show_message(
        tr("%1 holds no run yet.\n\n`stormcell run`, `profile`, `optimize` and `import` write one into it with -o.")
            .arg(QFileInfo(QString::fromStdString(context.session->file)).fileName()),
        {{"reload", tr("Look again")}, {"open-session", tr("Open another session...")}});
  show_message(tr("No session is open."),
               {{"open-session", tr("Open session...")}, {"open-sample", tr("Open the sample session")}});
}

void View::show_content() {
  has_content_ = true;
  refuses_ = false;
  bar_widget_->setVisible(bar_->count() > 0);
  stack_->setCurrentWidget(shows_table_ ? static_cast<QWidget*>(twin_) : shown_);
  refresh_table();
  refresh_note();
  picture()->update();
  emit content_changed();
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
