#include "app/studio/palette_dialog.h"

#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <algorithm>

namespace stormcell::studio {

PaletteDialog::PaletteDialog(Actions& actions, QWidget* parent) : QDialog(parent), actions_(actions) {
  setWindowTitle(tr("Commands"));
  setAttribute(Qt::WA_DeleteOnClose);
  resize(560, 380);
  auto* layout = new QVBoxLayout(this);
  line_ = new QLineEdit(this);
  line_->setPlaceholderText(tr("What do you want to do?"));
  line_->setAccessibleName(tr("Command"));
  line_->installEventFilter(this);
  list_ = new QListWidget(this);
  list_->setAccessibleName(tr("Commands that fit"));
  layout->addWidget(line_);
  layout->addWidget(list_);
  connect(line_, &QLineEdit::textChanged, this, &PaletteDialog::filter);
  connect(list_, &QListWidget::itemActivated, this, &PaletteDialog::choose);
  filter({});
}

void PaletteDialog::filter(const QString& typed) {
  struct Hit {
    int score;
    const ActionRow* row;
  };
  std::vector<Hit> hits;
  for (const ActionRow& row : actions_.rows())
    if (const int score = fit(typed, row.text); score >= 0) hits.push_back({score, &row});
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.score > b.score; });
  list_->clear();
  for (const Hit& hit : hits) {
    const QString why = hit.row->blocked ? hit.row->blocked() : QString();
    QString text = hit.row->text;
    text.remove("...");
    if (!hit.row->keys.isEmpty()) text += "    " + hit.row->keys.constFirst().toString(QKeySequence::NativeText);
    if (!why.isEmpty()) text += "    (" + why + ")";
    auto* item = new QListWidgetItem(text, list_);
    item->setData(Qt::UserRole, hit.row->id);
    item->setToolTip(hit.row->tip);
    if (!why.isEmpty()) item->setFlags(Qt::NoItemFlags);
  }
  list_->setCurrentRow(0);
}

void PaletteDialog::choose() {
  const QListWidgetItem* item = list_->currentItem();
  if (!item || !(item->flags() & Qt::ItemIsEnabled)) return;
  const QString id = item->data(Qt::UserRole).toString();
  accept();
  actions_.trigger(id);
}

bool PaletteDialog::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up) {
      const int step = key->key() == Qt::Key_Down ? 1 : -1;
      list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, std::max(0, list_->count() - 1)));
      return true;
    }
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      choose();
      return true;
    }
  }
  return QDialog::eventFilter(object, event);
}

QDialog* make_keys_dialog(const Actions& actions, QWidget* parent) {
  auto* dialog = new QDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(QObject::tr("Keys"));
  dialog->resize(560, 560);
  auto* layout = new QVBoxLayout(dialog);
  auto* text = new QTextBrowser(dialog);
  QString html = "<table cellpadding='3'>";
  const auto row = [&](const QString& keys, const QString& what) {
    html += "<tr><td><b>" + keys.toHtmlEscaped() + "</b></td><td>" + what.toHtmlEscaped() + "</td></tr>";
  };
  for (const ActionRow& a : actions.rows()) {
    if (a.keys.isEmpty()) continue;
    QStringList keys;
    for (const QKeySequence& k : a.keys) keys << k.toString(QKeySequence::NativeText);
    row(keys.join(", "), a.tip.isEmpty() ? a.text : a.tip);
  }
  html += "<tr><td colspan='2'><br>" + QObject::tr("In the heatmap").toHtmlEscaped() + "</td></tr>";
  row("W S A D, wheel, drag", QObject::tr("closer, further, left, right; double click or 0: all"));
  row(QObject::tr("arrows, Escape"), QObject::tr("choose a router and branch; choose nothing"));
  html += "<tr><td colspan='2'><br>" + QObject::tr("In the time strip").toHtmlEscaped() + "</td></tr>";
  row(QObject::tr("left, right, with Shift, Escape, Space"),
      QObject::tr("move the range, make it longer or shorter, all batches, play"));
  html += "<tr><td colspan='2'><br>" + QObject::tr("In the placement view").toHtmlEscaped() + "</td></tr>";
  row(QObject::tr("drag, with Ctrl"), QObject::tr("an expert to another GPU; a replica of it"));
  row(QObject::tr("arrows, Enter, Ctrl+Enter, Escape"),
      QObject::tr("choose a slot, take its expert or a replica and let it go, put it back"));
  row(QObject::tr("Delete, PageUp, PageDown"), QObject::tr("drop a replica; another layer"));
  html += "<tr><td colspan='2'><br>" + QObject::tr("In the simulation view").toHtmlEscaped() + "</td></tr>";
  row(QObject::tr("left, right, Home, End"), QObject::tr("another layer"));
  row(QObject::tr("up, down, Enter, Escape"),
      QObject::tr("choose a GPU or a cluster, take the cluster, choose nothing"));
  text->setHtml(html + "</table>");
  layout->addWidget(text);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  layout->addWidget(buttons);
  return dialog;
}

}  // namespace stormcell::studio
