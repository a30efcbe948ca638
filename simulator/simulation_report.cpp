#include "simulator/simulation_report.h"

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/enum_words.h"
#include "core/base/rounding.h"
#include "core/exports/text_output.h"
#include "core/report/bars.h"
#include "core/report/html.h"
#include "core/report/page.h"
#include "core/summary/capacity_text.h"
#include "core/summary/needed_facts.h"
#include "core/summary/step_contents.h"

namespace stormcell {
namespace report {
namespace {

/// Limit of layers, GPUs and links that are drawn; tables show all.
constexpr size_t kMostBars = 64;

std::string bytes_of(double value) { return bytes(static_cast<int64_t>(std::llround(value))); }

double sum_ms(const SimulatedLayer& l) { return l.dispatch_ms + l.compute_ms + l.combine_ms; }

std::string headline(const SimulateFigures& s) {
  std::string tiles = "<div><dt>a step</dt><dd>" + milliseconds(s.mean_ms) + "<small>mean; median " +
                      milliseconds(s.p50_ms) + ", 95 % below " + milliseconds(s.p95_ms) + "</small></dd></div>\n";
  if (s.overlap != Overlap::none)
    tiles += "<div><dt>without overlap</dt><dd>" + milliseconds(s.serial_ms) +
             "<small>the same phases, one after the other</small></dd></div>\n";
  if (s.rest_ms)
    tiles += "<div><dt>stated rest of a step</dt><dd>" + milliseconds(*s.rest_ms) +
             "<small>not simulated</small></dd></div>\n";
  if (s.tokens_per_s && std::isfinite(*s.tokens_per_s))
    tiles += "<div><dt>tokens a second, at most</dt><dd>" + count(std::llround(*s.tokens_per_s)) + "<small>" +
             number(s.tokens_per_step) + " tokens a step: " + escape(rate_contents(s.rest_ms)) +
             "</small></dd></div>\n";
  else if (!s.why_no_tokens_per_s.empty())
    tiles +=
        "<div><dt>tokens a second</dt><dd>not stated<small>" + escape(s.why_no_tokens_per_s) + "</small></dd></div>\n";
  tiles += "<div><dt>to other GPUs</dt><dd>" + bytes_of(s.remote_bytes) +
           "<small>a step, there and back; on the wire " + bytes_of(s.wire_bytes) + "</small></dd></div>\n";
  if (s.capacity)
    tiles += "<div><dt>dropped choices</dt><dd>" + percent(s.capacity->dropped_share()) + "<small>" +
             capacity_text(s.capacity->factor, s.capacity->dropped_share()) + "</small></dd></div>\n";
  return "<header>\n" +
         paragraph(escape(step_contents_sentence(s.contents)) + " Simulated by stormcell " STORMCELL_VERSION ".",
                   "kicker") +
         "<h1>" + shortened(s.model, 80) + " on " + shortened(s.cluster, 80) + "</h1>\n" +
         paragraph(escape(counted(std::ssize(s.layers), "layer") + " of " + counted(s.branches, "expert") + " on " +
                          counted(s.ranks, "GPU") + " in " + counted(s.nodes, "node") + ", " +
                          counted(s.slot_count, "slot") + " a layer, placement " + s.placement + ": " +
                          counted(s.steps, std::string(to_text(s.step_kind)) + " step") +
                          (s.phase ? " of " + std::string(to_text(*s.phase)) : std::string()) + " of run #" +
                          std::to_string(s.run) + "."),
                   "lead") +
         "<dl class=\"tiles\">\n" + tiles + "</dl>\n</header>\n";
}

std::string layers_section(const SimulateFigures& s) {
  if (s.layers.empty()) return {};
  Bars bars{"Phases of a step by layer; the table below has the numbers", {"dispatch", "experts", "combine"}, {}};
  Table table("Phases by layer, ms, means over steps",
              {"layer", "dispatch", "experts", "combine", "together", "imbalance of the experts' time"});
  for (const SimulatedLayer& l : s.layers) {
    if (bars.rows.size() < kMostBars)
      bars.rows.push_back({l.name, {l.dispatch_ms, l.compute_ms, l.combine_ms}, milliseconds(sum_ms(l))});
    table.row({"<code>" + escape(l.name) + "</code>", number(l.dispatch_ms), number(l.compute_ms), number(l.combine_ms),
               number(sum_ms(l)), number(without_rounding(l.imbalance))});
  }
  const std::string most =
      s.layers.size() > kMostBars ? " The first " + count(kMostBars) + " layers; the table has all." : "";
  return section("layers", "Phases by layer",
                 figure(draw(bars), "Dispatch, the slowest GPU's experts, combine, one after the other." + most,
                        "Simulated, means over steps.") +
                     table.details());
}

std::string sensitivity_section(const SimulateFigures& s) {
  if (s.sensitivity.empty()) return {};
  std::vector<Elasticity> sorted = s.sensitivity;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Elasticity& a, const Elasticity& b) { return std::abs(a.value) > std::abs(b.value); });
  Bars bars{"By how much the step changes where a figure is a tenth larger; the table below has the numbers",
            {"shorter", "longer"},
            {}};
  Table table("Sensitivity", {"figure, a tenth larger", "the step changes by"});
  for (const Elasticity& e : sorted) {
    const double share = .1 * e.value;  // of a tenth more
    const std::string text = change(share);
    bars.rows.push_back({e.figure, {std::max(-share, 0.), std::max(share, 0.)}, text});
    table.row({escape(e.figure), text});
  }
  return section("sensitivity", "What the step is sensitive to",
                 figure(draw(bars), "Each figure of the machine or the model a tenth larger, all others as they are.",
                        "Simulated again, on the same steps.") +
                     table.details());
}

std::string gpus_section(const SimulateFigures& s) {
  if (s.gpus.empty()) return {};
  Bars bars{"Experts' time by GPU; the table below has the numbers", {}, {}};
  Table table("GPUs, means over steps",
              {"GPU", "node", "experts, ms", "waits for others", "sent", "received", "weights of all its slots"}, 1);
  for (size_t g = 0; g < s.gpus.size(); ++g) {
    const SimulatedGpu& gpu = s.gpus[g];
    const std::string name = "GPU " + std::to_string(g);
    if (g < kMostBars)
      bars.rows.push_back({name,
                           {0, gpu.compute_ms},
                           milliseconds(gpu.compute_ms).append(", waits ").append(percent(gpu.waiting_share))});
    table.row({name, std::to_string(gpu.node), number(gpu.compute_ms), percent(gpu.waiting_share),
               bytes_of(gpu.sent_bytes), bytes_of(gpu.received_bytes), bytes_of(gpu.weight_bytes)});
  }
  Table links("Ports and uplinks that carry something", {"link", "a step", "busy"});
  std::vector<SimulatedLink> busiest = s.links;
  std::stable_sort(busiest.begin(), busiest.end(),
                   [](const SimulatedLink& a, const SimulatedLink& b) { return a.busy_share > b.busy_share; });
  for (const SimulatedLink& l : busiest) links.row({escape(l.name), bytes_of(l.bytes), percent(l.busy_share)});
  return section(
      "gpus", "GPUs and links",
      figure(
          draw(bars),
          "What each GPU's own experts take in a step, and how much of the experts' phases it waits for slower ones.",
          "Simulated, means over steps.") +
          table.details() + (links.empty() ? std::string() : links.details()));
}

std::string collective_section(const SimulateFigures& s) {
  if (!s.collective) return {};
  const SimulatedCollective& c = *s.collective;
  Table table("Step " + std::to_string(c.step) + ", " + shortened(c.layer, 60),
              {"way", "messages", "bytes", "by ports alone, ms", "sharing links, ms"});
  std::string messages;
  for (const auto& [name, e] :
       {std::pair<const char*, const SimulatedExchange&>{"dispatch", c.dispatch}, {"combine", c.combine}}) {
    table.row({name, count(e.messages), bytes_of(e.bytes), number(e.closed_form_ms), number(e.filled_ms)});
    if (e.sent.empty()) continue;
    Bars bars{std::string("Messages of the ") + name + "; the table below has the numbers", {}, {}};
    Table each(std::string("Messages of the ") + name, {"from", "to", "bytes", "has come after, ms"}, 0);
    for (const SimulatedMessage& m : e.sent) {
      bars.rows.push_back({"GPU " + std::to_string(m.from) + " to " + std::to_string(m.to),
                           {0, m.end_ms},
                           bytes_of(m.bytes) + ", " + milliseconds(m.end_ms)});
      each.row({std::to_string(m.from), std::to_string(m.to), bytes_of(m.bytes), number(m.end_ms)});
    }
    messages += "<h3>" + std::string(name) + "</h3>\n" +
                figure(draw(bars),
                       std::string("From the first moment, at which all begin, until each has come.") +
                           (e.means ? " Each message is a mean: over the GPUs where tokens may live, or the replicas "
                                      "that they may take."
                                    : ""),
                       "Simulated.") +
                each.details();
  }
  return section(
      "exchange", "One exchange",
      table.html() +
          paragraph("By ports only: the busiest port's bytes / its rate. Sharing links: messages share them max-min "
                    "fair until each has come.",
                    "note") +
          messages);
}

std::string deployment_section(const SimulateFigures& s) {
  if (!s.deployment) return {};
  Table table("Imbalance of the GPUs", {"layer", "predicted", "recorded, shared evenly", "by slots"});
  const auto add = [&](const std::string& name, const DeployedBalance& b) {
    table.row({escape(name), number(without_rounding(b.predicted)), number(without_rounding(b.shared_evenly)),
               b.recorded ? number(without_rounding(*b.recorded)) : number(b.recorded)});
  };
  add("mean", s.deployment->mean);
  for (const DeployedLayer& l : s.deployment->layers) add(l.name, l.balance);
  return section(
      "deployment", "After the deployment",
      paragraph("What the placement promised on the run that it was made from, beside what was recorded under it.") +
          table.html());
}

std::string calibration_section(const SimulateFigures& s) {
  if (!s.calibration || s.calibration->phases.empty()) return {};
  Table table("Measured calls of " + shortened(s.calibration->file, 60), {"phase", "kind", "like", "error held out"},
              3);
  for (const CalibratedPhase& p : s.calibration->phases)
    table.row({escape(to_text(p.phase)), p.calibrated() ? escape(to_text(p.kind)) : "data sheet: " + escape(p.why_not),
               p.calibrated() ? escape(p.like) : "", p.held_out ? percent(*p.held_out) : "–"});
  return section("calibration", "Times of measured calls", table.html());
}

std::string assumptions_section(const SimulateFigures& s) {
  std::vector<std::string> lines = s.assumptions;
  lines.push_back("tokens reach their experts " + std::string(to_text(s.backend)) + "; " +
                  (s.replicas == ReplicaRule::nearest ? "they go to the nearest replicas" : "replicas share evenly"));
  if (s.oversubscription > 1)
    lines.push_back("an uplink carries 1 / " + number(s.oversubscription) + " of what its node's ports could send");
  if (!s.sizes.source.empty()) lines.push_back("sizes of the model: " + s.sizes.source);
  for (const std::string& fact : needed_facts(Question::steps, s.lacks)) lines.push_back("the data lacks " + fact);
  std::string html;
  lines.insert(lines.end(), s.warnings.begin(), s.warnings.end());
  for (const std::string& line : lines) html += "<li>" + escape(line) + "</li>\n";
  return section("assumed", "Assumed", "<ul>\n" + html + "</ul>\n");
}

}  // namespace
}  // namespace report

void write_simulation_report(const SimulateFigures& figures, const std::string& output) {
  using namespace report;
  TextOutput out(output);
  std::string body;
  for (const auto& part : {headline, layers_section, sensitivity_section, gpus_section, collective_section,
                           deployment_section, calibration_section, assumptions_section})
    body += part(figures);
  out.write(page("Stormcell simulation: " + shortened(figures.model, 80), STORMCELL_VERSION, body,
                 paragraph("stormcell " STORMCELL_VERSION "; session " + escape(figures.session) + ", run #" +
                           std::to_string(figures.run) +
                           ". All of it is simulated: no GPU of this cluster was there. A step has " +
                           escape(figures.contents) + ".")));
  out.finish();
}

}  // namespace stormcell
