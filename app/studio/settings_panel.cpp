#include "app/studio/settings_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <utility>
#include <variant>

#include "core/bench/device_names.h"
#include "core/experiment/optimize_options.h"
#include "core/summary/settings.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

constexpr int kTitle = 0, kEditor = 1, kHelp = 2;
constexpr const char* kVerb = "optimize";

std::vector<std::string> words_of(const std::string& text, const QRegularExpression& between) {
  std::vector<std::string> words;
  for (const QString& word : QString::fromStdString(text).split(between, Qt::SkipEmptyParts))
    words.push_back(word.trimmed().toStdString());
  return words;
}

/// The words of a value such as "forward|decode|both"; empty: it has no list of words.
QStringList choices_of(const Setting& setting) {
  if (setting.key == "device") {
    QStringList names;
    for (const std::string& name : list_devices()) names << QString::fromStdString(name);
    return names;
  }
  const QString value = views::to_qstring(setting.value);
  const bool is_words = value.contains('|') && value == value.toLower();
  return is_words ? value.split('|') : QStringList();
}

bool is_flag(const Setting& setting) { return std::holds_alternative<bool ExperimentOptions::*>(setting.field); }
bool is_list(const Setting& setting) {
  return std::holds_alternative<std::vector<std::string> ExperimentOptions::*>(setting.field);
}

}  // namespace

QString title_of_option(const QString& option) {
  QString title = option;
  while (title.startsWith('-')) title.remove(0, 1);
  title.replace('-', ' ');
  if (!title.isEmpty()) title[0] = title[0].toUpper();
  return title;
}

SettingsPanel::SettingsPanel(QWidget* parent) : QWidget(parent) {
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setColumnStretch(kHelp, 1);
  grid_->setHorizontalSpacing(12);
  grid_->setVerticalSpacing(4);
  add_session();
  add_settings();
  add_optimize_options();
}

void SettingsPanel::add_row(const QString& title, QWidget* editor, const QString& help) {
  constexpr int kEditorWidth = 200;
  const int row = grid_->rowCount();
  auto* label = new QLabel(title, this);
  label->setBuddy(editor);
  auto* about = new QLabel(help, this);
  about->setWordWrap(true);
  about->setTextFormat(Qt::PlainText);
  about->setEnabled(false);
  editor->setAccessibleName(title);
  editor->setToolTip(help);
  editor->setFixedWidth(kEditorWidth);
  grid_->addWidget(label, row, kTitle, Qt::AlignTop);
  grid_->addWidget(editor, row, kEditor, Qt::AlignTop);
  grid_->addWidget(about, row, kHelp);
}

void SettingsPanel::add_words(const QString& option, const QString& value, const QString& help, Read read) {
  auto* line = new QLineEdit(this);
  line->setPlaceholderText(value);
  add_row(title_of_option(option), line, help);
  rows_.push_back({[line] { return line->text().trimmed().toStdString(); }, std::move(read)});
}

void SettingsPanel::add_flag(const QString& option, const QString& help, bool on, Read read) {
  auto* box = new QCheckBox(this);
  box->setChecked(on);
  add_row(title_of_option(option), box, help);
  rows_.push_back({[box] { return std::string(box->isChecked() ? "on" : ""); }, std::move(read)});
}

void SettingsPanel::add_choice(const QString& option, const QStringList& choices, const QString& help, Read read) {
  auto* box = new QComboBox(this);
  box->addItems(choices);
  add_row(title_of_option(option), box, help);
  // The first word is the default.
  rows_.push_back(
      {[box] { return box->currentIndex() > 0 ? box->currentText().toStdString() : std::string(); }, std::move(read)});
}

void SettingsPanel::add_settings() {
  static const QRegularExpression blank("\\s+");
  for (const Setting& setting : kSettings) {
    // The page has a box for what a model reads.
    const bool is_read = setting.key == "model" || setting.key == "data" || setting.key == "prompts";
    if (!setting.is_of(kVerb) || is_read) continue;
    const QString option = views::to_qstring(setting.option), help = views::to_qstring(setting.help);
    const Read read = [&setting](const std::string& text, RunRequest& request) {
      if (!is_list(setting)) return read_word(setting, text, request.experiment);
      for (const std::string& word : words_of(text, blank)) read_word(setting, word, request.experiment);
    };
    if (is_flag(setting)) {
      add_flag(option, help, setting.key == "record_inputs", read);
    } else if (const QStringList choices = choices_of(setting); !choices.isEmpty()) {
      add_choice(option, choices, help, read);
    } else {
      add_words(option, views::to_qstring(setting.value), help, read);
    }
  }
}

void SettingsPanel::add_optimize_options() {
  static const QRegularExpression between("[,\\s]+"), blank("\\s+");
  for (const OptimizeOption& row : kOptimizeOptions)
    add_words(views::to_qstring(row.option), views::to_qstring(row.value), views::to_qstring(row.help),
              [&row](const std::string& text, RunRequest& request) {
                const auto words = row.words == OptionWords::one
                                       ? std::vector{text}
                                       : words_of(text, row.words == OptionWords::repeated ? blank : between);
                row.read(words, request.optimize, request.experiment);
              });
}

void SettingsPanel::add_session() {
  auto* row = new QHBoxLayout();
  session_ = new QLineEdit(this);
  session_->setAccessibleName(tr("Session"));
  session_->setToolTip(tr("The file that keeps this model's runs"));
  auto* choose = new QPushButton(tr("Choose..."), this);
  choose->setAccessibleName(tr("Choose the session's file"));
  connect(choose, &QPushButton::clicked, this, [this] {
    const QString file = QFileDialog::getSaveFileName(this, tr("Session"), session_->text(), tr("Sessions (*.storm)"),
                                                      nullptr, QFileDialog::DontConfirmOverwrite);
    if (!file.isEmpty()) session_->setText(file);
  });
  row->addWidget(session_, 1);
  row->addWidget(choose);
  auto* label = new QLabel(tr("Session"), this);
  label->setBuddy(session_);
  grid_->addWidget(label, 0, kTitle);
  grid_->addLayout(row, 0, kEditor, 1, 2);
}

QString SettingsPanel::session() const { return session_->text().trimmed(); }
void SettingsPanel::set_session(const QString& session) { session_->setText(session); }

RunRequest SettingsPanel::request() const {
  RunRequest request;
  for (const Row& row : rows_)
    if (const std::string word = row.word(); !word.empty()) row.read(word, request);
  request.optimize.session = session().toStdString();
  return request;
}

}  // namespace stormcell::studio
