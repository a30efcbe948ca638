#include "views/simulation/simulation_model.h"

#include <QStringList>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "core/base/enum_words.h"
#include "core/summary/capacity_text.h"
#include "core/summary/needed_facts.h"
#include "core/summary/step_contents.h"
#include "views/words/figure_text.h"
#include "views/words/router_names.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

StepTimes step_of(const SimulateFigures& f) {
  StepTimes step{{}, f.mean_ms, f.p50_ms, f.p95_ms};
  step.phases.rest_ms = f.rest_ms.value_or(0);
  for (const SimulatedLayer& l : f.layers)
    step.phases.dispatch_ms += l.dispatch_ms, step.phases.compute_ms += l.compute_ms,
        step.phases.combine_ms += l.combine_ms;
  return step;
}

QString gpus_text(const SimulateFigures& f) {
  return tr("%1 in %2").arg(counted_text(f.ranks, "GPU"), counted_text(f.nodes, "node"));
}

/// False if layers share a number, as in an encoder and a decoder.
bool numbers_tell(const SimulateFigures& f) {
  std::set<int32_t> numbers;
  for (const SimulatedLayer& l : f.layers)
    if (l.number < 0 || !numbers.insert(l.number).second) return false;
  return true;
}

QString tokens_text(double tokens) {
  constexpr double kCounted = 100;
  return tokens < kCounted ? number_text(tokens) : count_text(std::llround(tokens));
}

QString about_of(const SimulateFigures& f) {
  QString text = tr("%1 %2").arg(count_text(f.steps),
                                 to_qstring(to_text(f.step_kind)) + (f.steps == 1 ? tr(" step") : tr(" steps")));
  if (f.phase) text += tr(" of %1").arg(to_qstring(to_text(*f.phase)));
  if (f.tokens_per_step) text += tr(", %1 tokens each").arg(tokens_text(*f.tokens_per_step));
  text += tr("; experts reached %1").arg(to_qstring(to_text(f.backend)));
  if (f.replicas == ReplicaRule::nearest) text += tr("; nearest replicas");
  if (f.residence == Residence::follow) text += tr("; tokens follow their heaviest expert");
  if (f.overlap != Overlap::none) text += tr("; overlap: %1").arg(to_qstring(to_text(f.overlap)));
  if (f.capacity) text += tr("; capacity factor %1").arg(number_text(f.capacity->factor));
  if (f.oversubscription > 1) text += tr("; uplinks carry 1/%1 of the ports").arg(f.oversubscription);
  return text;
}

/// The calibration of a phase by measured calls, and its certainty.
SimulatedFigure calibrated_figure(const CalibratedPhase& p, const std::string& file) {
  QString name = tr("%1 by").arg(to_qstring(to_text(p.phase)));
  name[0] = name[0].toUpper();
  if (!p.calibrated()) return {name, tr("data sheet"), tr("Not calibrated: %1").arg(to_qstring(p.why_not))};
  const QString kind = to_qstring(std::string(to_text(p.kind)));
  QString tip = tr("%1 a layer of a mean step, %2, by %3 of %4")
                    .arg(duration_text(p.us / 1e3), kind, to_qstring(p.like), to_qstring(file));
  if (p.rows)
    tip += tr("; experts get %1 to %2 rows, measured at %3 to %4")
               .arg(number_text(p.rows->least), number_text(p.rows->most), number_text(p.rows->least_measured),
                    number_text(p.rows->most_measured));
  if (!p.held_out) return {name, kind, tip};
  const QString off = percent_change_text(100 * *p.held_out);
  return {name, tr("%1, %2 held out").arg(kind, off),
          tr("%1; the nearest measured call, left out, is told %2 off").arg(tip, off)};
}

std::vector<SimulatedFigure> figures_of(const SimulateFigures& f) {
  const QString simulated = tr("simulated, over all steps");
  std::vector<SimulatedFigure> out = {
      {tr("Step, mean"), duration_text(f.mean_ms),
       tr("Sum over layers of dispatch, slowest GPU's experts and combine; %1").arg(simulated)},
      {tr("Step, median"), duration_text(f.p50_ms), tr("Half of the steps take no longer; %1").arg(simulated)},
      {tr("Step, 95 %"), duration_text(f.p95_ms), tr("95 % of the steps take no longer; %1").arg(simulated)}};
  if (f.overlap != Overlap::none)
    out.push_back({tr("Without overlap"), duration_text(f.serial_ms),
                   tr("The same steps whole, one phase behind the other; simulated")});
  if (f.rest_ms)
    out.push_back({tr("Stated rest"), duration_text(*f.rest_ms),
                   tr("Attention, norms and sampling of each step, as it was entered")});
  if (f.tokens_per_s)
    out.push_back({tr("Tokens a second"), tr("< %1").arg(count_text(static_cast<qint64>(*f.tokens_per_s))),
                   tr("An upper bound, of a step of %1; simulated").arg(to_qstring(rate_contents(f.rest_ms)))});
  else
    out.push_back({tr("Tokens a second"), tr("not stated"),
                   tr("Not stated: %1. Rest of a step and Calibration are under Model and steps")
                       .arg(to_qstring(f.why_no_tokens_per_s))});
  if (f.capacity)
    out.push_back({tr("Dropped choices"), tr("%1 %").arg(number_text(100 * f.capacity->dropped_share())),
                   tr("Of all choices, %1; counted")
                       .arg(to_qstring(capacity_text(f.capacity->factor, f.capacity->dropped_share())))});
  out.push_back({tr("To other GPUs"), bytes_text(f.remote_bytes), tr("Bytes of a step, there and back; counted")});
  out.push_back(
      {tr("On the wire"), bytes_text(f.wire_bytes), tr("Sent for that in a step, with what is forwarded; counted")});
  return out;
}

ShownExchange exchange_of(const QString& way, const QString& layer, const SimulatedCollective& c,
                          const SimulatedExchange& e) {
  ShownExchange out;
  out.way = way;
  out.closed_form_ms = e.closed_form_ms;
  out.end_ms = e.timeline.empty() ? 0 : e.timeline.back().end_ms;
  out.title = tr("%1 of %2 in step %3: %4, %5, %6 (by ports alone %7)")
                  .arg(way, layer, QString::number(c.step), counted_text(e.messages, "message"), bytes_text(e.bytes),
                       duration_text(e.filled_ms), duration_text(e.closed_form_ms));
  for (const SimulatedMessage& m : e.sent) out.sent.push_back({m.from, m.to, m.bytes, m.end_ms});
  std::map<std::string, size_t> lane_of;
  for (size_t l = 0; l < c.links.size(); ++l) {
    const CollectiveLink& link = c.links[l];
    const auto [at, is_new] = lane_of.try_emplace(link.owner, out.lanes.size());
    if (is_new)
      out.lanes.push_back(
          {to_qstring(link.owner), std::vector<double>(e.timeline.size()), std::vector<double>(e.timeline.size())});
    std::vector<double>& shares = link.sends ? out.lanes[at->second].sends : out.lanes[at->second].receives;
    for (size_t s = 0; s < e.timeline.size(); ++s) shares[s] = std::max(shares[s], e.timeline[s].link_share[l]);
  }
  return out;
}

void add_exchanges(const SimulateFigures& f, SimulationPage& page) {
  if (!f.collective) return;
  const SimulatedCollective& c = *f.collective;
  if (c.dispatch.messages + c.combine.messages == 0) {
    page.no_exchange = tr("In this step no token of this layer goes to another GPU: there is nothing to exchange");
    return;
  }
  if (page.part == SimulationPart::messages && f.ranks > kMostRanksOfMessages) {
    page.no_exchange = tr("Single messages are shown of up to %1 GPUs, and %2 has %3: exchange shows their ports")
                           .arg(QString::number(kMostRanksOfMessages), to_qstring(f.cluster), QString::number(f.ranks));
    return;
  }
  const auto at =
      std::find_if(f.layers.begin(), f.layers.end(), [&](const SimulatedLayer& l) { return l.name == c.layer; });
  const QString layer = page.layer_names[at - f.layers.begin()];
  page.exchanges = {exchange_of(tr("Dispatch"), layer, c, c.dispatch), exchange_of(tr("Combine"), layer, c, c.combine)};
}

QString phases_text(const PhaseTimes& t) {
  const QString text = tr("dispatch %1, experts %2, combine %3")
                           .arg(duration_text(t.dispatch_ms), duration_text(t.compute_ms), duration_text(t.combine_ms));
  return t.rest_ms > 0 ? tr("%1, stated rest %2").arg(text, duration_text(t.rest_ms)) : text;
}

std::vector<Value> row_of(const QString& what, Value number, const PhaseTimes& t, Value step, Value p50, Value p95,
                          const QString& note) {
  return {what,           std::move(number), t.dispatch_ms, t.compute_ms, t.combine_ms, std::move(step),
          std::move(p50), std::move(p95),    note};
}

Table phases_table() {
  Table table;
  const QString mean = tr("mean over steps, simulated");
  table.columns = {
      {tr("What"), tr("The step, a layer, a GPU of the layer on show, a cluster, or a figure of machine or model")},
      {tr("Number"), tr("Number of the layer in the session, or of the GPU in the cluster, from 0")},
      {tr("Dispatch, ms"), tr("Tokens go to the GPUs of their experts; of a GPU: its own messages; %1").arg(mean)},
      {tr("Experts, ms"), tr("For a layer the time of its slowest GPU, for a GPU its own; %1").arg(mean)},
      {tr("Combine, ms"), tr("Results come back; of a GPU: its own messages; %1").arg(mean)},
      {tr("Step, ms"), tr("All layers together, overlapping phases counted once; %1").arg(mean)},
      {tr("Median, ms"), tr("Half of the steps take no longer; simulated")},
      {tr("95 %, ms"), tr("95 % of the steps take no longer; simulated")},
      {tr("Note"), tr("A remark on the row, the reason why figures are missing, or the change of the step")}};
  return table;
}

Table exchange_table(const SimulationPage& page) {
  Table table;
  table.columns = {
      {tr("Way"), tr("Dispatch: to the experts; combine: back")},
      {tr("Lane"), tr("A GPU's ports, or the uplink of a node")},
      {tr("Begin, ms"), tr("Begin of the span of time, from the first message on; simulated")},
      {tr("End, ms"), tr("End of the span; simulated")},
      {tr("Sends"), tr("Share of the rate at which it sends, of several ports the busiest one's; simulated")},
      {tr("Receives"), tr("Share of the rate at which it receives, of several ports the busiest one's; simulated")}};
  for (const ShownExchange& e : page.exchanges)
    for (const PortLane& lane : e.lanes)
      for (size_t s = 0; s < lane.sends.size(); ++s) {
        const double span = e.end_ms / static_cast<double>(lane.sends.size());
        table.rows.push_back({e.way, lane.name, span * static_cast<double>(s), span * static_cast<double>(s + 1),
                              lane.sends[s], lane.receives[s]});
      }
  return table;
}

Table message_table(const SimulationPage& page) {
  Table table;
  table.columns = {{tr("Way"), tr("Dispatch: to the experts; combine: back")},
                   {tr("From GPU"), tr("Who sends; counted from 0 in the cluster")},
                   {tr("To GPU"), tr("Who receives; counted from 0 in the cluster")},
                   {tr("Bytes"), tr("Bytes of the message; counted, or expected if tokens live anywhere")},
                   {tr("Has come, ms"), tr("After the first moment, at which all messages begin; simulated")}};
  for (const ShownExchange& e : page.exchanges)
    for (const ShownMessage& m : e.sent)
      table.rows.push_back({e.way, static_cast<double>(m.from), static_cast<double>(m.to), m.bytes, m.end_ms});
  return table;
}

}  // namespace

double StepTimes::overlapped_ms() const {
  const double over = phases.sum() - mean_ms;
  return over > 1e-9 * phases.sum() ? over : 0;
}

std::vector<QString> names_of_layers(const SimulateFigures& figures) {
  std::vector<QString> names;
  if (numbers_tell(figures)) {
    for (const SimulatedLayer& l : figures.layers) names.push_back(tr("layer %1").arg(l.number));
    return names;
  }
  std::vector<RouterLine> routers;
  for (const SimulatedLayer& l : figures.layers) routers.emplace_back().name = l.name;
  return short_names(routers);
}

SimulationPage make_simulation_page(const SimulateFigures& f, SimulationPart part, size_t layer) {
  SimulationPage page;
  page.part = part, page.layer = layer, page.step = step_of(f);
  page.contents = to_qstring(step_contents_sentence(f.contents));
  page.headline = tr("Simulated: %1 a step on %2, %3, placement %4")
                      .arg(duration_text(f.mean_ms), to_qstring(f.cluster), gpus_text(f), to_qstring(f.placement));
  page.about = about_of(f);
  page.layer_names = names_of_layers(f);
  const bool numbered = numbers_tell(f);
  for (size_t l = 0; l < f.layers.size(); ++l) {
    const SimulatedLayer& one = f.layers[l];
    page.layer_numbers.push_back(numbered ? one.number : static_cast<int>(l));
    page.layers.push_back({one.dispatch_ms, one.compute_ms, one.combine_ms});
    page.imbalance.push_back(one.imbalance);
  }
  page.gpus_of_node = std::max(1, f.ranks / std::max(1, f.nodes));
  for (const SimulatedShare& s : f.layers[layer].gpus) page.gpus.push_back({s.dispatch_ms, s.compute_ms, s.combine_ms});
  const auto shorter = [](const PhaseTimes& a, const PhaseTimes& b) { return a.compute_ms < b.compute_ms; };
  page.slowest = static_cast<size_t>(std::max_element(page.gpus.begin(), page.gpus.end(), shorter) - page.gpus.begin());
  page.figures = figures_of(f);
  if (f.calibration)
    for (const CalibratedPhase& p : f.calibration->phases)
      page.calibrated.push_back(calibrated_figure(p, f.calibration->file));
  page.figures.insert(page.figures.end(), page.calibrated.begin(), page.calibrated.end());
  for (const Elasticity& e : f.sensitivity) page.sensitivity.push_back({to_qstring(e.figure), 10 * e.value});
  std::stable_sort(page.sensitivity.begin(), page.sensitivity.end(),
                   [](const ShownSensitivity& a, const ShownSensitivity& b) {
                     return std::fabs(a.percent) > std::fabs(b.percent) * (1 + 1e-9);
                   });
  add_exchanges(f, page);
  for (const std::string& line : f.assumptions) page.assumptions.push_back(to_qstring(line));
  page.assumptions.push_back(
      tr("an expert takes %1, a token is %2 wide: %3")
          .arg(bytes_text(f.sizes.branch_bytes), QString::number(f.sizes.hidden), to_qstring(f.sizes.source)));
  for (const std::string& line : f.warnings) page.assumptions.push_back(to_qstring(line));
  QStringList lacks;
  for (const std::string& fact : needed_facts(Question::steps, f.lacks)) lacks << to_qstring(fact);
  if (!lacks.isEmpty()) page.assumptions.push_back(tr("the data lacks %1").arg(lacks.join(", ")));
  return page;
}

void add_clusters(const std::vector<ComparedCluster>& compared, SimulationPage& page) {
  for (const ComparedCluster& c : compared) {
    ShownCluster& shown = page.clusters.emplace_back();
    shown.name = to_qstring(c.name), shown.fault = to_qstring(c.fault);
    if (!c.figures) continue;
    shown.about = tr("%1, %2").arg(gpus_text(*c.figures), to_qstring(c.figures->placement));
    shown.step = step_of(*c.figures);
    if (!c.figures->calibration) continue;
    for (const CalibratedPhase& p : c.figures->calibration->phases)
      stormcell::row_of(shown.calibrated, p.phase) |= p.calibrated();
    for (const bool calibrated : shown.calibrated) page.any_calibrated |= calibrated;
  }
}

QString basis_text(const ShownCluster& c) {
  const std::array<double, 3> ms = {c.step.phases.dispatch_ms, c.step.phases.compute_ms, c.step.phases.combine_ms};
  QStringList by_calls;
  bool all = true;  // phases that take no time are of neither kind
  for (size_t i = 0; i < ms.size(); ++i)
    if (ms[i] > 0 && c.calibrated[i])
      by_calls << to_qstring(kLayerPhases[i]);
    else
      all &= ms[i] <= 0;
  if (by_calls.isEmpty()) return tr("data sheets");
  return all ? tr("calibrated") : tr("%1 calibrated").arg(by_calls.join(", "));
}

QString percent_change_text(double percent) {
  if (std::fabs(percent) < 0.005) return tr("0 %");
  return (percent < 0 ? QString(QChar(0x2212)) : QString("+")) + number_text(std::fabs(percent)) + " %";
}

QString describe_layer(const SimulationPage& page, size_t layer) {
  return tr("%1: %2; slowest GPU / mean - 1 = %3. Means over steps, simulated.")
      .arg(page.layer_names[layer], phases_text(page.layers[layer]), number_text(page.imbalance[layer]));
}

QString describe_gpu_share(const SimulationPage& page, size_t gpu) {
  QString text = tr("GPU %1 of node %2 in %3, by itself: %4")
                     .arg(QString::number(gpu), QString::number(gpu / static_cast<size_t>(page.gpus_of_node)),
                          page.layer_names[page.layer], phases_text(page.gpus[gpu]));
  if (gpu == page.slowest) text += tr("; as a mean it computes longest, in a step it may be another");
  return text + tr(". Means over steps, simulated.");
}

QString describe_cluster(const SimulationPage& page, size_t cluster) {
  const ShownCluster& c = page.clusters[cluster];
  if (!c.fault.isEmpty()) return tr("%1: %2").arg(c.name, c.fault);
  QString text = tr("%1 (%2): a step takes %3 as a mean, median %4, 95 % below %5; %6")
                     .arg(c.name, c.about, duration_text(c.step.mean_ms), duration_text(c.step.p50_ms),
                          duration_text(c.step.p95_ms), phases_text(c.step.phases));
  if (c.step.overlapped_ms() > 0)
    text += tr("; %1 of these lie over others").arg(duration_text(c.step.overlapped_ms()));
  if (page.any_calibrated) text += tr("; times by: %1").arg(basis_text(c));
  return text + tr(". Simulated. %1").arg(page.contents);
}

QString describe_sensitivity(const ShownSensitivity& s) {
  return tr("10 % more of %1: the step changes by %2. Simulated again with that figure, on the same steps.")
      .arg(s.figure, percent_change_text(s.percent));
}

QString describe_lane(const ShownExchange& e, size_t lane, size_t span) {
  const PortLane& l = e.lanes[lane];
  const double length = e.end_ms / static_cast<double>(l.sends.size());
  return tr("%1 at %2: sends at %3 of its rate, receives at %4. Simulated.")
      .arg(l.name, duration_text(length * (static_cast<double>(span) + 0.5)), percent_text(l.sends[span]),
           percent_text(l.receives[span]));
}

QString message_name(const ShownMessage& m) { return QString("%1 %2 %3").arg(m.from).arg(QChar(0x2192)).arg(m.to); }

QString describe_message(const ShownExchange& e, size_t message) {
  const ShownMessage& m = e.sent[message];
  return tr("GPU %1 to GPU %2: %3 have come after %4. Simulated.")
      .arg(QString::number(m.from), QString::number(m.to), bytes_text(m.bytes), duration_text(m.end_ms));
}

Table make_simulation_table(const SimulationPage& page) {
  if (page.part == SimulationPart::exchange) return exchange_table(page);
  if (page.part == SimulationPart::messages) return message_table(page);
  Table table = phases_table();
  const auto add_step = [&](const QString& what, const StepTimes& s, const QString& note) {
    const QString said = note.isEmpty() ? page.contents : tr("%1; %2").arg(page.contents.chopped(1), note);
    table.rows.push_back(row_of(what, Value(), s.phases, s.mean_ms, s.p50_ms, s.p95_ms, said));
  };
  if (page.part == SimulationPart::clusters) {
    table.columns.push_back(
        {tr("Times by"),
         tr("Which phases go by measured calls, with their start-up times; all others by data sheets, without")});
    for (const ShownCluster& c : page.clusters) {
      if (c.fault.isEmpty())
        add_step(c.name, c.step, c.chosen ? tr("%1; chosen").arg(c.about) : c.about);
      else
        table.rows.push_back({c.name, Value(), Value(), Value(), Value(), Value(), Value(), Value(), c.fault});
      table.rows.back().push_back(c.fault.isEmpty() ? Value(basis_text(c)) : Value());
    }
    return table;
  }
  add_step(tr("step"), page.step,
           page.step.overlapped_ms() > 0 ? tr("%1 lie over others").arg(duration_text(page.step.overlapped_ms()))
                                         : QString());
  if (const double rest = page.step.phases.rest_ms; rest > 0)
    table.rows.push_back({tr("stated rest"), Value(), Value(), Value(), Value(), rest, Value(), Value(),
                          tr("of each step, not simulated")});
  for (size_t l = 0; l < page.layers.size(); ++l)
    table.rows.push_back(row_of(page.layer_names[l], static_cast<qlonglong>(l), page.layers[l], Value(), Value(),
                                Value(), tr("slowest GPU / mean - 1 = %1").arg(number_text(page.imbalance[l]))));
  for (size_t g = 0; g < page.gpus.size(); ++g)
    table.rows.push_back(row_of(tr("GPU in %1").arg(page.layer_names[page.layer]), static_cast<qlonglong>(g),
                                page.gpus[g], Value(), Value(), Value(),
                                g == page.slowest ? tr("computes longest") : QString()));
  for (const SimulatedFigure& f : page.calibrated)
    table.rows.push_back(
        {f.name, Value(), Value(), Value(), Value(), Value(), Value(), Value(), tr("%1. %2").arg(f.value, f.tip)});
  for (const ShownSensitivity& s : page.sensitivity)
    table.rows.push_back({tr("10 % more of %1").arg(s.figure), Value(), Value(), Value(), Value(),
                          page.step.mean_ms * (1 + s.percent / 100), Value(), Value(), percent_change_text(s.percent)});
  return table;
}

}  // namespace stormcell::views
