#include "app/studio/what_if_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "app/studio/branch_switch.h"
#include "app/studio/fault_line.h"
#include "app/studio/file_field.h"
#include "app/studio/pass_switches.h"
#include "app/studio/wheel_filter.h"
#include "core/base/bounded_number.h"
#include "core/base/error.h"
#include "core/bench/device_names.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

/// Rows of kSettings that a try may change, in the order of the panel.
constexpr std::array<std::string_view, 6> kChanged = {"dtype", "weight_budget", "device", "threads", "data", "batches"};

const RunLine* line_of(const SessionOverview& session, int64_t id) {
  for (const RunLine& run : session.runs)
    if (run.id == id) return &run;
  return nullptr;
}

/// The default in words.
QString hint_of_change(const Setting& setting) {
  if (setting.key == "weight_budget") return WhatIfPanel::tr("all weights");
  if (setting.key == "threads") return WhatIfPanel::tr("all cores");
  if (setting.key == "batches") return WhatIfPanel::tr("all");
  return views::to_qstring(setting.value);
}

QString title_of_change(const Setting& setting) {
  if (setting.key == "dtype") return WhatIfPanel::tr("Number format");
  if (setting.key == "weight_budget") return WhatIfPanel::tr("Weight budget");
  QString name = views::to_qstring(setting.key);
  name[0] = name[0].toUpper();
  return name;
}

/// The one threshold of all exits; empty: they differ, or are the model's own.
QString threshold_text(const RouterThresholds& exits) {
  if (exits.empty()) return {};
  for (const RouterThreshold& exit : exits)
    if (exit.threshold != exits.front().threshold) return {};
  return QString::number(exits.front().threshold);
}

/// The routers of the model that are exits, as this run tells them, or another one: of changed routing a run has none.
std::vector<std::string> exits_of(const SessionOverview& session, const RunLine& run, const TrySettings& settings) {
  const auto told_by = [](const RunLine& line) {
    std::vector<std::string> routers;
    if (line.result && line.result->figures.exits)
      for (const ExitFigures& exit : line.result->figures.exits->exits)
        if (!exit.router.empty()) routers.push_back(exit.router);
    return routers;
  };
  if (std::vector<std::string> own = told_by(run); !own.empty()) return own;
  for (auto other = session.runs.rbegin(); other != session.runs.rend(); ++other)
    if (const auto of = try_settings(*other); of && of->experiment.model == settings.experiment.model)
      if (std::vector<std::string> routers = told_by(*other); !routers.empty()) return routers;
  std::vector<std::string> named;
  for (const RouterThreshold& exit : settings.exits) named.push_back(exit.router);
  return named;
}

}  // namespace

WhatIfPanel::WhatIfPanel(QWidget* parent) : QWidget(parent) {
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(6, 6, 6, 6);
  auto* changes = new QWidget();
  auto* column = new QVBoxLayout(changes);
  column->setContentsMargins(0, 0, 0, 0);
  branches_ = new BranchSwitch(changes);
  column->addWidget(branches_);
  form_ = new QFormLayout();
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  column->addLayout(form_);
  add_changes();
  passes_ = new PassSwitches(changes);
  column->addWidget(passes_);
  connect(passes_, &PassSwitches::switched, this, &WhatIfPanel::switch_pass);
  connect(passes_, &PassSwitches::option_wanted, this,
          [this](const QString& pass, const QString& option, const QString& value) {
            search(pass.toStdString(), option.toStdString(), value);
          });
  hint_ = new QLabel(changes);
  hint_->setWordWrap(true);
  hint_->setTextFormat(Qt::PlainText);
  column->addWidget(hint_);
  column->addStretch();
  auto* area = new QScrollArea(this);
  area->setAccessibleName("Changes to try");
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setWidget(changes);
  rows->addWidget(area, 1);
  fault_ = new FaultLine(this);
  rows->addWidget(fault_);
  add_tries();
  connect(branches_, &BranchSwitch::on_wanted, this, [this](const QString& router, int branch) {
    ask([&](TrySettings& settings) { std::erase(settings.intervention.off, BranchOff{router.toStdString(), branch}); });
  });
  connect(branches_, &BranchSwitch::off_wanted, this, [this](const QString& router, int branch) {
    ask([&](TrySettings& settings) { settings.intervention.off.push_back({router.toStdString(), branch}); });
  });
  refresh();
}

void WhatIfPanel::add_line(const QString& name, const QString& hint, const QString& help,
                           std::function<QString(const TrySettings&)> shown,
                           std::function<void(const QString&, TrySettings&)> take) {
  auto* line = new QLineEdit();
  line->setPlaceholderText(hint);
  line->setAccessibleName(name);
  line->setToolTip(help);
  form_->addRow(name, line);
  editors_.push_back({line, shown, [line](const QString& text) {
                        if (!line->hasFocus() || !line->isModified()) line->setText(text);
                      }});
  connect(line, &QLineEdit::editingFinished, this, [this, line, shown = std::move(shown), take = std::move(take)] {
    const QString text = line->text().trimmed();
    if (settings_ && text != shown(*settings_)) ask([&](TrySettings& settings) { take(text, settings); });
  });
}

namespace {

/// An empty text is the default.
void set_word(const Setting& setting, const QString& text, ExperimentOptions& options) {
  const ExperimentOptions standard;
  std::visit([&](auto field) { options.*field = standard.*field; }, setting.field);
  if (!text.isEmpty()) read_word(setting, text.toStdString(), options);
}

QStringList words_of_setting(const Setting& setting) {
  if (setting.key == "dtype") return {"f32", "bf16"};
  if (setting.key != "device") return {};
  QStringList names;
  for (const std::string& name : list_devices()) names << QString::fromStdString(name);
  return names;
}

}  // namespace

void WhatIfPanel::add_setting(const Setting& setting) {
  if (const QStringList words = words_of_setting(setting); !words.isEmpty()) return add_words(setting, words);
  add_line(
      title_of_change(setting), hint_of_change(setting), views::to_qstring(setting.help),
      [&setting](const TrySettings& settings) { return QString::fromStdString(word_of(setting, settings.experiment)); },
      [&setting](const QString& text, TrySettings& settings) { set_word(setting, text, settings.experiment); });
  if (setting.key == "weight_budget") {
    QLineEdit* line = take_last_line();
    auto* row = new QWidget();
    auto* columns = new QHBoxLayout(row);
    columns->setContentsMargins(0, 0, 0, 0);
    half_ = new QToolButton(row);
    half_->setObjectName("half-budget");
    half_->setText(tr("Half"));
    half_->setToolTip(tr("Half of the budget, or of all weights where there is none"));
    columns->addWidget(line, 1);
    columns->addWidget(half_);
    form_->addRow(title_of_change(setting), row);
    connect(half_, &QToolButton::clicked, this, &WhatIfPanel::halve_budget);
  }
}

QLineEdit* WhatIfPanel::take_last_line() {
  const QFormLayout::TakeRowResult taken = form_->takeRow(form_->rowCount() - 1);
  delete taken.labelItem->widget();
  delete taken.labelItem;
  delete taken.fieldItem;
  return static_cast<QLineEdit*>(editors_.back().control);
}

void WhatIfPanel::add_words(const Setting& setting, const QStringList& words) {
  auto* box = new QComboBox();
  box->addItem(setting.key == "dtype" ? tr("as stored") : QString::fromStdString(ExperimentOptions().device),
               QString());
  for (const QString& word : words)
    if (word != box->itemText(0)) box->addItem(word, word);
  box->setAccessibleName(title_of_change(setting));
  new WheelFilter(box);
  box->setToolTip(views::to_qstring(setting.help));
  form_->addRow(title_of_change(setting), box);
  editors_.push_back({box,
                      [&setting](const TrySettings& settings) {
                        return QString::fromStdString(word_of(setting, settings.experiment));
                      },
                      [box](const QString& text) {
                        if (box->findData(text) < 0) box->addItem(text, text);
                        box->setCurrentIndex(box->findData(text));
                      }});
  connect(box, &QComboBox::activated, this, [this, box, &setting](int index) {
    ask([&](TrySettings& settings) { set_word(setting, box->itemData(index).toString(), settings.experiment); });
    refresh();  // it shows what ran, not what is asked for
  });
}

void WhatIfPanel::halve_budget() {
  const RunLine* run = session_ ? line_of(*session_, shown_) : nullptr;
  if (!run || !run->result) return;
  const int64_t all = run->result->figures.model.weight_bytes;
  ask([&](TrySettings& settings) {
    int64_t& budget = settings.experiment.weight_budget;
    budget = std::max<int64_t>(1, (budget > 0 ? budget : all) / 2);
  });
}

void WhatIfPanel::add_changes() {
  for (const std::string_view key : kChanged)
    for (const Setting& setting : kSettings)
      if (setting.key == key) add_setting(setting);
  add_line(
      tr("k"), tr("the model's own"), tr("Branches that each cell takes, of routers that take the k best"),
      [](const TrySettings& settings) {
        return settings.intervention.k > 0 ? QString::number(settings.intervention.k) : QString();
      },
      [](const QString& text, TrySettings& settings) {
        constexpr Bounds kBranches{1, 1 << 20};
        settings.intervention.k = text.isEmpty() ? 0 : bounded_number<int32_t>("k", text.toStdString(), kBranches);
      });
  add_line(
      tr("Capacity"), tr("the model's own"),
      tr("Room of each branch: 8 cells of a sequence (8), 1.25 times its even share of a batch (1.25x), or all cells "
         "(all); of one router with its name: ROUTER=8, several with blanks between"),
      [](const TrySettings& settings) { return capacities_text(settings.intervention); },
      [](const QString& text, TrySettings& settings) { settings.intervention.capacities = capacities_of(text); });
  add_line(
      tr("Forced choices"), tr("a file"), tr("Choices that routers are given: a file that `run --outputs` wrote"),
      [](const TrySettings& settings) { return QString::fromStdString(settings.intervention.force); },
      [](const QString& text, TrySettings& settings) { settings.intervention.force = text.toStdString(); });
  form_->addRow(tr("Forced choices"), make_file_field(take_last_line(), tr("Choices (*.safetensors)")));
  add_line(
      tr("Exit threshold"), tr("the model's own"), tr("One confidence for all exits: from 0, all leave, to 1"),
      [](const TrySettings& settings) { return threshold_text(settings.exits); },
      [this](const QString& text, TrySettings& settings) {
        settings.exits.clear();
        if (text.isEmpty()) return;
        constexpr Bounds kThresholds{kLeastExitThreshold, kMostExitThreshold};
        const double threshold = bounded_number<double>("exit threshold", text.toStdString(), kThresholds);
        for (const std::string& router : exits_) settings.exits.push_back({router, threshold});
      });
  threshold_ = static_cast<QLineEdit*>(editors_.back().control);
}

void WhatIfPanel::add_tries() {
  auto* title = new QLabel(tr("Tries"), this);
  layout()->addWidget(title);
  tries_ = new QListWidget(this);
  tries_->setObjectName("tries");
  tries_->setAccessibleName(tr("Tries of the session"));
  tries_->setToolTip(tr("A click shows a try; two that are chosen can be compared"));
  tries_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  tries_->setWordWrap(true);
  tries_->setSpacing(3);
  tries_->setAutoScroll(false);
  title->setBuddy(tries_);
  static_cast<QVBoxLayout*>(layout())->addWidget(tries_, 1);
  auto* buttons = new QHBoxLayout();
  const auto add = [&](const QString& text, const QString& tip) {
    auto* button = new QPushButton(text, this);
    button->setToolTip(tip);
    buttons->addWidget(button);
    return button;
  };
  compare_ =
      add(tr("Compare"), tr("The two chosen tries beside each other; of one, with the run it was compared with"));
  copy_ = add(tr("Copy command"), tr("The command line that does what the chosen try did"));
  save_ = add(tr("Save..."), tr("The chosen try as a configuration, for `run --config`"));
  static_cast<QVBoxLayout*>(layout())->addLayout(buttons);
  connect(tries_, &QListWidget::itemSelectionChanged, this, [this] {
    refresh_buttons();
    const auto runs = chosen_runs();
    if (runs.size() != 1) return;
    // The list is made anew for another run: after the click, and not within it.
    QMetaObject::invokeMethod(
        this, [this, run = runs[0]->id] { emit run_chosen(run); }, Qt::QueuedConnection);
  });
  connect(compare_, &QPushButton::clicked, this, [this] {
    const auto runs = chosen_runs();
    if (runs.size() == 2) emit compare_wanted(runs[0]->id, runs[1]->id);
    if (runs.size() == 1) emit compare_wanted(base_of(*session_, *runs[0]).id, runs[0]->id);
  });
  connect(copy_, &QPushButton::clicked, this, [this] {
    const auto runs = chosen_runs();
    const auto settings = runs.size() == 1 ? try_settings(*runs[0]) : std::nullopt;
    if (!settings) return;
    const QString session = QFileInfo(QString::fromStdString(session_->file)).fileName();
    const QString command = command_of_try(*settings, session, QString("try-%1.json").arg(runs[0]->id));
    QApplication::clipboard()->setText(command);
    emit copied(command);
  });
  connect(save_, &QPushButton::clicked, this, [this] {
    const auto runs = chosen_runs();
    if (runs.size() == 1)
      emit save_wanted(QString("try-%1.json").arg(runs[0]->id), tr("Configurations (*.json)"),
                       QByteArray::fromStdString(configuration_of(*runs[0])));
  });
}

void WhatIfPanel::ask(const Change& change) {
  if (!settings_ || running_) return;
  TrySettings wanted = *settings_;
  QString refused;
  try {
    change(wanted);
    if (!wanted.experiment.data.empty()) wanted.experiment.prompts.clear();  // the data that were typed last count
    if (wanted.experiment.data.empty() && wanted.experiment.prompts.empty())
      bad_input("Data", "nothing is named", "type a file, random:... or demo:...");
    check(wanted.experiment);
    refused = refusal_of(wanted);
  } catch (const Error& error) {
    refused = QString::fromUtf8(error.what());
  }
  show_fault(refused);
  if (refused.isEmpty() && !(wanted == *settings_)) emit try_wanted(wanted);
}

void WhatIfPanel::switch_pass(const QString& pass, bool on) {
  if (!settings_ || running_) return;
  const std::string id = pass.toStdString();
  if (!on) return ask([&](TrySettings& settings) { settings.passes.erase(id); });
  for (const PassSwitch& one : pass_switches(*session_, *settings_)) {
    if (one.line.id != id) continue;
    if (one.found) return ask([&](TrySettings& settings) { settings.passes[id] = *one.found; });
    if (!one.obstacle.isEmpty()) return show_fault(one.obstacle);
  }
  search(id);
}

void WhatIfPanel::search(const std::string& pass, const std::string& option, const QString& value) {
  if (!settings_ || running_) return;
  const QString refused = refusal_of_search(*settings_);
  show_fault(refused);
  if (refused.isEmpty()) emit search_wanted(choice_with(*settings_, pass, option, value));
  refresh();
}

void WhatIfPanel::set_session(std::shared_ptr<const SessionOverview> session, int64_t shown) {
  session_ = std::move(session);
  if (shown != shown_) show_fault({});
  shown_ = shown;
  settings_.reset(), exits_.clear();
  if (const RunLine* run = session_ ? line_of(*session_, shown_) : nullptr) {
    settings_ = try_settings(*run);
    if (settings_) exits_ = exits_of(*session_, *run, *settings_);
  }
  refresh();
}

void WhatIfPanel::set_selection(const views::Selection& selection) { branches_->set_selection(selection); }

void WhatIfPanel::set_running(bool running) {
  running_ = running;
  refresh();
}

void WhatIfPanel::show_fault(const QString& message) { fault_->show_fault(message); }

void WhatIfPanel::refresh() {
  const bool open = settings_ && !running_;
  for (const Editor& editor : editors_) {
    editor.control->setEnabled(open && (editor.control != threshold_ || !exits_.empty()));
    editor.show(settings_ ? editor.shown(*settings_) : QString());
  }
  half_->setEnabled(open);
  threshold_->setPlaceholderText(settings_ && exits_.empty() ? tr("no exits in this run") : tr("the model's own"));
  QStringList lines;
  if (!session_)
    lines << tr("Open a session with a run first.");
  else if (!settings_)
    lines << tr("How this run was made is not known, so it cannot be run again with a change.");
  hint_->setText(lines.join("\n"));
  hint_->setVisible(!lines.isEmpty());
  passes_->set_switches(settings_ ? pass_switches(*session_, *settings_) : std::vector<PassSwitch>(), open);
  branches_->set_branches(settings_ ? settings_->intervention.off : std::vector<BranchOff>(), open);
  refresh_tries();
}

void WhatIfPanel::refresh_tries() {
  const auto rows = session_ ? try_rows(*session_) : std::vector<TryRow>();
  QList<qint64> before;
  for (const RunLine* run : chosen_runs()) before << run->id;
  const QSignalBlocker quiet(tries_);
  // Rows keep their place under the pointer: only those that are new or gone change the list.
  while (tries_->count() > std::ssize(rows)) delete tries_->takeItem(tries_->count() - 1);
  for (int i = 0; const TryRow& row : rows) {
    QListWidgetItem* item = i < tries_->count() ? tries_->item(i) : new QListWidgetItem(tries_);
    ++i;
    if (const QString text = row.text(); item->text() != text) item->setText(text);
    item->setData(Qt::UserRole, static_cast<qlonglong>(row.run));
    // Two chosen runs stay chosen; a single choice follows the current run.
    item->setSelected(before.size() == 2 ? before.contains(row.run) : row.run == shown_);
    if (row.run == shown_) tries_->setCurrentItem(item, QItemSelectionModel::NoUpdate);
  }
  if (QListWidgetItem* current = tries_->currentItem(); current && !tries_->underMouse()) tries_->scrollToItem(current);
  refresh_buttons();
}

void WhatIfPanel::refresh_buttons() {
  const auto runs = chosen_runs();
  const bool one = runs.size() == 1;
  compare_->setEnabled(runs.size() == 2 || (one && &base_of(*session_, *runs[0]) != runs[0]));
  copy_->setEnabled(one);
  save_->setEnabled(one && !configuration_of(*runs[0]).empty());
}

std::vector<const RunLine*> WhatIfPanel::chosen_runs() const {
  std::vector<const RunLine*> runs;
  if (!session_) return runs;
  for (const QListWidgetItem* item : tries_->selectedItems())
    if (const RunLine* run = line_of(*session_, item->data(Qt::UserRole).toLongLong())) runs.push_back(run);
  std::sort(runs.begin(), runs.end(), [](const RunLine* a, const RunLine* b) { return a->id < b->id; });
  return runs;
}

}  // namespace stormcell::studio
