#include "views/optimisations/optimisations_view.h"

#include <imgui.h>

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

#include "core/experiment/pass_list.h"
#include "views/kit/figure_text.h"
#include "views/kit/theme.h"

namespace stormcell::views {
namespace {

ImU32 color(const QColor& c, double alpha = 1) { return IM_COL32(c.red(), c.green(), c.blue(), static_cast<int>(255 * alpha)); }
const char* text(const QByteArray& utf8) { return utf8.constData(); }

/// The largest factor that any bar has to show, at least 1.1: bars of all rows are on one scale.
double span_of(const Optimisations& state) {
  double span = 1.1;
  const auto widen = [&](double v) {
    if (v > 0) span = std::max({span, v, 1 / v});
  };
  for (const PassRow& row : state.rows) {
    if (row.predicted) widen(*row.predicted);
    for (const auto& gain : {row.alone, row.cumulative})
      if (gain && gain->ci95) widen((*gain->ci95)[0]), widen((*gain->ci95)[1]);
  }
  return std::min(span, 16.0);
}

/// A gain as a bar from 1 with its interval, logarithmic; a triangle where it was predicted.
void draw_gain(const std::optional<Gain>& gain, const std::optional<double>& predicted, double span, const QColor& tone,
               const Theme& theme) {
  if (!gain) return ImGui::TextDisabled("%s", text(OptimisationsView::tr("not measured").toUtf8()));
  ImGui::AlignTextToFramePadding();
  ImVec2 at = ImGui::GetCursorScreenPos();
  at.y += ImGui::GetStyle().FramePadding.y;
  // In a narrow window what a pass does needs the room more.
  const float height = ImGui::GetTextLineHeight(), width = std::clamp(ImGui::GetIO().DisplaySize.x * 0.08f, 56.0f, 130.0f);
  const auto x = [&](double v) { return at.x + width * static_cast<float>((std::clamp(std::log(v) / std::log(span), -1.0, 1.0) + 1) / 2); };
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled({at.x, at.y}, {at.x + width, at.y + height}, color(theme.surface));
  draw->AddLine({x(1), at.y}, {x(1), at.y + height}, color(theme.faint));
  draw->AddRectFilled({std::min(x(1), x(gain->value)), at.y + 4}, {std::max(x(1), x(gain->value)) + 1, at.y + height - 4}, color(tone));
  if (gain->ci95) {
    const float middle = std::floor(at.y + height / 2);
    draw->AddLine({x((*gain->ci95)[0]), middle}, {x((*gain->ci95)[1]) + 1, middle}, color(theme.text));
    for (const double end : *gain->ci95) draw->AddLine({x(end), middle - 4}, {x(end), middle + 4}, color(theme.text));
  }
  if (predicted) {
    const float p = x(*predicted);
    draw->AddTriangleFilled({p, at.y + 5}, {p - 4, at.y - 1}, {p + 4, at.y - 1}, color(theme.warn));
  }
  ImGui::Dummy({width + 4, height});
  ImGui::SameLine();
  ImGui::TextUnformatted(text(to_text(*gain).toUtf8()));
}

}  // namespace

OptimisationsView::OptimisationsView(QWidget* parent) : View(parent), enabled_(default_passes()) {
  preset_ = new QComboBox(this);
  preset_->addItem(tr("Preset"));
  preset_->addItem(tr("all"));
  preset_->addItem(tr("none"));
  for (const PassLine& pass : list_passes())
    preset_->addItem(tr("only %1").arg(QString::fromStdString(pass.id)), QString::fromStdString(pass.id));
  preset_->setAccessibleName(tr("Preset of passes"));
  preset_->setToolTip(tr("Switches all passes at once"));
  for (int i = 0; i < preset_->count(); ++i) preset_->setItemData(i, tr("Switches all passes at once"), Qt::ToolTipRole);
  bar()->addWidget(preset_);
  for (const PassLine& pass : list_passes()) {
    const QString id = QString::fromStdString(pass.id);
    auto* box = new QCheckBox(id, this);
    box->setToolTip(QString::fromStdString(pass.summary));
    box->setAccessibleDescription(QString::fromStdString(pass.summary));
    box->setChecked(enabled_.contains(id));
    connect(box, &QCheckBox::clicked, this, [this, id](bool on) {
      QSet<QString> next = enabled_;
      on ? (void)next.insert(id) : (void)next.remove(id);
      choose(next, on ? tr("%1 on").arg(id) : tr("%1 off").arg(id));
    });
    bar()->addWidget(box);
    boxes_.insert(id, box);
  }
  bar()->addStretch(1);
  save_ = new QPushButton(tr("Save configuration..."), this);
  save_->setToolTip(tr("What `stormcell run MODEL --config FILE` replays"));
  bar()->addWidget(save_);
  run_ = new QPushButton(tr("Run"), this);
  run_->setToolTip(tr("Measures the baseline against this choice, alternated, and verifies the result"));
  bar()->addWidget(run_);
  canvas_ = new ImGuiWidget(this);
  canvas_->setAccessibleName(tr("Passes with predicted and measured gains; the switches above and the table hold the same"));
  canvas_->set_frame([this] { frame(); });
  set_picture(canvas_);

  connect(run_, &QPushButton::clicked, this, &OptimisationsView::run);
  connect(save_, &QPushButton::clicked, this,
          [this] { emit save_wanted("stormcell-config.json", tr("Configurations (*.json)"), QByteArray::fromStdString(state_.config)); });
  connect(preset_, &QComboBox::activated, this, [this](int index) {
    if (index == 1) choose(default_passes(), tr("all passes"));
    if (index == 2) choose({}, tr("no pass"));
    if (index > 2) choose({preset_->itemData(index).toString()}, preset_->itemText(index));
    preset_->setCurrentIndex(0);
  });
}

View::Load OptimisationsView::load(const Context& context, const Selection&) {
  const bool another_run = context.main.file != context_.main.file || context.main.run != context_.main.run;
  context_ = context;
  if (context.main.empty() || !context.session) {
    show_no_run(context);
    return nullptr;
  }
  if (another_run) {
    // A run that was optimised shows its own choice.
    for (const RunLine& run : context.session->runs)
      if (run.id == context.main.run)
        if (const auto chosen = chosen_passes(run)) enabled_ = *chosen;
  }
  if (context.main.settings.empty()) {
    show_message(tr("How this run was made is not known, so it cannot be run again with other passes."),
                 {{"choose-run", tr("Choose another run")}, {"run-demo", tr("Run the demo")}});
    return nullptr;
  }
  take(enabled_);
  show_content();
  return nullptr;
}

void OptimisationsView::choose(const QSet<QString>& enabled, const QString& what) {
  if (enabled == enabled_) return;
  emit edit_wanted(
      what, [this, enabled] { take(enabled); }, [this, before = enabled_] { take(before); });
}

void OptimisationsView::take(const QSet<QString>& enabled) {
  enabled_ = enabled;
  if (context_.session) state_ = look_up(*context_.session, context_.main.run, enabled_);
  for (auto it = boxes_.begin(); it != boxes_.end(); ++it) {
    const QSignalBlocker quiet(it.value());
    it.value()->setChecked(enabled_.contains(it.key()));
  }
  save_->setEnabled(!state_.config.empty());
  run_->setText(state_.run ? tr("Run again") : tr("Run this choice"));
  refresh_table();
  canvas_->refresh();
}

void OptimisationsView::run() { emit run_wanted(plan_choice(enabled_)); }

void OptimisationsView::frame() {
  begin_whole_window("optimisations");
  draw_head();
  ImGui::Spacing();
  constexpr ImGuiTableFlags flags =
      ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_PadOuterX | ImGuiTableFlags_ScrollY;
  ImGui::TextDisabled("%s", text(tr("Bars from 1 on a logarithmic scale up to %1x, whiskers: 95 % interval, triangle: predicted")
                                     .arg(span_of(state_), 0, 'f', 2)
                                     .toUtf8()));
  if (ImGui::BeginTable("passes", 5, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn(text(tr("pass").toUtf8()));
    ImGui::TableSetupColumn(text(tr("predicted").toUtf8()));
    ImGui::TableSetupColumn(text(tr("measured alone").toUtf8()));
    ImGui::TableSetupColumn(text(tr("measured up to here").toUtf8()));
    ImGui::TableSetupColumn(text(tr("what it does").toUtf8()), ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableHeadersRow();
    for (size_t i = 0; i < state_.rows.size(); ++i) draw_row(i);
    ImGui::EndTable();
  }
  ImGui::End();
}

void OptimisationsView::draw_head() {
  const Theme& theme = Theme::of(palette());
  heading((state_.speedup ? tr("%1 as fast as the baseline").arg(times_text(state_.speedup->value))
           : state_.run   ? tr("Not verified, so no speed-up is reported")
                          : tr("This choice is not measured yet"))
              .toUtf8());
  QString line;
  if (state_.baseline_ms && state_.optimised_ms)
    line =
        tr("baseline %1 ms, this choice %2 ms a batch (medians); run #%3")
            .arg(*state_.baseline_ms, 0, 'f', 3)
            .arg(*state_.optimised_ms, 0, 'f', 3)
            .arg(state_.run) +
        (state_.speedup && state_.speedup->ci95 ? tr("; 95 % interval of the speed-up: %1 to %2")
                                                      .arg(times_text((*state_.speedup->ci95)[0]), times_text((*state_.speedup->ci95)[1]))
                                                : QString());
  else
    line = tr("Switch passes on and off, then run: the baseline and the choice are measured in turns and compared with the oracle.");
  ImGui::TextDisabled("%s", text(line.toUtf8()));
  if (state_.speedup && !state_.verified.isEmpty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, color(theme.good));
    ImGui::TextUnformatted(text(tr("verified: %1").arg(state_.verified).toUtf8()));
    ImGui::PopStyleColor();
    if (state_.speedup->ci95 && (*state_.speedup->ci95)[0] < 1 && (*state_.speedup->ci95)[1] > 1)
      ImGui::TextDisabled("%s", text(tr("The interval holds 1: this measurement does not show that the choice is quicker.").toUtf8()));
  }
}

void OptimisationsView::draw_row(size_t index) {
  const Theme& theme = Theme::of(palette());
  const PassRow& row = state_.rows[index];
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  bool on = row.enabled;
  if (ImGui::Checkbox(text(row.id.toUtf8()), &on)) {
    QSet<QString> next = enabled_;
    on ? (void)next.insert(row.id) : (void)next.remove(row.id);
    // Not within the frame: undo may redraw.
    QMetaObject::invokeMethod(
        this, [this, next, what = on ? tr("%1 on").arg(row.id) : tr("%1 off").arg(row.id)] { choose(next, what); }, Qt::QueuedConnection);
  }
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", text(row.summary.toUtf8()));
  ImGui::TableNextColumn();
  ImGui::AlignTextToFramePadding();
  if (row.predicted)
    ImGui::TextUnformatted(text(QString("%1x").arg(*row.predicted, 0, 'f', 2).toUtf8()));
  else
    ImGui::TextDisabled("-");
  ImGui::TableNextColumn();
  draw_gain(row.alone, row.predicted, span_of(state_), theme.category(0), theme);
  if (row.alone && row.alone_run != state_.run) ImGui::TextDisabled("%s", text(tr("measured in run #%1").arg(row.alone_run).toUtf8()));
  ImGui::TableNextColumn();
  if (row.enabled && state_.run)
    draw_gain(row.cumulative, {}, span_of(state_), theme.category(2), theme);
  else
    ImGui::TextDisabled("%s", text((row.enabled ? tr("not measured") : tr("off")).toUtf8()));
  ImGui::TableNextColumn();
  QString what = row.reason.isEmpty() ? row.summary : row.reason;
  if (row.applied && !*row.applied) what = tr("did not apply: %1").arg(what);
  if (row.guard_hits + row.guard_misses > 0) what += tr("; guards held %1 times, missed %2").arg(row.guard_hits).arg(row.guard_misses);
  ImGui::AlignTextToFramePadding();
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text(what.toUtf8()));
  ImGui::PopTextWrapPos();
}

}  // namespace stormcell::views
