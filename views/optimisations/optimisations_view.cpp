#include "views/optimisations/optimisations_view.h"

#include <imgui.h>

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QToolButton>
#include <QWidgetAction>
#include <algorithm>
#include <cmath>

#include "core/base/pass_names.h"
#include "views/drawing/imgui/color.h"
#include "views/drawing/theme.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {

const char* imgui_text(const QByteArray& utf8) { return utf8.constData(); }

/// Shares are shown in percent.
double scale_of(const PassOptionLine& line) { return line.kind == PassOptionLine::Kind::share ? 100 : 1; }

/// The largest factor that any bar has to show, at least 1.1: bars of all rows are on one scale.
double span_of(const Optimisations& state) {
  double span = 1.1;
  const auto widen = [&](double v) {
    if (v > 0) span = std::max({span, v, 1 / v});
  };
  for (const PassRow& row : state.rows) {
    for (const auto& gain : {row.alone, row.cumulative})
      if (gain && gain->ci95) widen((*gain->ci95)[0]), widen((*gain->ci95)[1]);
  }
  return std::min(span, 16.0);
}

/// A gain as a bar from 1 with its interval, logarithmic. `withheld`: why a measured gain is not stated; empty: nothing
/// was withheld.
void draw_gain(const std::optional<Gain>& gain, const QString& withheld, double span, const QColor& tone,
               const Theme& theme) {
  if (!gain && !withheld.isEmpty()) {
    ImGui::TextDisabled("%s", kNotMeasured);
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", imgui_text(withheld.toUtf8()));
    return;
  }
  if (!gain) return ImGui::TextDisabled("%s", imgui_text(OptimisationsView::tr("not measured").toUtf8()));
  ImGui::AlignTextToFramePadding();
  ImVec2 at = ImGui::GetCursorScreenPos();
  at.y += ImGui::GetStyle().FramePadding.y;
  // In a narrow window the text on a pass needs the room more.
  const float height = ImGui::GetTextLineHeight(),
              width = std::clamp(ImGui::GetIO().DisplaySize.x * 0.08f, 56.0f, 130.0f);
  const auto x = [&](double v) {
    return at.x + width * static_cast<float>((std::clamp(std::log(v) / std::log(span), -1.0, 1.0) + 1) / 2);
  };
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled({at.x, at.y}, {at.x + width, at.y + height}, color(theme.surface));
  draw->AddLine({x(1), at.y}, {x(1), at.y + height}, color(theme.faint));
  draw->AddRectFilled({std::min(x(1), x(gain->value)), at.y + 4},
                      {std::max(x(1), x(gain->value)) + 1, at.y + height - 4}, color(tone));
  if (gain->ci95) {
    const float middle = std::floor(at.y + height / 2);
    draw->AddLine({x((*gain->ci95)[0]), middle}, {x((*gain->ci95)[1]) + 1, middle}, color(theme.text));
    for (const double end : *gain->ci95) draw->AddLine({x(end), middle - 4}, {x(end), middle + 4}, color(theme.text));
  }
  ImGui::Dummy({width + 4, height});
  ImGui::SameLine();
  ImGui::TextUnformatted(imgui_text(to_text(*gain).toUtf8()));
}

}  // namespace

OptimisationsView::OptimisationsView(QWidget* parent) : View(parent), choice_{default_passes()} {
  state_ = look_up({}, 0, choice_);
  add_passes();
  auto* parameters = new QToolButton(this);
  parameters->setText(tr("Parameters"));
  parameters->setToolTip(tr("The options of each pass"));
  parameters->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(parameters);
  auto* panel = new QWidgetAction(menu);
  panel->setDefaultWidget(add_options());
  menu->addAction(panel);
  parameters->setMenu(menu);
  bar()->addWidget(parameters);
  bar()->add_stretch();
  save_ = new QPushButton(tr("Save configuration..."), this);
  save_->setToolTip(tr("The configuration that `stormcell run MODEL --config FILE` replays"));
  bar()->addWidget(save_);
  run_ = new QPushButton(tr("Run"), this);
  run_->setToolTip(tr("Measures this choice side by side with the baseline and verifies the result"));
  bar()->addWidget(run_);
  canvas_ = new ImGuiWidget(this);
  canvas_->setAccessibleName(tr("Passes with their measured gains; the switches above and the table hold the same"));
  canvas_->set_frame([this] { frame(); });
  set_picture(canvas_);

  connect(run_, &QPushButton::clicked, this, &OptimisationsView::run);
  connect(save_, &QPushButton::clicked, this, [this] {
    emit save_wanted("stormcell-config.json", tr("Configurations (*.json)"), QByteArray::fromStdString(state_.config));
  });
  connect(preset_, &QComboBox::activated, this, [this](int index) {
    if (index == 1) choose({default_passes(), choice_.options}, tr("all passes"));
    if (index == 2) choose({{}, choice_.options}, tr("no pass"));
    if (index == 3) choose({choice_.enabled}, tr("standard parameters"));
    if (index > 3) choose({{preset_->itemData(index).toString()}, choice_.options}, preset_->itemText(index));
    preset_->setCurrentIndex(0);
  });
}

void OptimisationsView::add_passes() {
  preset_ = new QComboBox(this);
  preset_->addItem(tr("Preset"));
  preset_->addItem(tr("all"));
  preset_->addItem(tr("none"));
  preset_->addItem(tr("standard parameters"));
  for (const PassRow& row : state_.rows) preset_->addItem(tr("only %1").arg(row.name), row.id);
  preset_->setAccessibleName(tr("Preset of passes"));
  const QString tip = tr("Switches all passes at once, or sets all their parameters back");
  preset_->setToolTip(tip);
  for (int i = 0; i < preset_->count(); ++i) preset_->setItemData(i, tip, Qt::ToolTipRole);
  bar()->addWidget(preset_);
  for (const PassRow& row : state_.rows) {
    auto* box = new QCheckBox(row.name, this);
    box->setToolTip(row.summary);
    box->setAccessibleDescription(row.summary);
    box->setChecked(row.enabled);
    connect(box, &QCheckBox::toggled, this, [this, id = row.id](bool on) { switch_pass(id, on); });
    bar()->addWidget(box);
    boxes_.insert(row.id, box);
  }
}

QWidget* OptimisationsView::add_options() {
  auto* panel = new QWidget(this);
  auto* form = new QFormLayout(panel);
  for (size_t r = 0; r < state_.rows.size(); ++r) {
    const PassRow& row = state_.rows[r];
    auto* title = new QLabel("<b>" + row.name + "</b>", panel);
    form->addRow(title);
    for (size_t o = 0; o < row.options.size(); ++o) {
      const PassOptionLine& line = row.options[o].line;
      const QString key = QString::fromStdString(line.key), about = QString::fromStdString(line.summary);
      const auto set = [this, r, o](const QString& value) {
        set_option(state_.rows[r].id, state_.rows[r].options[o], value);
      };
      const auto value = [this, r, o] { return state_.rows[r].options[o].value; };
      QWidget* control = nullptr;
      if (line.kind == PassOptionLine::Kind::flag) {
        auto* box = new QCheckBox(panel);
        connect(box, &QCheckBox::toggled, this, [set](bool on) { set(on ? "on" : "off"); });
        refresh_options_.push_back([box, value] {
          const QSignalBlocker quiet(box);
          box->setChecked(value() == "on");
        });
        control = box;
      } else {
        const bool share = line.kind == PassOptionLine::Kind::share;
        auto* number = new QDoubleSpinBox(panel);
        number->setDecimals(share ? 1 : 0);
        number->setRange(line.least * scale_of(line), line.most * scale_of(line));
        if (share) number->setSuffix(" %");
        number->setKeyboardTracking(false);
        connect(number, &QDoubleSpinBox::valueChanged, this,
                [set, line](double shown) { set(QString::number(shown / scale_of(line))); });
        refresh_options_.push_back([number, value, line] {
          const QSignalBlocker quiet(number);
          number->setValue(value().toDouble() * scale_of(line));
        });
        control = number;
      }
      control->setAccessibleName(row.name + " " + key);
      control->setAccessibleDescription(about);
      control->setToolTip(about);
      auto* label = new QLabel(key, panel);
      label->setToolTip(about);
      label->setBuddy(control);
      form->addRow(label, control);
    }
  }
  for (const auto& refresh : refresh_options_) refresh();
  return panel;
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
        if (const auto chosen = chosen_passes(run)) choice_ = *chosen;
  }
  if (context.main.settings.empty()) {
    show_message(tr("How this run was made is not known, so it cannot be run again with other passes."),
                 {{"choose-run", tr("Choose another run")}, {"run-demo", tr("Run the demo")}});
    return nullptr;
  }
  take(choice_);
  show_content();
  return nullptr;
}

void OptimisationsView::switch_pass(const QString& id, bool on) {
  PassChoice next = choice_;
  on ? (void)next.enabled.insert(id) : (void)next.enabled.remove(id);
  const QString name = to_qstring(pass_name(id.toStdString()));
  choose(next, on ? tr("%1 on").arg(name) : tr("%1 off").arg(name));
}

void OptimisationsView::set_option(const QString& pass, const OptionRow& option, const QString& value) {
  choose(with_option(choice_, pass, option, value),
         QString("%1 %2=%3").arg(pass, QString::fromStdString(option.line.key), value));
}

void OptimisationsView::choose(const PassChoice& choice, const QString& what) {
  if (choice == choice_) return;
  emit edit_wanted(
      what, [this, choice] { take(choice); }, [this, before = choice_] { take(before); });
}

void OptimisationsView::take(const PassChoice& choice) {
  choice_ = choice;
  state_ = context_.session ? look_up(*context_.session, context_.main.run, choice_) : look_up({}, 0, choice_);
  for (auto it = boxes_.begin(); it != boxes_.end(); ++it) {
    const QSignalBlocker quiet(it.value());
    it.value()->setChecked(choice_.enabled.contains(it.key()));
  }
  for (const auto& refresh : refresh_options_) refresh();
  save_->setEnabled(!state_.config.empty());
  run_->setText(state_.run ? tr("Run again") : tr("Run this choice"));
  refresh_table();
  canvas_->refresh();
}

void OptimisationsView::run() { emit run_wanted(selection_of(choice_)); }

void OptimisationsView::frame() {
  begin_whole_window("optimisations");
  draw_head();
  ImGui::Spacing();
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit |
                                    ImGuiTableFlags_PadOuterX | ImGuiTableFlags_ScrollY;
  ImGui::TextDisabled("%s", imgui_text(tr("Bars from 1 on a logarithmic scale up to %1x, whiskers: 95 % interval")
                                           .arg(span_of(state_), 0, 'f', 2)
                                           .toUtf8()));
  // Rows share the room that is left, up to a limit: in a high window they are further apart.
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ImGui::GetStyle().CellPadding.x, row_padding()});
  if (ImGui::BeginTable("passes", 4, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn(imgui_text(tr("pass").toUtf8()));
    ImGui::TableSetupColumn(imgui_text(tr("measured alone").toUtf8()));
    ImGui::TableSetupColumn(imgui_text(tr("measured up to here").toUtf8()));
    ImGui::TableSetupColumn(imgui_text(tr("what it does").toUtf8()), ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableHeadersRow();
    for (size_t i = 0; i < state_.rows.size(); ++i) draw_row(i);
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  ImGui::End();
}

float OptimisationsView::row_padding() const {
  constexpr float kMost = 18;
  const float least = ImGui::GetStyle().CellPadding.y, line = ImGui::GetFrameHeight();
  float needed = line;  // of the head
  for (const PassRow& row : state_.rows)
    needed += line + (row.enabled && !row.options.empty() ? ImGui::GetFrameHeightWithSpacing() : 0);
  const float rows = static_cast<float>(state_.rows.size()) + 1;
  return std::clamp((0.9F * ImGui::GetContentRegionAvail().y - needed) / (2 * rows), least, std::max(least, kMost));
}

void OptimisationsView::draw_head() {
  const Theme& theme = Theme::of(palette());
  const bool holds_one =
      state_.speedup && state_.speedup->ci95 && (*state_.speedup->ci95)[0] < 1 && (*state_.speedup->ci95)[1] > 1;
  heading((holds_one                    ? tr("No measurable difference (%1)").arg(times_text(state_.speedup->value))
           : state_.speedup             ? tr("%1 as fast as the baseline").arg(times_text(state_.speedup->value))
           : !state_.withheld.isEmpty() ? tr("The speed-up was not measured well enough")
           : state_.run && !state_.verified.isEmpty() ? tr("Nothing was gained: the plan is the baseline's")
           : state_.run                               ? tr("Not verified, so no speed-up is reported")
                                                      : tr("This choice is not measured yet"))
              .toUtf8());
  const auto say = [](const QString& line) { ImGui::TextDisabled("%s", imgui_text(line.toUtf8())); };
  if (!state_.withheld.isEmpty()) say(tr("%1, in run #%2: run it again").arg(state_.withheld).arg(state_.run));
  if (state_.speedup && state_.speedup->ci95)
    say(tr("95 % interval %1 to %2: of the time of all batches, in run #%3")
            .arg(times_text((*state_.speedup->ci95)[0]), times_text((*state_.speedup->ci95)[1]))
            .arg(state_.run));
  if (state_.baseline_ms && state_.optimised_ms)
    say(tr("means of the same pairs: baseline %1 ms, this choice %2 ms")
            .arg(*state_.baseline_ms, 0, 'f', 3)
            .arg(*state_.optimised_ms, 0, 'f', 3));
  else
    say(
        tr("Switch passes on and off, then run: the baseline and the choice are measured side by side and compared "
           "with the oracle."));
  if (state_.speedup && !state_.verified.isEmpty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, color(theme.good));
    ImGui::TextUnformatted(imgui_text(tr("verified: %1").arg(state_.verified).toUtf8()));
    if (!state_.equality.isEmpty()) ImGui::TextUnformatted(imgui_text(state_.equality.toUtf8()));
    ImGui::PopStyleColor();
    if (holds_one)
      ImGui::TextDisabled(
          "%s",
          imgui_text(tr("The interval holds 1: this measurement does not show that the choice is quicker.").toUtf8()));
  }
}

void OptimisationsView::draw_row(size_t index) {
  const Theme& theme = Theme::of(palette());
  const PassRow& row = state_.rows[index];
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  bool on = row.enabled;
  // Not within the frame: undo may redraw.
  if (ImGui::Checkbox(imgui_text(row.name.toUtf8()), &on))
    QMetaObject::invokeMethod(
        this, [this, id = row.id, on] { switch_pass(id, on); }, Qt::QueuedConnection);
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", imgui_text(row.summary.toUtf8()));
  ImGui::TableNextColumn();
  draw_gain(row.alone, row.withheld, span_of(state_), theme.category(0), theme);
  if (row.alone && row.alone_run != state_.run)
    ImGui::TextDisabled("%s", imgui_text(tr("measured in run #%1").arg(row.alone_run).toUtf8()));
  ImGui::TableNextColumn();
  if (row.enabled && state_.run)
    draw_gain(row.cumulative, row.withheld, span_of(state_), theme.category(2), theme);
  else
    ImGui::TextDisabled("%s", imgui_text((row.enabled ? tr("not measured") : tr("off")).toUtf8()));
  ImGui::TableNextColumn();
  QString what = row.reason.isEmpty() ? row.summary : row.reason;
  if (row.applied && !*row.applied && !row.left_out) what = tr("did not apply: %1").arg(what);
  if (row.guard_hits + row.guard_misses > 0)
    what += tr("; guards held %1, missed %2").arg(counted_text(row.guard_hits, "time"), count_text(row.guard_misses));
  ImGui::AlignTextToFramePadding();
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(imgui_text(what.toUtf8()));
  ImGui::PopTextWrapPos();
  if (row.enabled) draw_options(row);
}

void OptimisationsView::draw_options(const PassRow& row) {
  const Theme& theme = Theme::of(palette());
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  for (size_t i = 0; i < row.options.size(); ++i) {
    const OptionRow& option = row.options[i];
    const QByteArray key = QByteArray::fromStdString(option.line.key), id = "##" + row.id.toUtf8() + "." + key;
    const float wide =
        ImGui::CalcTextSize(key.constData()).x + (option.line.kind == PassOptionLine::Kind::flag ? 40.f : 110.f);
    if (i > 0 && ImGui::GetItemRectMax().x + wide < right) ImGui::SameLine(0, 14);
    const auto set = [&](const QString& value) {
      QMetaObject::invokeMethod(
          this, [this, pass = row.id, option, value] { set_option(pass, option, value); }, Qt::QueuedConnection);
    };
    ImGui::BeginGroup();
    if (!option.is_standard()) ImGui::PushStyleColor(ImGuiCol_Text, color(theme.accent));
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(key.constData());
    ImGui::SameLine(0, 5);
    if (option.line.kind == PassOptionLine::Kind::flag) {
      bool on = option.value == "on";
      if (ImGui::Checkbox(id.constData(), &on)) set(on ? "on" : "off");
    } else {
      float shown = option.value.toDouble() * scale_of(option.line);
      ImGui::SetNextItemWidth(70);
      ImGui::InputFloat(id.constData(), &shown, 0, 0,
                        option.line.kind == PassOptionLine::Kind::share ? "%.1f %%" : "%.0f");
      if (ImGui::IsItemDeactivatedAfterEdit())
        set(QString::number(
            std::clamp(static_cast<double>(shown) / scale_of(option.line), option.line.least, option.line.most)));
    }
    if (!option.is_standard()) ImGui::PopStyleColor();
    ImGui::EndGroup();
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", option.line.summary.c_str());
  }
}

}  // namespace stormcell::views
