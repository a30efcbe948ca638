#include "app/studio/what_if_pages.h"

#include <QCheckBox>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "app/studio/recording_panel.h"
#include "app/studio/what_if_panel.h"

namespace stormcell::studio {

WhatIfPages::WhatIfPages(QWidget* parent) : QWidget(parent) {
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  choices_only_ = new QCheckBox(tr("Change recorded choices only"), this);
  choices_only_->setObjectName("choices-only");
  rows->addWidget(choices_only_);
  pages_ = new QStackedWidget(this);
  runs_ = new WhatIfPanel(pages_);
  recordings_ = new RecordingPanel(pages_);
  pages_->addWidget(runs_);
  pages_->addWidget(recordings_);
  rows->addWidget(pages_, 1);
  connect(choices_only_, &QCheckBox::clicked, this, [this](bool on) {
    wanted_ = on;
    show_page();
  });
  show_page();
}

void WhatIfPages::set_session(const std::shared_ptr<const SessionOverview>& session, int64_t shown) {
  can_run_ = true, can_change_ = false;
  if (session)
    for (const RunLine& run : session->runs)
      if (run.id == shown) can_run_ = try_settings(run).has_value(), can_change_ = refusal_of_recording(run).isEmpty();
  runs_->set_session(session, shown);
  recordings_->set_session(session, shown);
  show_page();
}

void WhatIfPages::set_selection(const views::Selection& selection) {
  runs_->set_selection(selection);
  recordings_->set_selection(selection);
}

void WhatIfPages::set_running(bool running) {
  runs_->set_running(running);
  recordings_->set_running(running);
}

void WhatIfPages::show_fault(const QString& message) {
  pages_->currentWidget() == recordings_ ? recordings_->show_fault(message) : runs_->show_fault(message);
}

void WhatIfPages::show_page() {
  const bool recording = !can_run_ || (wanted_ && can_change_);
  choices_only_->setChecked(recording);
  choices_only_->setEnabled(can_run_ && can_change_);
  choices_only_->setToolTip(
      !can_run_     ? tr("How this run was made is not known, so it cannot be run again: its choices can be changed")
      : can_change_ ? tr("Changes the choices that this run recorded, without its model: nothing is run")
                    : tr("This run holds no single choices, so it can only be run again"));
  pages_->setCurrentWidget(recording ? static_cast<QWidget*>(recordings_) : runs_);
}

}  // namespace stormcell::studio
