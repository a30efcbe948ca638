#include "views/compare/compare_names.h"

#include <algorithm>

#include "core/base/pass_names.h"
#include "core/comparison/figure_rows.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

QString plain_figure(double value) { return number_text(value, 4); }
QString yes_no(double value) { return value != 0 ? tr("yes") : tr("no"); }
QString seconds(double value) { return number_text(value) + " s"; }

QString (*text_in(Unit unit))(double) {
  switch (unit) {
    case Unit::milliseconds:
      return duration_text;
    case Unit::seconds:
      return seconds;
    case Unit::bytes:
      return bytes_text;
    case Unit::share:
      return percent_text;
    case Unit::limit_share:
      return limit_share_text;
    case Unit::ratio:
      return times_text;
    case Unit::yes_no:
      return yes_no;
    case Unit::none:
    case Unit::bits:
      break;
  }
  return plain_figure;
}

QString origin_text(Origin origin) {
  switch (origin) {
    case Origin::counted:
      return tr("Counted.");
    case Origin::measured:
      return tr("Measured.");
    case Origin::predicted:
      return tr("Predicted.");
    case Origin::simulated:
      return tr("Simulated.");
    case Origin::unknown:
      break;
  }
  return {};
}

/// The definition in the figure's row, and how the figure came about.
QString definition_in(const Figure& row) {
  if (*row.definition == '\0') return {};
  const QString origin = row.unit == Unit::yes_no ? QString() : origin_text(row.origin);
  return tr(row.definition) + (origin.isEmpty() ? QString() : " " + origin);
}

QString words(QString key) { return key.replace('_', ' ').replace('.', ", "); }

/// "routing.encoder.0.mlp.load.3": group "routing", subject "encoder.0.mlp", key "load.3". Subjects have dots of their
/// own.
struct PathParts {
  QString group, subject, key;
};

/// Sections by group, longer names first. %1: the subject.
struct Section {
  const char* group;
  int rank;
  const char* title;
  bool of_router = false;
};
constexpr int kSurroundingsRank = 8;
constexpr const char* kSurroundings = QT_TRANSLATE_NOOP("Views", "Model, data and machine");
constexpr int kBudgetRank = 1;
constexpr const char* kBudgetGroup = "weight_budget";
constexpr const char* kBudget = QT_TRANSLATE_NOOP("Views", "Weights under a budget");
constexpr Section kSections[] = {
    {"routing", 4, QT_TRANSLATE_NOOP("Views", "Routing: %1"), true},
    {"passes", 2, QT_TRANSLATE_NOOP("Views", "Pass: %1")},
    {"verified.routers", 3, QT_TRANSLATE_NOOP("Views", "Verification: %1"), true},
    {"verified.outputs", 3, QT_TRANSLATE_NOOP("Views", "Verification: output %1")},
    {"verified.format", 3, QT_TRANSLATE_NOOP("Views", "Verification: cost of the number format")},
    {"verified.exact", 3, QT_TRANSLATE_NOOP("Views", "Verification without rounding")},
    {"verified", 3, QT_TRANSLATE_NOOP("Views", "Verification")},
    {"operators.baseline", 5, QT_TRANSLATE_NOOP("Views", "Operators of the baseline")},
    {"operators.optimized", 6, QT_TRANSLATE_NOOP("Views", "Operators of the optimised plan")},
    {kBudgetGroup, kBudgetRank, kBudget},
    {"device", kSurroundingsRank, kSurroundings},
    {"dataset", kSurroundingsRank, kSurroundings},
    {"model", kSurroundingsRank, kSurroundings},
};

const Section* section_of(const QString& group) {
  for (const Section& section : kSections)
    if (group == section.group) return &section;
  return nullptr;
}

PathParts path_parts(const QString& path) {
  // These carry one more part.
  const QString before = path.section('.', -2, -2);
  const bool two = before == "latency_ms" || before == "load" || before == "states" || before == "weights_read";
  PathParts parts{{}, {}, path.section('.', two ? -2 : -1)};
  const QString rest = path.chopped(std::min(path.size(), parts.key.size() + 1));
  parts.group = rest.section('.', 0, 0), parts.subject = rest.section('.', 1);
  for (const Section& section : kSections) {
    const QString group = section.group;
    if (rest != group && !rest.startsWith(group + ".")) continue;
    parts.group = group, parts.subject = rest.mid(group.size() + 1);
    break;
  }
  return parts;
}

void set_section(const PathParts& parts, FigureName& name) {
  const auto in = [&](int rank, const QString& title) { name.rank = rank, name.section = title; };
  if (const Section* known = section_of(parts.group)) {
    const QString title = tr(known->title);
    if (known->of_router) name.router = parts.subject;
    const QString subject =
        parts.group == "passes" ? to_qstring(pass_name(parts.subject.toStdString())) : parts.subject;
    return in(known->rank, title.contains("%1") ? title.arg(subject) : title);
  }
  if (parts.key.startsWith("weights_read.")) return in(kBudgetRank, tr(kBudget));
  if (parts.key.endsWith("_bytes")) return in(1, tr("Memory"));
  if (parts.key == "latency_ms.runs") return in(7, tr("Other"));
  const bool speed = parts.group == "baseline" || parts.group == "optimized" || parts.key.startsWith("latency_ms.") ||
                     parts.key.startsWith("speedup") || parts.key.endsWith("_per_s");
  in(speed ? 0 : 7, speed ? tr("Latency and speed") : tr("Other"));
}

}  // namespace

FigureName name_of(const QString& path) {
  FigureName name;
  const PathParts parts = path_parts(path);
  const QString& key = parts.key;
  set_section(parts, name);
  const Figure& row = figure_of(path.toStdString());
  name.name = *row.name == '\0' ? words(key) : tr(row.name);
  name.definition = definition_in(row);
  name.text = text_in(row.unit);
  name.relative = row.unit != Unit::yes_no;
  if (key.startsWith("load.")) {
    name.branch = key.mid(5).toInt();
    name.name = tr("load of branch %1").arg(name.branch);
  }
  if (parts.group == "baseline") name.name = tr("baseline: %1").arg(name.name);
  if (parts.group == "optimized") name.name = tr("optimised: %1").arg(name.name);
  if (parts.group.startsWith("operators.")) name.name = parts.subject + ": " + name.name;
  if (name.rank == kSurroundingsRank) name.name = parts.group + ": " + name.name;
  return name;
}

}  // namespace stormcell::views
