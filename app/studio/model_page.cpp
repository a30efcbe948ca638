#include "app/studio/model_page.h"

#include <QApplication>
#include <QClipboard>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "app/studio/data_box.h"
#include "app/studio/settings_panel.h"
#include "app/studio/shape_picture.h"
#include "core/summary/sheet_text.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

/// A place where a line may break: a space without a width.
constexpr QChar kBreak(0x200B);

/// A path is one word: it must not make the page wider than the window.
void take_any_width(QLabel* label) {
  QSizePolicy policy = label->sizePolicy();
  policy.setHorizontalPolicy(QSizePolicy::Ignored);
  label->setSizePolicy(policy);
}

QLabel* selectable(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  take_any_width(label);
  return label;
}

QLabel* heading(const QString& text, double scale, QWidget* parent) {
  QLabel* label = selectable(text, parent);
  QFont font = label->font();
  font.setBold(true);
  font.setPointSizeF(font.pointSizeF() * scale);
  label->setFont(font);
  return label;
}

/// "experts: Q4_K 16.2 GiB, Q6_K 2.1 GiB", a line for each kind of tensors.
QString formats_words(const ModelSheet& sheet) {
  QStringList lines;
  for (const std::string& kind : tensor_kinds(sheet)) {
    QStringList formats;
    for (const auto& [format, row] : sheet.formats.at(kind))
      formats << views::to_qstring(format) + " " + views::bytes_text(static_cast<double>(row.bytes));
    lines << views::to_qstring(kind) + ": " + formats.join(", ");
  }
  return lines.join('\n');
}

}  // namespace

ModelPage::ModelPage(OpenedModel model, QWidget* parent) : QWidget(parent), model_(std::move(model)) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->addWidget(make_changed());
  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  outer->addWidget(scroll);
  auto* body = new QWidget(scroll);
  scroll->setWidget(body);
  auto* rows = new QVBoxLayout(body);
  rows->setContentsMargins(20, 16, 20, 16);
  rows->setSpacing(12);
  auto* columns = new QHBoxLayout();
  columns->setSpacing(28);
  rows->addLayout(columns, 1);
  QVBoxLayout *left = new QVBoxLayout(), *right = new QVBoxLayout();
  for (QVBoxLayout* column : {left, right}) {
    column->setSpacing(12);
    columns->addLayout(column, 1);
  }
  auto* shape = new ShapePicture(body);
  shape->set_routers(model_.routers);
  shape->setVisible(!model_.routers.empty());
  // Lacks and the recorder need the height of their column.
  left->addWidget(make_sheet());
  (model_.runs ? right : left)->addWidget(shape, 1);
  left->addStretch();
  right->addWidget(model_.runs ? make_run() : make_lacks(), 1);
  if (!model_.runs) return;
  settings_ = new SettingsPanel(body);
  settings_->set_session(model_.session);
  settings_->hide();
  rows->addWidget(settings_);
}

QWidget* ModelPage::make_changed() {
  changed_bar_ = new QWidget(this);
  auto* row = new QHBoxLayout(changed_bar_);
  row->setContentsMargins(20, 8, 20, 0);
  changed_ = selectable({}, changed_bar_);
  changed_->setAccessibleName(tr("What became of the files"));
  row->addWidget(changed_, 1);
  auto* again = new QPushButton(tr("Read again"), changed_bar_);
  again->setObjectName("read-again");
  again->setToolTip(tr("Reads the headers of the model's files as they are now"));
  row->addWidget(again);
  connect(again, &QPushButton::clicked, this, &ModelPage::again_wanted);
  changed_bar_->hide();
  return changed_bar_;
}

QWidget* ModelPage::make_sheet() {
  constexpr double kTitle = 1.6;
  auto* part = new QWidget(this);
  auto* rows = new QVBoxLayout(part);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->addWidget(heading(model_.name, kTitle, part));
  QStringList about;
  if (model_.sheet && !model_.sheet->kind.empty()) about << QString::fromStdString(kind_text(*model_.sheet));
  if (!model_.family.isEmpty()) about << tr("family %1").arg(model_.family);
  about << QString(model_.model).replace('/', QString("/") + kBreak);
  auto* origin = new QLabel(about.join(", "), part);
  origin->setTextFormat(Qt::PlainText);
  origin->setWordWrap(true);
  take_any_width(origin);
  origin->setToolTip(model_.model);
  rows->addWidget(origin);
  auto* grid = new QGridLayout();
  grid->setHorizontalSpacing(14);
  grid->setVerticalSpacing(5);
  grid->setColumnStretch(1, 1);
  rows->addSpacing(6);
  rows->addLayout(grid);
  const auto add = [&](const QString& what, const QString& text) {
    if (text.isEmpty()) return;
    const int row = grid->rowCount();
    auto* name = new QLabel(what, part);
    name->setEnabled(false);
    grid->addWidget(name, row, 0, Qt::AlignTop);
    grid->addWidget(selectable(text, part), row, 1, Qt::AlignTop);
  };
  if (!model_.sheet) return part;
  for (const SheetRow& row : sheet_rows(*model_.sheet)) add(views::to_qstring(row.what), views::to_qstring(row.text));
  add(tr("formats"), formats_words(*model_.sheet));
  QStringList warnings;
  for (const std::string& warning : model_.sheet->warnings) warnings << views::to_qstring(warning);
  add(tr("warnings"), warnings.join('\n'));
  return part;
}

QWidget* ModelPage::make_run() {
  constexpr int kBoxLines = 4;
  auto* part = new QWidget(this);
  auto* rows = new QVBoxLayout(part);
  rows->setContentsMargins(0, 0, 0, 0);
  data_ = new DataBox(part);
  data_->setPlaceholderText(
      model_.takes_pictures
          ? tr("Drop a picture, a folder of pictures or a video here. random:8 draws eight pictures.")
          : tr("Type text here, a sequence in each line, or drop a file: .txt, .jsonl, token ids as .npy or "
               ".safetensors. random:8x32 draws 8 sequences of 32 tokens."));
  data_->setToolTip(data_->placeholderText());
  data_->setMinimumHeight(data_->fontMetrics().lineSpacing() * kBoxLines + 12);
  if (model_.has_data) data_->setPlainText(model_.model);
  auto* buttons = new QHBoxLayout();
  run_ = new QPushButton(part);
  run_->setObjectName("run-model");
  run_->setDefault(true);
  settings_button_ = new QToolButton(part);
  settings_button_->setObjectName("run-settings");
  settings_button_->setText(tr("Settings"));
  settings_button_->setAccessibleName(tr("Settings"));
  settings_button_->setCheckable(true);
  settings_button_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  settings_button_->setArrowType(Qt::RightArrow);
  fault_ = selectable({}, part);
  fault_->setAccessibleName(tr("Message"));
  fault_->hide();
  buttons->addWidget(run_);
  buttons->addWidget(settings_button_);
  buttons->addWidget(fault_, 1);
  buttons->addStretch(0);
  rows->addWidget(heading(tr("Data"), 1, part));
  rows->addWidget(data_, 1);
  rows->addLayout(buttons);
  connect(run_, &QPushButton::clicked, this, &ModelPage::press_run);
  connect(data_, &DataBox::run_wanted, this, &ModelPage::press_run);
  connect(data_, &QPlainTextEdit::textChanged, this, [this] { set_state(state_); });
  connect(settings_button_, &QToolButton::toggled, this, [this](bool shown) {
    settings_->setVisible(shown);
    settings_button_->setArrowType(shown ? Qt::DownArrow : Qt::RightArrow);
  });
  setFocusProxy(data_);
  set_state(State::ready);
  return part;
}

QWidget* ModelPage::make_lacks() {
  constexpr int kScriptLines = 12;
  auto* part = new QWidget(this);
  auto* rows = new QVBoxLayout(part);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->addWidget(heading(tr("This version cannot run it"), 1, part));
  if (!model_.fault.isEmpty()) rows->addWidget(selectable(model_.fault, part));
  if (model_.sheet)
    for (const SheetLack& lack : model_.sheet->lacks)
      rows->addWidget(selectable(views::to_qstring(to_text(lack)), part));
  if (model_.recorder_text.isEmpty()) {
    rows->addStretch(1);
    return part;
  }
  const QString name = views::to_qstring(model_.sheet->recorder);
  rows->addSpacing(8);
  auto* line = new QHBoxLayout();
  line->addWidget(heading(tr("Its routing can be recorded: %1").arg(name), 1, part), 1);
  auto* copy = new QPushButton(tr("Copy recorder"), part);
  copy->setObjectName("copy-recorder");
  copy->setToolTip(tr("Puts the Python file on the clipboard"));
  line->addWidget(copy);
  rows->addLayout(line);
  rows->addWidget(selectable(tr("Run it where the model runs, then drop the trace that it writes on this window. The "
                                "first lines say how to use it and what it costs."),
                             part));
  auto* script = new QPlainTextEdit(model_.recorder_text, part);
  script->setObjectName("recorder");
  script->setAccessibleName(tr("Recorder %1").arg(name));
  script->setReadOnly(true);
  script->setLineWrapMode(QPlainTextEdit::NoWrap);
  QFont fixed("DejaVu Sans Mono");
  fixed.setStyleHint(QFont::Monospace);
  fixed.setPointSizeF(font().pointSizeF());
  script->setFont(fixed);
  script->setMinimumHeight(script->fontMetrics().lineSpacing() * kScriptLines);
  rows->addWidget(script, 1);
  connect(copy, &QPushButton::clicked, this, [this, name] {
    QApplication::clipboard()->setText(model_.recorder_text);
    emit copied(tr("the recorder %1").arg(name));
  });
  return part;
}

QString ModelPage::data() const { return data_ ? data_->toPlainText() : QString(); }
void ModelPage::set_data(const QString& data) {
  if (data_) data_->setPlainText(data);
}

QString ModelPage::session() const { return settings_ ? settings_->session() : QString(); }
void ModelPage::set_session(const QString& session) {
  if (settings_) settings_->set_session(session);
}

RunRequest ModelPage::request() const {
  RunRequest request = settings_->request();
  request.experiment.model = model_.model.toStdString();
  return request;
}

void ModelPage::set_state(State state) {
  state_ = state;
  if (!run_) return;
  const bool ready = !data().trimmed().isEmpty();
  run_->setText(state == State::runs ? tr("Stop") : tr("Run"));
  run_->setEnabled(state == State::runs || (state == State::ready && ready));
  run_->setToolTip(state == State::busy   ? tr("Another run is going on")
                   : state == State::runs ? tr("Ends the run; what is recorded stays")
                   : ready                ? tr("Runs the model on these data and records where each cell goes")
                                          : tr("Type text or drop data first"));
}

void ModelPage::show_fault(const QString& message) {
  if (!fault_) return;
  fault_->setText(message);
  fault_->setToolTip(message);
  fault_->setVisible(!message.isEmpty());
}

void ModelPage::show_changed(const QString& message) {
  changed_->setText(message);
  changed_bar_->setVisible(!message.isEmpty());
}

QString ModelPage::changed() const { return changed_->text(); }

void ModelPage::press_run() {
  if (state_ == State::runs) return emit stop_wanted();
  if (run_->isEnabled()) emit run_wanted();
}

}  // namespace stormcell::studio
