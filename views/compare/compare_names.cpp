#include "views/compare/compare_names.h"

#include <QCoreApplication>

#include "views/kit/figure_text.h"

namespace stormcell::views {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Compare", text); }

QString plain(double value) { return number_text(value, 4); }
QString yes_no(double value) { return value != 0 ? tr("yes") : tr("no"); }
QString seconds(double value) { return number_text(value) + " s"; }

/// By the last part of the path; what is not listed is shown as it is called in the JSON.
struct KnownFigure {
  const char *key, *name, *definition;
  QString (*text)(double);
};
constexpr KnownFigure kKnown[] = {
    {"latency_ms.mean", QT_TRANSLATE_NOOP("Compare", "latency, mean"),
     QT_TRANSLATE_NOOP("Compare", "Mean time of a batch, of the pairs that the speed-up comes from. Measured."), duration_text},
    {"latency_ms.median", QT_TRANSLATE_NOOP("Compare", "latency, median"),
     QT_TRANSLATE_NOOP("Compare", "Median time of a batch. Measured."), duration_text},
    {"latency_ms.p95", QT_TRANSLATE_NOOP("Compare", "latency, 95th percentile"),
     QT_TRANSLATE_NOOP("Compare", "95 of 100 batches take at most this long. Measured."), duration_text},
    {"latency_ms.min", QT_TRANSLATE_NOOP("Compare", "latency, fastest"), QT_TRANSLATE_NOOP("Compare", "The fastest batch. Measured."),
     duration_text},
    {"latency_ms.runs", QT_TRANSLATE_NOOP("Compare", "executions measured"), QT_TRANSLATE_NOOP("Compare", "Counted."), plain},
    {"cells_per_s", QT_TRANSLATE_NOOP("Compare", "cells a second"),
     QT_TRANSLATE_NOOP("Compare", "Cells of all batches without padding / their time. Measured."), plain},
    {"tokens_per_s", QT_TRANSLATE_NOOP("Compare", "tokens a second"), QT_TRANSLATE_NOOP("Compare", "Tokens written / time. Measured."),
     plain},
    {"limit_share", QT_TRANSLATE_NOOP("Compare", "share of the limit"),
     QT_TRANSLATE_NOOP("Compare", "Sum over operators of max(bytes / bandwidth, FLOP / peak), divided by the measured time."),
     percent_text},
    {"peak_weight_bytes", QT_TRANSLATE_NOOP("Compare", "weights, at most"),
     QT_TRANSLATE_NOOP("Compare", "Most bytes of weights held at once. Counted."), bytes_text},
    {"peak_activation_bytes", QT_TRANSLATE_NOOP("Compare", "activations, at most"),
     QT_TRANSLATE_NOOP("Compare", "Size of the planned buffer. Counted."), bytes_text},
    {"peak_resident_bytes", QT_TRANSLATE_NOOP("Compare", "whole process, at most"),
     QT_TRANSLATE_NOOP("Compare", "Largest resident memory. Counted."), bytes_text},
    {"unloaded_weight_bytes", QT_TRANSLATE_NOOP("Compare", "weights never loaded"),
     QT_TRANSLATE_NOOP("Compare", "Weights that no input needed. Counted."), bytes_text},
    {"weight_bytes", QT_TRANSLATE_NOOP("Compare", "weights of the model"), QT_TRANSLATE_NOOP("Compare", "As stored. Counted."), bytes_text},
    {"speedup_alone", QT_TRANSLATE_NOOP("Compare", "speed-up alone"),
     QT_TRANSLATE_NOOP("Compare", "Baseline / this pass alone, median over pairs. Measured."), times_text},
    {"speedup_cumulative", QT_TRANSLATE_NOOP("Compare", "speed-up with those above"),
     QT_TRANSLATE_NOOP("Compare", "Baseline / this and all passes before it, median over pairs. Measured."), times_text},
    {"speedup_own", QT_TRANSLATE_NOOP("Compare", "own speed-up"),
     QT_TRANSLATE_NOOP("Compare", "The plan without this pass / with it, median over pairs. Measured."), times_text},
    {"speedup", QT_TRANSLATE_NOOP("Compare", "speed-up"),
     QT_TRANSLATE_NOOP("Compare", "Baseline / optimised, median over pairs. Measured."), times_text},
    {"imbalance", QT_TRANSLATE_NOOP("Compare", "imbalance"), QT_TRANSLATE_NOOP("Compare", "max load / mean load - 1. From counted loads."),
     plain},
    {"entropy", QT_TRANSLATE_NOOP("Compare", "entropy, bits"),
     QT_TRANSLATE_NOOP("Compare", "Entropy of the loads' distribution. From counted loads."), plain},
    {"label_information", QT_TRANSLATE_NOOP("Compare", "information on labels, bits"),
     QT_TRANSLATE_NOOP("Compare", "Bits that label and branch share. From counted loads."), plain},
    {"ms_per_batch", QT_TRANSLATE_NOOP("Compare", "time of a batch"), QT_TRANSLATE_NOOP("Compare", "Measured."), duration_text},
    {"limit_ms_per_batch", QT_TRANSLATE_NOOP("Compare", "limit of a batch"),
     QT_TRANSLATE_NOOP("Compare", "max(bytes / bandwidth, FLOP / peak). Predicted."), duration_text},
    {"max_rel_diff", QT_TRANSLATE_NOOP("Compare", "largest difference"),
     QT_TRANSLATE_NOOP("Compare", "max|y - oracle| / max|oracle|. Measured."), plain},
    {"applied", QT_TRANSLATE_NOOP("Compare", "applied"), "", yes_no},
    {"passed", QT_TRANSLATE_NOOP("Compare", "verified"), QT_TRANSLATE_NOOP("Compare", "Whether the outputs agree with the reference."),
     yes_no},
    {"seconds", QT_TRANSLATE_NOOP("Compare", "seconds"), QT_TRANSLATE_NOOP("Compare", "Measured."), seconds},
};

QString words(QString key) { return key.replace('_', ' ').replace('.', ", "); }

/// "a.b.LAST" -> LAST, except that latency_ms and load carry one more part.
qsizetype start_of_key(const QString& path) {
  qsizetype dot = path.lastIndexOf('.');
  if (dot <= 0) return 0;
  const qsizetype before = path.lastIndexOf('.', dot - 1);
  const QString part = path.mid(before + 1, dot - before - 1);
  return part == "latency_ms" || part == "load" ? before + 1 : dot + 1;
}

void set_section(const QString& path, const QString& key, FigureName& name) {
  const auto in = [&](int rank, const QString& section) { name.rank = rank, name.section = section; };
  const bool memory = key.endsWith("_bytes");
  if (path.startsWith("routing.")) {
    name.router = path.mid(8, path.size() - key.size() - 9);
    return in(4, tr("Routing: %1").arg(name.router));
  }
  if (path.startsWith("passes.")) return in(2, tr("Pass: %1").arg(path.mid(7, path.size() - key.size() - 8)));
  if (path.startsWith("verified.routers.")) {
    name.router = path.mid(17, path.size() - key.size() - 18);
    return in(3, tr("Verification: %1").arg(name.router));
  }
  if (path.startsWith("verified.outputs.")) return in(3, tr("Verification: output %1").arg(path.mid(17, path.size() - key.size() - 18)));
  if (path.startsWith("verified.format.")) return in(3, tr("Verification: cost of the number format"));
  if (path.startsWith("verified.")) return in(3, tr("Verification"));
  if (path.startsWith("operators.baseline.")) return in(5, tr("Operators of the baseline"));
  if (path.startsWith("operators.optimized.")) return in(6, tr("Operators of the optimised plan"));
  if (path.startsWith("device.") || path.startsWith("dataset.") || path.startsWith("model.")) return in(8, tr("Model, data and machine"));
  if (memory) return in(1, tr("Memory"));
  if (key == "latency_ms.runs") return in(7, tr("Other"));
  const bool speed = path.startsWith("baseline.") || path.startsWith("optimized.") || path.startsWith("latency_ms.") ||
                     key.startsWith("speedup") || key.endsWith("_per_s");
  return speed ? in(0, tr("Latency and speed")) : in(7, tr("Other"));
}

}  // namespace

FigureName name_of(const QString& path) {
  FigureName name;
  const QString key = path.mid(start_of_key(path));
  set_section(path, key, name);
  name.name = words(key), name.text = plain;
  for (const KnownFigure& known : kKnown)
    if (key == known.key)
      name.name = tr(known.name), name.definition = *known.definition ? tr(known.definition) : QString(), name.text = known.text;
  if (key.endsWith("seconds") && name.text == plain) name.text = seconds;
  name.relative = name.text != yes_no;
  if (key.startsWith("load.")) {
    name.branch = key.mid(5).toInt();
    name.name = tr("load of branch %1").arg(name.branch);
    name.definition = tr("Cells that the branch got, padding included. Counted.");
  }
  if (path.startsWith("baseline.")) name.name = tr("baseline: %1").arg(name.name);
  if (path.startsWith("optimized.")) name.name = tr("optimised: %1").arg(name.name);
  if (path.startsWith("operators.")) name.name = path.section('.', 2, -2) + ": " + name.name;
  if (name.rank == 8) name.name = path.section('.', 0, 0) + ": " + name.name;
  return name;
}

}  // namespace stormcell::views
