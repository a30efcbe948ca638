// Routing, dispatch and combine on the card against core on the host.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "gpu/dispatch/dispatch.h"
#include "gpu/routing/routing.h"
#include "tests/gpu/device_check/data.h"
#include "tests/gpu/device_check/families.h"

namespace stormcell::device_check {
namespace {

void check_one(Report& report, const Queue& queue, const std::string& name, const Protocol& protocol, int64_t cells,
               int32_t branches, std::vector<float> scores, int64_t per_parent = 0, bool broken = false,
               const std::vector<int32_t>& parent = {}) {
  report.begins(name);
  if (broken)
    for (size_t i = 0; i < scores.size(); i += 5) scores[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
  std::vector<float> bias;
  if (protocol.kind == ProtocolKind::sigmoid_groups)
    for (int32_t b = 0; b < branches; ++b) bias.push_back(0.01f * static_cast<float>(b % 7));
  const HostDecision want =
      decide(scores, cells, branches, protocol, {per_parent, parent.empty() ? nullptr : parent.data()}, bias);
  const Memory on_card = to_card(scores), bias_on_card = to_card(bias), parent_on_card = to_card(parent);
  const CardDecision card(cells, want.view.fan_out, branches);
  gpu::RouteCall call;
  call.scores = on_card.as<float>(), call.cells = cells, call.branches = branches;
  call.bias = bias.empty() ? nullptr : bias_on_card.as<float>();
  call.parents = {per_parent, parent.empty() ? nullptr : parent_on_card.as<int32_t>()};
  call.rule = gpu::rule_of(protocol, branches);
  call.decision = card.view;
  const size_t bytes = gpu::route_workspace(cells, branches, call.rule);
  const Memory workspace(static_cast<int64_t>(bytes));
  must(gpu::route(call, workspace.as<void>(), bytes, queue.stream()));
  queue.wait();
  // A broken score is 0 or 1 after the sigmoid, or the lowest, and its margin none: what differs there is not rounding.
  const bool by_exponential = protocol.kind == ProtocolKind::sigmoid_groups && !broken;
  const DecisionDifference d = decision_difference(want.view, card.view, cells, by_exponential);
  report.check(d.holds(cells), name, d.note());
}

/// Random numbers in memory of the card.
void fill_numbers(const Memory& to, int64_t n, uint32_t seed, gpu::Format format, const Queue& queue) {
  if (format == gpu::Format::bf16) return fill_bf16(to.as<void>(), n, 1, seed, queue.stream());
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> numbers(static_cast<size_t>(n));
  for (float& number : numbers) number = uniform(random);
  copy(to.as<void>(), numbers.data(), numbers.size() * 4);
}

/// How contributions are summed.
struct Combining {
  const char* name;
  bool dropped, weighted, unrouted_only;
};
/// The last three where choices were dropped, or there are none.
constexpr Combining kCombining[] = {{"", true, true, false},
                                    {", dropped choices give nothing", false, true, false},
                                    {", without weights", true, false, false},
                                    {", cells without a slot alone", true, true, true}};

/// Rows of a decision of the host, moved over: this does not depend on routing.
void check_rows(Report& report, const Queue& queue, const std::string& name, const HostDecision& decision,
                int64_t cells, int64_t width, gpu::Format format) {
  report.begins("dispatch " + name);
  const DecisionView& d = decision.view;
  const int32_t k = d.fan_out;
  const int64_t slots = d.offsets[d.branches], bytes = cells * width * gpu::bytes_of(format);
  const CardDecision card(cells, k, d.branches);
  copy(card.memory.as<void>(), d.cells, decision_bytes({cells, k, d.branches}));
  const Memory from(cells * width * 4), rows(slots * width * 4), to(cells * width * 4), again(cells * width * 4);
  fill_numbers(from, cells * width, 1, format, queue);
  queue.wait();
  gpu::DispatchCall out;
  out.decision = card.view, out.cells = cells, out.width = width, out.format = format, out.from = from.as<void>(),
  out.to = rows.as<void>();
  must(gpu::dispatch(out, queue.stream()));
  queue.wait();
  const auto source = to_floats(from.as<void>(), cells * width, format),
             sent = to_floats(rows.as<void>(), slots * width, format);
  int64_t wrong = 0;
  for (int64_t s = 0; s < slots; ++s)
    wrong +=
        std::memcmp(sent.data() + s * width, source.data() + d.cell[s] * width, static_cast<size_t>(width) * 4) != 0;
  report.check(wrong == 0, "dispatch " + name, std::to_string(wrong) + " rows differ");

  // Rows that have nothing in common, so that a weight with another choice's row shows; dropped choices contribute
  // their cell's.
  fill_numbers(rows, slots * width, 5, format, queue);
  queue.wait();
  const auto kept = to_floats(rows.as<void>(), slots * width, format);
  const bool all_kept = std::all_of(d.choice, d.choice + cells * k, is_kept);
  for (const Combining& how : kCombining) {
    if (&how != kCombining && all_kept) break;
    const std::string what = "combine " + name + how.name;
    report.begins(what);
    poison(to.as<void>(), static_cast<size_t>(bytes));
    poison(again.as<void>(), static_cast<size_t>(bytes));
    gpu::CombineCall back;
    back.decision = card.view, back.cells = cells, back.width = width, back.format = format;
    back.weighted = how.weighted, back.unrouted_only = how.unrouted_only;
    back.from = rows.as<void>(), back.dropped = how.dropped ? from.as<void>() : nullptr, back.to = to.as<void>();
    must(gpu::combine(back, queue.stream()));
    back.to = again.as<void>();
    must(gpu::combine(back, queue.stream()));
    queue.wait();
    const auto got = to_floats(to.as<void>(), cells * width, format);
    double error = 0, largest = 0;
    int64_t touched = 0;
    for (int64_t c = 0; c < cells; ++c) {
      const bool left = how.unrouted_only &&
                        std::any_of(d.slot + c * k, d.slot + (c + 1) * k, [](int32_t slot) { return slot >= 0; });
      for (int64_t i = 0; i < width; ++i) {
        const auto number = static_cast<double>(got[static_cast<size_t>(c * width + i)]);
        if (left) {
          touched += !std::isnan(number);
          continue;
        }
        double want = 0;
        for (int64_t j = c * k; j < (c + 1) * k; ++j) {
          if (!is_kept(d.choice[j]) && !(how.dropped && is_dropped(d.choice[j]))) continue;
          const float row = is_kept(d.choice[j]) ? kept[static_cast<size_t>(d.slot[j] * width + i)]
                                                 : source[static_cast<size_t>(c * width + i)];
          want += (how.weighted ? static_cast<double>(d.choice_weight[j]) : 1.0) * static_cast<double>(row);
        }
        const double off = std::fabs(want - number);
        error = std::isnan(off) ? INFINITY : std::max(error, off), largest = std::max(largest, std::fabs(want));
      }
    }
    const bool repeats = from_card(to.as<char>(), bytes) == from_card(again.as<char>(), bytes);
    report.check(error <= largest * (format == gpu::Format::f32 ? 4e-6 : 5e-3) && repeats && touched == 0, what,
                 "relative error " + std::to_string(error / std::max(largest, 1e-30)) +
                     (repeats ? "" : ", not repeatable") +
                     (touched == 0 ? "" : ", " + std::to_string(touched) + " numbers of routed cells were written"));
  }
}

/// Each cell loses some choices, every seventh cell all: as by branches that have no room.
HostDecision with_drops(HostDecision decision, int64_t cells) {
  DecisionView& d = decision.view;
  for (int64_t i = 0; i < cells * d.fan_out; ++i)
    if (is_kept(d.choice[i]) && (i % 3 == 1 || i / d.fan_out % 7 == 0)) d.choice[i] = dropped_from(d.choice[i]);
  index_decision(d, cells);
  return decision;
}

struct Rule {
  const char* name;
  Protocol protocol;
  bool limited = false, drops = false;
};

}  // namespace

void check_routing(const Task& task, Report& report) {
  const Queue queue;
  const Rule rules[] = {
      {"top-2, softmax before", {.k = 2, .softmax = SoftmaxPlace::before, .renormalize = true}},
      {"top-1, softmax before", {.k = 1, .softmax = SoftmaxPlace::before}},
      {"top-4, softmax after", {.k = 4, .softmax = SoftmaxPlace::after}},
      {"switch, capacity", {.kind = ProtocolKind::switch_top1, .capacity = 40}, true},
      {"sigmoid, groups",
       {.kind = ProtocolKind::sigmoid_groups,
        .k = 4,
        .renormalize = true,
        .groups = 4,
        .groups_kept = 2,
        .scale = 2.5f}},
      {"threshold", {.kind = ProtocolKind::threshold, .threshold = 1.5f, .residual = 0}},
  };
  for (const Rule& rule : rules)
    for (const int32_t branches : {4, 8, 32, 64, 128, 256, 1024})
      for (const int64_t cells : {int64_t{1}, int64_t{64}, int64_t{4096}}) {
        if (task.small && (cells > 64 || (branches != 8 && branches != 64))) continue;
        const std::string name =
            std::string(rule.name) + ", " + std::to_string(cells) + " x " + std::to_string(branches);
        check_one(report, queue, name, rule.protocol, cells, branches, make_scores(cells, branches, Load::zipf, 7),
                  rule.limited ? 512 : 0);
      }
  for (const Rule& rule : rules)
    check_one(report, queue, std::string("broken scores, ") + rule.name, rule.protocol, 100, 16,
              make_scores(100, 16, Load::uniform, 3), 0, true);
  check_one(report, queue, "one branch", {.k = 1}, 1000, 1, make_scores(1000, 1, Load::uniform, 1));
  check_one(report, queue, "no cells", {.k = 2}, 0, 8, {});
  // Parents longer than a tile of choices: what tiles hand on to each other.
  const auto limited = [](int32_t capacity) {
    return Protocol{.kind = ProtocolKind::switch_top1, .capacity = capacity};
  };
  for (const int64_t per_parent : {0, 3000})
    check_one(report, queue, "capacity over " + (per_parent ? std::to_string(per_parent) : "all") + " of 5000 cells",
              limited(300), 5000, 8, make_scores(5000, 8, Load::zipf, 13), per_parent);
  std::vector<int32_t> parent;
  for (int32_t cell = 0; cell < 5000; ++cell)
    parent.push_back((cell >= 1) + (cell >= 34) + (cell >= 300) + (cell >= 2500) + (cell >= 4900));
  check_one(report, queue, "capacity over parents of 1 to 2200 cells", limited(60), 5000, 8,
            make_scores(5000, 8, Load::zipf, 13), 0, false, parent);
  if (task.small) return;
  check_one(report, queue, "a million cells, top-2 of 64", {.k = 2}, 1000000, 64,
            make_scores(1000000, 64, Load::zipf, 5));
  const auto million = make_scores(1000000, 8, Load::zipf, 5);
  check_one(report, queue, "a million cells, capacity over 512", limited(64), 1000000, 8, million, 512);
  check_one(report, queue, "a million cells, capacity over all", limited(100000), 1000000, 8, million);
}

void check_dispatch(const Task& task, Report& report) {
  const Queue queue;
  const int64_t cells = task.small ? 33 : 1000;
  const Rule rules[] = {
      {"top-1", {.k = 1}},
      {"top-2", {.k = 2}},
      {"top-3", {.k = 3}},
      {"top-5", {.k = 5}},
      {"top-8", {.k = 8}},
      {"threshold", {.kind = ProtocolKind::threshold, .threshold = 1.5f}},
      {"capacity", {.kind = ProtocolKind::switch_top1, .capacity = static_cast<int32_t>(1 + cells / 50)}},
      {"top-3 with drops", {.k = 3}, false, true},
      {"top-8 with drops", {.k = 8}, false, true},
  };
  for (const gpu::Format format : {gpu::Format::f32, gpu::Format::bf16})
    for (const Rule& rule : rules)
      for (const int64_t width : {int64_t{8}, int64_t{768}, int64_t{2048}}) {
        HostDecision decision = decide(make_scores(cells, 16, Load::zipf, 9), cells, 16, rule.protocol);
        if (rule.drops) decision = with_drops(std::move(decision), cells);
        const std::string name = std::string(to_text(format)) + ", " + rule.name + ", width " + std::to_string(width);
        check_rows(report, queue, name, decision, cells, width, format);
      }
}

}  // namespace stormcell::device_check
