#include "app/studio/recording_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <span>
#include <utility>

#include "app/studio/branch_switch.h"
#include "app/studio/fault_line.h"
#include "app/studio/file_field.h"
#include "app/studio/recorded_comparison.h"
#include "core/base/bounded_number.h"
#include "core/base/error.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {

RecordingPanel::RecordingPanel(QWidget* parent) : QWidget(parent) {
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(6, 6, 6, 6);
  hint_ = new QLabel(this);
  hint_->setWordWrap(true);
  hint_->setTextFormat(Qt::PlainText);
  rows->addWidget(hint_);
  branches_ = new BranchSwitch(this);
  rows->addWidget(branches_);
  auto* form = new QFormLayout();
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  rows->addLayout(form);
  k_ = add_line(tr("k"), tr("as recorded"), tr("Branches that each cell takes, the best by recorded scores or weights"),
                [](const QString& text, Intervention& change) {
                  constexpr Bounds kBranches{1, 1 << 20};
                  change.k = text.isEmpty() ? 0 : bounded_number<int32_t>("k", text.toStdString(), kBranches);
                });
  force_ = add_line(tr("Forced choices"), tr("a file"),
                    tr("Choices that take the place of recorded ones: a file that `run --outputs` wrote"),
                    [](const QString& text, Intervention& change) { change.force = text.toStdString(); });
  form->addRow(k_->accessibleName(), k_);
  form->addRow(force_->accessibleName(), make_file_field(force_, tr("Choices (*.safetensors)")));
  fault_ = new FaultLine(this);
  rows->addWidget(fault_);
  add_tries();
  connect(branches_, &BranchSwitch::on_wanted, this, [this](const QString& router, int branch) {
    ask([&](Intervention& change) { std::erase(change.off, BranchOff{router.toStdString(), branch}); });
  });
  connect(branches_, &BranchSwitch::off_wanted, this, [this](const QString& router, int branch) {
    ask([&](Intervention& change) { change.off.push_back({router.toStdString(), branch}); });
  });
  refresh();
}

QLineEdit* RecordingPanel::add_line(const QString& name, const QString& hint, const QString& help,
                                    std::function<void(const QString&, Intervention&)> take) {
  auto* line = new QLineEdit(this);
  line->setPlaceholderText(hint);
  line->setAccessibleName(name);
  line->setToolTip(help);
  connect(line, &QLineEdit::editingFinished, this, [this, line, take = std::move(take)] {
    ask([&](Intervention& change) { take(line->text().trimmed(), change); });
  });
  return line;
}

void RecordingPanel::add_tries() {
  auto* rows = static_cast<QVBoxLayout*>(layout());
  auto* title = new QLabel(tr("Tries"), this);
  rows->addWidget(title);
  list_ = new QListWidget(this);
  list_->setObjectName("recorded-tries");
  list_->setAccessibleName(tr("Tries of the recording"));
  list_->setToolTip(tr("A click returns to a try. Views show the recording as it was made."));
  list_->setWordWrap(true);
  list_->setSpacing(3);
  list_->setAutoScroll(false);
  title->setBuddy(list_);
  rows->addWidget(list_, 1);
  const auto add = [&](QBoxLayout* to, const QString& text, const QString& tip) {
    auto* button = new QPushButton(text, this);
    button->setToolTip(tip);
    to->addWidget(button);
    return button;
  };
  auto* menus = new QHBoxLayout();
  rows->addLayout(menus);
  write_ = add(menus, tr("Write choices"), tr("The choices of the try on show, for a program that replays them"));
  compare_ = add(menus, tr("Compare with"), tr("The try on show beside another one, in a table"));
  auto* below = new QHBoxLayout();
  rows->addLayout(below);
  copy_ = add(below, tr("Copy command"), tr("The command line that writes the choices of the try on show"));
  save_ = add(below, tr("Save..."),
              tr("The change as a configuration, for `run --config` where the model itself is at hand"));
  add_compared(compare_);
  add_formats(write_);
  connect(list_, &QListWidget::currentRowChanged, this, [this](int row) {
    // The list is made anew for another try: after the click, and not within it.
    if (row >= 0)
      QMetaObject::invokeMethod(
          this, [this, row] { show_try(static_cast<size_t>(row)); }, Qt::QueuedConnection);
  });
  connect(copy_, &QPushButton::clicked, this, [this] {
    const RecordedTries* known = tries();
    if (!known) return;
    const QString command = command_of_recording(recording_, known->all[known->shown].change, replay_formats().front());
    QApplication::clipboard()->setText(command);
    emit copied(command);
  });
  connect(save_, &QPushButton::clicked, this, [this] {
    const RecordedTries* known = tries();
    if (!known) return;
    emit save_wanted(QString("change-%1.json").arg(known->shown), tr("Configurations (*.json)"),
                     QByteArray::fromStdString(config_of_recording(session_->model, known->all[known->shown].change)));
  });
}

void RecordingPanel::add_formats(QPushButton* button) {
  auto* menu = new QMenu(button);
  menu->setAccessibleName(tr("Programs that replay choices"));
  menu->setToolTipsVisible(true);
  for (const ReplayFormat& format : replay_formats()) {
    QAction* action = menu->addAction(tr("For %1").arg(views::to_qstring(format.id)));
    action->setToolTip(views::to_qstring(format.documented));
    connect(action, &QAction::triggered, this, [this, &format] {
      const RecordedTries* known = tries();
      if (!known) return;
      show_fault(format.why_not.empty()
                     ? QString()
                     : tr("%1: %2").arg(views::to_qstring(format.why_not), views::to_qstring(format.instead)));
      if (format.why_not.empty())
        emit choices_wanted({recording_, known->all[known->shown].change, std::string(format.id), {}});
    });
  }
  button->setMenu(menu);
}

void RecordingPanel::add_compared(QPushButton* button) {
  auto* menu = new QMenu(button);
  menu->setAccessibleName(tr("Tries to compare with"));
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    menu->clear();
    const RecordedTries* known = tries();
    if (!known) return;
    for (size_t number = 0; number < known->all.size(); ++number) {
      if (number == known->shown) continue;
      // An ampersand in a router's name is no key.
      QAction* action = menu->addAction(headline_of(known->all[number]).replace('&', "&&"));
      connect(action, &QAction::triggered, this, [this, number] { show_comparison(number); });
    }
  });
  button->setMenu(menu);
}

void RecordingPanel::show_comparison(size_t number) {
  const RecordedTries* known = tries();
  if (!known || number >= known->all.size()) return;
  // The older try comes first, whichever is on show.
  const auto [first, second] = std::minmax(number, known->shown);
  make_comparison_dialog(known->all[first], known->all[second], window())->open();
}

void RecordingPanel::ask(const Change& change) {
  RecordedTries* known = tries();
  if (!known || running_) return;
  Intervention wanted = known->all[known->shown].change;
  try {
    change(wanted);
  } catch (const Error& error) {
    return show_fault(QString::fromUtf8(error.what()));
  }
  show_fault({});
  if (const auto number = known->find(wanted)) {
    if (*number != known->shown) emit said(tr("This change was tried before"));
    return show_try(*number);
  }
  emit work_wanted(
      [panel = QPointer(this), recording = recording_, wanted](const Progress& progress) -> views::View::Deliver {
        const RecordedTry counted{wanted, count_replay(recording, wanted, progress)};
        return [panel, recording, counted] {
          if (panel) panel->take(recording, counted);
        };
      });
}

void RecordingPanel::take(const std::string& recording, const RecordedTry& counted) {
  RecordedTries& known = tries_[recording];
  known.all.push_back(counted);
  known.shown = known.all.size() - 1;
  refresh();
}

void RecordingPanel::show_try(size_t number) {
  RecordedTries* known = tries();
  if (!known || number >= known->all.size()) return;
  known->shown = number;
  refresh();
}

void RecordingPanel::set_session(std::shared_ptr<const SessionOverview> session, int64_t shown) {
  session_ = std::move(session);
  shown_ = shown;
  const std::string recording = run() ? name_of_recording(*session_, shown_) : std::string();
  if (recording != recording_) show_fault({});
  recording_ = recording;
  refresh();
}

void RecordingPanel::set_selection(const views::Selection& selection) { branches_->set_selection(selection); }

void RecordingPanel::set_running(bool running) {
  running_ = running;
  refresh();
}

void RecordingPanel::show_fault(const QString& message) { fault_->show_fault(message); }

const RunLine* RecordingPanel::run() const {
  if (session_)
    for (const RunLine& line : session_->runs)
      if (line.id == shown_) return &line;
  return nullptr;
}

RecordedTries* RecordingPanel::tries() {
  const RunLine* line = run();
  return line && refusal_of_recording(*line).isEmpty() ? &tries_[recording_] : nullptr;
}

void RecordingPanel::refresh() {
  const RecordedTries* known = tries();
  const bool open = known && !running_;
  if (known)
    hint_->setText(
        tr("Choices are changed as far as they are recorded, and nothing is run. Number format, budget, device, "
           "threads, capacity, thresholds, passes and data need the model itself."));
  else
    hint_->setText(run() ? refusal_of_recording(*run()) : tr("Open a session with a run first."));
  const Intervention change = known ? known->all[known->shown].change : Intervention();
  branches_->set_branches(change.off, open);
  const auto show = [&](QLineEdit* line, const QString& text) {
    line->setEnabled(open);
    if (!line->hasFocus() || !line->isModified()) line->setText(text);
  };
  show(k_, change.k > 0 ? QString::number(change.k) : QString());
  show(force_, QString::fromStdString(change.force));
  for (QPushButton* button : {copy_, write_, save_}) button->setEnabled(open && !change.empty());
  compare_->setEnabled(open && known->all.size() > 1);
  refresh_tries();
}

void RecordingPanel::refresh_tries() {
  const RecordedTries* known = tries();
  const QSignalBlocker quiet(list_);
  const auto all = known ? std::span<const RecordedTry>(known->all) : std::span<const RecordedTry>();
  while (list_->count() > std::ssize(all)) delete list_->takeItem(list_->count() - 1);
  for (int i = 0; const RecordedTry& one : all) {
    QListWidgetItem* item = i < list_->count() ? list_->item(i) : new QListWidgetItem(list_);
    ++i;
    if (const QString text = text_of(one); item->text() != text) item->setText(text);
  }
  if (!known) return;
  list_->setCurrentRow(static_cast<int>(known->shown));
  if (!list_->underMouse()) list_->scrollToItem(list_->currentItem());
}

}  // namespace stormcell::studio
