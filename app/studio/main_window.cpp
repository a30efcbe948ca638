#include "app/studio/main_window.h"

#include <QAction>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QListWidget>
#include <QProgressBar>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>

#include "views/heatmap/heatmap_widget.h"

namespace stormcell::studio {

MainWindow::MainWindow() {
  setWindowTitle("Stormcell Studio");
  resize(1080, 640);
  auto* tools = addToolBar(tr("Main"));
  tools->setMovable(false);
  auto* open = tools->addAction(tr("Open session..."));
  open->setShortcut(QKeySequence::Open);
  again_ = tools->addAction(tr("Run again"));
  again_->setShortcut(QKeySequence::Refresh);
  again_->setEnabled(false);
  stop_ = tools->addAction(tr("Stop"));
  stop_->setEnabled(false);

  auto* dock = new QDockWidget(tr("Runs"), this);
  dock->setFeatures(QDockWidget::NoDockWidgetFeatures);
  runs_ = new QListWidget(dock);
  runs_->setMinimumWidth(220);
  dock->setWidget(runs_);
  addDockWidget(Qt::LeftDockWidgetArea, dock);

  auto* center = new QWidget(this);
  auto* layout = new QVBoxLayout(center);
  title_ = new QLabel(center);
  QFont large = title_->font();
  large.setPointSizeF(large.pointSizeF() * 1.4);
  title_->setFont(large);
  facts_ = new QLabel(center);
  facts_->setWordWrap(true);
  facts_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  heatmap_ = new views::HeatmapWidget(center);
  layout->addWidget(title_);
  layout->addWidget(facts_);
  layout->addWidget(heatmap_, 1);
  setCentralWidget(center);
  title_->setText(tr("No session"));
  facts_->setText(tr("Open a .storm file, for example the one that ./dev demo leaves in build/demo/."));

  progress_ = new QProgressBar(this);
  progress_->setMaximumWidth(260);
  progress_->hide();
  statusBar()->addPermanentWidget(progress_);

  connect(open, &QAction::triggered, this, &MainWindow::chooseSession);
  connect(again_, &QAction::triggered, this, &MainWindow::runAgain);
  connect(stop_, &QAction::triggered, this, [this] { controller_.cancel(); });
  connect(runs_, &QListWidget::currentRowChanged, this, &MainWindow::showRun);
  connect(&controller_, &RunController::progressed, this, [this](const QString& stage, int permille) {
    progress_->setRange(0, permille < 0 ? 0 : 1000);
    progress_->setValue(std::max(0, permille));
    statusBar()->showMessage(stage);
  });
  const auto over = [this](const QString& message) {
    progress_->hide();
    stop_->setEnabled(false);
    again_->setEnabled(true);
    openSession(QString::fromStdString(session_.file));
    say(message);
  };
  connect(&controller_, &RunController::finished, this, [over](const std::shared_ptr<const RunSummaryFigures>& f) {
    over(f->speedup ? tr("Done: %1 times the baseline, verified").arg(*f->speedup, 0, 'f', 2)
                    : tr("Done; the result could not be verified"));
  });
  connect(&controller_, &RunController::failed, this, over);
}

void MainWindow::say(const QString& message) { statusBar()->showMessage(message); }

void MainWindow::chooseSession() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Open session"), {}, tr("Sessions (*.storm)"));
  if (!file.isEmpty()) openSession(file);
}

bool MainWindow::openSession(const QString& file) {
  try {
    session_ = open_session(file.toStdString());
  } catch (const std::exception& e) {
    say(QString::fromUtf8(e.what()));
    return false;
  }
  setWindowTitle(QFileInfo(file).fileName() + " - Stormcell Studio");
  runs_->clear();
  for (const RunLine& run : session_.runs)
    runs_->addItem(QString("#%1  %2\n%3, %4 batches")
                       .arg(run.id)
                       .arg(QString::fromStdString(run.kind), QString::fromStdString(run.status))
                       .arg(run.batches));
  if (!session_.runs.empty()) runs_->setCurrentRow(static_cast<int>(session_.runs.size()) - 1);
  return true;
}

void MainWindow::showRun(int row) {
  if (row < 0 || row >= static_cast<int>(session_.runs.size())) return;
  const RunLine& run = session_.runs[static_cast<size_t>(row)];
  try {
    heatmap_->setLoads(read_loads(session_.file, run.id));
  } catch (const std::exception& e) {
    heatmap_->setLoads(nullptr);
    say(QString::fromUtf8(e.what()));
  }
  title_->setText(QString::fromStdString(session_.model));
  QString facts = tr("Run #%1 (%2), %3").arg(run.id).arg(QString::fromStdString(run.kind), QString::fromStdString(run.started));
  const QJsonObject summary = QJsonDocument::fromJson(QByteArray::fromStdString(run.summary)).object();
  if (summary["speedup"].isDouble() && summary["verified"]["passed"].toBool()) {
    const auto ci = summary["speedup_ci95"];
    facts += tr(". Measured %1 times the baseline, 95 % interval %2 to %3, verified: %4")
                 .arg(summary["speedup"].toDouble(), 0, 'f', 2)
                 .arg(ci[0].toDouble(), 0, 'f', 2)
                 .arg(ci[1].toDouble(), 0, 'f', 2)
                 .arg(summary["verified"]["text"].toString());
  }
  facts_->setText(facts);
  again_->setEnabled(!run.settings.empty() && run.kind != "generate" && !controller_.running());
}

void MainWindow::runAgain() {
  const int row = runs_->currentRow();
  if (row < 0) return;
  const QJsonObject settings =
      QJsonDocument::fromJson(QByteArray::fromStdString(session_.runs[static_cast<size_t>(row)].settings)).object();
  ExperimentOptions options;
  options.model = settings["model"].toString().toStdString();
  options.data = settings["data"].toString().toStdString();
  options.batch = static_cast<int64_t>(settings["batch"].toDouble(8));
  options.batches = static_cast<int64_t>(settings["batches"].toDouble(-1));
  options.length = static_cast<int64_t>(settings["length"].toDouble(0));
  options.truncate = settings["truncate"].toBool();
  options.dtype = settings["dtype"].toString().toStdString();
  options.field = settings["field"].toString("text").toStdString();
  options.target_field = settings["target_field"].toString().toStdString();
  options.label_field = settings["label_field"].toString().toStdString();
  progress_->setRange(0, 0);
  progress_->show();
  again_->setEnabled(false);
  stop_->setEnabled(true);
  controller_.start(options, QString::fromStdString(session_.file));
}

}  // namespace stormcell::studio
