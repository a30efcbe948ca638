#include "app/studio/open_list.h"

#include <QFileInfo>
#include <QSignalBlocker>

#include "app/studio/model_page.h"

namespace stormcell::studio {

OpenList::OpenList(QWidget* parent) : QListWidget(parent) {
  setObjectName("open-documents");
  setAccessibleName(tr("Open models and sessions"));
  connect(this, &QListWidget::currentRowChanged, this, [this](int row) {
    if (row >= 0) emit chosen(row);
  });
}

ModelPage* OpenList::page() const { return current() < 0 ? nullptr : entry(current()).page; }

int OpenList::find_session(const QString& session) const {
  for (int i = 0; i < size(); ++i)
    if (entry(i).session == session) return i;
  return -1;
}

int OpenList::find_model(const QString& model) const {
  for (int i = 0; i < size(); ++i)
    if (entry(i).page && entry(i).page->model().model == model) return i;
  return -1;
}

int OpenList::index_of(const ModelPage* page) const {
  for (int i = 0; page && i < size(); ++i)
    if (entry(i).page == page) return i;
  return -1;
}

QString OpenList::title_of(const Entry& entry) const {
  return entry.page ? entry.page->model().name : QFileInfo(entry.session).fileName();
}

int OpenList::add(const Entry& entry) {
  const QSignalBlocker quiet(this);
  entries_.push_back(entry);
  auto* item = new QListWidgetItem(title_of(entry), this);
  item->setToolTip(entry.page ? entry.page->model().model : entry.session);
  return size() - 1;
}

void OpenList::set_session(int index, const QString& session) { entries_[index].session = session; }

void OpenList::set_page(int index, ModelPage* page) {
  entries_[index].page = page;
  item(index)->setText(title_of(entries_[index]));
}

void OpenList::select(int index) {
  const QSignalBlocker quiet(this);
  setCurrentRow(index);
}

void OpenList::remove(int index) {
  const QSignalBlocker quiet(this);
  entries_.removeAt(index);
  delete takeItem(index);
}

}  // namespace stormcell::studio
