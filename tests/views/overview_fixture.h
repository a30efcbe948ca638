// Summaries of runs as the overview shows them.
#pragma once
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringList>
#include <string>

#include "views/overview/overview_view.h"

namespace stormcell::views {

inline QJsonObject pass(const char* name, bool applied, const char* reason, double cumulative, double low,
                        double high) {
  return {{"name", name},
          {"applied", applied},
          {"reason", reason},
          {"speedup_alone", applied ? QJsonValue(cumulative) : QJsonValue()},
          {"speedup_cumulative", applied ? QJsonValue(cumulative) : QJsonValue()},
          {"speedup_cumulative_ci95", applied ? QJsonValue(QJsonArray{low, high}) : QJsonValue()},
          {"guard_hits", 12},
          {"fallbacks", 0}};
}

/// The same, with what it brought upon those before it.
inline QJsonObject brought(QJsonObject pass, double own, double low, double high) {
  pass["speedup_own"] = own;
  pass["speedup_own_ci95"] = QJsonArray{low, high};
  return pass;
}

inline QJsonObject plan(double median, double cells) {
  return {
      {"latency_ms",
       QJsonObject{
           {"median", median}, {"p95", 1.6 * median}, {"min", 0.5 * median}, {"mean", 1.1 * median}, {"runs", 416}}},
      {"cells_per_s", cells},
      {"limit_share", 1.4 / median},
      {"peak_weight_bytes", 5174272},
      {"peak_activation_bytes", 2394432}};
}

/// The summary of an optimisation.
inline QJsonObject optimised() {
  return {
      {"schema", "stormcell.optimize/1"},
      {"version", "0.1.0"},
      {"phase", "forward"},
      {"model", QJsonObject{{"name", "demo:switch-names"}, {"family", "switch_transformers"}, {"weights", "trained"}}},
      {"dataset",
       QJsonObject{
           {"name", "demo:switch-names"}, {"batches", 210}, {"cells", 83786}, {"cells_without_padding", 45336}}},
      {"device", QJsonObject{{"name", "Example CPU"},
                             {"backend", "cpu"},
                             {"threads", 2},
                             {"core_placement", "two cores, one L3"},
                             {"peak_gflops", 416.6},
                             {"read_gbps", 33.1}}},
      {"baseline", plan(2.34, 159057)},
      {"optimized", plan(1.87, 199000)},
      {"speedup", 1.25},
      {"speedup_ci95", QJsonArray{1.21, 1.3}},
      {"verified", QJsonObject{{"passed", true},
                               {"text", "210 of 210 batches against the oracle"},
                               {"tolerance", 0.02},
                               {"max_rel_diff", 2.29e-6},
                               {"flips", 3},
                               {"explained_flips", 3},
                               {"dropped", 0}}},
      {"passes",
       QJsonArray{
           brought(pass("dead-path", true,
                        "2 branches of 2 routers got no cells; 256.0 KiB of weights are loaded only if a guard misses",
                        1.02, 0.99, 1.05),
                   1.02, 0.99, 1.05),
           brought(pass("vertical-fusion", true, "5 norms, 8 activations, 11 residuals folded into products", 1.25,
                        1.21, 1.3),
                   1.22, 1.18, 1.27),
           pass("quantize-int8", false, "lossy: it runs only when enabled by name", 0, 0, 0)}},
      {"routing", QJsonArray{QJsonObject{
                      {"router", "encoder.block.1.mlp"}, {"branches", 8}, {"imbalance", 1.4}, {"entropy", 2.5}}}},
      {"warnings", QJsonArray{}}};
}

inline std::string text(const QJsonObject& json) { return QJsonDocument(json).toJson().toStdString(); }

/// A run with that summary.
inline Situation situation(const QJsonObject& summary) {
  Situation s;
  s.facts.line.id = 2, s.facts.line.kind = "optimize", s.facts.line.status = RunStatus::finished,
  s.facts.line.batches = 210;
  s.facts.line.started = "2026-01-02T03:04:05Z";
  s.facts.model = "demo:switch-names", s.facts.device = "Example CPU", s.facts.inputs = true,
  s.facts.newest_result = summary.isEmpty() ? 0 : 2;
  s.facts.routers = {{"encoder.block.1.mlp", 8, {1, 2, 3}, {0, 0, 0}, 1.4, 2.5},
                     {"decoder.block.1.mlp", 8, {1, 2, 3}, {0, 0, 0}, 0.4, 2.9}};
  s.summary = shown(parse_summary(text(summary)));
  s.repeatable = true;
  return s;
}

inline bool says(const Table& table, const QString& what) {
  for (const auto& row : table.rows)
    for (const Value& v : row)
      if (to_text(v).contains(what)) return true;
  return false;
}

inline QStringList rules_of(const Situation& s) {
  QStringList ids;
  for (const NextStep& step : next_steps(s, 99)) ids << step.rule;
  return ids;
}

}  // namespace stormcell::views
