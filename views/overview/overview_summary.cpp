#include "views/overview/overview_summary.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "core/summary/measured_text.h"
#include "core/summary/padding_text.h"
#include "core/summary/parse.h"

namespace stormcell::views {
namespace {

std::optional<double> number(const QJsonValue& value) {
  if (value.isDouble()) return value.toDouble();
  return {};
}
qint64 count(const QJsonValue& value) { return static_cast<qint64>(value.toDouble()); }

std::optional<Interval95> interval(const QJsonValue& value) {
  const QJsonArray ends = value.toArray();
  if (ends.size() != 2 || !ends[0].isDouble() || !ends[1].isDouble()) return {};
  return Interval95{ends[0].toDouble(), ends[1].toDouble()};
}

std::optional<PlanSummary> plan(const QJsonValue& value) {
  if (!value.isObject()) return {};
  const QJsonObject j = value.toObject(), l = j["latency_ms"].toObject();
  return PlanSummary{l["median"].toDouble(),
                     l["p95"].toDouble(),
                     l["min"].toDouble(),
                     l["mean"].toDouble(),
                     count(l["runs"]),
                     count(j["measured_batches"]),
                     count(j["rounds"]),
                     j["cells_per_s"].toDouble(),
                     number(j["limit_share"]),
                     j["peak_weight_bytes"].toDouble(),
                     j["peak_activation_bytes"].toDouble()};
}

std::optional<ProofSummary> proof(const QJsonValue& value) {
  if (!value.isObject()) return {};
  const QJsonObject j = value.toObject();
  ProofSummary p{j["passed"].toBool(), j["text"].toString(),        j["tolerance"].toDouble(), j["max_rel_diff"].toDouble(),
                 count(j["flips"]),    count(j["explained_flips"]), count(j["consequences"]),  count(j["dropped"])};
  for (const QJsonValue& reason : j["reasons"].toArray()) p.reasons << reason.toString();
  if (const QJsonObject f = j["format"].toObject(); !f.isEmpty())
    p.format = f["dtype"].toString(), p.format_cost = f["max_rel_diff"].toDouble(), p.format_tolerance = f["tolerance"].toDouble();
  return p;
}

PassSummary pass(const QJsonObject& j, bool verified) {
  PassSummary p;
  p.name = j["name"].toString(), p.reason = j["reason"].toString();
  p.applied = j["applied"].toBool(), p.left_out = j["left_out"].toBool();
  p.guard_hits = count(j["guard_hits"]), p.fallbacks = count(j["fallbacks"]);
  if (!verified) return p;
  p.alone = number(j["speedup_alone"]), p.alone_ci = interval(j["speedup_alone_ci95"]);
  p.cumulative = number(j["speedup_cumulative"]), p.cumulative_ci = interval(j["speedup_cumulative_ci95"]);
  return p;
}

void take_generated(const QJsonObject& j, Summary& s) {
  const QJsonObject stopped = j["stopped"].toObject(), l = j["latency_ms"].toObject();
  s.batches = count(j["batches"]);
  s.generated = GenerateSummary{count(j["tokens"]),       count(j["sequences"]),        count(stopped["eos"]),
                                count(stopped["length"]), j["tokens_per_s"].toDouble(), number(j["accuracy"])};
  PlanSummary& plan = s.baseline.emplace();
  plan.median = l["median"].toDouble(), plan.p95 = l["p95"].toDouble(), plan.fastest = l["min"].toDouble();
  plan.mean = l["mean"].toDouble(), plan.runs = count(l["runs"]);
}

}  // namespace

std::optional<Summary> parse_summary(const std::string& json) {
  const QJsonObject j = QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
  const QString schema = j["schema"].toString();
  Summary s;
  for (const char* verb : {"optimize", "run", "profile", "generate"})
    if (schema == QString("stormcell.%1/1").arg(verb)) s.verb = verb;
  if (s.verb.isEmpty()) return {};
  const QJsonObject model = j["model"].toObject(), data = j["dataset"].toObject(), device = j["device"].toObject();
  s.version = j["version"].toString(), s.phase = j["phase"].toString();
  s.model = model["name"].toString(), s.family = model["family"].toString(), s.weights = model["weights"].toString();
  s.data = data["name"].toString();
  s.batches = count(data["batches"]), s.cells = count(data["cells"]), s.real_cells = count(data["cells_without_padding"]);
  s.truncated = count(data["truncated"]);
  s.device = device["name"].toString(), s.backend = device["backend"].toString(), s.isa = device["isa"].toString();
  s.placement = device["core_placement"].toString(), s.threads = device["threads"].toInt();
  s.peak_gflops = device["peak_gflops"].toDouble(), s.read_gbps = device["read_gbps"].toDouble();
  s.unloaded_bytes = j["unloaded_weight_bytes"].toDouble();
  s.baseline = plan(j["baseline"]), s.optimized = plan(j["optimized"]);
  s.proof = proof(j["verified"]);
  if (s.verified()) s.speedup = number(j["speedup"]), s.speedup_ci = interval(j["speedup_ci95"]);
  for (const QJsonValue& p : j["passes"].toArray()) s.passes.push_back(pass(p.toObject(), s.verified()));
  for (const QJsonValue& value : j["routing"].toArray()) {
    const QJsonObject r = value.toObject();
    // Without padding where the run says it: older ones do not.
    const auto without_padding = [&](const char* real, const char* all) { return r[r.contains(real) ? real : all]; };
    s.routers.push_back({r["router"].toString(), r["branches"].toInt(), count(without_padding("cells_real", "cells")), count(r["dropped"]),
                         without_padding("imbalance_real", "imbalance").toDouble(), without_padding("entropy_real", "entropy").toDouble()});
  }
  for (const QJsonValue& w : j["warnings"].toArray()) s.warnings << w.toString();
  s.cells_as_given = count(data["cells_as_given"]), s.cells_by_length = count(data["cells_by_length"]);
  if (RunSummaryFigures figures; stormcell::parse_summary(json, figures)) {
    s.measured = QString::fromStdString(measured_text(figures));
    s.padding = QString::fromStdString(padding_text(figures));
  }
  if (s.verb == "generate") take_generated(j, s);
  return s;
}

}  // namespace stormcell::views
