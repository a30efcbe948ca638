#include "app/studio/recorded_comparison.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

namespace stormcell::studio {
namespace {

QString tr_comparison(const char* text) { return QCoreApplication::translate("RecordedComparison", text); }

const ReplayedRouter* router_of(const RecordedTry& one, const std::string& name) {
  const auto& all = one.figures.routers;
  const auto found = std::find_if(all.begin(), all.end(), [&](const ReplayedRouter& r) { return r.router == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<views::Value> row_of(const QString& name, int64_t first, int64_t second) {
  return {name, qlonglong(first), qlonglong(second), qlonglong(second - first)};
}

}  // namespace

QString headline_of(const RecordedTry& one) { return text_of(one).section('\n', 0, 0); }

views::Table compare_tries(const RecordedTry& first, const RecordedTry& second) {
  views::Table table;
  table.columns = {{tr_comparison("Figure"), tr_comparison("What is counted over the whole recording")},
                   {headline_of(first), tr_comparison("The first try")},
                   {headline_of(second), tr_comparison("The second try")},
                   {tr_comparison("Difference"), tr_comparison("The second try less the first one")}};
  table.rows.push_back(row_of(tr_comparison("tokens that take other branches"), first.figures.changed_tokens,
                              second.figures.changed_tokens));
  // The recording as it is was not counted: its loads are those before the other try's change.
  const RecordedTry& counted = first.figures.routers.empty() ? second : first;
  std::vector<std::vector<views::Value>> branches;
  for (const ReplayedRouter& known : counted.figures.routers) {
    const ReplayedRouter* one = router_of(first, known.router);
    const ReplayedRouter* other = router_of(second, known.router);
    const auto& load = one ? one->load_after : known.load_before;
    const auto& other_load = other ? other->load_after : known.load_before;
    const QString name = QString::fromStdString(known.router);
    table.rows.push_back(row_of(tr_comparison("%1: choices that differ from the recorded ones").arg(name),
                                one ? one->changed : 0, other ? other->changed : 0));
    const double largest = largest_share(load), other_largest = largest_share(other_load);
    table.rows.push_back({tr_comparison("%1: largest load by its even share").arg(name), largest, other_largest,
                          other_largest - largest});
    for (size_t b = 0; b < std::min(load.size(), other_load.size()); ++b)
      if (load[b] != other_load[b])
        branches.push_back(row_of(tr_comparison("%1/%2: choices").arg(name).arg(b), load[b], other_load[b]));
  }
  table.rows.insert(table.rows.end(), branches.begin(), branches.end());
  return table;
}

QDialog* make_comparison_dialog(const RecordedTry& first, const RecordedTry& second, QWidget* parent) {
  auto* dialog = new QDialog(parent);
  dialog->setObjectName("compared-tries");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr_comparison("Two tries of the recording"));
  dialog->resize(760, 460);
  auto* rows = new QVBoxLayout(dialog);
  auto* hint = new QLabel(tr_comparison("Choices alone were changed and nothing was run, so there are no times, "
                                        "answers or quality. Branches with equal loads are left out."),
                          dialog);
  hint->setWordWrap(true);
  rows->addWidget(hint);
  auto* shown = new QTableView(dialog);
  shown->setAccessibleName(dialog->windowTitle());
  auto* model = new views::TableModel(shown);
  model->set(compare_tries(first, second));
  shown->setModel(model);
  shown->verticalHeader()->hide();
  shown->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  rows->addWidget(shown, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  QPushButton* copy = buttons->addButton(tr_comparison("Copy as CSV"), QDialogButtonBox::ActionRole);
  QObject::connect(copy, &QPushButton::clicked, model,
                   [model] { QApplication::clipboard()->setText(views::to_csv(model->table())); });
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  rows->addWidget(buttons);
  return dialog;
}

}  // namespace stormcell::studio
