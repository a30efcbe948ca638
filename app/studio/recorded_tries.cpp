#include "app/studio/recorded_tries.h"

#include <QCoreApplication>
#include <algorithm>
#include <numeric>
#include <tuple>

#include "app/studio/command_line.h"
#include "app/studio/tries.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

QString tr_recorded(const char* text) { return QCoreApplication::translate("RecordedTries", text); }

Intervention in_order(Intervention change) {
  std::sort(change.off.begin(), change.off.end(), [](const BranchOff& a, const BranchOff& b) {
    return std::tie(a.router, a.branch) < std::tie(b.router, b.branch);
  });
  return change;
}

QString changed_of(int64_t changed, int64_t of) {
  return tr_recorded("%1 of %2").arg(views::count_text(changed), views::counted_text(of, "choice"));
}

}  // namespace

std::optional<size_t> RecordedTries::find(const Intervention& change) const {
  const Intervention wanted = in_order(change);
  for (size_t i = 0; i < all.size(); ++i)
    if (in_order(all[i].change) == wanted) return i;
  return {};
}

std::string name_of_recording(const SessionOverview& session, int64_t run) {
  return session.file + "#" + std::to_string(run);
}

QString refusal_of_recording(const RunLine& run) {
  if (run.status == RunStatus::running) return tr_recorded("This run is still recorded: wait until it ends.");
  if (!run.decisions)
    return tr_recorded("This run holds sums and no single choices, so none can be changed: record choices.");
  return {};
}

double largest_share(const std::vector<int64_t>& load) {
  const int64_t sum = std::accumulate(load.begin(), load.end(), int64_t{0});
  if (sum == 0) return 0;
  return static_cast<double>(*std::max_element(load.begin(), load.end())) * static_cast<double>(load.size()) /
         static_cast<double>(sum);
}

QString text_of(const RecordedTry& one) {
  if (one.change.empty()) return tr_recorded("as it was recorded");
  TrySettings changed;
  changed.intervention = one.change;
  const ReplayFigures& f = one.figures;
  QStringList lines = {changes_between({}, changed).join(", "),
                       tr_recorded("%1 of %2 take other branches at some router")
                           .arg(views::count_text(f.changed_tokens), views::counted_text(f.tokens, "token"))};
  if (f.routers.empty()) return lines.join('\n');
  int64_t all = 0, of = 0;
  for (const ReplayedRouter& router : f.routers) all += router.changed, of += router.of;
  const ReplayedRouter& most =
      *std::max_element(f.routers.begin(), f.routers.end(),
                        [](const ReplayedRouter& a, const ReplayedRouter& b) { return a.changed < b.changed; });
  QString choices = tr_recorded("%1 changed").arg(changed_of(all, of));
  if (most.changed > 0 && most.changed < all)
    choices +=
        tr_recorded(", most at %1: %2").arg(QString::fromStdString(most.router), changed_of(most.changed, most.of));
  lines << choices;
  if (most.changed > 0)
    lines << tr_recorded("largest load of %1: %2 its even share before, %3 after")
                 .arg(QString::fromStdString(most.router), views::times_text(largest_share(most.load_before)),
                      views::times_text(largest_share(most.load_after)));
  return lines.join('\n');
}

QString file_of(const ReplayFormat& format) { return "choices." + views::to_qstring(format.suffix); }

QString command_of_recording(const std::string& recording, const Intervention& change, const ReplayFormat& format) {
  QStringList words = {"stormcell", "what-if", shell_quoted(QString::fromStdString(recording))};
  words << words_of_change(change);
  words << "--format" << views::to_qstring(format.id) << "-o" << file_of(format);
  return words.join(' ');
}

std::string config_of_recording(const std::string& model, const Intervention& change) {
  PlanConfig config;
  config.model = model, config.intervention = change;
  return to_json(config);
}

}  // namespace stormcell::studio
