#include "views/timeline/timeline_view.h"

#include <imgui.h>

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "views/drawing/imgui/color.h"
#include "views/drawing/theme.h"

namespace stormcell::views {
namespace {

/// More than fit on a screen at any zoom, at 16 bytes each.
constexpr int64_t kMostEvents = 10'000'000;

/// The top of a line of text in the middle of a lane.
float text_top(float top, float height) { return std::floor(top + (height - ImGui::GetTextLineHeight()) / 2); }

}  // namespace

TimelineView::TimelineView(QWidget* parent) : View(parent) {
  rows_shown_ =
      add_choice(tr("Rows"), tr("The lanes below the batches"),
                 {{tr("threads and operators"), tr("A lane for each thread, below them one for each operator")},
                  {tr("threads"), tr("A lane for each thread")},
                  {tr("operators"), tr("A lane for each operator")},
                  {tr("routers"), tr("A lane for each router: its own steps and those of its branches")}});
  rows_shown_->setAccessibleName(tr("Rows on show"));
  branches_ = add_choice(tr("Branches"), tr("How colours tell branches apart"));
  fill_branch_schemes(branches_);
  facts_ = new QLabel(this);
  facts_->setObjectName("facts");
  bar()->addWidget(facts_);
  canvas_ = new ImGuiWidget(this);
  canvas_->setAccessibleName(tr("Timeline of executed steps; the table holds the statistics of the chosen range"));
  canvas_->set_frame([this] { frame(); });
  canvas_->installEventFilter(this);
  set_picture(canvas_);
  show_choice(branches_, false);
  connect(rows_shown_, &QComboBox::currentIndexChanged, this, [this] {
    show_choice(branches_, row_in_colours() != nullptr);
    canvas_->refresh();
  });
  connect(branches_, &QComboBox::currentIndexChanged, this, [this] { canvas_->refresh(); });
}

std::vector<TimelineView::Beneath> TimelineView::read_beneath(const Context& context, const Timeline& above,
                                                              int64_t most, const Progress& progress) {
  std::vector<Beneath> beneath;
  // The same batches, as far as they are on show.
  const auto add = [&](const QString& name, const QString& title, const std::string& file, int64_t run) {
    auto timeline = read_timeline(file, run, {above.first_batch, above.end_batch}, most, progress);
    if (timeline->events == 0) return;
    auto rows = std::make_shared<const std::vector<TimelineRow>>(make_run_rows(*timeline));
    beneath.push_back({name, title, std::move(timeline), std::move(rows)});
  };
  if (above.events == 0) return beneath;
  const Source &main = context.main, &other = context.other;
  const RunLine* baseline = context.session ? baseline_of(*context.session, main.run) : nullptr;
  if (baseline && !(main.file == other.file && baseline->id == other.run))
    add(tr("baseline"), tr("#%1").arg(baseline->id), main.file, baseline->id);
  if (!other.empty()) add(tr("other"), other.title, other.file, other.run);
  return beneath;
}

View::Load TimelineView::load(const Context& context, const Selection& selection) {
  if (context.main.empty()) {
    data_ = {};
    show_no_run(context);
    return nullptr;
  }
  const bool same_events = data_.timeline && !(unread() & (Part::run | Part::range | Part::other));
  if (!same_events) range_begin_ = range_end_ = 0;
  const bool same_range = data_.range_begin == range_begin_ && data_.range_end == range_end_;
  if (same_events && same_range && !data_.begun) return nullptr;
  Data wanted;
  if (same_events) wanted = data_;
  wanted.range_begin = range_begin_, wanted.range_end = range_end_;
  return [this, wanted, context, source = context.main, selection,
          first = first_events_](const Progress& progress) mutable -> Deliver {
    if (!wanted.timeline || wanted.begun) {
      const int64_t most = wanted.begun ? kMostEvents : first;
      wanted.timeline =
          read_timeline(source.file, source.run, {selection.first_batch, selection.end_batch}, most, progress);
      const int64_t batches = wanted.timeline->batches;
      wanted.begun = !wanted.begun && wanted.timeline->end_batch <
                                          (selection.end_batch < 0 ? batches : std::min(selection.end_batch, batches));
      wanted.guards = guard_bars(
          *wanted.timeline,
          *read_guards(source.file, source.run, {wanted.timeline->first_batch, wanted.timeline->end_batch}, progress));
      wanted.rows = std::make_shared<const std::vector<TimelineRow>>(make_rows(*wanted.timeline));
      wanted.beneath = read_beneath(context, *wanted.timeline, most, progress);
      if (wanted.keys.empty())
        wanted.keys = branch_keys(*read_load_windows(source.file, source.run, {0, -1}, kMostKeyWindows, progress));
    }
    const bool all = wanted.range_end <= wanted.range_begin;
    const auto end = static_cast<double>(wanted.timeline->length_ns) + 1;
    wanted.statistics = statistics(*wanted.timeline, all ? 0 : wanted.range_begin, all ? end : wanted.range_end);
    return [this, wanted = std::move(wanted)]() mutable { show_data(std::move(wanted)); };
  };
}

Parts TimelineView::heeded() const {
  const bool shows_other =
      std::ranges::any_of(data_.beneath, [](const Beneath& run) { return run.name == tr("other"); });
  return shows_other ? Part::range | Part::other : Parts(Part::range);
}

void TimelineView::select(const Selection& selection) {
  const bool other_branch = selection.router != selection_.router || selection.branch != selection_.branch;
  selection_ = selection;
  if (other_branch && data_.timeline) canvas_->refresh();
}

Table TimelineView::table() const {
  const bool all = data_.range_end <= data_.range_begin;
  const double end = data_.timeline ? static_cast<double>(data_.timeline->length_ns) + 1 : 0;
  return make_table(data_.statistics,
                    guards_between(data_.guards, all ? 0 : data_.range_begin, all ? end : data_.range_end));
}

void TimelineView::show_data(Data data) {
  const bool other_events = data.timeline != data_.timeline;
  // The rest of a reading that began keeps the zoom chosen meanwhile.
  const bool goes_on = data_.begun && !data.begun && data_.timeline->run == data.timeline->run &&
                       data_.timeline->first_batch == data.timeline->first_batch &&
                       data_.timeline->length_ns <= data.timeline->length_ns;
  const bool looks_closer = goes_on && (window_.begin_ns > 0 || window_.end_ns < length_ns());
  data_ = std::move(data);
  const Timeline& t = *data_.timeline;
  if (t.events == 0) {
    show_message(tr("This run has no step events: it was imported, or stopped before its first batch."),
                 {{"run-demo", tr("Run the demo")}});
    return;
  }
  if (other_events) {
    // Everything, as the table and the statistics below have it.
    if (!looks_closer) window_ = {0, std::max(100.0, length_ns())};
    facts_->setText(facts());
  }
  show_choice(branches_, row_in_colours() != nullptr);
  refresh_table();
  canvas_->refresh();
  show_content();
  if (data_.begun) emit load_wanted();
}

QString TimelineView::facts() const {
  const Timeline& t = *data_.timeline;
  QString facts = tr("%1 events of batches %2 to %3")
                      .arg(QLocale(QLocale::English).toString(static_cast<qlonglong>(t.events)))
                      .arg(t.first_batch)
                      .arg(t.end_batch - 1);
  if (data_.begun)
    facts += tr("; reading on");
  else if (t.end_batch < t.batches)
    facts += tr(" of %1; choose others in the heatmap's time strip").arg(t.batches);
  for (const Beneath& run : data_.beneath) facts += tr("; %1: %2").arg(run.name, run.title);
  if (!data_.beneath.empty()) facts += tr(", each from its first step");
  return facts;
}

const TimelineRow* TimelineView::row_in_colours() const {
  if (!data_.rows || rows_shown_->currentIndex() != 3) return nullptr;
  const auto row = std::ranges::find_if(*data_.rows, &TimelineRow::tells_branches);
  return row == data_.rows->end() ? nullptr : &*row;
}

BranchKey TimelineView::key_of_row(const TimelineRow& row) const {
  const std::string router = row.name.toStdString();
  BranchKey key = key_of(data_.keys, router);
  key.scheme = static_cast<BranchScheme>(branches_->currentIndex());
  key.chosen = row.name == selection_.router ? selection_.branch : -1;
  return key;
}

QColor TimelineView::fill_of(const TimelineRow& row, const Timeline& of, uint32_t step, const BranchKey& key) const {
  const Theme& theme = Theme::of(palette());
  if (row.kind == TimelineRow::Kind::batches) return theme.category(static_cast<int>(step % 2) * 5);
  if (!row.tells_branches) return theme.category(category_of(of.steps[step].op));
  const int32_t branch = of.steps[step].branch;
  return branch >= 0 ? branch_color(branch, key, theme) : theme.faint;
}

std::vector<ColorMeaning> TimelineView::told_apart() const {
  const TimelineRow* row = row_in_colours();
  if (!row) return {};
  const BranchKey key = key_of_row(*row);
  RouterLine router;
  router.branches = static_cast<int32_t>(key.clusters.size());
  return meanings_of(router, key, Theme::of(palette()));
}

void TimelineView::set_window(const TimeWindow& window) {
  window_ = window;
  canvas_->refresh();
}

void TimelineView::choose_range(double begin_ns, double end_ns) {
  range_begin_ = begin_ns, range_end_ = end_ns;
  canvas_->refresh();
  if (data_.timeline) emit load_wanted();
}

bool TimelineView::eventFilter(QObject* object, QEvent* event) {
  if (object != canvas_ || event->type() != QEvent::KeyPress || !data_.timeline)
    return View::eventFilter(object, event);
  const double length = length_ns(), middle = (window_.begin_ns + window_.end_ns) / 2,
               step = (window_.end_ns - window_.begin_ns) / 6;
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_W:
      set_window(window_.zoomed(middle, 1.5, length));
      return true;
    case Qt::Key_S:
      set_window(window_.zoomed(middle, 1 / 1.5, length));
      return true;
    case Qt::Key_A:
    case Qt::Key_Left:
      set_window(window_.moved(-step, length));
      return true;
    case Qt::Key_D:
    case Qt::Key_Right:
      set_window(window_.moved(step, length));
      return true;
    case Qt::Key_0:
      set_window({0, std::max(100.0, length)});
      return true;
    case Qt::Key_Escape:
      choose_range(0, 0);
      return true;
    default:
      return View::eventFilter(object, event);
  }
}

void TimelineView::frame() {
  if (!data_.timeline) return;
  begin_whole_window("timeline");
  const ImVec2 origin = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float statistics_height = std::min(
      room.y * 0.35f, ImGui::GetTextLineHeightWithSpacing() * (static_cast<float>(data_.statistics.size()) + 2.5f));
  const float label = std::min(room.x * 0.25f, 190.0f), axis = ImGui::GetTextLineHeight() + 8;
  lane_left_ = origin.x + label, lane_width_ = std::max(10.0f, room.x - label - 8);
  draw_axis(lane_left_, lane_width_, origin.y);

  ImGui::SetCursorScreenPos({origin.x, origin.y + axis});
  ImGui::BeginChild("lanes", {room.x, room.y - axis - statistics_height - 6});
  draw_lanes(room.x, label);
  const bool hovered = ImGui::IsWindowHovered();
  ImGui::EndChild();

  follow_mouse(hovered);
  draw_range(origin.y + axis, origin.y + room.y - statistics_height - 6);
  ImGui::SetCursorScreenPos({origin.x, origin.y + room.y - statistics_height});
  ImGui::BeginChild("statistics", {room.x, statistics_height});
  draw_statistics();
  ImGui::EndChild();
  ImGui::End();
}

std::vector<TimelineView::Lane> TimelineView::lanes() const {
  std::vector<Lane> lanes;
  const auto add = [&](const QString& name, const TimelineRow& row, const Timeline& of) {
    if (is_shown(row)) lanes.push_back({name, &row, &of});
  };
  const auto add_beneath = [&] {
    for (const Beneath& run : data_.beneath)
      for (const TimelineRow& row : *run.rows) add(tr("%1: %2").arg(run.name, row.name), row, *run.timeline);
  };
  bool beneath_added = false;
  for (const TimelineRow& row : *data_.rows) {
    const bool of_run = row.kind == TimelineRow::Kind::batches || row.kind == TimelineRow::Kind::thread;
    if (!of_run && !beneath_added) add_beneath(), beneath_added = true;
    add(row.name, row, *data_.timeline);
    // Below the batches whose guards they are.
    if (row.kind == TimelineRow::Kind::batches && !data_.guards.empty())
      lanes.push_back({tr("guards"), nullptr, nullptr});
  }
  if (!beneath_added) add_beneath();
  return lanes;
}

void TimelineView::draw_lanes(float width, float label) {
  const std::vector<Lane> lanes = this->lanes();
  // A few lanes share the room, each up to three times as tall as its text needs.
  const float needed = ImGui::GetTextLineHeight() + 8, gap = ImGui::GetStyle().ItemSpacing.y;
  const float shared = ImGui::GetContentRegionAvail().y / static_cast<float>(std::max<size_t>(1, lanes.size())) - gap;
  const float height = std::floor(std::clamp(shared, needed, 3 * needed));
  for (const Lane& lane : lanes) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy({width - 16, height});
    if (!ImGui::IsItemVisible()) continue;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->PushClipRect({at.x, at.y}, {at.x + label - 8, at.y + height}, true);
    draw->AddText({at.x, text_top(at.y, height - 2)}, color(Theme::of(palette()).text), lane.name.toUtf8().constData());
    draw->PopClipRect();
    if (lane.row)
      draw_lane(*lane.row, *lane.of, lane_left_, lane_width_, at.y, height - 2);
    else
      draw_guards(at.y, height - 2);
  }
}

bool TimelineView::is_shown(const TimelineRow& row) const {
  const int shown = rows_shown_->currentIndex();
  switch (row.kind) {
    case TimelineRow::Kind::batches:
      return true;
    case TimelineRow::Kind::thread:
      return shown <= 1;
    case TimelineRow::Kind::op:
      return shown == 0 || shown == 2;
    case TimelineRow::Kind::router:
      return shown == 3;
  }
  return false;
}

double TimelineView::length_ns() const {
  int64_t longest = data_.timeline->length_ns;
  for (const Beneath& run : data_.beneath) longest = std::max(longest, run.timeline->length_ns);
  return static_cast<double>(longest);
}

void TimelineView::draw_guards(float top, float height) {
  const Theme& theme = Theme::of(palette());
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled({lane_left_, top}, {lane_left_ + lane_width_, top + height}, color(theme.surface));
  const ImGuiIO& io = ImGui::GetIO();
  const auto x = [&](int64_t ns) {
    const double at = window_.x(static_cast<double>(ns), lane_width_);
    return lane_left_ + static_cast<float>(std::clamp(at, 0.0, static_cast<double>(lane_width_)));
  };
  float drawn_to = lane_left_ - 1;
  for (const GuardBar& bar : data_.guards) {
    const float from = x(bar.begin_ns), to = std::max(from + 1, x(bar.end_ns) - 1);
    const bool missed = bar.of.misses > 0;
    // Batches with misses are seen among others within the same pixel.
    if (to <= lane_left_ || from >= lane_left_ + lane_width_ || (to <= drawn_to && !missed)) continue;
    drawn_to = to;
    const QColor fill = missed ? theme.warn : theme.good;
    // A miss fills the lane, a hit its lower half: not colour alone tells them apart.
    draw->AddRectFilled({from, missed ? top + 1 : top + height / 2}, {to, top + height - 1}, color(fill, 0.85));
    const QByteArray words = guards_text(bar.of).toUtf8();
    if (missed && to - from > ImGui::CalcTextSize(words.constData()).x + 6)
      draw->AddText({from + 3, text_top(top, height)}, color(Theme::text_on(fill)), words.constData());
    if (ImGui::IsWindowHovered() && io.MousePos.x >= from && io.MousePos.x < to && io.MousePos.y >= top &&
        io.MousePos.y < top + height)
      ImGui::SetTooltip(
          "%s", tr("batch %1: guards %2%3")
                    .arg(bar.of.batch)
                    .arg(guards_text(bar.of), missed ? tr("; the fallback computed what was left out") : QString())
                    .toUtf8()
                    .constData());
  }
}

/// The wheel zooms over the lanes, dragging chooses a range.
void TimelineView::follow_mouse(bool hovered) {
  const ImGuiIO& io = ImGui::GetIO();
  const double length = length_ns();
  const double at = window_.ns(io.MousePos.x - lane_left_, lane_width_);
  if (hovered && io.MouseWheel != 0 && io.MousePos.x > lane_left_)
    window_ = window_.zoomed(at, std::pow(1.25, io.MouseWheel), length);
  if (hovered && ImGui::IsMouseClicked(0) && io.MousePos.x > lane_left_) drag_from_ = at;
  if (drag_from_ >= 0 && ImGui::IsMouseDown(0) &&
      std::abs(window_.x(at, lane_width_) - window_.x(drag_from_, lane_width_)) > 3)
    range_begin_ = std::min(at, drag_from_), range_end_ = std::max(at, drag_from_);
  if (drag_from_ >= 0 && ImGui::IsMouseReleased(0)) {
    drag_from_ = -1;
    QMetaObject::invokeMethod(
        this, [this, b = range_begin_, e = range_end_] { choose_range(b, e); }, Qt::QueuedConnection);
  }
}

/// The range that is chosen, over the lanes between these heights.
void TimelineView::draw_range(float top, float bottom) {
  if (range_end_ <= range_begin_) return;
  const Theme& theme = Theme::of(palette());
  const auto x = [&](double ns) {
    return lane_left_ +
           static_cast<float>(std::clamp(window_.x(ns, lane_width_), 0.0, static_cast<double>(lane_width_)));
  };
  ImGui::GetForegroundDrawList()->AddRectFilled({x(range_begin_), top}, {x(range_end_), bottom},
                                                color(theme.accent, 0.14));
  ImGui::GetForegroundDrawList()->AddRect({x(range_begin_), top}, {x(range_end_), bottom}, color(theme.accent, 0.8));
}

void TimelineView::draw_axis(float left, float width, float top) {
  const Theme& theme = Theme::of(palette());
  ImDrawList* draw = ImGui::GetWindowDrawList();
  // Steps of 1, 2 or 5, about 110 pixels apart.
  const double wanted = (window_.end_ns - window_.begin_ns) / width * 110,
               power = std::pow(10, std::floor(std::log10(wanted)));
  const double step = power * (wanted / power > 5 ? 10 : wanted / power > 2 ? 5 : wanted / power > 1 ? 2 : 1);
  for (double ns = std::ceil(window_.begin_ns / step) * step; ns < window_.end_ns; ns += step) {
    const float x = left + static_cast<float>(window_.x(ns, width));
    draw->AddLine({x, top}, {x, top + ImGui::GetTextLineHeight() + 6}, color(theme.grid));
    const QByteArray text = duration(ns).toUtf8();
    // A label that is cut at the edge names another time.
    if (x + 4 + ImGui::CalcTextSize(text.constData()).x <= left + width)
      draw->AddText({x + 4, top}, color(theme.faint), text.constData());
  }
}

void TimelineView::draw_lane(const TimelineRow& row, const Timeline& of, float left, float width, float top,
                             float height) {
  const Theme& theme = Theme::of(palette());
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled({left, top}, {left + width, top + height}, color(theme.surface));
  const ImGuiIO& io = ImGui::GetIO();
  const BranchKey key = row.tells_branches ? key_of_row(row) : BranchKey();
  for (const TimelineBar& bar : make_bars(row.events, window_, width)) {
    const uint32_t step = row.events.step(bar.first);
    const bool batches = row.kind == TimelineRow::Kind::batches;
    const QColor fill = fill_of(row, of, step, key);
    const float from = left + std::max(0.0f, bar.from), to = left + std::min(width, bar.to);
    draw->AddRectFilled({from, top + 1},
                        {std::max(to - (bar.count == 1 && to - from > 4 ? 1.0f : 0.0f), from + 1), top + height - 1},
                        color(fill, bar.count > 1 ? 0.65 : 1));
    if (bar.count == 1 && to - from > 44) {
      const QString name = batches                             ? QString("#%1").arg(step)
                           : row.kind == TimelineRow::Kind::op ? QString::fromStdString(of.steps[step].name)
                                                               : QString::fromStdString(of.steps[step].op);
      draw->PushClipRect({from, top}, {to - 2, top + height}, true);
      draw->AddText({from + 3, text_top(top, height)}, color(Theme::text_on(fill)), name.toUtf8().constData());
      draw->PopClipRect();
    }
    if (ImGui::IsWindowHovered() && io.MousePos.x >= from && io.MousePos.x < to && io.MousePos.y >= top &&
        io.MousePos.y < top + height) {
      if (bar.count > 1)
        ImGui::SetTooltip("%s", tr("%1 steps, %2 in all; zoom in to tell them apart")
                                    .arg(bar.count)
                                    .arg(duration(static_cast<double>(row.events.end_ns(bar.first + bar.count - 1) -
                                                                      row.events.begin_ns(bar.first))))
                                    .toUtf8()
                                    .constData());
      else
        tip(row, of, window_.ns(io.MousePos.x - left, width));
    }
  }
}

void TimelineView::tip(const TimelineRow& row, const Timeline& of, double ns) {
  const auto i = event_at(row.events, ns);
  if (!i) return;
  const QString length = duration(static_cast<double>(row.events.length_ns(*i)));
  if (row.kind == TimelineRow::Kind::batches)
    return ImGui::SetTooltip(
        "%s",
        tr("batch %1: %2 from its first step to its last").arg(row.events.step(*i)).arg(length).toUtf8().constData());
  const TimelineStep& step = of.steps[row.events.step(*i)];
  QString text = QString("%1 (%2): %3").arg(QString::fromStdString(step.name), QString::fromStdString(step.op), length);
  if (step.router >= 0 && static_cast<size_t>(step.router) < of.routers.size())
    text += "\n" + QString::fromStdString(of.routers[step.router]) +
            (step.branch >= 0 ? tr(", branch %1").arg(step.branch) : QString());
  if (step.flops > 0)
    text += "\n" + tr("planned: %1 MFLOP, %2 KiB").arg(step.flops * 1e-6, 0, 'g', 4).arg(step.bytes / 1024, 0, 'g', 4);
  ImGui::SetTooltip("%s", text.toUtf8().constData());
}

void TimelineView::draw_statistics() {
  const bool all = range_end_ <= range_begin_;
  QString head = all ? tr("All events here; drag over the lanes for a range")
                     : tr("Steps that begin between %1 and %2").arg(duration(range_begin_), duration(range_end_));
  if (const TimelineRow* row = row_in_colours()) {
    const QString meaning = key_text(key_of_row(*row));
    head += tr(". %1").arg(meaning.isEmpty() ? tr("Colour: a branch. Grey: no single one.") : meaning);
  }
  ImGui::TextDisabled("%s", head.toUtf8().constData());
  if (!ImGui::BeginTable("statistics", 6,
                         ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg))
    return;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const QString& name : {tr("operator"), tr("steps"), tr("total"), tr("share"), tr("mean"), tr("p95")})
    ImGui::TableSetupColumn(name.toUtf8().constData(), 0, name == tr("operator") ? 170.0f : 90.0f);
  ImGui::TableHeadersRow();
  for (const OpStatistics& s : data_.statistics) {
    ImGui::TableNextRow();
    for (const QString& text :
         {s.op, QString::number(s.count), duration(s.total_ns), QString("%1 %").arg(100 * s.share, 0, 'f', 1),
          duration(s.mean_ns), duration(s.p95_ns)}) {
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(text.toUtf8().constData());
    }
  }
  ImGui::EndTable();
}

}  // namespace stormcell::views
