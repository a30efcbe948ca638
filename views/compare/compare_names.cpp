#include "views/compare/compare_names.h"

#include <algorithm>

#include "core/base/pass_names.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

QString plain_figure(double value) { return number_text(value, 4); }
QString yes_no(double value) { return value != 0 ? tr("yes") : tr("no"); }
QString seconds(double value) { return number_text(value) + " s"; }

/// A name by the last part of the path; other figures keep their name in the JSON.
struct KnownFigure {
  const char *key, *name, *definition;
  QString (*text)(double);
};
constexpr KnownFigure kKnown[] = {
    {"latency_ms.mean", QT_TRANSLATE_NOOP("Views", "latency, mean"),
     QT_TRANSLATE_NOOP("Views", "Mean time of a batch, of the pairs that the speed-up comes from. Measured."),
     duration_text},
    {"latency_ms.median", QT_TRANSLATE_NOOP("Views", "latency, median"),
     QT_TRANSLATE_NOOP("Views", "Median time of a batch. Measured."), duration_text},
    {"latency_ms.p95", QT_TRANSLATE_NOOP("Views", "latency, 95th percentile"),
     QT_TRANSLATE_NOOP("Views", "95 of 100 batches take at most this long. Measured."), duration_text},
    {"latency_ms.min", QT_TRANSLATE_NOOP("Views", "latency, fastest"),
     QT_TRANSLATE_NOOP("Views", "The fastest batch. Measured."), duration_text},
    {"latency_ms.runs", QT_TRANSLATE_NOOP("Views", "executions measured"), QT_TRANSLATE_NOOP("Views", "Counted."),
     plain_figure},
    {"cells_per_s", QT_TRANSLATE_NOOP("Views", "cells a second"),
     QT_TRANSLATE_NOOP("Views", "Cells of all batches without padding / their time. Measured."), plain_figure},
    {"tokens_per_s", QT_TRANSLATE_NOOP("Views", "tokens a second"),
     QT_TRANSLATE_NOOP("Views", "Tokens written / time. Measured."), plain_figure},
    {"limit_share", QT_TRANSLATE_NOOP("Views", "share of the limit"),
     QT_TRANSLATE_NOOP("Views",
                       "Sum over operators of max(bytes / bandwidth, FLOP / peak), divided by the measured time."),
     limit_share_text},
    {"peak_weight_bytes", QT_TRANSLATE_NOOP("Views", "weights, at most"),
     QT_TRANSLATE_NOOP("Views", "Most bytes of weights held at once. Counted."), bytes_text},
    {"peak_activation_bytes", QT_TRANSLATE_NOOP("Views", "activations, at most"),
     QT_TRANSLATE_NOOP("Views", "Size of the planned buffer. Counted."), bytes_text},
    {"states.planned_bytes", QT_TRANSLATE_NOOP("Views", "states of sequences, planned"),
     QT_TRANSLATE_NOOP("Views", "Pages for the longest sequences, all of a batch so long. Counted."), bytes_text},
    {"states.taken_bytes", QT_TRANSLATE_NOOP("Views", "states of sequences, taken at most"),
     QT_TRANSLATE_NOOP("Views", "Pages that the sequences of one batch took by their own lengths. Counted."),
     bytes_text},
    {"states.taken_pages", QT_TRANSLATE_NOOP("Views", "pages of states, taken at most"),
     QT_TRANSLATE_NOOP("Views", "Counted."), plain_figure},
    {"weights_read.executions", QT_TRANSLATE_NOOP("Views", "executions timed under the budget"),
     QT_TRANSLATE_NOOP("Views", "Counted."), plain_figure},
    {"weights_read.reads", QT_TRANSLATE_NOOP("Views", "weights of branches read, each execution"),
     QT_TRANSLATE_NOOP("Views", "Weights that were not in memory, mean of an execution. Counted."), plain_figure},
    {"weights_read.bytes_read", QT_TRANSLATE_NOOP("Views", "read from files, each execution"),
     QT_TRANSLATE_NOOP("Views", "Bytes as they are stored, mean of an execution; 0: weights are drawn. Counted."),
     bytes_text},
    {"weights_read.stall_ms", QT_TRANSLATE_NOOP("Views", "waits for weights, each execution"),
     QT_TRANSLATE_NOOP("Views", "Mean time in which an execution stood still for weights. Measured."), duration_text},
    {"weights_read.stall_share", QT_TRANSLATE_NOOP("Views", "waits for weights, of its time"),
     QT_TRANSLATE_NOOP("Views", "Time that executions stood still for weights / their time. Measured."), percent_text},
    {"budget_bytes", QT_TRANSLATE_NOOP("Views", "budget for weights of branches"),
     QT_TRANSLATE_NOOP("Views", "--weight-budget: a time under another budget is not a speed-up."), bytes_text},
    {"expert_bytes", QT_TRANSLATE_NOOP("Views", "weights of branches, all"),
     QT_TRANSLATE_NOOP("Views", "As laid out. Counted."), bytes_text},
    {"dense_bytes", QT_TRANSLATE_NOOP("Views", "other weights, in memory all the time"),
     QT_TRANSLATE_NOOP("Views", "Counted."), bytes_text},
    {"slot_bytes", QT_TRANSLATE_NOOP("Views", "room for weights that come and go"),
     QT_TRANSLATE_NOOP("Views", "Counted."), bytes_text},
    {"pinned_bytes", QT_TRANSLATE_NOOP("Views", "weights of branches that never change"),
     QT_TRANSLATE_NOOP("Views", "residency=pinned. Counted."), bytes_text},
    {"arena_bytes", QT_TRANSLATE_NOOP("Views", "activations and states"), QT_TRANSLATE_NOOP("Views", "Counted."),
     bytes_text},
    {"held_bytes", QT_TRANSLATE_NOOP("Views", "held at most after an execution"),
     QT_TRANSLATE_NOOP("Views", "Memory of the whole process as the system counts it. Measured."), bytes_text},
    {"peak_bytes", QT_TRANSLATE_NOOP("Views", "resident at any time before the verification"),
     QT_TRANSLATE_NOOP("Views", "Measured."), bytes_text},
    {"peak_resident_bytes", QT_TRANSLATE_NOOP("Views", "whole process, at most"),
     QT_TRANSLATE_NOOP("Views", "Largest resident memory. Counted."), bytes_text},
    {"unloaded_weight_bytes", QT_TRANSLATE_NOOP("Views", "weights not needed"),
     QT_TRANSLATE_NOOP("Views", "Weights that no input needed. Counted."), bytes_text},
    {"weight_bytes", QT_TRANSLATE_NOOP("Views", "weights of the model"),
     QT_TRANSLATE_NOOP("Views", "As stored. Counted."), bytes_text},
    {"speedup_alone", QT_TRANSLATE_NOOP("Views", "speed-up alone"),
     QT_TRANSLATE_NOOP("Views", "Baseline / this pass alone, of the time of all batches. Measured."), times_text},
    {"speedup_cumulative", QT_TRANSLATE_NOOP("Views", "speed-up with those above"),
     QT_TRANSLATE_NOOP("Views", "Baseline / this and all passes before it, of the time of all batches. Measured."),
     times_text},
    {"speedup_own", QT_TRANSLATE_NOOP("Views", "own speed-up"),
     QT_TRANSLATE_NOOP("Views", "The plan without this pass / with it, of the time of all batches. Measured."),
     times_text},
    {"speedup", QT_TRANSLATE_NOOP("Views", "speed-up"),
     QT_TRANSLATE_NOOP("Views", "Baseline / optimised, of the time of all batches. Measured."), times_text},
    {"imbalance", QT_TRANSLATE_NOOP("Views", "imbalance"),
     QT_TRANSLATE_NOOP("Views", "max load / mean load - 1. From counted loads."), plain_figure},
    {"entropy", QT_TRANSLATE_NOOP("Views", "entropy, bits"),
     QT_TRANSLATE_NOOP("Views", "Entropy of the loads' distribution. From counted loads."), plain_figure},
    {"label_information", QT_TRANSLATE_NOOP("Views", "information on labels, bits"),
     QT_TRANSLATE_NOOP("Views", "Bits that label and branch share. From counted loads."), plain_figure},
    {"ms_per_batch", QT_TRANSLATE_NOOP("Views", "time of a batch"), QT_TRANSLATE_NOOP("Views", "Measured."),
     duration_text},
    {"limit_ms_per_batch", QT_TRANSLATE_NOOP("Views", "limit of a batch"),
     QT_TRANSLATE_NOOP("Views", "max(bytes / bandwidth, FLOP / peak). Predicted."), duration_text},
    {"max_rel_diff", QT_TRANSLATE_NOOP("Views", "largest difference"),
     QT_TRANSLATE_NOOP("Views", "max|y - oracle| / max|oracle|. Measured."), plain_figure},
    {"applied", QT_TRANSLATE_NOOP("Views", "applied"), "", yes_no},
    {"passed", QT_TRANSLATE_NOOP("Views", "verified"),
     QT_TRANSLATE_NOOP("Views", "Whether the outputs agree with the reference."), yes_no},
    {"seconds", QT_TRANSLATE_NOOP("Views", "seconds"), QT_TRANSLATE_NOOP("Views", "Measured."), seconds},
};

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
  name.name = words(key), name.text = plain_figure;
  for (const KnownFigure& known : kKnown)
    if (key == known.key)
      name.name = tr(known.name), name.definition = *known.definition ? tr(known.definition) : QString(),
      name.text = known.text;
  if (key.endsWith("seconds") && name.text == plain_figure) name.text = seconds;
  name.relative = name.text != yes_no;
  if (key.startsWith("load.")) {
    name.branch = key.mid(5).toInt();
    name.name = tr("load of branch %1").arg(name.branch);
    name.definition = tr("Cells that the branch got, padding included. Counted.");
  }
  if (parts.group == "baseline") name.name = tr("baseline: %1").arg(name.name);
  if (parts.group == "optimized") name.name = tr("optimised: %1").arg(name.name);
  if (parts.group.startsWith("operators.")) name.name = parts.subject + ": " + name.name;
  if (name.rank == kSurroundingsRank) name.name = parts.group + ": " + name.name;
  return name;
}

}  // namespace stormcell::views
