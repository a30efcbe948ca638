#include "app/studio/run_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

#include "core/base/run_kind.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

WorkPhase phase_of(const QComboBox& box) { return work_phase(box.currentData().toString().toStdString()); }

}  // namespace

RunDialog::RunDialog(const QString& model, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Open model"));
  resize(620, 320);
  auto* form = new QFormLayout(this);
  model_ =
      path_line(tr("Model"), tr("a folder with config.json, preset:switch-base-8 or demo:switch-names"), true, false);
  model_->setText(model);
  data_ =
      path_line(tr("Data"), tr("text, token ids, pictures or a video; random:64x128, demo:switch-names"), false, false);
  data_->setToolTip(
      tr("For a model of text: .txt, .jsonl, token ids as .npy or .safetensors, random:ITEMSxTOKENS, demo:NAME.\n"
         "For one of pictures: a folder of them or of folders, one a class; one picture; a video; .npy or .safetensors "
         "with "
         "pixels; random:ITEMS or random:ITEMSxHEIGHTxWIDTH, demo:NAME."));
  session_ =
      path_line(tr("Session"), tr("what is recorded goes here; an existing session of this model grows"), false, true);
  session_->setText(QDir::homePath() + "/model.storm");
  batch_ = new QSpinBox(this);
  batch_->setRange(0, 65536);
  batch_->setSpecialValueText(tr("8 sequences, or 1 picture"));
  batch_->setToolTip(tr("Sequences or pictures in a batch"));
  batches_ = new QSpinBox(this);
  batches_->setRange(0, 1 << 30);
  batches_->setSpecialValueText(tr("all"));
  batches_->setToolTip(tr("At most so many batches"));
  phase_ = new QComboBox(this);
  const auto add_phase = [this](const QString& name, WorkPhase phase) {
    phase_->addItem(name, views::to_qstring(to_text(phase)));
  };
  add_phase(tr("one forward pass"), WorkPhase::forward);
  add_phase(tr("decoding of new tokens"), WorkPhase::decode);
  add_phase(tr("both, one run each"), WorkPhase::both);
  phase_->setToolTip(tr("What is run on a batch; only models with a decoder write tokens"));
  new_tokens_ = new QSpinBox(this);
  new_tokens_->setRange(1, 65536);
  new_tokens_->setValue(static_cast<int>(ExperimentOptions().most_new_tokens));
  new_tokens_->setToolTip(tr("Where it decodes: at most so many for each sequence"));
  const auto allow_new_tokens = [this] { new_tokens_->setEnabled(phase_of(*phase_) != WorkPhase::forward); };
  connect(phase_, &QComboBox::currentIndexChanged, this, allow_new_tokens);
  allow_new_tokens();
  time_limit_ = new QSpinBox(this);
  constexpr int kDay = 86400;
  time_limit_->setRange(0, kDay);
  time_limit_->setSpecialValueText(tr("none"));
  time_limit_->setSuffix(tr(" s"));
  time_limit_->setAccessibleName(tr("Time limit"));
  time_limit_->setToolTip(
      tr("Limit for the whole run, opening the model included: batches, plans and comparisons that do not fit are left "
         "out"));
  label_ = new QLineEdit(this);
  label_->setPlaceholderText(
      tr("key of a label in .jsonl, for loads by label; of pictures folders or labels.csv say it"));
  inputs_ = new QCheckBox(tr("Record texts, tokens and small pictures (whoever gets the session can see them)"), this);
  inputs_->setChecked(true);
  by_length_ = new QCheckBox(tr("Batches of sequences of like length"), this);
  by_length_->setToolTip(tr("Less padding is computed; the sequences run in another order"));
  form->addRow(tr("Items in a batch"), batch_);
  form->addRow(QString(), by_length_);
  form->addRow(tr("Batches"), batches_);
  form->addRow(tr("Phase"), phase_);
  form->addRow(tr("New tokens"), new_tokens_);
  form->addRow(tr("Label"), label_);
  form->addRow(tr("Time limit"), time_limit_);
  form->addRow(QString(), inputs_);
  buttons_ = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
  buttons_->button(QDialogButtonBox::Ok)->setText(tr("Run"));
  form->addRow(buttons_);
  connect(buttons_, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons_, &QDialogButtonBox::rejected, this, &QDialog::reject);
  for (QLineEdit* line : {model_, data_, session_}) connect(line, &QLineEdit::textChanged, this, &RunDialog::check);
  check();
}

QLineEdit* RunDialog::path_line(const QString& name, const QString& placeholder, bool folder, bool save) {
  auto* line = new QLineEdit(this);
  line->setPlaceholderText(placeholder);
  line->setAccessibleName(name);
  auto* browse = new QPushButton(tr("..."), this);
  browse->setAccessibleName(tr("Choose: %1").arg(name));
  connect(browse, &QPushButton::clicked, this, [this, line, name, folder, save] {
    const QString chosen = folder ? QFileDialog::getExistingDirectory(this, name)
                           : save ? QFileDialog::getSaveFileName(this, name, line->text(), tr("Sessions (*.storm)"),
                                                                 nullptr, QFileDialog::DontConfirmOverwrite)
                                  : QFileDialog::getOpenFileName(this, name);
    if (!chosen.isEmpty()) line->setText(chosen);
  });
  auto* row = new QHBoxLayout();
  row->addWidget(line, 1);
  row->addWidget(browse);
  static_cast<QFormLayout*>(layout())->addRow(name, row);
  return line;
}

void RunDialog::check() {
  const bool ready = !model_->text().isEmpty() && !data_->text().isEmpty() && !session_->text().isEmpty();
  buttons_->button(QDialogButtonBox::Ok)->setEnabled(ready);
  buttons_->button(QDialogButtonBox::Ok)->setToolTip(ready ? QString() : tr("Model, data and session are needed"));
}

QString RunDialog::session() const { return session_->text(); }

RunRequest RunDialog::request() const {
  RunRequest r;
  r.experiment.model = model_->text().toStdString();
  r.experiment.data = data_->text().toStdString();
  r.experiment.batch = batch_->value();
  r.experiment.bucket_by_length = by_length_->isChecked();
  r.experiment.batches = batches_->value() > 0 ? batches_->value() : -1;
  r.experiment.phase = phase_->currentData().toString().toStdString();
  if (work_phase(r.experiment.phase) != WorkPhase::forward) r.experiment.most_new_tokens = new_tokens_->value();
  r.experiment.label_field = label_->text().toStdString();
  r.experiment.record_inputs = inputs_->isChecked();
  r.optimize.session = session().toStdString();
  r.optimize.time_limit = time_limit_->value();
  return r;
}

}  // namespace stormcell::studio
